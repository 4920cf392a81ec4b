// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/topk.h"

#include "core/engine/row_facts.h"
#include "core/engine/top_list.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace flipscope {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
/// Log probabilities come out of float32 softmaxes: a kept mass is not known better than this.
constexpr double mass_noise = 0x1p-21;

/// ln(e^a + e^b)
double log_add(double a, double b)
{
    const double high = std::max(a, b), low = std::min(a, b);
    return std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
}

/// ln(1 - e^a) for a < 0, without cancellation at either end.
double log_complement(double a)
{
    return a > -0.693 ? std::log(-std::expm1(a)) : std::log1p(-std::exp(a));
}

/// The probabilities of one cell on both sides, as logarithms.
struct Cell {
    double ln_p, ln_q;
};

/// a (ln a - ln b) - a + b >= 0: over cells that add up to 1 on both sides the sum is KL(A||B), and no term is
/// negative.
double divergence_term(double ln_a, double ln_b)
{
    if (std::isinf(ln_a)) // a = 0
        return std::exp(ln_b);
    if (std::isinf(ln_b))
        return infinity;
    const double x = ln_b - ln_a, a = std::exp(ln_a);
    return x > 1 ? std::exp(ln_b) - a * (1 + x) : a * (std::expm1(x) - x);
}

void sum_cells(const std::vector<Cell>& cells, ProbeMetrics& m)
{
    m.kl_pq = m.kl_qp = m.js = m.tv = 0;
    for (const auto& [ln_p, ln_q] : cells) {
        m.kl_pq += divergence_term(ln_p, ln_q);
        m.kl_qp += divergence_term(ln_q, ln_p);
        const double ln_middle = log_add(ln_p, ln_q) - std::log(2.0);
        const bool equal = ln_p == ln_q;
        m.js += equal ? 0 : (divergence_term(ln_p, ln_middle) + divergence_term(ln_q, ln_middle)) / 2;
        m.tv += equal ? 0 : std::fabs(std::exp(ln_p) - std::exp(ln_q)) / 2;
    }
}

/// Ids known on both sides, by the place they have in either list.
std::vector<std::pair<std::size_t, std::size_t>> known_on_both(const ListedProbe& p, const ListedProbe& q)
{
    std::vector<std::size_t> by_id(q.ids.size());
    std::iota(by_id.begin(), by_id.end(), 0);
    std::sort(by_id.begin(), by_id.end(), [&](auto a, auto b) { return q.ids[a] < q.ids[b]; });
    std::vector<std::pair<std::size_t, std::size_t>> both;
    for (std::size_t i = 0; i < p.ids.size(); ++i) {
        const auto at = std::lower_bound(by_id.begin(), by_id.end(), p.ids[i],
                                         [&](std::size_t a, std::int32_t id) { return q.ids[a] < id; });
        if (at != by_id.end() && q.ids[*at] == p.ids[i])
            both.emplace_back(i, *at);
    }
    return both;
}

/// ln of the mass outside the cells, or NaN where rounding leaves nothing to be said about it.
double log_of_rest(const ListedProbe& side, double log_kept)
{
    if (side.full)
        return side.log_rest;
    if (std::isinf(log_kept))
        return 0; // nothing kept: all of it
    return -std::expm1(log_kept) < mass_noise ? none : log_complement(log_kept);
}

/// Adds the cell of everything else.
void add_rest(std::vector<Cell>& cells, double rest_p, double rest_q)
{
    if (!std::isnan(rest_p) && !std::isnan(rest_q)) {
        if (!std::isinf(rest_p) || !std::isinf(rest_q))
            cells.push_back({rest_p, rest_q});
        return;
    }
    if (cells.empty() || (std::isnan(rest_p) && std::isnan(rest_q)))
        return;
    const auto least = std::min_element(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
        return log_add(a.ln_p, a.ln_q) < log_add(b.ln_p, b.ln_q);
    });
    if (!std::isnan(rest_p))
        least->ln_p = log_add(least->ln_p, rest_p);
    if (!std::isnan(rest_q))
        least->ln_q = log_add(least->ln_q, rest_q);
}

/// Log probability of an id, NaN where it is not listed.
double logprob_of(const ListedProbe& side, std::int32_t id)
{
    const auto at = std::find(side.ids.begin(), side.ids.end(), id);
    return at == side.ids.end() ? none : side.logprobs[static_cast<std::size_t>(at - side.ids.begin())];
}

bool has_tie(const ListedProbe& side)
{
    return side.ids.size() > 1 && side.logprobs[0] == side.logprobs[1];
}

double overlap(const ListedProbe& p, const ListedProbe& q, std::size_t k)
{
    if (p.ids.size() < k || q.ids.size() < k)
        return none;
    std::ptrdiff_t common = 0;
    for (std::size_t i = 0; i < k; ++i)
        common += std::count(q.ids.begin(), q.ids.begin() + static_cast<std::ptrdiff_t>(k), p.ids[i]);
    return static_cast<double>(common) / static_cast<double>(k);
}

std::int32_t rank_of_top(const ListedProbe& p, const ListedProbe& q)
{
    if (q.full)
        return q.rank_of_first;
    const auto at = std::find(q.ids.begin(), q.ids.end(), p.ids[0]);
    return at == q.ids.end() ? -1 : static_cast<std::int32_t>(at - q.ids.begin()) + 1;
}

void sort_best_first(ListedProbe& list)
{
    std::vector<std::size_t> order(list.ids.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
        return list.logprobs[a] > list.logprobs[b] ||
               (list.logprobs[a] == list.logprobs[b] && list.ids[a] < list.ids[b]);
    });
    ListedProbe sorted = list;
    for (std::size_t i = 0; i < order.size(); ++i) {
        sorted.ids[i] = list.ids[order[i]];
        sorted.logprobs[i] = list.logprobs[order[i]];
    }
    list = std::move(sorted);
}

void set_known_tokens(const ListedProbe& p, const ListedProbe& q, std::int32_t next_id, ProbeMetrics& m)
{
    m.argmax_p = p.ids[0];
    m.argmax_q = q.ids[0];
    m.flip = m.argmax_p != m.argmax_q;
    m.tied = has_tie(p) || has_tie(q);
    m.margin = p.ids.size() > 1 ? p.logprobs[0] - p.logprobs[1] : none;
    m.rank = rank_of_top(p, q);
    m.top5_overlap = overlap(p, q, 5);
    m.top10_overlap = overlap(p, q, 10);
    m.p_top = std::exp(p.logprobs[0]);
    m.q_top = std::exp(logprob_of(q, p.ids[0]));
    if (next_id >= 0) {
        m.nll_p = -logprob_of(p, next_id);
        m.nll_q = -logprob_of(q, next_id);
        m.dp = std::exp(-m.nll_q) - std::exp(-m.nll_p);
    }
}

} // namespace

ListedProbe listed_probe(std::span<const std::int32_t> ids, std::span<const float> logprobs)
{
    ListedProbe list;
    for (std::size_t i = 0; i < std::min(ids.size(), logprobs.size()); ++i) {
        if (ids[i] < 0 || std::isnan(logprobs[i]) || std::isinf(logprobs[i]))
            continue;
        if (std::find(list.ids.begin(), list.ids.end(), ids[i]) != list.ids.end())
            continue;
        list.ids.push_back(ids[i]);
        list.logprobs.push_back(logprobs[i]);
    }
    list.k = list.ids.size();
    sort_best_first(list);
    return list;
}

ListedProbe restrict_row(const std::byte* row, LogitType type, std::int32_t vocab, std::span<const std::int32_t> ids,
                         std::int32_t next_id)
{
    ListedProbe list;
    list.full = true;
    TopList<10> own;
    for (std::int32_t i = 0; i < vocab; ++i) {
        const double l = widen(row, type, static_cast<std::size_t>(i));
        if (std::isnan(l) || l == infinity)
            return list;
        own.offer(l, i);
    }
    if (own.size() == 0 || own.value(0) == -infinity)
        return list;
    std::vector<std::int32_t> asked;
    for (const std::int32_t id : ids)
        if (id >= 0 && id < vocab)
            asked.push_back(id);
    std::sort(asked.begin(), asked.end());
    asked.erase(std::unique(asked.begin(), asked.end()), asked.end());

    // The row's mass inside and outside the ids asked for, each summed by itself: no 1 - x anywhere.
    const double largest = own.value(0);
    double inside = 0, outside = 0;
    const std::int32_t first = ids.empty() ? -1 : ids[0];
    const bool first_known = first >= 0 && first < vocab;
    const double first_value = first_known ? widen(row, type, static_cast<std::size_t>(first)) : 0;
    std::int32_t ahead = 0;
    auto next_asked = asked.begin();
    for (std::int32_t i = 0; i < vocab; ++i) {
        const double l = widen(row, type, static_cast<std::size_t>(i));
        const bool is_asked = next_asked != asked.end() && *next_asked == i;
        (is_asked ? inside : outside) += std::exp(l - largest);
        next_asked += is_asked;
        ahead += l > first_value || (l == first_value && i < first);
    }
    const double lse = largest + std::log(inside + outside);
    list.log_rest = outside > 0 ? std::log(outside / (inside + outside)) : -infinity;
    list.rank_of_first = first_known ? ahead + 1 : -1;
    list.k = asked.size();

    list.ids = std::move(asked);
    const auto add = [&](std::int32_t id) {
        if (std::find(list.ids.begin(), list.ids.end(), id) == list.ids.end())
            list.ids.push_back(id);
    };
    for (std::size_t i = 0; i < own.size(); ++i)
        add(own.id(i));
    if (next_id >= 0 && next_id < vocab)
        add(next_id);
    for (const std::int32_t id : list.ids)
        list.logprobs.push_back(widen(row, type, static_cast<std::size_t>(id)) - lse);
    sort_best_first(list);
    return list;
}

ProbeMetrics topk_metrics(const ListedProbe& p, const ListedProbe& q, std::int32_t next_id)
{
    ProbeMetrics m{};
    m.flip_top1 = -1;
    m.outside_p = m.outside_q = m.kept_p = m.kept_q = m.id_overlap = none;
    const auto both = known_on_both(p, q);
    std::int64_t differing =
        p.full || q.full ? 0 : static_cast<std::int64_t>(p.ids.size() + q.ids.size() - 2 * both.size());
    std::vector<Cell> cells;
    double log_kept_p = -infinity, log_kept_q = -infinity;
    for (const auto& [i, j] : both) {
        cells.push_back({p.logprobs[i], q.logprobs[j]});
        log_kept_p = log_add(log_kept_p, p.logprobs[i]);
        log_kept_q = log_add(log_kept_q, q.logprobs[j]);
        differing += std::bit_cast<std::uint32_t>(static_cast<float>(p.logprobs[i])) !=
                     std::bit_cast<std::uint32_t>(static_cast<float>(q.logprobs[j]));
    }
    set_invalid(m, differing);
    if (p.ids.empty() || q.ids.empty())
        return m;
    m.valid = 1;
    m.kept_p = std::exp(log_kept_p);
    m.kept_q = std::exp(log_kept_q);
    const std::size_t k = p.full ? q.k : q.full ? p.k : std::max(p.k, q.k);
    m.id_overlap = static_cast<double>(both.size()) / static_cast<double>(k);
    add_rest(cells, log_of_rest(p, log_kept_p), log_of_rest(q, log_kept_q));
    sum_cells(cells, m);
    set_known_tokens(p, q, next_id, m);
    return m;
}

ProbeMetrics topk_metrics(std::span<const std::int32_t> ids_p, std::span<const float> logprobs_p,
                          std::span<const std::int32_t> ids_q, std::span<const float> logprobs_q, std::int32_t next_id)
{
    return topk_metrics(listed_probe(ids_p, logprobs_p), listed_probe(ids_q, logprobs_q), next_id);
}

} // namespace flipscope
