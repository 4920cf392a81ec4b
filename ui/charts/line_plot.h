// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"
#include "ui/charts/chart_style.h"

#include <QGraphicsScene>
#include <QPoint>
#include <QVector>

class QLineSeries;

namespace flipscope {

class BareChart;
struct ChartLine;

/// A line per run over the token axis in a scene, from (0, 0) on, with interval bands, markers, axes and legend. Lines
/// end at windows without a value and begin again after them.
class LinePlot {
public:
    explicit LinePlot(QGraphicsScene* scene);

    void setGrid(const HeatmapGrid& grid, const QVector<QColor>& runColors);
    void setStyle(const ChartStyle& style);
    void setSize(const QSizeF& size);
    /// Values at or below 0 are drawn on a floor below the smallest other one, labelled so.
    void setLogAxis(bool log);
    void setCurrentColumn(int column);

    const HeatmapGrid& grid() const { return m_grid; }
    const ChartStyle& style() const { return m_style; }
    QRectF plotRect() const { return m_plot; }
    /// Where a run's window is drawn; a null point where it has no value.
    QPointF pointAt(int row, int column) const;
    int columnAt(const QPointF& point) const;   ///< -1 outside
    int nearestRow(const QPointF& point) const; ///< of the column under the point; -1 = none has a value
    QString toolTipAt(const QPointF& point) const;
    /// The current column and the line that follows the mouse; not part of the scene, so that the scene can be kept as
    /// a picture.
    void paintHover(QPainter& p, int column, int row) const;
    /// Height that the legend of all runs needs.
    double minimumHeight() const;

private:
    class Layer;
    void rebuild();
    void layOut();
    void findRange();
    void addLines(int row, QVector<ChartLine>& lines) const;
    double axisValue(double value) const; ///< in units of the y axis
    double yOf(double value) const;       ///< in scene coordinates
    double xOf(double column) const;
    QColor colorOf(int row) const;
    const HeatmapCell& cell(int row, int column) const;
    bool hasValue(int row, int column) const;
    static bool hasInterval(const HeatmapCell& cell);
    void paintBack(QPainter& p) const;
    void paintValueAxis(QPainter& p) const;
    void paintLegend(QPainter& p) const;
    void paintBands(QPainter& p) const;
    void paintFloor(QPainter& p, int row) const;
    void paintFront(QPainter& p) const;

    BareChart* m_chart;
    Layer* m_back;
    Layer* m_front;
    HeatmapGrid m_grid;
    QVector<QColor> m_runColors;
    ChartStyle m_style = ChartStyle::light();
    QSizeF m_size;
    QRectF m_plot;
    bool m_log = false, m_hasFloor = false;
    double m_low = 0, m_high = 1; ///< of the y axis: values, or their log10
    int m_currentColumn = -1;
};

} // namespace flipscope
