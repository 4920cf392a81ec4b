// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/colour_legend.h"
#include "ui/charts/heatmap_item.h"

#include <QGraphicsScene>

namespace flipscope {

class BareChart;

/// The whole heatmap in a scene, from (0, 0) on: title, colour legend, row labels, cells, token axis, segments, key.
/// The window shows it, figures print it.
class HeatmapPlot {
public:
    explicit HeatmapPlot(QGraphicsScene* scene);

    void setGrid(const HeatmapGrid& grid, const ColourScale& scale);
    void setStyle(const ChartStyle& style);
    void setSize(const QSizeF& size);
    void setMaximumRowHeight(double pixels);
    void setFocusRing(bool shown);
    /// Room for the names of another heatmap as well, so that the columns of both stand above each other.
    void alignWith(const HeatmapGrid& other);

    /// Height below which rows would be too low to read, at the present width.
    double minimumHeight() const;
    /// Lower edge of what is drawn; at most the height given.
    double usedHeight() const { return m_used; }

    HeatmapItem* item() const { return m_item; }
    const ChartStyle& style() const { return m_style; }
    QRectF plotRect() const { return m_plot; }
    QRectF rowLabelRect(int row) const;
    /// What there is to say about a point: a cell, a row label, a segment; empty = nothing.
    QString toolTipAt(const QPointF& point) const;

private:
    class Frame;
    void layOut();
    void paintFrame(QPainter& p) const;
    void paintRowLabels(QPainter& p) const;
    void paintGroups(QPainter& p) const;
    double fixedHeight() const;

    BareChart* m_chart;
    HeatmapItem* m_item;
    Frame* m_frame;
    ChartStyle m_style = ChartStyle::light();
    HeatmapGrid m_other; ///< names alone
    QSizeF m_size;
    QRectF m_header, m_legend, m_plot, m_strip;
    QVector<colour_legend::KeyEntry> m_key;
    QPointF m_keyAt;
    double m_maximumRowHeight = 56, m_used = 0;
    bool m_focusRing = false;
};

} // namespace flipscope
