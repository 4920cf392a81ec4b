// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/divergence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace flipscope {

namespace {

/// The type in which the engine gave its logits, as far as the trace shows: writers store what the engine gave.
std::optional<LogitType> logits_of(const Trace& trace)
{
    if (trace.probes.rows)
        return trace.probes.rows->type();
    for (const auto& set : trace.dense)
        if (set.rows)
            return set.rows->type();
    return std::nullopt;
}

/// Whether a difference of two log probabilities is one step of the logits' type, for logits of 2 to 128. Log
/// probabilities are stored as float32: their rounding is allowed for.
bool is_one_step(double margin, double largest, std::optional<LogitType> type)
{
    if (!(margin > 0) || (type && *type != LogitType::BF16 && *type != LogitType::F16))
        return false;
    const int fraction_bits = type && *type == LogitType::F16 ? 10 : 7; // not stated: the coarser type
    const double rounding = 4e-7 * (1 + std::fabs(largest) + margin);
    for (int exponent = 1; exponent <= 6; ++exponent)
        if (std::fabs(margin - std::ldexp(1.0, exponent - fraction_bits)) <= rounding)
            return true;
    return false;
}

void fill_list(BranchSide& side, const Trace& trace, const Generation& g, std::size_t step, std::int32_t baseline_id,
               std::int32_t run_id)
{
    const auto k = static_cast<std::size_t>(std::max<std::int64_t>(g.k, 0));
    if (k == 0 || g.top_ids.size() < (step + 1) * k || g.top_logprobs.size() < (step + 1) * k)
        return;
    std::vector<std::size_t> order;
    for (std::size_t i = step * k; i < (step + 1) * k; ++i)
        if (g.top_ids[i] >= 0 && !std::isnan(g.top_logprobs[i]))
            order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return g.top_logprobs[a] != g.top_logprobs[b] ? g.top_logprobs[a] > g.top_logprobs[b]
                                                      : g.top_ids[a] < g.top_ids[b];
    });
    for (const std::size_t i : order) {
        side.top_ids.push_back(g.top_ids[i]);
        side.top_logprobs.push_back(g.top_logprobs[i]);
        if (g.top_ids[i] == baseline_id)
            side.p_baseline_id = std::exp(side.top_logprobs.back());
        if (g.top_ids[i] == run_id)
            side.p_id = std::exp(side.top_logprobs.back());
    }
    if (!side.top_logprobs.empty())
        side.p_unlisted = std::exp(side.top_logprobs.back());
    if (side.top_logprobs.size() >= 2) {
        side.margin = side.top_logprobs[0] - side.top_logprobs[1];
        side.tied = side.margin == 0;
        side.one_step = is_one_step(side.margin, side.top_logprobs[0], logits_of(trace));
    }
}

BranchSide side_of(const TraceCalls& calls, const ContinuationCalls& continuation, std::size_t step,
                   std::int32_t baseline_id, std::int32_t run_id)
{
    BranchSide side;
    const TokenStream& stream = continuation.stream;
    if (step < stream.size()) {
        side.id = stream.ids[step];
        side.text = stream.token(step);
        const CallPlace place = place_in(continuation, step);
        side.inside = place.inside;
        side.path = place.path;
    }
    fill_list(side, *calls.trace, calls.trace->generations[continuation.generation], step, baseline_id, run_id);
    return side;
}

/// Whether nothing is lost behind `step`: a length limit, or only the token that ends the turn.
bool merely_ends(const TraceCalls& shorter, const ContinuationCalls& a, const ContinuationCalls& longer)
{
    const Generation& g = shorter.trace->generations[a.generation];
    const std::size_t step = a.stream.size();
    return g.finish_reason == "length" || (longer.stream.size() == step + 1 && ends_turn(longer.stream.token(step)));
}

} // namespace

CallPlace place_in(const ContinuationCalls& continuation, std::size_t token)
{
    const auto& calls = continuation.found.calls;
    auto call = std::partition_point(calls.begin(), calls.end(), [&](const Call& c) { return c.tokens.end <= token; });
    // A token may reach over the border of two calls: the first that has more than a delimiter in it counts.
    CallPlace place;
    for (; call != calls.end() && call->tokens.begin <= token; ++call) {
        const CallPlace here = place_of_token(*call, continuation.stream, token);
        if (place.inside == Inside::Prose || (place.inside == Inside::Delimiter && here.inside != Inside::Prose))
            place = here;
    }
    return place;
}

std::optional<Divergence> find_divergence(const TraceCalls& baseline, const ContinuationCalls& a, const TraceCalls& run,
                                          const ContinuationCalls& b)
{
    const auto& p = a.stream.ids;
    const auto& q = b.stream.ids;
    const std::size_t common = std::min(p.size(), q.size());
    const auto step = static_cast<std::size_t>(
        std::mismatch(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(common), q.begin()).first - p.begin());
    if (step == common) {
        if (p.size() == q.size() || (p.size() < q.size() ? merely_ends(baseline, a, b) : merely_ends(run, b, a)))
            return std::nullopt;
    }
    const std::int32_t baseline_id = step < p.size() ? p[step] : -1, run_id = step < q.size() ? q[step] : -1;
    Divergence result;
    result.step = static_cast<std::int64_t>(step);
    result.position = a.prefix_tokens + result.step;
    result.baseline = side_of(baseline, a, step, baseline_id, run_id);
    result.run = side_of(run, b, step, baseline_id, run_id);
    const auto is_fed = [&](const TraceCalls& calls, const ContinuationCalls& c) {
        const auto& fed = calls.trace->generations[c.generation].fed;
        return step < fed.size() && fed[step] != 0;
    };
    result.fed = is_fed(baseline, a) && is_fed(run, b);
    return result;
}

} // namespace flipscope
