// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/scene_picture.h"

#include <QGraphicsScene>
#include <QPainter>
#include <QWidget>

namespace flipscope {

const QPixmap& ScenePicture::of(QGraphicsScene& scene, const QWidget& widget, const QColor& background, double top)
{
    const double scale = widget.devicePixelRatioF();
    const QSize pixels = (QSizeF(widget.size()) * scale).toSize();
    const bool fits = m_picture.size() == pixels && m_picture.devicePixelRatioF() == scale;
    if (fits && !m_stale && top == m_top)
        return m_picture;
    if (!fits) {
        m_picture = QPixmap(pixels);
        m_picture.setDevicePixelRatio(scale);
    }
    m_top = top;
    m_stale = false;
    m_picture.fill(background);
    QPainter painter(&m_picture);
    painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
    const QRectF all(QPointF(0, 0), QSizeF(widget.size()));
    scene.render(&painter, all, all.translated(0, top), Qt::IgnoreAspectRatio);
    return m_picture;
}

} // namespace flipscope
