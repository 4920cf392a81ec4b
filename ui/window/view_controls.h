// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QWidget>

class QComboBox;
class QDoubleSpinBox;
class QToolButton;

namespace flipscope {

/// Sizes that the window menu and box offer.
const QVector<qint64>& offeredWindowSizes();

/// "Flip rate", "KL(P‖Q) p99", ...: metrics in their registry's order.
QString metricTitle(const WindowMetric& metric);

/// The row above the heatmap: window size, metric, colour scale. Changes go to the session at once.
class ViewControls : public QWidget {
    Q_OBJECT
public:
    explicit ViewControls(Session* session, QWidget* parent = nullptr);

    void editLimits(); ///< a small dialog for the ends of the colour scale

private:
    void follow();
    void windowEdited();
    void scaleChosen(int index);

    Session* m_session;
    QComboBox *m_window, *m_metric, *m_scale;
    QWidget* m_marginGroup;
    QDoubleSpinBox* m_margin;
    QToolButton* m_limits;
};

} // namespace flipscope
