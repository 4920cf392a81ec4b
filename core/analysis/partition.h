// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"
#include "core/base/error.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

/// How a history is cut into the columns of a heatmap and the rows of a table.
enum class Partition {
    Windows,  ///< equally many tokens each
    Segments, ///< system, user, assistant, thinking, tool, tool call
    Turns,    ///< from one message of the user to the next
};

/// "window", "segment", "turn": as the command line has them.
std::string_view name_of(Partition by);
Result<Partition> parse_partition(std::string_view name);

/// One segment or turn.
struct Piece {
    std::int64_t start = 0, end = 0; ///< half-open range of token positions
    std::string kind;                ///< of its span ("" = in none), or "turn"; what precedes the first turn: "before"
    std::string label;               ///< of a tool call: its JSON; of a turn: "turn 3"
    bool operator==(const Piece&) const = default;
};

/// The pieces of a history, in order and without gaps between its first and its last. Segments: the history is cut at
/// every border of a span, and a piece has the kind of the innermost span over it, so that every token is in one piece
/// alone. An error where the trace marks no segments, or no message of a user.
Result<std::vector<Piece>> pieces_of(const Trace& history, Partition by);

/// The probes that predict a token in the piece: unlike windows, pieces are about what comes next. The probe of the
/// last token of the history, which predicts none, belongs to the last piece.
std::span<const ProbeMetrics> probes_predicting(std::span<const ProbeMetrics> probes, const Piece& piece,
                                                std::int64_t n_tokens);

/// Index of the piece that a probe at `position` belongs to; -1 = none.
std::ptrdiff_t piece_of(std::span<const Piece> pieces, std::int64_t position, std::int64_t n_tokens);

} // namespace flipscope
