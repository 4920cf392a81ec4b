// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/forced_calls.h"

#include "core/analysis/compute.h"
#include "core/trace/writer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace flipscope {

namespace {

/// The call that holds a token of the history, or null. Calls stand in the order of the text.
const Call* call_at(const TraceCalls& calls, std::int64_t token)
{
    const auto& all = calls.in_history.calls;
    const auto call = std::partition_point(
        all.begin(), all.end(), [&](const Call& c) { return static_cast<std::int64_t>(c.tokens.end) <= token; });
    return call != all.end() && static_cast<std::int64_t>(call->tokens.begin) <= token ? &*call : nullptr;
}

ForcedProbe probe_of(const TraceCalls& calls, const Call& call, const ProbeMetrics& p, std::int64_t row, bool dense)
{
    ForcedProbe probe;
    probe.position = p.position;
    probe.row = row;
    probe.dense = dense;
    const CallPlace place = place_of_token(call, calls.history, static_cast<std::size_t>(p.position + 1));
    probe.inside = place.inside;
    probe.path = place.path;
    probe.flip = p.flip != 0;
    probe.tied = p.tied != 0;
    probe.logprob_p = -p.nll_p;
    probe.logprob_q = -p.nll_q;
    return probe;
}

/// Index of the probe with the smallest value; NaN are passed over.
template <class Value>
std::optional<std::size_t> smallest(const std::vector<ForcedProbe>& probes, Value value)
{
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < probes.size(); ++i)
        if (!std::isnan(value(probes[i])) && (!best || value(probes[i]) < value(probes[*best])))
            best = i;
    return best;
}

void finish(ForcedCall& call)
{
    std::sort(call.probes.begin(), call.probes.end(),
              [](const ForcedProbe& a, const ForcedProbe& b) { return a.position < b.position; });
    for (const ForcedProbe& probe : call.probes) {
        call.logprob_p += probe.logprob_p;
        call.logprob_q += probe.logprob_q;
        call.flips += probe.flip ? 1 : 0;
    }
    call.complete = static_cast<std::int64_t>(call.probes.size()) == call.end - call.start;
    call.weakest_p = smallest(call.probes, [](const ForcedProbe& p) { return p.logprob_p; });
    call.weakest_q = smallest(call.probes, [](const ForcedProbe& p) { return p.logprob_q; });
    call.largest_drop = smallest(call.probes, [](const ForcedProbe& p) { return p.logprob_q - p.logprob_p; });
    if (call.largest_drop) {
        const ForcedProbe& drop = call.probes[*call.largest_drop];
        if (!(drop.logprob_q < drop.logprob_p)) // nothing was lost anywhere
            call.largest_drop.reset();
    }
}

} // namespace

ForcedCalls forced_calls(const TraceCalls& baseline, const MetricsTable& table)
{
    ForcedCalls result;
    const auto& calls = baseline.in_history.calls;
    result.calls_in_history = static_cast<std::int64_t>(calls.size());
    std::vector<ForcedCall> by_call(calls.size());
    std::unordered_map<std::int64_t, bool> seen; // a position may have a probe and a dense one: it counts once
    const auto take = [&](const std::vector<ProbeMetrics>& probes, bool dense) {
        for (std::size_t row = 0; row < probes.size(); ++row) {
            const ProbeMetrics& p = probes[row];
            if (p.position + 1 >= static_cast<std::int64_t>(baseline.history.size()) ||
                !seen.emplace(p.position, true).second)
                continue;
            const Call* call = call_at(baseline, p.position + 1);
            Inside inside = Inside::Prose;
            if (call) {
                auto& forced = by_call[static_cast<std::size_t>(call - calls.data())];
                forced.probes.push_back(probe_of(baseline, *call, p, static_cast<std::int64_t>(row), dense));
                inside = forced.probes.back().inside;
            }
            ++result.probes_by_class[static_cast<std::size_t>(inside)];
            result.flips_by_class[static_cast<std::size_t>(inside)] += p.flip ? 1 : 0;
        }
    };
    take(table.probes, false);
    take(table.dense, true);
    for (std::size_t i = 0; i < by_call.size(); ++i) {
        ForcedCall& forced = by_call[i];
        if (forced.probes.empty())
            continue;
        forced.call = i;
        forced.start = static_cast<std::int64_t>(calls[i].tokens.begin);
        forced.end = static_cast<std::int64_t>(calls[i].tokens.end);
        forced.name = calls[i].name();
        finish(forced);
        result.calls.push_back(std::move(forced));
    }
    return result;
}

std::vector<std::int64_t> rows_in_calls(const TraceCalls& calls, const Trace& trace)
{
    std::vector<std::int64_t> rows;
    const auto& positions = trace.probes.positions;
    for (std::size_t row = 0; row < positions.size(); ++row)
        if (call_at(calls, positions[row] + 1))
            rows.push_back(static_cast<std::int64_t>(row));
    return rows;
}

Result<ForcedCalls> compute_forced_calls(const TraceCalls& baseline, const TracePtr& run, Engine& engine,
                                         const Job& job)
{
    const auto part = [&](const Trace& trace) {
        return std::make_shared<const Trace>(select_probes(trace, rows_in_calls(baseline, trace)));
    };
    const TracePtr p = part(*baseline.trace), q = part(*run);
    ForcedCalls nothing;
    nothing.calls_in_history = static_cast<std::int64_t>(baseline.in_history.calls.size());
    // Without a probe that both have there is nothing to read, which is no error here.
    if (const auto aligned = align(*p, *q); !aligned)
        return nothing;
    ComputeOptions how;
    how.use_cache = false; // the table is that of a part
    const auto table = compute_table(p, q, engine, how, job);
    if (!table)
        return tl::unexpected(table.error());
    return forced_calls(baseline, **table);
}

} // namespace flipscope
