// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/probe_metrics.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <optional>
#include <span>

namespace flipscope {

/// What a flip is worth: many are the order of equal logits, or of neighbours in a coarse format, and not a change of
/// mind.
enum class FlipKind {
    None,    ///< no flip, or no valid probe
    Tie,     ///< the largest logit occurs twice in the baseline's or in the run's row
    OneStep, ///< the baseline's best two logits are neighbours in the stored format
    Clear,   ///< further apart than that
};

/// "", "tie", "one step", "clear".
const char* name_of(FlipKind kind);

/// From a logit down to the next number that the format holds; the logit is rounded to the format first. bfloat16:
/// 0.125 for logits in (16, 32], 0.25 in (32, 64].
double step_below(double logit, LogitType type);

/// The format of a trace's stored rows; nullopt for top-k lists and without probes: there is no step then.
std::optional<LogitType> stored_type(const Trace& trace);

/// The largest logit of the baseline's row, from its log-sum-exp and the top token's probability.
double top_logit(const ProbeMetrics& probe);

/// `type`: that of the baseline's rows.
FlipKind flip_kind(const ProbeMetrics& probe, std::optional<LogitType> type);

struct FlipKinds {
    std::int64_t tie = 0, one_step = 0, clear = 0;
};
FlipKinds count_flips(std::span<const ProbeMetrics> probes, std::optional<LogitType> type);

} // namespace flipscope
