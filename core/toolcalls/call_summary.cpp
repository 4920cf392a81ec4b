// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/call_summary.h"

#include <fmt/format.h>

namespace flipscope {

namespace {

void count_rows(const RunCalls& calls, CallSummary& summary)
{
    for (const CallRow& row : calls.rows) {
        ++summary.rows;
        ++summary.counts[static_cast<std::size_t>(row.outcome)];
        summary.parser_disagrees += row.parser_disagrees ? 1 : 0;
        summary.baseline_calls += row.baseline_call ? 1 : 0;
        summary.found += row.baseline_call && row.run_call ? 1 : 0;
    }
}

/// "recovers after call 6", "2 of 3 closed loops recover", or nothing.
std::string judge_loops(const RunCalls& calls, CallSummary& summary)
{
    std::size_t judged = 0, recovered = 0;
    for (const auto& continuation : calls.continuations) {
        if (!continuation.recovers)
            continue;
        ++judged;
        if (*continuation.recovers) {
            ++recovered;
            summary.recovers_after_row = continuation.first_row + *continuation.recovers_after_call;
        }
    }
    if (judged == 0)
        return {};
    summary.recovers = recovered == judged;
    if (judged > 1) {
        summary.recovers_after_row.reset();
        return fmt::format("{} of {} closed loops that broke recover{}", recovered, judged, recovered == 1 ? "s" : "");
    }
    return recovered == 1 ? fmt::format("recovers after call {}", *summary.recovers_after_row) : "does not recover";
}

} // namespace

CallSummary summarize(const RunCalls& calls)
{
    CallSummary summary;
    count_rows(calls, summary);
    if (summary.rows == 0) {
        summary.text = "no calls";
        return summary;
    }
    summary.text = fmt::format("{} call{}: ", summary.rows, summary.rows == 1 ? "" : "s");
    bool first = true;
    for (std::size_t i = 0; i < outcome_count; ++i)
        if (summary.counts[i] > 0) {
            summary.text +=
                fmt::format("{}{} {}", first ? "" : ", ", summary.counts[i], outcome_word(static_cast<Outcome>(i)));
            first = false;
        }
    const std::int64_t beside = summary.parser_disagrees - summary.count(Outcome::ParserDisagrees);
    if (beside > 0) // the model diverged as well: both are said
        summary.text += fmt::format("; the parser disagrees with {} of the others too", beside);
    if (summary.baseline_calls > 0 && summary.found == 0)
        summary.text += fmt::format("; 0 of {} calls found", summary.baseline_calls);
    if (const auto loops = judge_loops(calls, summary); !loops.empty())
        summary.text += "; " + loops;
    return summary;
}

} // namespace flipscope
