// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// A pair of rows in two visits that assume nothing about it but that it is valid: for those that the one visit of
// cpu_sums-inl.h cannot do, as rows with a probability of 0 on one side alone, or with differences of 1e30. Included
// once for each vector width, hence no `#pragma once`.
//
// The first visit gives S = sum exp(l - max) of both rows, the second the divergences. With p = exp(l - max_p) / S_p,
// q likewise and x = ln q - ln p, KL(P||Q) = sum p (e^x - 1 - x): equal to sum p (ln p - ln q), but every term is >= 0
// and an error in x's constant part enters only in second order, so that nothing cancels (form B of the manual). x
// comes from the logits and ln(S_q / S_p), never from log-sum-exps, whose size would cost digits.
#if defined(FLIPSCOPE_CPU_CAREFUL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FLIPSCOPE_CPU_CAREFUL_INL_H
#undef FLIPSCOPE_CPU_CAREFUL_INL_H
#else
#define FLIPSCOPE_CPU_CAREFUL_INL_H
#endif

#include "core/engine/cpu_kernel.h"
#include "core/engine/cpu_math-inl.h"
#include "core/engine/cpu_widen-inl.h"

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace flipscope {
namespace HWY_NAMESPACE {

/// Numbers of a pair of rows that come from sums over exponentials, whichever way they were found.
struct PairNumbers {
    double sum_p = 0, sum_q = 0;     ///< of exp(l - max_p), exp(k - max_q)
    double slope_p = 0, slope_q = 0; ///< sum (l - max_p) exp(l - max_p), likewise for k
    double largest = 0;              ///< max |l - k|
    double kl_pq = 0, kl_qp = 0, js = 0, tv = 0;
};

inline HWY_ATTR double total(V v)
{
    return hn::GetLane(hn::SumOfLanes(D(), v));
}

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
constexpr double lowest = -1e300; ///< stands for -inf where arithmetic must stay finite

/// Calls use(n, l, k) for each chunk of both rows, filled up to a whole vector with -inf on both sides.
template <class Use>
HWY_ATTR void for_each_chunk(const RowPair& pair, const Use& use)
{
    HWY_ALIGN double l[chunk_size];
    HWY_ALIGN double k[chunk_size];
    const auto vocab = static_cast<std::size_t>(pair.vocab);
    for (std::size_t first = 0; first < vocab; first += chunk_size) {
        const std::size_t n = std::min(chunk_size, vocab - first);
        widen_to_doubles(pair.baseline, pair.baseline_type, first, n, l);
        widen_to_doubles(pair.run, pair.run_type, first, n, k);
        for (std::size_t i = n; i % hn::Lanes(D()) != 0; ++i)
            l[i] = k[i] = minus_infinity;
        use(n, l, k);
    }
}

/// -inf on one side alone.
struct Zeros {
    bool q_where_p = false, p_where_q = false;
};

HWY_ATTR inline Zeros careful_first(const RowPair& pair, double max_p, double max_q, PairNumbers& out)
{
    const D d;
    const V none = set(minus_infinity), floor = set(lowest), top_p = set(max_p), top_q = set(max_q);
    V sum_p = hn::Zero(d), sum_q = sum_p, slope_p = sum_p, slope_q = sum_p, largest = sum_p;
    Zeros zeros;
    for_each_chunk(pair, [&](std::size_t n, const double* l, const double* k) HWY_ATTR {
        for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
            const V a = hn::Load(d, l + i), b = hn::Load(d, k + i);
            const auto no_p = hn::Eq(a, none), no_q = hn::Eq(b, none);
            zeros.p_where_q |= !hn::AllFalse(d, hn::AndNot(no_q, no_p));
            zeros.q_where_p |= !hn::AllFalse(d, hn::AndNot(no_p, no_q));
            largest = hn::Max(largest, hn::IfThenZeroElse(hn::Eq(a, b), hn::Abs(hn::Sub(a, b))));
            // Finite, so that 0 y is 0.
            const V y = hn::Max(hn::Sub(a, top_p), floor), z = hn::Max(hn::Sub(b, top_q), floor);
            const V p = exp_below_zero(y), q = exp_below_zero(z);
            sum_p = hn::Add(sum_p, p);
            sum_q = hn::Add(sum_q, q);
            slope_p = hn::MulAdd(p, y, slope_p);
            slope_q = hn::MulAdd(q, z, slope_q);
        }
    });
    out.sum_p = total(sum_p);
    out.sum_q = total(sum_q);
    out.slope_p = total(slope_p);
    out.slope_q = total(slope_q);
    out.largest = hn::GetLane(hn::MaxOfLanes(d, largest));
    return zeros;
}

struct CarefulSums {
    V kl_pq, kl_qp, js, tv;
};

/// One vector of ids. Away from x = 0, q - p - p x loses little: 1e-15 against at least near_x^2 / 2.
HWY_INLINE void add_careful(V p, V q, V x, CarefulSums& s)
{
    const D d;
    const V size = hn::Abs(x);
    const auto near = hn::Lt(size, set(near_x));
    const V square = hn::Mul(x, x), weight = hn::Mul(p, square), excess = excess_near(x);
    const V difference = hn::IfThenElse(near, hn::Mul(p, hn::MulAdd(square, excess, x)), hn::Sub(q, p));
    s.kl_pq = hn::Add(s.kl_pq, hn::IfThenElse(near, hn::Mul(weight, excess), hn::NegMulAdd(p, x, difference)));
    s.kl_qp = hn::Add(s.kl_qp, hn::IfThenElse(near, hn::Mul(weight, hn::NegMulAdd(excess, hn::Sub(set(1), x), set(1))),
                                              hn::MulSub(q, x, difference)));
    s.tv = hn::Add(s.tv, hn::Abs(difference));
    // With h = x / 2 an id adds ((q - p) h - (p + q) ln cosh h) / 2 to the Jensen-Shannon divergence.
    const V both = hn::Add(p, q);
    if (hn::AllTrue(d, hn::Lt(size, set(2)))) {
        const V h = hn::Mul(x, set(0.5)), h2 = hn::Mul(h, h);
        const V middle = hn::Mul(set(0.5), hn::MulSub(difference, h, hn::Mul(hn::Mul(both, h2), log_cosh(h2))));
        s.js = hn::Add(s.js, hn::IfThenElse(near, hn::Mul(weight, shannon_near(x)), middle));
        return;
    }
    // The same for large |x|, where p or q may be 0.
    const V low = hn::Min(p, q), high = hn::Max(p, q);
    const V half = hn::Sub(set(0x1.62e42fefa39efp-1), log_one_plus_ratio(low, high)); // ln 2 - ln(1 + low/high)
    const V twice = hn::NegMulAdd(low, size, hn::Mul(both, half));
    s.js = hn::Add(s.js, hn::IfThenElse(near, hn::Mul(weight, shannon_near(x)), hn::Mul(twice, set(0.5))));
}

/// All numbers of a valid pair; the maxima are known.
HWY_ATTR inline PairNumbers careful_numbers(const RowPair& pair, double max_p, double max_q)
{
    const D d;
    PairNumbers out;
    const Zeros zeros = careful_first(pair, max_p, max_q, out);
    const V zero = hn::Zero(d), floor = set(lowest), top_p = set(max_p), top_q = set(max_q);
    const V scale_p = set(1 / out.sum_p), scale_q = set(1 / out.sum_q);
    const V max_shift = set(max_q - max_p), sum_shift = set(std::log(out.sum_q / out.sum_p));
    CarefulSums s{zero, zero, zero, zero};
    for_each_chunk(pair, [&](std::size_t n, const double* l, const double* k) HWY_ATTR {
        for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
            // -inf becomes a finite number with weight 0, so that no NaN comes of it.
            const V a = hn::Max(hn::Load(d, l + i), floor), b = hn::Max(hn::Load(d, k + i), floor);
            const V p = hn::Mul(scale_p, exp_below_zero(hn::Sub(a, top_p)));
            const V q = hn::Mul(scale_q, exp_below_zero(hn::Sub(b, top_q)));
            // k - l is exact where the two are close, which is where it matters.
            add_careful(p, q, hn::Sub(hn::Sub(hn::Sub(b, a), max_shift), sum_shift), s);
        }
    });
    constexpr double infinity = std::numeric_limits<double>::infinity();
    // A weight that was too small for the exponential may leave -1e-300: that is 0.
    out.kl_pq = zeros.q_where_p ? infinity : std::max(0.0, total(s.kl_pq));
    out.kl_qp = zeros.p_where_q ? infinity : std::max(0.0, total(s.kl_qp));
    out.js = std::max(0.0, total(s.js));
    out.tv = total(s.tv) / 2;
    return out;
}

} // namespace HWY_NAMESPACE
} // namespace flipscope
HWY_AFTER_NAMESPACE();

#endif
