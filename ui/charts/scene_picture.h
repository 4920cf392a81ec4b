// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPixmap>

class QGraphicsScene;
class QWidget;

namespace flipscope {

/// A scene as it was drawn last, so that following the mouse over a chart does not draw thousands of points again.
class ScenePicture {
public:
    void forget() { m_stale = true; } ///< the scene has changed

    /// What a widget shows of a scene that covers it, from y = `top` on; drawn where it has to be.
    const QPixmap& of(QGraphicsScene& scene, const QWidget& widget, const QColor& background, double top = 0);

private:
    QPixmap m_picture; // kept: as much memory anew for each frame takes longer than drawing over it
    double m_top = 0;
    bool m_stale = true;
};

} // namespace flipscope
