// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/finding.h"
#include "core/toolcalls/outcome.h"
#include "core/toolcalls/trace_calls.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace flipscope {

/// A continuation of the baseline and the run's from the same prefix.
struct ComparedContinuation {
    std::size_t baseline = 0, run = 0; ///< index into TraceCalls::continuations of each
    std::int64_t prefix_tokens = 0;
    bool closed_loop = false;             ///< in both
    std::optional<Divergence> divergence; ///< none: they never part
    std::size_t first_row = 0, rows = 0;  ///< its rows in RunCalls::rows
    /// Closed loop with a broken call: whether the calls after the last broken one are the baseline's; and the last
    /// broken call, counted inside this continuation from 0. None: nothing broke, or not a closed loop.
    std::optional<bool> recovers;
    std::optional<std::size_t> recovers_after_call;
};

struct CallSummary {
    std::array<std::int64_t, outcome_count> counts{}; ///< rows by outcome
    std::int64_t rows = 0;
    std::int64_t baseline_calls = 0, found = 0; ///< of the baseline's calls, how many the run makes in some form
    std::int64_t parser_disagrees = 0;          ///< rows where it does, whatever the outcome
    std::int64_t unmatched_in_baseline = 0, unmatched_in_run = 0; ///< continuations that the other side does not have
    std::optional<bool> recovers; ///< all closed loops that broke come back; none: no closed loop broke
    std::optional<std::size_t> recovers_after_row; ///< one closed loop broke: its last broken row
    std::string text; ///< "14 calls: 11 same, 2 argument differs, 1 unclosed; recovers after call 6"

    std::int64_t count(Outcome outcome) const { return counts[static_cast<std::size_t>(outcome)]; }
};

/// A run's calls against the baseline's. Immutable; indices refer to the two TraceCalls it was made of.
struct RunCalls {
    TraceCallsPtr baseline, run;
    std::vector<ComparedContinuation> continuations; ///< by prefix
    std::vector<CallRow> rows;                       ///< the baseline's calls in order, each extra one where it stands
    CallSummary summary;
    std::vector<SettingNote> settings; ///< grammar, parsers and template: stated by either side
    Findings findings;
};

using RunCallsPtr = std::shared_ptr<const RunCalls>;

/// Matches continuations by prefix (several with one prefix: by group name, then in order), aligns their calls as
/// sequences and says what became of each. Histories must agree: else ErrorKind::NotComparable; continuations from
/// behind a common prefix are left out with a finding. Pure and quick (10,000 calls: tens of milliseconds), may run on
/// any thread.
Result<RunCallsPtr> compare_calls(const TraceCallsPtr& baseline, const TraceCallsPtr& run);

/// The settings of `calls` that may explain an outcome: a parser for "parser disagrees", a grammar for "malformed" …
std::vector<SettingNote> settings_for(const RunCalls& calls, Outcome outcome);

/// The next row after `row` (-1 = from the start) that is broken; none if there is no more.
std::optional<std::size_t> next_broken(const RunCalls& calls, std::int64_t row, bool backwards = false);

} // namespace flipscope
