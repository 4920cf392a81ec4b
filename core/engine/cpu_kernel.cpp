// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// One probe in FP64 vectors. This file is compiled once for each vector width (Highway's foreach_target) and the widest
// that the processor has is taken at run time.
//
// The row pair is visited in three passes over chunks that are widened to doubles and stay in the first-level cache:
//   1. what needs no exponential: odd values, maxima, the ten largest of both rows, max |l - k|;
//   2. S = sum exp(l - max) of both rows, hence the log-sum-exps;
//   3. the sums. With x = ln q - ln p, KL(P||Q) = sum p (e^x - 1 - x): equal to sum p (ln p - ln q), but every term is
//      >= 0 and an error in the log-sum-exps enters only in second order, so that nothing cancels (form B of the
//      manual).
#include "core/engine/cpu_kernel.h"
#include "core/engine/row_facts.h"
#include "core/engine/top_list.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engine/cpu_kernel.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace flipscope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

constexpr std::size_t chunk_size = 512; // 2 x 4 KiB of doubles; a multiple of every vector width
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
constexpr double small_x = 0.5; // below, e^x - 1 - x comes from its series

/// Widens n logits from `first` on, exactly; fills up to a whole vector with -inf (probability 0, equal on both sides).
HWY_ATTR void widen_chunk(const std::byte* row, LogitType type, std::size_t first, std::size_t n, double* out)
{
    const D d;
    const hn::Rebind<float, D> df;
    const hn::Rebind<std::uint16_t, D> d16;
    const hn::Rebind<hwy::float16_t, D> dh;
    const hn::Rebind<std::uint32_t, D> d32;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t whole = n / lanes * lanes;
    switch (type) {
    case LogitType::BF16: {
        const auto* in = reinterpret_cast<const std::uint16_t*>(row) + first;
        for (std::size_t i = 0; i < whole; i += lanes) {
            const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, in + i)));
            hn::Store(hn::PromoteTo(d, hn::BitCast(df, bits)), d, out + i);
        }
        break;
    }
    case LogitType::F16: {
        const auto* in = reinterpret_cast<const hwy::float16_t*>(row) + first;
        for (std::size_t i = 0; i < whole; i += lanes)
            hn::Store(hn::PromoteTo(d, hn::PromoteTo(df, hn::LoadU(dh, in + i))), d, out + i);
        break;
    }
    case LogitType::F32: {
        const auto* in = reinterpret_cast<const float*>(row) + first;
        for (std::size_t i = 0; i < whole; i += lanes)
            hn::Store(hn::PromoteTo(d, hn::LoadU(df, in + i)), d, out + i);
        break;
    }
    case LogitType::F64: {
        const auto* in = reinterpret_cast<const double*>(row) + first;
        for (std::size_t i = 0; i < whole; i += lanes)
            hn::Store(hn::LoadU(d, in + i), d, out + i);
        break;
    }
    }
    for (std::size_t i = whole; i < n; ++i)
        out[i] = widen(row, type, first + i);
    for (std::size_t i = n; i % lanes != 0; ++i)
        out[i] = minus_infinity;
}

/// Calls visit(n, first id, l, k) for each chunk of both rows.
template <class Visit>
HWY_ATTR void for_each_chunk(const RowPair& pair, const Visit& visit)
{
    HWY_ALIGN double l[chunk_size];
    HWY_ALIGN double k[chunk_size];
    const auto vocab = static_cast<std::size_t>(pair.vocab);
    for (std::size_t first = 0; first < vocab; first += chunk_size) {
        const std::size_t n = std::min(chunk_size, vocab - first);
        widen_chunk(pair.baseline, pair.baseline_type, first, n, l);
        widen_chunk(pair.run, pair.run_type, first, n, k);
        visit(n, first, l, k);
    }
}

struct FirstPass {
    bool has_nan = false, has_plus_infinity = false;
    bool q_zero_where_p = false, p_zero_where_q = false; ///< -inf on one side alone
    double max_abs_difference = 0;
    TopList<10> top_p, top_q;
};

/// Offers what may enter the list: most chunks hold nothing above its threshold and cost one comparison a vector.
HWY_ATTR void offer_chunk(const double* values, std::size_t n, std::size_t first, TopList<10>& list)
{
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < n; i += lanes) {
        if (list.full() && hn::AllFalse(d, hn::Gt(hn::Load(d, values + i), hn::Set(d, list.threshold()))))
            continue;
        for (std::size_t j = i; j < std::min(n, i + lanes); ++j)
            list.offer(values[j], static_cast<std::int32_t>(first + j));
    }
}

HWY_ATTR FirstPass first_pass(const RowPair& pair)
{
    const D d;
    FirstPass result;
    for_each_chunk(pair, [&](std::size_t n, std::size_t first, const double* l, const double* k) HWY_ATTR {
        V largest = hn::Set(d, result.max_abs_difference);
        auto nan = hn::Lt(largest, largest), infinite = nan, only_p = nan, only_q = nan;
        const V plus = hn::Set(d, -minus_infinity), minus = hn::Set(d, minus_infinity);
        for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
            const V a = hn::Load(d, l + i), b = hn::Load(d, k + i);
            nan = hn::Or(nan, hn::Or(hn::IsNaN(a), hn::IsNaN(b))); // Ne(a, a) is false for a NaN
            infinite = hn::Or(infinite, hn::Or(hn::Eq(a, plus), hn::Eq(b, plus)));
            const auto a_zero = hn::Eq(a, minus), b_zero = hn::Eq(b, minus);
            only_p = hn::Or(only_p, hn::AndNot(a_zero, b_zero));
            only_q = hn::Or(only_q, hn::AndNot(b_zero, a_zero));
            // Equal values (infinities too) differ by 0.
            largest = hn::Max(largest, hn::IfThenZeroElse(hn::Eq(a, b), hn::Abs(hn::Sub(a, b))));
        }
        result.has_nan = result.has_nan || !hn::AllFalse(d, nan);
        result.has_plus_infinity = result.has_plus_infinity || !hn::AllFalse(d, infinite);
        result.q_zero_where_p = result.q_zero_where_p || !hn::AllFalse(d, only_p);
        result.p_zero_where_q = result.p_zero_where_q || !hn::AllFalse(d, only_q);
        result.max_abs_difference = hn::GetLane(hn::MaxOfLanes(d, largest));
        if (result.has_nan)
            return;
        offer_chunk(l, n, first, result.top_p);
        offer_chunk(k, n, first, result.top_q);
    });
    return result;
}

struct LogSumExps {
    double p, q;
};

HWY_ATTR LogSumExps log_sum_exps(const RowPair& pair, double max_p, double max_q)
{
    const D d;
    V sum_p = hn::Zero(d), sum_q = hn::Zero(d);
    const V shift_p = hn::Set(d, max_p), shift_q = hn::Set(d, max_q);
    for_each_chunk(pair, [&](std::size_t n, std::size_t, const double* l, const double* k) HWY_ATTR {
        for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
            sum_p = hn::Add(sum_p, hn::Exp(d, hn::Sub(hn::Load(d, l + i), shift_p)));
            sum_q = hn::Add(sum_q, hn::Exp(d, hn::Sub(hn::Load(d, k + i), shift_q)));
        }
    });
    return {max_p + std::log(hn::GetLane(hn::SumOfLanes(d, sum_p))),
            max_q + std::log(hn::GetLane(hn::SumOfLanes(d, sum_q)))};
}

/// (e^x - 1 - x) / x^2 for |x| < small_x: its Taylor series to x^13, the rest is below 1e-15 of it.
HWY_ATTR V series_exp(V x)
{
    const D d;
    double factorial = 87178291200.0; // 14!
    V r = hn::Set(d, 1 / factorial);
    for (int i = 14; i > 2; --i) {
        factorial /= i;
        r = hn::MulAdd(r, x, hn::Set(d, 1 / factorial));
    }
    return r;
}

/// ((1-u) ln(1-u) + (1+u) ln(1+u)) / u^2 = sum over n >= 1 of u^(2n-2) / (n (2n-1)), for |u| < 1/4.
HWY_ATTR V series_entropy(V u2)
{
    const D d;
    constexpr int terms = 12;
    V r = hn::Set(d, 1.0 / (terms * (2 * terms - 1)));
    for (int n = terms - 1; n >= 1; --n)
        r = hn::MulAdd(r, u2, hn::Set(d, 1.0 / (n * (2 * n - 1))));
    return r;
}

/// v ln v with 0 ln 0 = 0.
HWY_ATTR V times_log(V v)
{
    const D d;
    const auto positive = hn::Gt(v, hn::Zero(d));
    return hn::IfThenElseZero(positive, hn::Mul(v, hn::Log(d, hn::IfThenElse(positive, v, hn::Set(d, 1.0)))));
}

struct Sums {
    V kl_pq, kl_qp, js, tv, entropy_p, entropy_q;
};

/// Terms of elements whose |x| may be anything, also infinite.
HWY_ATTR void add_far(V p, V q, V x, Sums& s)
{
    const D d;
    const V one = hn::Set(d, 1.0), zero = hn::Zero(d);
    const auto p_some = hn::Gt(p, zero), q_some = hn::Gt(q, zero);
    const auto near = hn::Lt(hn::Abs(x), hn::Set(d, small_x));
    const V x_near = hn::IfThenElseZero(near, x), square = hn::Mul(x_near, x_near);
    // Far apart, q - p - p x loses nothing: it is of the size of its largest part.
    const V far_pq = hn::IfThenElse(p_some, hn::Sub(q, hn::MulAdd(p, x, p)), q);
    const V far_qp = hn::IfThenElse(q_some, hn::Sub(p, hn::NegMulAdd(q, x, q)), p);
    s.kl_pq = hn::Add(s.kl_pq, hn::IfThenElse(near, hn::Mul(p, hn::Mul(square, series_exp(x_near))), far_pq));
    s.kl_qp = hn::Add(s.kl_qp, hn::IfThenElse(near, hn::Mul(q, hn::Mul(square, series_exp(hn::Neg(x_near)))), far_qp));
    const V e_near = hn::MulAdd(square, series_exp(x_near), x_near);
    s.tv = hn::Add(s.tv, hn::IfThenElse(near, hn::Abs(hn::Mul(p, e_near)), hn::Abs(hn::Sub(q, p))));
    // js: m = (p + q) / 2, u = (q - p) / (q + p).
    const V both = hn::Add(p, q);
    const V u_far = hn::Div(hn::Sub(q, p), hn::IfThenElse(hn::Gt(both, zero), both, one));
    const V u_near = hn::Div(e_near, hn::Add(e_near, hn::Set(d, 2.0)));
    const V u2 = hn::Mul(u_near, u_near);
    const V psi_far = hn::Add(times_log(hn::Sub(one, u_far)), times_log(hn::Add(one, u_far)));
    s.js = hn::MulAdd(both, hn::IfThenElse(near, hn::Mul(u2, series_entropy(u2)), psi_far), s.js);
}

/// The same where all |x| < small_x, the usual case: no logarithm, no selection.
HWY_ATTR void add_near(V p, V q, V x, Sums& s)
{
    const D d;
    const V square = hn::Mul(x, x);
    const V phi = hn::Mul(square, series_exp(x));
    s.kl_pq = hn::MulAdd(p, phi, s.kl_pq);
    s.kl_qp = hn::MulAdd(q, hn::Mul(square, series_exp(hn::Neg(x))), s.kl_qp);
    const V e = hn::Add(phi, x);
    s.tv = hn::MulAdd(p, hn::Abs(e), s.tv);
    const V u = hn::Div(e, hn::Add(e, hn::Set(d, 2.0)));
    const V u2 = hn::Mul(u, u);
    s.js = hn::MulAdd(hn::Add(p, q), hn::Mul(u2, series_entropy(u2)), s.js);
}

HWY_ATTR void third_pass(const RowPair& pair, LogSumExps lse, const FirstPass& facts, ProbeMetrics& m)
{
    const D d;
    const V zero = hn::Zero(d);
    Sums s{zero, zero, zero, zero, zero, zero};
    const V lse_p = hn::Set(d, lse.p), lse_q = hn::Set(d, lse.q), shift = hn::Set(d, lse.q - lse.p);
    for_each_chunk(pair, [&](std::size_t n, std::size_t, const double* l, const double* k) HWY_ATTR {
        for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
            const V a = hn::Load(d, l + i), b = hn::Load(d, k + i);
            const V ln_p = hn::Sub(a, lse_p), ln_q = hn::Sub(b, lse_q);
            const V p = hn::Exp(d, ln_p), q = hn::Exp(d, ln_q);
            s.entropy_p = hn::Sub(s.entropy_p, hn::IfThenElseZero(hn::Gt(p, zero), hn::Mul(p, ln_p)));
            s.entropy_q = hn::Sub(s.entropy_q, hn::IfThenElseZero(hn::Gt(q, zero), hn::Mul(q, ln_q)));
            // k - l is exact or nearly so where the two are close, which is where it matters.
            const V x = hn::Sub(hn::Sub(b, a), shift);
            if (hn::AllTrue(d, hn::Lt(hn::Abs(x), hn::Set(d, small_x)))) // false for NaN: both -inf
                add_near(p, q, x, s);
            else
                add_far(p, q, x, s);
        }
    });
    const auto total = [&](V v) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(d, v)); };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    m.entropy_p = total(s.entropy_p);
    m.entropy_q = total(s.entropy_q);
    if (m.differing == 0)
        return; // exactly 0, which the caller has set
    m.kl_pq = facts.q_zero_where_p ? infinity : total(s.kl_pq);
    m.kl_qp = facts.p_zero_where_q ? infinity : total(s.kl_qp);
    m.js = total(s.js) / 4;
    m.tv = total(s.tv) / 2;
}

/// 1 + ids ahead of `id` in the run's row, in the order logit descending, id ascending.
HWY_ATTR std::int32_t rank_in(const std::byte* row, LogitType type, std::int32_t vocab, std::int32_t id)
{
    const D d;
    const double value = widen(row, type, id);
    HWY_ALIGN double k[chunk_size];
    std::size_t ahead = 0;
    for (std::size_t first = 0; first < static_cast<std::size_t>(vocab); first += chunk_size) {
        const std::size_t n = std::min(chunk_size, vocab - first);
        widen_chunk(row, type, first, n, k);
        for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
            const V b = hn::Load(d, k + i);
            ahead += hn::CountTrue(d, hn::Gt(b, hn::Set(d, value)));
            if (!hn::AllFalse(d, hn::Eq(b, hn::Set(d, value))))
                for (std::size_t j = i; j < std::min(n, i + hn::Lanes(d)); ++j)
                    ahead += k[j] == value && static_cast<std::int32_t>(first + j) < id;
        }
    }
    return static_cast<std::int32_t>(1 + ahead);
}

void row_metrics(const RowPair& pair, ProbeMetrics& m)
{
    const auto differing = count_differing(pair.baseline, pair.baseline_type, pair.run, pair.run_type, pair.vocab);
    const FirstPass facts = first_pass(pair);
    if (facts.has_nan || facts.has_plus_infinity || facts.top_p.value(0) == minus_infinity ||
        facts.top_q.value(0) == minus_infinity) {
        set_invalid(m, differing);
        return;
    }
    const auto& top_p = facts.top_p;
    const auto& top_q = facts.top_q;
    const auto p_at = [&](std::int32_t id) { return widen(pair.baseline, pair.baseline_type, id); };
    const auto q_at = [&](std::int32_t id) { return widen(pair.run, pair.run_type, id); };
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    m.valid = 1;
    m.differing = differing;
    m.kl_pq = m.kl_qp = m.js = m.tv = 0;
    m.argmax_p = top_p.id(0);
    m.argmax_q = top_q.id(0);
    m.flip = m.argmax_p != m.argmax_q;
    m.tied = (top_p.size() > 1 && top_p.value(0) == top_p.value(1)) ||
             (top_q.size() > 1 && top_q.value(0) == top_q.value(1));
    m.margin = top_p.size() > 1 ? top_p.value(0) - top_p.value(1) : none;
    m.rank = m.flip ? rank_in(pair.run, pair.run_type, pair.vocab, m.argmax_p) : 1;
    m.top5_overlap = top_overlap(top_p, top_q, 5);
    m.top10_overlap = top_overlap(top_p, top_q, 10);
    m.max_abs_dlogit = facts.max_abs_difference;
    const LogSumExps lse = log_sum_exps(pair, top_p.value(0), top_q.value(0));
    m.lse_p = lse.p;
    m.lse_q = lse.q;
    m.p_top = std::exp(p_at(m.argmax_p) - lse.p);
    m.q_top = std::exp(q_at(m.argmax_p) - lse.q);
    m.nll_p = m.nll_q = m.dp = none;
    if (pair.next_id >= 0 && pair.next_id < pair.vocab) {
        m.nll_p = lse.p - p_at(pair.next_id);
        m.nll_q = lse.q - q_at(pair.next_id);
        m.dp = std::exp(-m.nll_q) - std::exp(-m.nll_p);
    }
    third_pass(pair, lse, facts, m);
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

void cpu_row_metrics(const RowPair& pair, ProbeMetrics& out)
{
    HWY_DYNAMIC_DISPATCH(row_metrics)(pair, out);
}

const char* cpu_vector_name()
{
    return HWY_DYNAMIC_DISPATCH(vector_name)();
}
} // namespace flipscope
#endif
