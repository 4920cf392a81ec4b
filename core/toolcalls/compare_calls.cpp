// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/compare_calls.h"

#include "core/analysis/alignment.h"
#include "core/toolcalls/align_calls.h"
#include "core/toolcalls/call_settings.h"
#include "core/toolcalls/call_summary.h"
#include "core/toolcalls/divergence.h"
#include "core/toolcalls/server_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace flipscope {

namespace {

/// The first argument in which two calls differ goes into `row`; false where there is none.
bool note_difference(const Call& baseline, const Call& run, CallRow& row)
{
    for (const Argument& argument : baseline.arguments()) {
        const Argument* other = run.tolerant.find(argument.path);
        if (other && equal_value(argument, *other))
            continue;
        row.path = argument.path;
        row.baseline_value = shown_value(argument, other);
        if (other)
            row.value = shown_value(*other, &argument);
        return true;
    }
    for (const Argument& argument : run.arguments())
        if (!baseline.tolerant.find(argument.path)) {
            row.path = argument.path;
            row.value = shown_value(argument);
            return true;
        }
    return false;
}

/// Rows of one pair of continuations.
class ContinuationRows {
public:
    ContinuationRows(const ContinuationCalls& baseline, const ContinuationCalls& run)
        : baseline_(baseline), run_(run), server_(check_server(run))
    {
    }

    CallRow row_of(const CallPair& pair) const
    {
        CallRow row;
        row.prefix_tokens = run_.prefix_tokens;
        row.baseline_call = pair.baseline;
        row.run_call = pair.run;
        const Call* base = pair.baseline ? &baseline_.found.calls[*pair.baseline] : nullptr;
        const Call* call = pair.run ? &run_.found.calls[*pair.run] : nullptr;
        const Call& shown = call ? *call : *base;
        row.start_position = run_.prefix_tokens + static_cast<std::int64_t>(shown.tokens.begin);
        row.name = base ? base->name() : call->name();
        if (call) {
            row.run_name = call->name();
            row.readings_differ = call->readings_differ;
            row.note = call->tolerant.note;
            row.parser_note = server_[*pair.run];
            row.parser_disagrees = !row.parser_note.empty();
        }
        if (!call)
            set_missing(row);
        else if (!base)
            set_extra(row, *call);
        else
            set_pair(row, *base, *call);
        return row;
    }

private:
    void set_missing(CallRow& row) const
    {
        row.outcome = Outcome::Missing;
        if (!run_.found.mentions.empty() && run_.found.calls.empty())
            row.note = run_.found.mentions.front().tolerant.note;
        else
            row.note = run_.found.calls.empty() ? "The run's continuation holds no call." : "";
    }

    void set_extra(CallRow& row, const Call& call) const
    {
        const std::size_t index = *row.run_call;
        const bool again = index > 0 && equal_calls(run_.found.calls[index - 1], call);
        row.outcome = again ? Outcome::Repeated : Outcome::Extra;
        if (!again && call.status != CallStatus::Good)
            row.note = fmt::format("It is {}. {}", status_word(call.status), call.tolerant.note);
    }

    void set_pair(CallRow& row, const Call& base, const Call& call) const
    {
        const bool differs = note_difference(base, call, row);
        const bool identical =
            base.status == call.status && baseline_.stream.text(base.bytes) == run_.stream.text(call.bytes);
        if (identical && call.status != CallStatus::Good)
            row.outcome = Outcome::Same; // broken alike: nothing diverged
        else if (call.status == CallStatus::Unclosed)
            row.outcome = Outcome::Unclosed;
        else if (call.status == CallStatus::Malformed)
            row.outcome = Outcome::Malformed;
        else if (base.name() != call.name())
            row.outcome = Outcome::OtherTool;
        else if (call.arguments().empty() && !base.arguments().empty())
            row.outcome = Outcome::ArgumentsEmpty;
        else if (differs)
            row.outcome = Outcome::ArgumentDiffers;
        else
            row.outcome = row.parser_disagrees ? Outcome::ParserDisagrees : Outcome::Same;
        if (row.outcome == Outcome::OtherTool || row.outcome == Outcome::ArgumentsEmpty) {
            row.path.clear(); // arguments of two tools have nothing to do with each other
            row.baseline_value.reset();
            row.value.reset();
        }
        if (base.status != CallStatus::Good && !identical)
            row.note = fmt::format("The baseline's call is {}. {}", status_word(base.status), row.note);
        if (*row.run_call > 0 && row.outcome != Outcome::Same && equal_calls(run_.found.calls[*row.run_call - 1], call))
            row.note += row.note.empty() ? "The run makes again the call that it has just made."
                                         : " The run makes again the call that it has just made.";
        while (!row.note.empty() && row.note.back() == ' ')
            row.note.pop_back();
    }

    const ContinuationCalls& baseline_;
    const ContinuationCalls& run_;
    std::vector<std::string> server_;
};

/// Whether later calls of a closed loop come back to the baseline's.
void judge_recovery(ComparedContinuation& continuation, std::vector<CallRow>& rows)
{
    if (!continuation.closed_loop)
        return;
    const std::size_t end = continuation.first_row + continuation.rows;
    std::size_t last = end, broken = 0;
    for (std::size_t i = continuation.first_row; i < end; ++i)
        if (rows[i].broken()) {
            last = i;
            ++broken;
        }
    if (last == end)
        return;
    const bool recovers = last + 1 < end;
    continuation.recovers_after_call = recovers ? std::optional(last - continuation.first_row) : std::nullopt;
    if (!recovers && broken == 1)
        return; // the last call of all: nothing after it tells
    continuation.recovers = recovers;
    for (std::size_t i = continuation.first_row; i < end; ++i)
        if (rows[i].broken() && i + 1 < end)
            rows[i].recovers = recovers;
}

/// Pairs of continuations, as indices into both sides.
struct Matched {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    std::int64_t only_in_baseline = 0, only_in_run = 0, beyond = 0;
};

Matched match_continuations(const TraceCalls& baseline, const TraceCalls& run, std::int64_t common)
{
    struct Group {
        std::vector<std::size_t> baseline, run;
    };
    Matched result;
    std::map<std::int64_t, Group> groups;
    const auto collect = [&](const TraceCalls& calls, std::vector<std::size_t> Group::*side) {
        for (std::size_t i = 0; i < calls.continuations.size(); ++i) {
            const std::int64_t prefix = calls.continuations[i].prefix_tokens;
            if (prefix > common)
                ++result.beyond;
            else
                (groups[prefix].*side).push_back(i);
        }
    };
    collect(baseline, &Group::baseline);
    collect(run, &Group::run);
    for (auto& [prefix, group] : groups) {
        const std::size_t n = std::min(group.baseline.size(), group.run.size());
        if (group.baseline.size() > 1 || group.run.size() > 1) {
            // Of several from one prefix those of one name belong together, the others go by their order.
            std::size_t fixed = 0;
            for (std::size_t i = 0; i < group.baseline.size(); ++i) {
                const auto& name = baseline.trace->generations[group.baseline[i]].group;
                const auto same = std::find_if(group.run.begin() + static_cast<std::ptrdiff_t>(fixed), group.run.end(),
                                               [&](std::size_t r) { return run.trace->generations[r].group == name; });
                if (same == group.run.end() || fixed >= n)
                    continue;
                std::rotate(group.run.begin() + static_cast<std::ptrdiff_t>(fixed), same, same + 1);
                std::rotate(group.baseline.begin() + static_cast<std::ptrdiff_t>(fixed),
                            group.baseline.begin() + static_cast<std::ptrdiff_t>(i),
                            group.baseline.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                ++fixed;
            }
        }
        for (std::size_t i = 0; i < n; ++i)
            result.pairs.emplace_back(group.baseline[i], group.run[i]);
        result.only_in_baseline += static_cast<std::int64_t>(group.baseline.size() - n);
        result.only_in_run += static_cast<std::int64_t>(group.run.size() - n);
    }
    return result;
}

/// The length of the common history, or the reason why there is none.
Result<std::int64_t> common_history(const Trace& baseline, const Trace& run)
{
    const auto& p = baseline.tokens.ids;
    const auto& q = run.tokens.ids;
    const std::size_t common = std::min(p.size(), q.size());
    if (!std::equal(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(common), q.begin()))
        if (const auto aligned = align(baseline, run); !aligned)
            return tl::unexpected(aligned.error());
    return static_cast<std::int64_t>(common);
}

void note_findings(const Matched& matched, RunCalls& result)
{
    const auto add = [&](const char* code, std::string text) {
        result.findings.push_back({Finding::Level::Note, code, std::move(text)});
    };
    if (matched.only_in_baseline + matched.only_in_run > 0)
        add("unmatched-continuations",
            fmt::format("Continuations from prefixes that only one side has are left out: {} of the baseline, {} of "
                        "the run.",
                        matched.only_in_baseline, matched.only_in_run));
    if (matched.beyond > 0)
        add("beyond-common-history",
            fmt::format("{} continuation{} from behind the common history {} left out.", matched.beyond,
                        matched.beyond == 1 ? "" : "s", matched.beyond == 1 ? "is" : "are"));
    if (result.baseline->dialect && result.run->dialect && result.baseline->dialect != result.run->dialect)
        add("other-dialect", fmt::format("The baseline's calls were read as {}, the run's as {}.",
                                         result.baseline->dialect->name, result.run->dialect->name));
}

} // namespace

Result<RunCallsPtr> compare_calls(const TraceCallsPtr& baseline, const TraceCallsPtr& run)
{
    const auto common = common_history(*baseline->trace, *run->trace);
    if (!common)
        return tl::unexpected(common.error());
    auto result = std::make_shared<RunCalls>();
    result->baseline = baseline;
    result->run = run;
    const Matched matched = match_continuations(*baseline, *run, *common);
    std::size_t baseline_index = 0;
    for (const auto& [b, r] : matched.pairs) {
        const ContinuationCalls& base = baseline->continuations[b];
        const ContinuationCalls& other = run->continuations[r];
        ComparedContinuation continuation;
        continuation.baseline = b;
        continuation.run = r;
        continuation.prefix_tokens = base.prefix_tokens;
        continuation.closed_loop = base.closed_loop && other.closed_loop;
        continuation.divergence = find_divergence(*baseline, base, *run, other);
        continuation.first_row = result->rows.size();
        const ContinuationRows rows(base, other);
        for (const CallPair& pair : align_calls(base.found.calls, other.found.calls)) {
            result->rows.push_back(rows.row_of(pair));
            CallRow& row = result->rows.back();
            row.continuation = static_cast<std::int64_t>(result->continuations.size());
            if (pair.baseline)
                row.baseline_index = baseline_index++;
        }
        continuation.rows = result->rows.size() - continuation.first_row;
        judge_recovery(continuation, result->rows);
        result->continuations.push_back(std::move(continuation));
    }
    note_findings(matched, *result);
    result->settings = call_settings(*baseline->trace, *run->trace);
    result->summary = summarize(*result);
    result->summary.unmatched_in_baseline = matched.only_in_baseline;
    result->summary.unmatched_in_run = matched.only_in_run;
    return result;
}

std::optional<std::size_t> next_broken(const RunCalls& calls, std::int64_t row, bool backwards)
{
    const auto count = static_cast<std::int64_t>(calls.rows.size());
    for (std::int64_t i = backwards ? std::min(row, count) - 1 : std::max<std::int64_t>(row, -1) + 1;
         i >= 0 && i < count; i += backwards ? -1 : 1)
        if (calls.rows[static_cast<std::size_t>(i)].broken())
            return static_cast<std::size_t>(i);
    return std::nullopt;
}

} // namespace flipscope
