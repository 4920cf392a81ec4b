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

/// A chart of which only the plot area and the series are used: titles, labels, legends, grids and the scale of the
/// axes are ours, the same on the screen and in files. Owned by the scene it is added to.
class BareChart : public QChart {
public:
    BareChart();

    /// What both axes run over, 0..columns and low..high, and where the plot area is.
    void place(const QSizeF& size, const QRectF& plot, double columns, double low, double high);

    /// Where a point in units of the axes lies in the scene.
    QPointF at(double column, double value) const
    {
        return {m_plot.left() + column / m_columns * m_plot.width(),
                m_plot.bottom() - (value - m_low) / (m_high - m_low) * m_plot.height()};
    }

    /// Takes the place of all lines there are; place() is to follow. Only then the lines get their points: Qt Charts
    /// strokes a line when it is added, on each axis, and again whenever an axis changes.
    void setLines(const QVector<ChartLine>& lines);

private:
    // Both run from 0 to 1 for ever, points are scaled before: for each change of an axis Qt Charts lays out the labels
    // of all axes, shown or not, which took longer than drawing the heatmap.
    QValueAxis* m_x;
    QValueAxis* m_y;
    QVector<QLineSeries*> m_lines;
    QVector<ChartLine> m_given; ///< in units of the axes
    QRectF m_plot{0, 0, 1, 1};
    double m_columns = 1, m_low = 0, m_high = 1;
    bool m_changed = false; ///< lines that wait for place()
};

} // namespace flipscope
