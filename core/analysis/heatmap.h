// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/partition.h"
#include "core/analysis/windows.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace flipscope {

/// One cell of runs x windows.
struct HeatmapCell {
    enum class State {
        Value,
        Empty,         ///< no probe of this run in this window
        Invalid,       ///< probes, but none valid (NaN rows)
        Infinite,      ///< values, but none finite
        NotComparable, ///< the run could not be compared
        Pending,       ///< not computed yet
    };
    State state = State::Empty;
    double value = 0; ///< NaN unless State::Value
    Interval interval{};
    std::int64_t n = 0, n_invalid = 0, flips = 0;
};

struct HeatmapRow {
    std::string name;
    std::string note; ///< "bit-identical", "2 probes left out", the reason it cannot be compared, ...
    std::vector<HeatmapCell> cells;
    bool floor = false;     ///< the noise floor: no more than that is to be expected
    std::string group = {}; ///< what rows beside each other have in common: "kv_cache_dtype: q4_0"; empty = not grouped
};

/// A tool call of the forced history and what became of it where the runs were left to write it themselves.
struct CallMark {
    std::int64_t start = 0; ///< token position where the call of the history begins
    bool broken = false;    ///< in at least one run
    std::string text;       ///< a line for each run: "kv_q4_0: argument differs"
};

/// What a heatmap draws, an accessible table shows and a CSV file holds: one model for all three.
struct HeatmapGrid {
    WindowMetric metric;
    double margin = default_margin;
    Partition by = Partition::Windows;
    std::int64_t window_tokens = 0, n_tokens = 0; ///< window_tokens: 0 where the columns are segments or turns
    std::string baseline;
    std::vector<std::int64_t> starts, ends; ///< per column
    std::vector<Piece> pieces;              ///< segments and turns: per column
    std::vector<HeatmapRow> rows;
    std::vector<Span> spans;     ///< segments and tool calls of the history, drawn under the axis
    std::vector<CallMark> marks; ///< of calls among the spans, by start; empty = not known
};

/// The columns that have a position in `range`; all of them where it has no end, or where none has.
HeatmapGrid cut_to(const HeatmapGrid& grid, const TokenRange& range);

/// A run as the grid needs it: `table` null with a `problem` (not comparable) or without (pending).
struct HeatmapInput {
    std::string name;
    TablePtr table;
    std::string problem;
    bool floor = false;
    std::string group = {};
};

/// `extent` is that of the runs, so that the grid has the windows of analyze_table(); the baseline's own is part of it
/// in any case.
HeatmapGrid make_heatmap(const Trace& baseline, std::span<const HeatmapInput> runs, const WindowMetric& metric,
                         std::int64_t window_tokens, double margin = default_margin, HistoryExtent extent = {});

/// The same with a column for each piece; cells hold the probes that predict a token of it.
HeatmapGrid make_heatmap(const Trace& baseline, std::span<const HeatmapInput> runs, const WindowMetric& metric,
                         Partition by, std::vector<Piece> pieces, double margin = default_margin,
                         HistoryExtent extent = {});

} // namespace flipscope
