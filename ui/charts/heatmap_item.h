// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"
#include "ui/charts/chart_style.h"
#include "ui/charts/colormap.h"
#include "ui/session/session.h"

#include <QGraphicsItem>
#include <QPoint>

namespace flipscope {

class BareChart;

/// The cells of a heatmap, drawn over the plot area of a chart (Qt Charts has no series for them). Cells are found
/// through the chart's axes, so they stay where the axes say they are.
class HeatmapItem : public QGraphicsItem {
public:
    /// The chart's axes run over 0..columns and 0..rows.
    explicit HeatmapItem(BareChart* chart);

    void setGrid(const HeatmapGrid& grid, const ColourScale& scale);
    void setStyle(const ChartStyle& style);
    /// To be called whenever the plot area or an axis changed.
    void updateGeometry();

    const HeatmapGrid& grid() const { return m_grid; }
    const ColourScale& scale() const { return m_scale; }
    const Normalizer& normalizer() const { return m_normalizer; }
    int rows() const { return static_cast<int>(m_grid.rows.size()); }
    int columns() const { return static_cast<int>(m_grid.starts.size()); }
    const HeatmapCell& cell(int row, int column) const;

    /// Cell in the chart's coordinates; row 0 is the top one.
    QRectF cellRect(int row, int column) const;
    /// (column, row) as (x, y), or (-1, -1) outside.
    QPoint cellAt(const QPointF& point) const;
    QColor cellColor(int row, int column) const;
    /// True where windows are narrower than a pixel, so that one stands for several.
    bool condensed() const;

    void setCurrent(int row, int column);
    void setHovered(int row, int column); ///< row -1: the whole column
    int currentRow() const { return m_currentRow; }
    int currentColumn() const { return m_currentColumn; }

    /// How a cell without a value looks; also for keys.
    void paintState(QPainter& p, const QRectF& rect, HeatmapCell::State state) const;

    QRectF boundingRect() const override;
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;
    /// What is chosen and hovered over; not part of the scene, so that the scene can be kept as a picture.
    void paintMarks(QPainter& p) const;

private:
    /// Data y runs upward in a chart, rows run downward: the one place that turns one into the other.
    static int mirrored(int row, int rows) { return rows - 1 - row; }
    QColor colorOf(const HeatmapCell& cell) const;
    void paintCells(QPainter& p) const;
    void paintImage(QPainter& p) const;
    void paintRowWithout(QPainter& p, int row) const;
    void paintMissing(QPainter& p, int row) const;
    void paintNumbers(QPainter& p) const;
    double gap() const;
    int worstOf(const HeatmapRow& row, int first, int last) const;

    BareChart* m_chart;
    HeatmapGrid m_grid;
    ColourScale m_scale;
    Normalizer m_normalizer;
    ChartStyle m_style;
    QRectF m_area; // all cells
    int m_currentRow = -1, m_currentColumn = -1, m_hoveredRow = -1, m_hoveredColumn = -1;
};

} // namespace flipscope
