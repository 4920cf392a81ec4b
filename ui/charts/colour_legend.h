// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/chart_style.h"
#include "ui/charts/heatmap_item.h"

#include <QPainter>
#include <QStringList>
#include <QVector>

namespace flipscope::colour_legend {

/// Width that it takes in a chart of `chartWidth`; 0 = no room for it.
double width(double chartWidth);

/// The scale as a bar with ticks in the metric's unit and the kind of scale. `rect`: chart_paint::headerHeight high.
void paint(QPainter& p, const QRectF& rect, const HeatmapItem& item, const ChartStyle& style);

/// One entry of the key under a heatmap: a kind of segment, or a state that cells without a value are in.
struct KeyEntry {
    QString words;
    QString segment;                                      ///< kind of segment, or empty and
    HeatmapCell::State state = HeatmapCell::State::Value; ///< a state
    QPointF at;                                           ///< of its swatch, relative to the key
};
/// Entries that this grid needs, laid out in lines of `width`.
QVector<KeyEntry> key(const HeatmapItem& item, double width, const ChartStyle& style);
inline constexpr double keyLine = 17;
double keyHeight(const QVector<KeyEntry>& key);
void paintKey(QPainter& p, const QPointF& topLeft, const QVector<KeyEntry>& key, const HeatmapItem& item,
              const ChartStyle& style);

} // namespace flipscope::colour_legend
