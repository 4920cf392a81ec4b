// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/probe_detail.h"
#include "core/engine/topk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace flipscope {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// A probe found by position.
struct Found {
    const ProbeSet* set = nullptr;
    std::int64_t row = -1;
};

Found find_probe(const Trace& trace, std::int64_t position)
{
    const auto in = [&](const ProbeSet& set) {
        const auto at = std::lower_bound(set.positions.begin(), set.positions.end(), position);
        return at != set.positions.end() && *at == position ? Found{&set, at - set.positions.begin()} : Found{};
    };
    if (const auto found = in(trace.probes); found.set)
        return found;
    for (const auto& set : trace.dense)
        if (const auto found = in(set); found.set)
            return found;
    return {};
}

/// What one trace answers at one probe: log probabilities of all ids, or of those in a list.
struct Side {
    bool full = false;
    std::vector<double> logits; ///< full: one per compared id
    double lse = none;
    ListedProbe list;

    std::size_t place(std::int32_t id) const
    {
        return static_cast<std::size_t>(std::find(list.ids.begin(), list.ids.end(), id) - list.ids.begin());
    }
    /// NaN where nothing is known of the id.
    double log_probability(std::int32_t id) const
    {
        if (full)
            return id >= 0 && static_cast<std::size_t>(id) < logits.size() ? logits[static_cast<std::size_t>(id)] - lse
                                                                           : none;
        const auto at = place(id);
        return at < list.ids.size() ? list.logprobs[at] : none;
    }
    double stored(std::int32_t id) const { return log_probability(id) + (full ? lse : 0); }
    /// 1 = largest, in the order logit descending, id ascending; 0 = not known.
    std::int64_t rank(std::int32_t id) const
    {
        if (!full) {
            const auto at = place(id);
            return at < list.ids.size() ? static_cast<std::int64_t>(at) + 1 : 0;
        }
        if (id < 0 || static_cast<std::size_t>(id) >= logits.size())
            return 0;
        const double value = logits[static_cast<std::size_t>(id)];
        std::int64_t rank = 1;
        for (std::size_t i = 0; i < logits.size(); ++i)
            rank += logits[i] > value || (logits[i] == value && i < static_cast<std::size_t>(id));
        return rank;
    }
    std::vector<std::int32_t> top(std::size_t k) const
    {
        if (!full)
            return {list.ids.begin(), list.ids.begin() + static_cast<std::ptrdiff_t>(std::min(k, list.ids.size()))};
        std::vector<std::int32_t> ids(logits.size());
        std::iota(ids.begin(), ids.end(), 0);
        k = std::min(k, ids.size());
        std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(k), ids.end(), [&](auto a, auto b) {
            const double x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
            return x > y || (x == y && a < b);
        });
        ids.resize(k);
        return ids;
    }
};

/// False for a row that is no distribution (a NaN, a +inf, or nothing but -inf).
bool set_log_sum_exp(Side& side)
{
    double largest = -std::numeric_limits<double>::infinity();
    for (const double l : side.logits) {
        if (std::isnan(l))
            return false;
        largest = std::max(largest, l);
    }
    if (std::isinf(largest))
        return false;
    double sum = 0;
    for (const double l : side.logits)
        sum += std::exp(l - largest);
    side.lse = largest + std::log(sum);
    return true;
}

/// Reads the row at `found`; of a full one the first `vocab` ids (those that both traces have).
Result<Side> read_side(const Trace& trace, const Found& found, std::int64_t vocab, std::int64_t position)
{
    Side side;
    const auto invalid = [&] {
        return fail(ErrorKind::BadFormat,
                    "The row of {} at position {} is no distribution: it holds NaN, +inf or nothing but -inf.",
                    trace.run_name, position);
    };
    if (found.set->kind == ProbeSet::Kind::TopK) {
        if (!found.set->lists)
            return fail(ErrorKind::Unreadable, "The lists of {} cannot be read.", trace.run_name);
        std::vector<std::int32_t> ids(static_cast<std::size_t>(found.set->lists->k()));
        std::vector<float> logprobs(ids.size());
        if (auto read = found.set->lists->read(found.row, 1, ids, logprobs); !read)
            return tl::unexpected(read.error());
        side.list = listed_probe(ids, logprobs);
        if (side.list.ids.empty())
            return fail(ErrorKind::BadFormat, "The list of {} at position {} holds no values.", trace.run_name,
                        position);
        return side;
    }
    if (!found.set->rows)
        return fail(ErrorKind::Unreadable, "The rows of {} cannot be read.", trace.run_name);
    const auto& rows = *found.set->rows;
    std::vector<std::byte> data(static_cast<std::size_t>(rows.row_bytes()));
    if (auto read = rows.read(found.row, 1, data); !read)
        return tl::unexpected(read.error());
    side.full = true;
    side.logits.resize(static_cast<std::size_t>(std::min(vocab, rows.columns())));
    for (std::size_t i = 0; i < side.logits.size(); ++i)
        side.logits[i] = widen(data.data(), rows.type(), i);
    if (!set_log_sum_exp(side))
        return invalid();
    return side;
}

/// p (ln p - ln q) - p + q = p (e^x - 1 - x) with x = ln q - ln p, which does not cancel when p and q are close.
double kl_term(double ln_p, double ln_q)
{
    if (std::isnan(ln_p) || std::isnan(ln_q))
        return none;
    if (std::isinf(ln_p))
        return std::exp(ln_q);
    const double x = ln_q - ln_p;
    if (std::isinf(x))
        return std::numeric_limits<double>::infinity();
    // Beyond that, expm1(x) could overflow where p underflows.
    return x > 1 ? std::exp(ln_q) - std::exp(ln_p) * (1 + x) : std::exp(ln_p) * (std::expm1(x) - x);
}

TokenShare share_of(std::int32_t id, const Side& p, const Side& q)
{
    TokenShare share;
    share.id = id;
    share.p = std::exp(p.log_probability(id));
    share.q = std::exp(q.log_probability(id));
    share.rank_p = p.rank(id);
    share.rank_q = q.rank(id);
    share.logit_p = p.stored(id);
    share.logit_q = q.stored(id);
    share.kl_term = kl_term(p.log_probability(id), q.log_probability(id));
    return share;
}

std::vector<TokenShare> shares_of(const std::vector<std::int32_t>& ids, const Side& p, const Side& q)
{
    std::vector<TokenShare> shares;
    shares.reserve(ids.size());
    for (const auto id : ids)
        shares.push_back(share_of(id, p, q));
    return shares;
}

/// Ids whose terms are known, and the terms' sum (KL of two full rows).
struct Terms {
    std::vector<std::pair<double, std::int32_t>> all; ///< (term, id)
    double sum = 0;
};

Terms terms_of(const Side& p, const Side& q)
{
    Terms terms;
    const auto add = [&](std::int32_t id) {
        const double term = kl_term(p.log_probability(id), q.log_probability(id));
        if (std::isnan(term))
            return;
        terms.all.emplace_back(term, id);
        terms.sum += term;
    };
    if (p.full && q.full) {
        for (std::size_t i = 0; i < std::min(p.logits.size(), q.logits.size()); ++i)
            add(static_cast<std::int32_t>(i));
    } else {
        for (const auto id : p.full ? q.list.ids : p.list.ids)
            add(id);
    }
    return terms;
}

} // namespace

Result<ProbeDetail> probe_detail(const Trace& baseline, const Trace& run, std::int64_t position, int k)
{
    const Found in_p = find_probe(baseline, position), in_q = find_probe(run, position);
    if (!in_p.set || !in_q.set)
        return fail(ErrorKind::NotFound, "{} has no probe at position {}.", (in_p.set ? run : baseline).run_name,
                    position);
    std::int64_t vocab = std::numeric_limits<std::int32_t>::max();
    for (const auto* set : {in_p.set, in_q.set})
        if (set->rows)
            vocab = std::min(vocab, set->rows->columns());
    const auto p = read_side(baseline, in_p, vocab, position);
    if (!p)
        return tl::unexpected(p.error());
    const auto q = read_side(run, in_q, vocab, position);
    if (!q)
        return tl::unexpected(q.error());

    ProbeDetail detail;
    detail.position = position;
    const auto count = static_cast<std::size_t>(std::max(k, 0));
    detail.top_p = shares_of(p->top(count), *p, *q);
    detail.top_q = shares_of(q->top(count), *p, *q);
    auto terms = terms_of(*p, *q);
    detail.kl_pq = terms.sum;
    const auto shown = std::min(count, terms.all.size());
    std::partial_sort(
        terms.all.begin(), terms.all.begin() + static_cast<std::ptrdiff_t>(shown), terms.all.end(),
        [](const auto& a, const auto& b) { return a.first > b.first || (a.first == b.first && a.second < b.second); });
    for (std::size_t i = 0; i < shown && terms.all[i].first > 0; ++i)
        detail.largest_terms.push_back(share_of(terms.all[i].second, *p, *q));
    // The history's own next token, from whichever of the two histories goes on.
    const auto next = static_cast<std::size_t>(position) + 1;
    for (const auto* ids : {&run.tokens.ids, &baseline.tokens.ids})
        if (next < ids->size())
            detail.next = share_of((*ids)[next], *p, *q);
    if (!p->full || !q->full) {
        // Of lists only the coarsened distributions can be compared: the same lower bound as in the metrics table.
        const auto as_list = [](const Side& side, const Side& other) {
            if (!side.full)
                return side.list;
            return restrict_row(reinterpret_cast<const std::byte*>(side.logits.data()), LogitType::F64,
                                static_cast<std::int32_t>(side.logits.size()), other.list.ids, -1);
        };
        detail.kl_pq = topk_metrics(as_list(*p, *q), as_list(*q, *p), -1).kl_pq;
    }
    return detail;
}

} // namespace flipscope
