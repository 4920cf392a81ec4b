// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// One probe in FP64 vectors. This file is compiled once for each vector width (Highway's foreach_target) and the widest
// that the processor has is taken at run time.
//
// The row pair is visited twice, in chunks that are widened to doubles and stay in the first-level cache:
//   1. odd values, maxima, the ten largest of both rows, max |l - k|, and S = sum exp(l - max) with the maximum so far;
//   2. the divergences. With p = exp(l - max_p) / S_p, q likewise and x = ln q - ln p, KL(P||Q) = sum p (e^x - 1 - x):
//      equal to sum p (ln p - ln q), but every term is >= 0 and an error in x's constant part enters only in second
//      order, so that nothing cancels (form B of the manual). x comes from the logits and ln(S_q / S_p), never from
//      log-sum-exps, whose size would cost digits.
#include "core/engine/cpu_kernel.h"
#include "core/engine/row_facts.h"
#include "core/engine/top_list.h"

#include <cmath>
#include <limits>
#include <string_view>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engine/cpu_kernel.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include "core/engine/cpu_math-inl.h"
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace flipscope {
namespace HWY_NAMESPACE {

constexpr std::size_t chunk_size = 512; // 2 x 4 KiB of doubles; a multiple of every vector width
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
constexpr double lowest = -1e300; ///< stands for -inf where arithmetic must stay finite

/// Has this vector width instructions for float16, which are right for every value?
constexpr bool converts_float16 =
    HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON;

/// Widens n logits from `first` on, exactly; fills up to a whole vector with -inf (probability 0, equal on both sides).
HWY_ATTR void widen_chunk(const std::byte* row, LogitType type, std::size_t first, std::size_t n, double* out)
{
    const D d;
    const hn::Rebind<float, D> df;
    const hn::Rebind<std::uint16_t, D> d16;
    [[maybe_unused]] const hn::Rebind<hwy::float16_t, D> dh;
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
        // Where there is no instruction for it, Highway's own conversion takes infinities and NaN for large numbers.
        if constexpr (converts_float16) {
            const auto* in = reinterpret_cast<const hwy::float16_t*>(row) + first;
            for (std::size_t i = 0; i < whole; i += lanes)
                hn::Store(hn::PromoteTo(d, hn::PromoteTo(df, hn::LoadU(dh, in + i))), d, out + i);
        } else {
            for (std::size_t i = 0; i < whole; ++i)
                out[i] = widen(row, type, first + i);
        }
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

/// S = sum exp(l - max) and T = sum (l - max) exp(l - max) over the elements seen so far, by lanes.
struct Weights {
    double max = minus_infinity;
    V sum, slope; // set by clear(): an implicit constructor is not compiled for the vector width

    HWY_ATTR void clear() { sum = slope = hn::Zero(D()); }

    /// Moves to a larger maximum. From -inf there is nothing to move yet.
    HWY_ATTR void raise(double new_max)
    {
        if (max != minus_infinity) {
            const double down = max - new_max, factor = std::exp(down);
            slope = hn::Mul(set(factor), hn::MulAdd(set(down), sum, slope));
            sum = hn::Mul(set(factor), sum);
        }
        max = new_max;
    }

    HWY_ATTR void add(V l)
    {
        const V y = hn::Max(hn::Sub(l, set(max)), set(lowest)); // finite, so that 0 y is 0
        const V w = exp_below_zero(y);
        sum = hn::Add(sum, w);
        slope = hn::MulAdd(w, y, slope);
    }

    HWY_ATTR double total() const { return hn::GetLane(hn::SumOfLanes(D(), sum)); }
    /// ln S - T / S: both parts are >= 0.
    HWY_ATTR double entropy() const
    {
        const double s = total();
        return std::log(s) - hn::GetLane(hn::SumOfLanes(D(), slope)) / s;
    }
};

struct FirstPass {
    bool valid = true;
    bool q_zero_where_p = false, p_zero_where_q = false; ///< -inf on one side alone
    double max_abs_difference = 0;
    TopList<10> top_p, top_q;
    Weights p, q;
};

/// Offers what may enter the list: few chunks hold anything above its threshold.
HWY_ATTR void offer_chunk(const double* values, std::size_t n, std::size_t first, TopList<10>& list)
{
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < n; i += lanes) {
        if (list.full() && hn::AllFalse(d, hn::Gt(hn::Load(d, values + i), set(list.threshold()))))
            continue;
        for (std::size_t j = i; j < std::min(n, i + lanes); ++j)
            list.offer(values[j], static_cast<std::int32_t>(first + j));
    }
}

/// -inf on one side alone, in a chunk that has a -inf somewhere.
HWY_ATTR void note_zeros(const double* l, const double* k, std::size_t n, FirstPass& facts)
{
    for (std::size_t i = 0; i < n; ++i) {
        facts.q_zero_where_p |= k[i] == minus_infinity && l[i] != minus_infinity;
        facts.p_zero_where_q |= l[i] == minus_infinity && k[i] != minus_infinity;
    }
}

HWY_ATTR void first_pass(const RowPair& pair, FirstPass& facts)
{
    const D d;
    V largest = hn::Zero(d);
    facts.p.clear();
    facts.q.clear();
    for_each_chunk(pair, [&](std::size_t n, std::size_t first, const double* l, const double* k) HWY_ATTR {
        if (!facts.valid)
            return;
        V max_p = set(minus_infinity), max_q = max_p, min = set(-minus_infinity), chunk_largest = hn::Zero(d);
        auto finite = hn::Eq(max_p, max_p);
        const V plus = set(-minus_infinity);
        // The last vector is filled up with -inf; only whole chunks may take their minimum for the logits'.
        for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
            const V a = hn::Load(d, l + i), b = hn::Load(d, k + i);
            finite = hn::And(finite, hn::And(hn::Lt(a, plus), hn::Lt(b, plus))); // false for +inf and NaN
            max_p = hn::Max(max_p, a);
            max_q = hn::Max(max_q, b);
            min = hn::Min(min, hn::Min(a, b));
            chunk_largest = hn::Max(chunk_largest, hn::Abs(hn::Sub(a, b))); // -inf on both sides: mended below
        }
        facts.valid = hn::AllTrue(d, finite);
        if (!facts.valid)
            return;
        if (hn::GetLane(hn::MinOfLanes(d, min)) == minus_infinity) {
            note_zeros(l, k, n, facts);
            chunk_largest = hn::Zero(d);
            for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
                const V a = hn::Load(d, l + i), b = hn::Load(d, k + i);
                chunk_largest = hn::Max(chunk_largest, hn::IfThenZeroElse(hn::Eq(a, b), hn::Abs(hn::Sub(a, b))));
            }
        }
        largest = hn::Max(largest, chunk_largest);
        const double chunk_p = hn::GetLane(hn::MaxOfLanes(d, max_p)), chunk_q = hn::GetLane(hn::MaxOfLanes(d, max_q));
        if (!facts.top_p.full() || chunk_p > facts.top_p.threshold())
            offer_chunk(l, n, first, facts.top_p);
        if (!facts.top_q.full() || chunk_q > facts.top_q.threshold())
            offer_chunk(k, n, first, facts.top_q);
        if (chunk_p > facts.p.max)
            facts.p.raise(chunk_p);
        if (chunk_q > facts.q.max)
            facts.q.raise(chunk_q);
        // Before the first finite logit there is nothing to add.
        if (facts.p.max != minus_infinity)
            for (std::size_t i = 0; i < n; i += hn::Lanes(d))
                facts.p.add(hn::Load(d, l + i));
        if (facts.q.max != minus_infinity)
            for (std::size_t i = 0; i < n; i += hn::Lanes(d))
                facts.q.add(hn::Load(d, k + i));
    });
    facts.max_abs_difference = hn::GetLane(hn::MaxOfLanes(d, largest));
    facts.valid = facts.valid && facts.p.max != minus_infinity && facts.q.max != minus_infinity;
}

struct Sums {
    V kl_pq, kl_qp, js, tv;
};

/// All |x| < near_x, the usual case between close runs: q is not even needed.
HWY_INLINE void add_near(V p, V x, Sums& s)
{
    const V square = hn::Mul(x, x), weight = hn::Mul(p, square), excess = excess_near(x);
    s.kl_pq = hn::MulAdd(weight, excess, s.kl_pq);
    // q (e^-x - 1 + x) = p (x^2 - (e^x - 1 - x) (1 - x))
    s.kl_qp = hn::MulAdd(weight, hn::NegMulAdd(excess, hn::Sub(set(1), x), set(1)), s.kl_qp);
    s.js = hn::MulAdd(weight, shannon_near(x), s.js);
    s.tv = hn::MulAdd(p, hn::Abs(hn::MulAdd(square, excess, x)), s.tv);
}

/// Any x. Away from 0, q - p - p x loses little: 1e-15 against at least near_x^2 / 2.
HWY_INLINE void add_far(V p, V q, V x, Sums& s)
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
        const V twice = hn::MulSub(difference, h, hn::Mul(hn::Mul(both, h2), log_cosh(h2)));
        s.js = hn::MulAdd(twice, set(0.5), s.js);
        return;
    }
    // The same for large |x|, where p or q may be 0.
    const V low = hn::Min(p, q), high = hn::Max(p, q);
    const V half = hn::Sub(set(0x1.62e42fefa39efp-1), log_one_plus_ratio(low, high)); // ln 2 - ln(1 + low/high)
    const V twice = hn::NegMulAdd(low, size, hn::Mul(both, half));
    s.js = hn::Add(s.js, hn::IfThenElse(near, hn::Mul(weight, shannon_near(x)), hn::Mul(twice, set(0.5))));
}

HWY_ATTR void second_pass(const RowPair& pair, const FirstPass& facts, ProbeMetrics& m)
{
    const D d;
    const V zero = hn::Zero(d);
    Sums s{zero, zero, zero, zero};
    const double sum_p = facts.p.total(), sum_q = facts.q.total();
    const V max_p = set(facts.p.max), max_q = set(facts.q.max), floor = set(lowest);
    const V scale_p = set(1 / sum_p), scale_q = set(1 / sum_q);
    const V max_shift = set(facts.q.max - facts.p.max), sum_shift = set(std::log(sum_q / sum_p));
    for_each_chunk(pair, [&](std::size_t n, std::size_t, const double* l, const double* k) HWY_ATTR {
        for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
            // -inf becomes a finite number with weight 0, so that no NaN comes of it.
            const V a = hn::Max(hn::Load(d, l + i), floor), b = hn::Max(hn::Load(d, k + i), floor);
            const V p = hn::Mul(scale_p, exp_below_zero(hn::Sub(a, max_p)));
            // k - l is exact where the two are close, which is where it matters.
            const V x = hn::Sub(hn::Sub(hn::Sub(b, a), max_shift), sum_shift);
            if (hn::AllTrue(d, hn::Lt(hn::Abs(x), set(near_x))))
                add_near(p, x, s);
            else
                add_far(p, hn::Mul(scale_q, exp_below_zero(hn::Sub(b, max_q))), x, s);
        }
    });
    const auto total = [&](V v) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(d, v)); };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    // A weight that was too small for the exponential may leave -1e-300: that is 0.
    m.kl_pq = facts.q_zero_where_p ? infinity : std::max(0.0, total(s.kl_pq));
    m.kl_qp = facts.p_zero_where_q ? infinity : std::max(0.0, total(s.kl_qp));
    m.js = std::max(0.0, total(s.js));
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
    FirstPass facts;
    first_pass(pair, facts);
    if (!facts.valid) {
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
    const double sum_p = facts.p.total(), sum_q = facts.q.total();
    const double log_p = std::log(sum_p), log_q = std::log(sum_q);
    m.lse_p = facts.p.max + log_p;
    m.lse_q = facts.q.max + log_q;
    m.p_top = 1 / sum_p;
    m.q_top = std::exp(q_at(m.argmax_p) - facts.q.max) / sum_q;
    m.entropy_p = facts.p.entropy();
    m.entropy_q = facts.q.entropy();
    m.nll_p = m.nll_q = m.dp = none;
    if (pair.next_id >= 0 && pair.next_id < pair.vocab) {
        m.nll_p = log_p - (p_at(pair.next_id) - facts.p.max);
        m.nll_q = log_q - (q_at(pair.next_id) - facts.q.max);
        m.dp = std::exp(-m.nll_q) - std::exp(-m.nll_p);
    }
    if (differing != 0) // else they are exactly 0, as set above
        second_pass(pair, facts, m);
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
    const char* const name = HWY_DYNAMIC_DISPATCH(vector_name)();
    return std::string_view(name).substr(0, 4) == "AVX3" ? "AVX-512" : name; // Highway's own word for it
}
} // namespace flipscope
#endif
