// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// One probe in vectors. This file is compiled once for each vector width (Highway's foreach_target) and the widest that
// the processor has is taken at run time. A pair of rows is read
//   1. as whole numbers (cpu_scan-inl.h): validity, maxima, the ten largest, differing elements; at memory's speed,
//   2. for everything that comes from exponentials but js and tv (cpu_sums-inl.h), from the second-level cache,
//   3. for js and tv, which need the sums of the second visit.
// bfloat16 rows take their exponentials from a table, all others compute them; float16 and pairs of unequal types are
// widened chunk by chunk.
#include "core/engine/cpu_kernel.h"
#include "core/engine/row_facts.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engine/cpu_kernel.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include "core/engine/cpu_careful-inl.h"
#include "core/engine/cpu_scan-inl.h"
#include "core/engine/cpu_sums-inl.h"
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace flipscope {
namespace HWY_NAMESPACE {

/// Calls work(I{}) with the whole number of a type's size.
template <class Work>
HWY_ATTR auto with_integer(LogitType type, const Work& work)
{
    if (size_of(type) == 2)
        return work(std::int16_t{});
    return size_of(type) == 4 ? work(std::int32_t{}) : work(std::int64_t{});
}

/// Scans both rows; returns the number of differing elements. Rows of one type are compared while they are in the
/// cache.
HWY_ATTR std::int64_t scan_rows(const RowPair& pair, RowScan& p, RowScan& q)
{
    const auto vocab = static_cast<std::size_t>(pair.vocab);
    p.span = q.span = span_of(vocab);
    if (pair.baseline_type == pair.run_type)
        return with_integer(pair.baseline_type, [&](auto i) HWY_ATTR {
            using I = decltype(i);
            const auto* a = reinterpret_cast<const I*>(pair.baseline);
            const auto* b = reinterpret_cast<const I*>(pair.run);
            std::size_t differing = 0;
            for (std::size_t first = 0; first < vocab; first += p.span) {
                const std::size_t n = std::min(p.span, vocab - first);
                scan_span(a, first, n, p);
                scan_span(b, first, n, q);
                differing += unequal(a + first, b + first, n);
            }
            return static_cast<std::int64_t>(differing);
        });
    const auto scan = [&](const std::byte* row, LogitType type, RowScan& to) HWY_ATTR {
        with_integer(type, [&](auto i) HWY_ATTR {
            for (std::size_t first = 0; first < vocab; first += to.span)
                scan_span(reinterpret_cast<const decltype(i)*>(row), first, std::min(to.span, vocab - first), to);
        });
    };
    scan(pair.baseline, pair.baseline_type, p);
    scan(pair.run, pair.run_type, q);
    return count_differing(pair.baseline, pair.baseline_type, pair.run, pair.run_type, pair.vocab);
}

/// No NaN, no +inf, and something above -inf.
bool is_valid(const RowScan& scan, LogitType type)
{
    const std::int64_t infinity = infinity_of(type);
    return scan.max < infinity && scan.max > ~infinity && scan.min >= ~infinity;
}

/// a - ln(1 + a), without what cancels for small a.
double log_excess(double a)
{
    if (std::fabs(a) > 0.1)
        return a - std::log1p(a);
    double sum = 0; // a^2 (1/2 - a/3 + a^2/4 - ...)
    for (int n = 16; n >= 2; --n)
        sum = 1.0 / n - a * sum;
    return a * a * sum;
}

/// KL both ways from the sums of one visit, and what they say about the visit's shift.
struct Divergences {
    double kl_pq, kl_qp;
    double log_ratio; ///< ln(Q / P)
    bool good;        ///< the accuracy that the manual promises was reached
};

Divergences divergences_of(const Sums& s)
{
    // q - p summed up term by term is exact where it is small, the difference of the sums where it is not.
    const double exact = s.forward + s.shifted;
    const double a = std::fabs(exact) < s.p ? exact / s.p : s.q / s.p - 1;
    const double b = -a / (1 + a), forward = s.forward / s.p, backward = s.backward / s.q;
    Divergences d{forward - log_excess(a), backward - log_excess(b), std::log1p(a), false};
    // What the sums lose to rounding, 1e-15 of their size with room to spare, must be small against the result.
    constexpr double smallest = 1e-12, room = 1e4;
    d.good = forward <= room * std::max(d.kl_pq, smallest) && backward <= room * std::max(d.kl_qp, smallest) &&
             std::isfinite(d.log_ratio);
    d.kl_pq = std::max(0.0, d.kl_pq);
    d.kl_qp = std::max(0.0, d.kl_qp);
    return d;
}

/// js from ln cosh: with J = KL(P||Q) + KL(Q||P), js = J / 4 - 1/2 sum (p + q) ln cosh(x / 2). False where J is so much
/// larger than js that it would lose the digits that are promised.
bool set_distances(const Distances& distances, PairNumbers& out)
{
    const double both = out.kl_pq + out.kl_qp;
    out.tv = distances.variation / 2;
    out.js = std::max(0.0, both / 4 - distances.cosh / 2);
    return both <= 1e4 * std::max(out.js, 1e-12);
}

/// Rows that only the careful way can do: a -inf on one side alone, or float64 below what the quick way stands for -inf
/// with. A -inf on both sides is nothing to either.
HWY_ATTR bool needs_care(const RowPair& pair, const RowScan& p, const RowScan& q)
{
    const auto masked = [](const RowScan& scan, LogitType type) { return scan.min == ~infinity_of(type); };
    const auto too_low = [](const RowScan& scan, LogitType type) {
        return type == LogitType::F64 && scan.min < key_of(std::bit_cast<std::int64_t>(nothing<double>));
    };
    if (too_low(p, pair.baseline_type) || too_low(q, pair.run_type))
        return true;
    const bool p_masked = masked(p, pair.baseline_type), q_masked = masked(q, pair.run_type);
    if (!p_masked && !q_masked)
        return false;
    if (p_masked != q_masked || pair.baseline_type != pair.run_type)
        return true;
    return with_integer(pair.run_type, [&](auto i) HWY_ATTR {
        using I = decltype(i);
        const auto mask = static_cast<I>(infinity_of(pair.run_type) | std::numeric_limits<I>::min());
        return masked_on_one_side(reinterpret_cast<const I*>(pair.baseline), reinterpret_cast<const I*>(pair.run),
                                  static_cast<std::size_t>(pair.vocab), mask);
    });
}

/// The numbers by one visit (two with js and tv); false where the careful way is needed.
template <class T, MetricSet set>
HWY_ATTR bool quick_numbers(const Visit& first, bool differ, PairNumbers& out)
{
    Visit visit = first;
    Sums sums = sums_of<T, set != MetricSet::Kl>(visit);
    Divergences found = divergences_of(sums);
    if (differ && !found.good) {
        visit.shift += found.log_ratio;
        if (!std::isfinite(visit.shift))
            return false;
        sums = sums_of<T, set != MetricSet::Kl>(visit);
        found = divergences_of(sums);
        if (!found.good)
            return false;
    }
    const double factor = std::exp(base_of<T>(visit.max_q) - base_of<T>(visit.max_p) - visit.shift);
    const double to_p = std::exp(base_of<T>(visit.max_p) - visit.max_p);
    const double to_q = std::exp(base_of<T>(visit.max_q) - visit.max_q) / factor;
    out.sum_p = sums.p * to_p;
    out.sum_q = sums.q * to_q;
    out.slope_p = sums.slope_p * to_p;
    out.slope_q = sums.slope_q * to_q;
    out.largest = sums.largest;
    if (!differ)
        return true; // identical rows are exactly 0
    out.kl_pq = found.kl_pq;
    out.kl_qp = found.kl_qp;
    if constexpr (set == MetricSet::Full) {
        visit.shift += found.log_ratio;
        return set_distances(distances_of<T>(visit, sums.p, sums.q / factor), out);
    }
    return true;
}

template <MetricSet set>
HWY_ATTR PairNumbers numbers_of(const RowPair& pair, const Visit& visit, bool differ)
{
    PairNumbers out;
    if (visit.careful)
        return careful_numbers(pair, visit.max_p, visit.max_q);
    const auto narrow = [](LogitType t) { return t != LogitType::F64; };
    // Where e^l itself would leave the range of doubles, bfloat16 is treated as float32 is.
    const auto moderate = [](double max) { return std::fabs(max) < 300; };
    bool done = false;
    if (pair.baseline_type == LogitType::BF16 && pair.run_type == LogitType::BF16 && moderate(visit.max_p) &&
        moderate(visit.max_q))
        done = quick_numbers<std::uint16_t, set>(visit, differ, out);
    else if (narrow(pair.baseline_type) && narrow(pair.run_type))
        done = quick_numbers<float, set>(visit, differ, out);
    else
        done = quick_numbers<double, set>(visit, differ, out);
    if (!done)
        out = careful_numbers(pair, visit.max_p, visit.max_q);
    return out;
}

/// ln S - T / S, S being the sum of exponentials and T that of (l - max) exp(l - max): both parts are >= 0.
double entropy_of(double sum, double slope)
{
    return std::log(sum) - slope / sum;
}

/// What is known from the largest logits alone.
template <std::size_t K>
void set_top(const TopList<K>& p, const TopList<K>& q, ProbeMetrics& m)
{
    m.argmax_p = p.id(0);
    m.argmax_q = q.id(0);
    m.flip = m.argmax_p != m.argmax_q;
    m.tied = (p.size() > 1 && p.value(0) == p.value(1)) || (q.size() > 1 && q.value(0) == q.value(1));
    m.margin = p.size() > 1 ? p.value(0) - p.value(1) : std::numeric_limits<double>::quiet_NaN();
    if constexpr (K >= 10) {
        m.top5_overlap = top_overlap(p, q, 5);
        m.top10_overlap = top_overlap(p, q, 10);
    }
}

/// What is known from the sums.
void set_numbers(const RowPair& pair, const Visit& visit, const PairNumbers& n, MetricSet set, ProbeMetrics& m)
{
    const auto p_at = [&](std::int32_t id) { return widen(pair.baseline, pair.baseline_type, id); };
    const auto q_at = [&](std::int32_t id) { return widen(pair.run, pair.run_type, id); };
    const double log_p = std::log(n.sum_p), log_q = std::log(n.sum_q);
    m.kl_pq = n.kl_pq;
    m.kl_qp = n.kl_qp;
    m.lse_p = visit.max_p + log_p;
    m.lse_q = visit.max_q + log_q;
    m.p_top = 1 / n.sum_p;
    m.q_top = std::exp(q_at(m.argmax_p) - visit.max_q) / n.sum_q;
    if (pair.next_id >= 0 && pair.next_id < pair.vocab) {
        m.nll_p = log_p - (p_at(pair.next_id) - visit.max_p);
        m.nll_q = log_q - (q_at(pair.next_id) - visit.max_q);
        m.dp = std::exp(-m.nll_q) - std::exp(-m.nll_p);
    }
    if (set == MetricSet::Kl)
        return;
    m.entropy_p = entropy_of(n.sum_p, n.slope_p);
    m.entropy_q = entropy_of(n.sum_q, n.slope_q);
    m.max_abs_dlogit = n.largest;
    if (set == MetricSet::Core)
        return;
    m.js = n.js;
    m.tv = n.tv;
}

template <MetricSet set>
HWY_ATTR void compute_row(const RowPair& pair, ProbeMetrics& m)
{
    constexpr std::size_t k = set == MetricSet::Full ? 10 : 2;
    const auto vocab = static_cast<std::size_t>(pair.vocab);
    RowScan scan_p, scan_q;
    const std::int64_t differing = scan_rows(pair, scan_p, scan_q);
    set_invalid(m, differing); // whatever is not wanted stays NaN
    if (!is_valid(scan_p, pair.baseline_type) || !is_valid(scan_q, pair.run_type))
        return;
    m.valid = 1;
    TopList<k> top_p, top_q;
    const auto find = [&](const std::byte* row, LogitType type, const RowScan& scan, TopList<k>& list) HWY_ATTR {
        with_integer(type, [&](auto i) HWY_ATTR { find_top<decltype(i)>(row, type, vocab, scan, list); });
    };
    find(pair.baseline, pair.baseline_type, scan_p, top_p);
    find(pair.run, pair.run_type, scan_q, top_q);
    set_top(top_p, top_q, m);
    m.rank = 1;
    if (m.flip)
        m.rank = with_integer(pair.run_type, [&](auto i) HWY_ATTR {
            return rank_in(reinterpret_cast<const decltype(i)*>(pair.run), vocab, static_cast<std::size_t>(m.argmax_p));
        });
    const Visit visit{
        {pair.baseline, pair.baseline_type, scan_p.min == ~infinity_of(pair.baseline_type), pair.next_baseline},
        {pair.run, pair.run_type, scan_q.min == ~infinity_of(pair.run_type), pair.next_run},
        vocab,
        top_p.value(0),
        top_q.value(0),
        top_q.value(0) - top_p.value(0),
        needs_care(pair, scan_p, scan_q)};
    set_numbers(pair, visit, numbers_of<set>(pair, visit, differing != 0), set, m);
}

void row_metrics(const RowPair& pair, MetricSet wanted, ProbeMetrics& m)
{
    switch (wanted) {
    case MetricSet::Kl:
        return compute_row<MetricSet::Kl>(pair, m);
    case MetricSet::Core:
        return compute_row<MetricSet::Core>(pair, m);
    case MetricSet::Full:
        return compute_row<MetricSet::Full>(pair, m);
    }
}

const char* vector_name()
{
    return hwy::TargetName(HWY_TARGET);
}

} // namespace HWY_NAMESPACE
} // namespace flipscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace flipscope {
HWY_EXPORT(row_metrics);
HWY_EXPORT(vector_name);

void cpu_row_metrics(const RowPair& pair, MetricSet wanted, ProbeMetrics& out)
{
    HWY_DYNAMIC_DISPATCH(row_metrics)(pair, wanted, out);
}

const char* cpu_vector_name()
{
    const char* const name = HWY_DYNAMIC_DISPATCH(vector_name)();
    return std::string_view(name).substr(0, 4) == "AVX3" ? "AVX-512" : name; // Highway's own word for it
}
} // namespace flipscope
#endif
