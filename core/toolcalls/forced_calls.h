// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"
#include "core/base/job.h"
#include "core/engine/engine.h"
#include "core/toolcalls/trace_calls.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flipscope {

/// A probe, of the even grid or a dense one, whose next token belongs to a call of the forced history.
struct ForcedProbe {
    std::int64_t position = 0; ///< t; it predicts t + 1, which is the token classified here
    std::int64_t row = 0;      ///< in MetricsTable::probes, or in ::dense where `dense`
    bool dense = false;
    Inside inside = Inside::Delimiter;
    std::string path; ///< of the key or value
    bool flip = false, tied = false;
    double logprob_p = 0, logprob_q = 0; ///< ln probability of the token under the baseline and the run; may be NaN
};

/// One call of the forced history, seen teacher-forced.
struct ForcedCall {
    std::size_t call = 0;            ///< index into TraceCalls::in_history.calls of the baseline
    std::int64_t start = 0, end = 0; ///< token positions, half-open
    std::string name;
    std::vector<ForcedProbe> probes;     ///< by position, each position once
    bool complete = false;               ///< every token of the call has a probe: the sums are of the whole call
    double logprob_p = 0, logprob_q = 0; ///< sums over `probes`, nats: ln of the product; NaN where one has no value
    std::optional<std::size_t> weakest_p, weakest_q; ///< index into `probes`: least likely token of each side
    std::optional<std::size_t> largest_drop;         ///< the token that lost most from baseline to run
    std::int64_t flips = 0;
};

/// Probes of `table` inside the calls of the baseline's history. Pure.
struct ForcedCalls {
    std::vector<ForcedCall> calls; ///< those with at least one probe, by position
    std::int64_t calls_in_history = 0;
    std::array<std::int64_t, 5> probes_by_class{}, flips_by_class{}; ///< by Inside; prose is all outside of calls
};

ForcedCalls forced_calls(const TraceCalls& baseline, const MetricsTable& table);

/// The probes of `trace` that predict a token of a call in the history of `calls`: row numbers.
std::vector<std::int64_t> rows_in_calls(const TraceCalls& calls, const Trace& trace);

/// Reads the rows of the probes inside calls, and of all dense probes, and nothing else; a trace of any size takes no
/// longer than its calls. Without such probes on both sides: no calls, and no error. For a command line; where a whole
/// metrics table is at hand, forced_calls() takes it.
Result<ForcedCalls> compute_forced_calls(const TraceCalls& baseline, const TracePtr& run, Engine& engine,
                                         const Job& job = {});

} // namespace flipscope
