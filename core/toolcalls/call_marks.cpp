// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/call_marks.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace flipscope {

namespace {

/// The first call of the history at or after `prefix`, as long as no further continuation of the baseline starts
/// between; -1 = none.
std::int64_t call_after(const TraceCalls& baseline, std::int64_t prefix)
{
    const auto& calls = baseline.in_history.calls;
    const auto call = std::lower_bound(calls.begin(), calls.end(), prefix, [](const Call& c, std::int64_t position) {
        return static_cast<std::int64_t>(c.tokens.begin) < position;
    });
    if (call == calls.end())
        return -1;
    const auto start = static_cast<std::int64_t>(call->tokens.begin);
    const auto& all = baseline.continuations; // by prefix, as Trace::generations
    const auto later =
        std::upper_bound(all.begin(), all.end(), prefix,
                         [](std::int64_t position, const ContinuationCalls& c) { return position < c.prefix_tokens; });
    return later != all.end() && later->prefix_tokens <= start ? -1 : start;
}

/// The worst that happened in a continuation, in words.
std::pair<bool, std::string> said(const RunCalls& calls, const ComparedContinuation& continuation)
{
    bool broken = false;
    std::string words;
    for (std::size_t i = continuation.first_row; i < continuation.first_row + continuation.rows; ++i) {
        const CallRow& row = calls.rows[i];
        if (!row.broken())
            continue;
        broken = true;
        words += (words.empty() ? "" : ", ") + std::string(outcome_word(row.outcome));
        if (!row.path.empty())
            words += " (" + row.path + ")";
    }
    return {broken, broken ? words : "same"};
}

} // namespace

std::vector<CallMark> mark_calls(const TraceCalls& baseline, std::span<const NamedRunCalls> runs)
{
    std::map<std::int64_t, CallMark> marks;
    for (const NamedRunCalls& run : runs)
        for (const ComparedContinuation& continuation : run.calls->continuations) {
            if (continuation.rows == 0)
                continue;
            const std::int64_t start = call_after(baseline, continuation.prefix_tokens);
            if (start < 0)
                continue;
            const auto [broken, words] = said(*run.calls, continuation);
            CallMark& mark = marks[start];
            mark.start = start;
            mark.broken = mark.broken || broken;
            mark.text += fmt::format("{}{}: {}", mark.text.empty() ? "" : "\n", run.name, words);
        }
    std::vector<CallMark> list;
    list.reserve(marks.size());
    for (auto& [start, mark] : marks)
        list.push_back(std::move(mark));
    return list;
}

std::vector<CallMark> call_marks(const TracePtr& baseline, std::span<const NamedTrace> runs)
{
    std::vector<TracePtr> traces{baseline};
    for (const NamedTrace& run : runs)
        traces.push_back(run.trace);
    const TokenTexts texts(traces);
    const TraceCallsPtr base = read_calls(baseline, texts);
    std::vector<NamedRunCalls> named;
    for (const NamedTrace& run : runs)
        if (auto calls = compare_calls(base, read_calls(run.trace, texts, base->dialect)))
            named.push_back({run.name, *calls});
    return mark_calls(*base, named);
}

} // namespace flipscope
