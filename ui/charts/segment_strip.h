// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"
#include "ui/charts/chart_style.h"

#include <QPainter>
#include <QRectF>
#include <QStringList>

/// Segments (system, user, assistant, tool, thinking) and tool calls of the prompt, drawn under the token axis.
namespace flipscope::segment_strip {

/// Height that the spans of this grid need; 0 where it has none that are drawn.
double height(const HeatmapGrid& grid);

/// `rect`: the strip, as wide as the columns above it.
void paint(QPainter& p, const QRectF& rect, const HeatmapGrid& grid, const ChartStyle& style);

/// Kind, range and label of what lies under a point of the strip; empty = nothing.
QString toolTip(const QRectF& rect, const HeatmapGrid& grid, const QPointF& point);

/// Kinds in this grid, in the order of the key; "tool_call" is the diamond.
QStringList kinds(const HeatmapGrid& grid);
/// The swatch of a kind in the key.
void paintSwatch(QPainter& p, const QRectF& rect, const QString& kind, const ChartStyle& style);
QString kindWords(const QString& kind);

} // namespace flipscope::segment_strip
