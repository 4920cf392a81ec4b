// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"
#include "ui/charts/chart_style.h"
#include "ui/charts/colormap.h"
#include "ui/session/session.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <QRectF>
#include <QString>
#include <QStringList>
#include <QVector>

/// Pieces that the heatmap and the line chart share, painted with nothing that SVG or PDF would turn into pixels or
/// drop: no clipping, no pattern brushes.
namespace flipscope::chart_paint {

QFont font(const ChartStyle& style, double pixels, bool strong = false);

/// Text on one line, shortened with "…" to the rectangle's width.
void text(QPainter& p, const QRectF& rect, const QString& text, const QFont& font, const QColor& color,
          Qt::Alignment alignment = Qt::AlignLeft | Qt::AlignVCenter);

enum class Hatch { Rising, Crossed, Level };
/// Lines of a hatch, cut exactly at the rectangle.
QVector<QLineF> hatch(const QRectF& rect, double spacing, Hatch kind);
void hatched(QPainter& p, const QRectF& rect, const QColor& fill, const QColor& line, Hatch kind);

/// Marker of a run in line charts: one shape per index, so that colour is never alone.
QPainterPath marker(int index, const QPointF& centre, double radius);

// --- token axis: x runs in columns, column c begins at token grid.starts[c] ---

/// Where a token lies, in columns; before the first and behind the last it is their edge.
double columnOf(const HeatmapGrid& grid, qint64 token);

struct Tick {
    double at;     ///< in columns
    QString label; ///< "16k" or "4,096"
};
/// Ticks at window boundaries whose labels do not touch on an axis of `width` pixels.
QVector<Tick> tokenTicks(const HeatmapGrid& grid, double width, const QFontMetricsF& metrics);
/// Labels and little ticks under `plot`.
void tokenAxis(QPainter& p, const QRectF& plot, const HeatmapGrid& grid, const ChartStyle& style, bool title);
inline constexpr double tokenAxisHeight = 22;

/// The same for an axis along the history that need not begin at 0.
void tokenAxis(QPainter& p, const QRectF& plot, const TokenRange& range, const ChartStyle& style);

/// Left edge of the plot in charts over the same runs, so that their columns stand above each other.
double gutter(const HeatmapGrid& grid, double width, const ChartStyle& style);
double gutter(const QStringList& names, double width, const ChartStyle& style);
inline constexpr double margin = 14;    ///< around a chart
inline constexpr double rightEdge = 30; ///< right of the plot: room for half a label

/// Title and the line under it.
void header(QPainter& p, const QRectF& rect, const HeatmapGrid& grid, const ChartStyle& style);
inline constexpr double headerHeight = 40;

} // namespace flipscope::chart_paint
