// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"
#include "core/text/token_text.h"

#include <QString>

namespace flipscope::chart_text {

/// "8,000"
QString count(qint64 n);
/// For a cell: two or three digits, a share in %; "4.2 %", "0.013", "1.2e-5". Never rounds something to 0 or to 100 %.
QString shortValue(const WindowMetric& metric, double value, bool withUnit);
/// For a tooltip: a digit more, always with its unit.
QString longValue(const WindowMetric& metric, double value);
/// Round number for a scale; "40 %" of a share is given as 0.4.
QString tick(const WindowMetric& metric, double value, bool withUnit);

/// "Flip rate · window 8,000 tokens · against triton"
QString title(const HeatmapGrid& grid);
/// What the metric says, with its unit, direction and (where it has one) margin.
QString subtitle(const HeatmapGrid& grid);
/// "assistant", "tool call", "turn 3".
QString piece(Partition by, const Piece& piece);
/// "tokens 8,000–16,000", with what it is where columns are segments or turns.
QString window(const HeatmapGrid& grid, int column);
/// Several lines: run, window, value, n, interval; or why there is no value.
QString toolTip(const HeatmapGrid& grid, int row, int column);
/// One word for a cell without a value, as drawn in it: "NaN", "∞", ...
QString stateMark(HeatmapCell::State state);
/// What a state means, for the key under a heatmap.
QString stateWords(HeatmapCell::State state);

/// Control characters, as a run's name may hold them, become their pictures: SVG, for one, must not contain them.
inline QString qstr(const std::string& text)
{
    return QString::fromStdString(visible(text));
}

} // namespace flipscope::chart_text
