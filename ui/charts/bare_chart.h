// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QChart>
#include <QLineSeries>
#include <QPen>
#include <QValueAxis>
#include <QVector>

namespace flipscope {

/// A line that Qt Charts draws.
struct ChartLine {
    QPen pen;
    QList<QPointF> points; ///< in units of the axes
};

/// A chart of which only the plot area, the axes' ranges and the series are used: titles, labels, legends and grids are
/// drawn by us, the same on the screen and in files. Owned by the scene it is added to.
class BareChart : public QChart {
public:
    BareChart();

    /// Sets both axes to 0..columns and low..high, and puts the plot area where we want it.
    void place(const QSizeF& size, const QRectF& plot, double columns, double low, double high);

    QLineSeries* carrier() const { return m_carrier; } ///< no points; knows how axes map to pixels

    /// Takes the place of all lines there are; place() is to follow. Only then the lines get their points: Qt Charts
    /// strokes a line when it is added, on each axis, and again whenever an axis changes.
    void setLines(const QVector<ChartLine>& lines);

private:
    void attach(QLineSeries* series);

    QValueAxis* m_x;
    QValueAxis* m_y;
    QLineSeries* m_carrier;
    QVector<QLineSeries*> m_lines;
    QVector<ChartLine> m_waiting; ///< for place()
};

} // namespace flipscope
