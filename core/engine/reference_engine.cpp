// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The metrics, one after the other, as the manual defines them: slow, plain, in 80-bit arithmetic. What the fast
// engines are checked against, and the place to read what a metric means.
#include "core/engine/engine.h"
#include "core/engine/row_facts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace flipscope {

namespace {

using Real = long double;
using Row = std::vector<double>; // logits, widened exactly

Row widen_row(const RowView& view, std::int64_t row, std::int32_t vocab)
{
    const std::byte* data = view.data + row * view.stride;
    Row logits(static_cast<std::size_t>(vocab));
    for (std::size_t i = 0; i < logits.size(); ++i)
        logits[i] = widen(data, view.type, i);
    return logits;
}

bool has_distribution(const Row& logits)
{
    bool some = false;
    for (const double l : logits) {
        if (std::isnan(l) || l == std::numeric_limits<double>::infinity())
            return false;
        some = some || !std::isinf(l);
    }
    return some;
}

Real log_sum_exp(const Row& logits)
{
    const Real largest = *std::max_element(logits.begin(), logits.end());
    Real sum = 0;
    for (const double l : logits)
        sum += std::exp(static_cast<Real>(l) - largest);
    return largest + std::log(sum);
}

/// Probabilities of all ids, and their logarithms.
struct Distribution {
    std::vector<Real> ln, p;

    explicit Distribution(std::vector<Real> logarithms) : ln(std::move(logarithms)), p(ln.size())
    {
        std::transform(ln.begin(), ln.end(), p.begin(), [](Real l) { return std::exp(l); });
    }
};

Distribution softmax(const Row& logits, Real lse)
{
    std::vector<Real> ln(logits.size());
    std::transform(logits.begin(), logits.end(), ln.begin(), [lse](double l) { return static_cast<Real>(l) - lse; });
    return Distribution(std::move(ln));
}

/// KL(A||B) = sum a (ln a - ln b). Written as sum a (expm1(x) - x) with x = ln b - ln a: equal, since sum b - sum a =
/// 0; every term is >= 0, and nothing cancels when the two are close (form B of the manual).
Real divergence(const Distribution& a, const Distribution& b)
{
    Real sum = 0, mass_b_alone = 0;
    for (std::size_t i = 0; i < a.ln.size(); ++i) {
        if (std::isinf(a.ln[i])) { // a = 0: the term is b
            mass_b_alone += b.p[i];
            continue;
        }
        const Real x = b.ln[i] - a.ln[i];
        if (std::isinf(x)) // a > 0 where b = 0
            return std::numeric_limits<Real>::infinity();
        // For x above 1 and a tiny a, a * expm1(x) would be 0 * inf: take b - a instead.
        sum += x > 1 ? b.p[i] - a.p[i] * (1 + x) : a.p[i] * (std::expm1(x) - x);
    }
    return sum + mass_b_alone;
}

Real entropy(const Distribution& a)
{
    Real sum = 0;
    for (std::size_t i = 0; i < a.ln.size(); ++i)
        if (a.p[i] > 0)
            sum -= a.p[i] * a.ln[i];
    return sum;
}

/// Ids in the order logit descending, id ascending; the first `k`.
std::vector<std::int32_t> top(const Row& logits, std::size_t k)
{
    std::vector<std::int32_t> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    k = std::min(k, ids.size());
    std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(k), ids.end(),
                      [&](auto a, auto b) { return logits[a] > logits[b] || (logits[a] == logits[b] && a < b); });
    ids.resize(k);
    return ids;
}

/// |first k of a and first k of b| / k; a vocabulary smaller than k cannot reach 1.
double overlap(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b, std::size_t k)
{
    const std::size_t n = std::min({k, a.size(), b.size()});
    std::int64_t common = 0;
    for (std::size_t i = 0; i < n; ++i)
        common += std::count(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(n), a[i]);
    return static_cast<double>(common) / static_cast<double>(k);
}

void jensen_shannon_and_variation(const Distribution& p, const Distribution& q, ProbeMetrics& m)
{
    std::vector<Real> ln_middle(p.ln.size());
    Real variation = 0;
    for (std::size_t i = 0; i < p.ln.size(); ++i) {
        variation += std::fabs(p.p[i] - q.p[i]);
        // ln((p + q) / 2) from the larger of the two, so that it cannot underflow before they do.
        const Real high = std::max(p.ln[i], q.ln[i]), low = std::min(p.ln[i], q.ln[i]);
        ln_middle[i] = std::isinf(high) ? high : high + std::log1p(std::expm1(low - high) / 2);
    }
    const Distribution middle(std::move(ln_middle));
    m.tv = static_cast<double>(variation / 2);
    m.js = static_cast<double>((divergence(p, middle) + divergence(q, middle)) / 2);
}

double largest_difference(const Row& l, const Row& k)
{
    double largest = 0;
    for (std::size_t i = 0; i < l.size(); ++i)
        if (l[i] != k[i]) // equal infinities differ by 0
            largest = std::max(largest, std::fabs(l[i] - k[i]));
    return largest;
}

ProbeMetrics compute_pair(const Row& l, const Row& k, std::int64_t differing, std::int32_t next)
{
    ProbeMetrics m{};
    m.differing = differing;
    if (!has_distribution(l) || !has_distribution(k)) {
        set_invalid(m, m.differing);
        return m;
    }
    m.valid = 1;
    const Real lse_p = log_sum_exp(l), lse_q = log_sum_exp(k);
    const Distribution p = softmax(l, lse_p), q = softmax(k, lse_q);
    m.lse_p = static_cast<double>(lse_p);
    m.lse_q = static_cast<double>(lse_q);
    if (m.differing != 0) { // identical rows are exactly 0 by definition
        m.kl_pq = static_cast<double>(divergence(p, q));
        m.kl_qp = static_cast<double>(divergence(q, p));
        jensen_shannon_and_variation(p, q, m);
    }
    const auto top_p = top(l, 11), top_q = top(k, 11);
    m.argmax_p = top_p[0];
    m.argmax_q = top_q[0];
    m.flip = m.argmax_p != m.argmax_q;
    const auto tie = [](const Row& row, const auto& order) {
        return order.size() > 1 && row[order[0]] == row[order[1]];
    };
    m.tied = tie(l, top_p) || tie(k, top_q);
    m.margin = top_p.size() > 1 ? l[top_p[0]] - l[top_p[1]] : std::numeric_limits<double>::quiet_NaN();
    m.rank = 1;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(k.size()); ++i)
        m.rank += k[i] > k[m.argmax_p] || (k[i] == k[m.argmax_p] && i < m.argmax_p);
    m.top5_overlap = overlap(top_p, top_q, 5);
    m.top10_overlap = overlap(top_p, top_q, 10);
    m.p_top = static_cast<double>(p.p[m.argmax_p]);
    m.q_top = static_cast<double>(q.p[m.argmax_p]);
    m.entropy_p = static_cast<double>(entropy(p));
    m.entropy_q = static_cast<double>(entropy(q));
    m.nll_p = m.nll_q = m.dp = std::numeric_limits<double>::quiet_NaN();
    if (next >= 0 && next < static_cast<std::int32_t>(l.size())) {
        m.nll_p = static_cast<double>(-p.ln[next]);
        m.nll_q = static_cast<double>(-q.ln[next]);
        m.dp = static_cast<double>(q.p[next] - p.p[next]);
    }
    m.max_abs_dlogit = largest_difference(l, k);
    return m;
}

class ReferenceEngine final : public Engine {
public:
    std::string_view name() const override { return "reference"; }
    std::string detail() const override { return "80-bit arithmetic, one thread"; }

    Result<void> compute(const PairBlock& block, std::span<ProbeMetrics> out, std::stop_token stop) override
    {
        if (auto sensible = check_block(block, out.size()); !sensible)
            return sensible;
        for (std::int64_t row = 0; row < block.rows; ++row) {
            if (stop.stop_requested())
                return cancelled();
            const auto differing =
                count_differing(block.baseline.data + row * block.baseline.stride, block.baseline.type,
                                block.run.data + row * block.run.stride, block.run.type, block.vocab);
            out[row] = compute_pair(widen_row(block.baseline, row, block.vocab), widen_row(block.run, row, block.vocab),
                                    differing, block.next_ids ? block.next_ids[row] : -1);
        }
        return {};
    }
};

} // namespace

std::unique_ptr<Engine> make_reference_engine()
{
    return std::make_unique<ReferenceEngine>();
}

} // namespace flipscope
