// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/flip_kind.h"
#include "ui/models/probe_lookup.h"

#include <QString>

#include <optional>
#include <vector>

namespace flipscope {

/// Which flips "next" and "previous" stop at.
enum class FlipStops {
    All,         ///< every flip
    Clear,       ///< neither by a tie nor by one step of the stored format
    AboveMargin, ///< where the baseline's best two logits lie further apart than the margin
    ToolCall,    ///< that predict a token of a tool call
};

/// Positions of the probes to stop at, ascending; `history` is the baseline's trace.
std::vector<qint64> flipStops(const ProbeLookup& probes, FlipStops which, const Trace& history, double margin);

/// The probe with the largest finite KL(P‖Q), or the first where it is infinite; nullopt without a valid one.
std::optional<qint64> largestKl(const ProbeLookup& probes);

} // namespace flipscope
