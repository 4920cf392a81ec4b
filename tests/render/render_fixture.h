// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/render/grids.h"
#include "tests/ui/ui_fixture.h"
#include "ui/charts/chart_style.h"

#include <QApplication>
#include <QImage>
#include <QMouseEvent>
#include <QSet>
#include <QWidget>

namespace flipscope::test {

/// Colours within a rectangle of a picture.
inline QSet<QRgb> colors_in(const QImage& image, const QRect& rect)
{
    QSet<QRgb> found;
    const QRect inside = rect.intersected(image.rect());
    for (int y = inside.top(); y <= inside.bottom(); ++y) {
        for (int x = inside.left(); x <= inside.right(); ++x)
            found.insert(image.pixel(x, y) | 0xff000000);
    }
    return found;
}

/// Bounding box of the pixels in which two pictures of one size differ.
inline QRect difference(const QImage& a, const QImage& b)
{
    QRect box;
    for (int y = 0; y < std::min(a.height(), b.height()); ++y) {
        for (int x = 0; x < std::min(a.width(), b.width()); ++x) {
            if (a.pixel(x, y) != b.pixel(x, y))
                box |= QRect(x, y, 1, 1);
        }
    }
    return box;
}

/// Moves the mouse over a widget. Not QTest::mouseMove: that goes through the platform's cursor, which has no screen of
/// another scale on the offscreen platform.
inline void move_mouse(QWidget* widget, const QPoint& at)
{
    QMouseEvent event(QEvent::MouseMove, QPointF(at), QPointF(widget->mapToGlobal(at)), Qt::NoButton, Qt::NoButton, {});
    QApplication::sendEvent(widget, &event);
}

/// A rectangle in widget coordinates as pixels of a grabbed picture, without the pixels that it shares with others.
inline QRect pixels_of(const QRectF& rect, double scale)
{
    const QPoint top_left(static_cast<int>(std::ceil(rect.left() * scale)),
                          static_cast<int>(std::ceil(rect.top() * scale)));
    const QPoint bottom_right(static_cast<int>(std::floor(rect.right() * scale)) - 1,
                              static_cast<int>(std::floor(rect.bottom() * scale)) - 1);
    return {top_left, bottom_right};
}

inline int channel_distance(QRgb a, QRgb b)
{
    return std::max({std::abs(qRed(a) - qRed(b)), std::abs(qGreen(a) - qGreen(b)), std::abs(qBlue(a) - qBlue(b))});
}

} // namespace flipscope::test
