// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The sums over a pair of rows from which the divergences follow. Included once for each vector width, hence no
// `#pragma once`.
//
// With d = (k - l) - shift, p = exp(l - base_p), q = factor * exp(k - base_q) = p e^d, five sums give KL both ways in
// one visit (shifted form C of the manual):
//   P = sum p,   Q = sum q,   A = sum p d,   F = sum (q - p - p d),   B = sum (q d - (q - p)),
//   a = Q / P - 1 = (F + A) / P,   KL(P||Q) = F / P - (a - ln(1 + a)),   KL(Q||P) = B / Q - (b - ln(1 + b)),
//   b = P / Q - 1 = -a / (1 + a).
// Every term of F and B is >= 0. `shift` is meant to be ln of the ratio of the rows' sums: a is 0 then, and nothing
// cancels. The difference of the two maxima comes close: exactly that where one token holds the probability, and within
// the size of the d elsewhere, so that a^2 is at most of the order of KL. What is lost is seen in the result, and such
// rows are visited again with shift + ln(1 + a).
#if defined(FLIPSCOPE_CPU_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FLIPSCOPE_CPU_SUMS_INL_H
#undef FLIPSCOPE_CPU_SUMS_INL_H
#else
#define FLIPSCOPE_CPU_SUMS_INL_H
#endif

#include "core/engine/cpu_careful-inl.h"
#include "core/engine/cpu_math-inl.h"
#include "core/engine/cpu_widen-inl.h"
#include "core/engine/exp_table.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace flipscope {
namespace HWY_NAMESPACE {

/// A row as it is visited: in place where it can be, else chunk by chunk in a buffer of its own.
struct RowSide {
    const std::byte* data;
    LogitType type;
    bool masked;           ///< has -inf somewhere
    const std::byte* next; ///< a row that will be wanted soon; null = none
};

/// Stands for -inf in arithmetic: its weight is 0 and its difference with anything finite. Padding too.
template <class T>
constexpr T nothing;
template <>
constexpr std::uint16_t nothing<std::uint16_t> = 0xff7f; // the lowest bfloat16
template <>
constexpr float nothing<float> = std::numeric_limits<float>::lowest();
template <>
constexpr double nothing<double> = -1e30;

/// Elements [first, first + n) as T (std::uint16_t = bfloat16), up to a whole vector of doubles, with no -inf.
template <class T>
HWY_ATTR const T* chunk_of(const RowSide& side, std::size_t first, std::size_t n, T* buffer)
{
    constexpr LogitType own = sizeof(T) == 2 ? LogitType::BF16 : sizeof(T) == 4 ? LogitType::F32 : LogitType::F64;
    const std::size_t lanes = hn::Lanes(D());
    if (side.type == own && !side.masked && n % lanes == 0)
        return reinterpret_cast<const T*>(side.data) + first;
    if constexpr (sizeof(T) == 2)
        std::copy_n(reinterpret_cast<const T*>(side.data) + first, n, buffer);
    else if constexpr (sizeof(T) == 4)
        widen_to_floats(side.data, side.type, first, n, buffer);
    else
        widen_to_doubles(side.data, side.type, first, n, buffer);
    std::size_t end = n;
    for (; end % lanes != 0; ++end)
        buffer[end] = nothing<T>;
    if (!side.masked)
        return buffer;
    for (std::size_t i = 0; i < end; ++i)
        if constexpr (sizeof(T) == 2)
            buffer[i] = buffer[i] == 0xff80 ? nothing<T> : buffer[i];
        else
            buffer[i] = std::max(buffer[i], nothing<T>);
    return buffer;
}

/// Asks for the part of the next row that lies where this chunk does: while exponentials are computed, memory is idle.
HWY_INLINE void fetch_next(const RowSide& side, std::size_t first, std::size_t n)
{
    if (!side.next)
        return;
    const std::size_t size = size_of(side.type);
    for (std::size_t at = first * size; at < (first + n) * size; at += 64)
        __builtin_prefetch(side.next + at, 0, 2);
}

/// A vector of logits, and what their exponentials are found by.
struct Logits {
    V value;
    hn::Vec<hn::Rebind<std::int32_t, D>> pattern; ///< of bfloat16
};

template <class T>
HWY_INLINE Logits load(const T* in)
{
    const D d;
    const hn::Rebind<float, D> df;
    Logits l;
    if constexpr (sizeof(T) == 2) {
        const hn::Rebind<std::uint16_t, D> d16;
        const hn::Rebind<std::uint32_t, D> d32;
        const auto wide = hn::PromoteTo(d32, hn::LoadU(d16, in));
        l.value = hn::PromoteTo(d, hn::BitCast(df, hn::ShiftLeft<16>(wide)));
        l.pattern = hn::BitCast(hn::Rebind<std::int32_t, D>(), wide);
    } else {
        l.pattern = hn::Zero(hn::Rebind<std::int32_t, D>());
        if constexpr (sizeof(T) == 4)
            l.value = hn::PromoteTo(d, hn::LoadU(df, in));
        else
            l.value = hn::LoadU(d, in);
    }
    return l;
}

/// What is subtracted from logits before their exponential is taken, given the largest.
template <class T>
double base_of(double max)
{
    return sizeof(T) == 2 ? 0 : max;
}

/// Highway gathers doubles by 64-bit places alone, which costs two instructions that x86 can do without.
HWY_INLINE V look_up(const double* table, hn::Vec<hn::Rebind<std::int32_t, D>> place)
{
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    return V{_mm512_i32gather_pd(place.raw, table, 8)};
#elif HWY_TARGET == HWY_AVX2
    return V{_mm256_i32gather_pd(table, place.raw, 8)};
#else
    return hn::GatherIndex(D(), table, hn::PromoteTo(hn::Rebind<std::int64_t, D>(), place));
#endif
}

/// exp(l - base); bfloat16 has a table.
template <class T>
HWY_INLINE V exponential(const double* table, const Logits& l, V base)
{
    if constexpr (sizeof(T) == 2)
        return look_up(table, l.pattern);
    else
        return exp_not_above_zero(hn::Sub(l.value, base));
}

/// A pair of rows and the constants of a visit.
struct Visit {
    RowSide p, q;
    std::size_t vocab;
    double max_p, max_q;
    double shift;
    bool careful; ///< not for this file
};

struct Sums {
    double p = 0, q = 0, shifted = 0, forward = 0, backward = 0; ///< P, Q, A, F, B
    double slope_p = 0, slope_q = 0;                             ///< sum p (l - max_p), sum q (k - max_q)
    double largest = 0;                                          ///< max |k - l|
};

/// The sums of one vector after the other; those of a chunk are added up before they join the row's, which keeps what
/// rounding loses to the order of 100 additions.
template <bool core>
struct ChunkSums {
    V p, q, shifted, forward, backward, slope_p, slope_q;

    HWY_ATTR void clear() { p = q = shifted = forward = backward = slope_p = slope_q = hn::Zero(D()); }
    HWY_ATTR void add(const ChunkSums& s)
    {
        p = hn::Add(p, s.p);
        q = hn::Add(q, s.q);
        shifted = hn::Add(shifted, s.shifted);
        forward = hn::Add(forward, s.forward);
        backward = hn::Add(backward, s.backward);
        if constexpr (core) {
            slope_p = hn::Add(slope_p, s.slope_p);
            slope_q = hn::Add(slope_q, s.slope_q);
        }
    }
};

/// What is the same for every vector of a visit.
struct Constants {
    const double* table;
    V max_p, max_q, shift, factor;
};

/// Within this, q - p - p d is taken from a series: beyond, the difference itself is right to 2e-12 relative.
constexpr double near_d = 0x1p-6;

template <class T, bool core>
HWY_INLINE void add_vector(const T* in_p, const T* in_q, const Constants& c, ChunkSums<core>& s, V& largest)
{
    const Logits l = load(in_p), k = load(in_q);
    const V p = exponential<T>(c.table, l, c.max_p), raw_q = exponential<T>(c.table, k, c.max_q);
    const V difference = hn::Sub(k.value, l.value); // exact where the two are close, which is where it matters
    const V x = hn::Sub(difference, c.shift);
    const V q = hn::Mul(raw_q, c.factor), change = hn::MulSub(raw_q, c.factor, p);
    const V weight = hn::Mul(p, hn::Mul(x, x));
    const auto near = hn::Lt(hn::Abs(x), set(near_d));
    const V series = forward_near(x);
    s.forward = hn::Add(s.forward, hn::IfThenElse(near, hn::Mul(weight, series), hn::NegMulAdd(p, x, change)));
    // q x - (q - p) = p x^2 (1 - s (1 - x)), s being (e^x - 1 - x) / x^2
    const V turned = hn::NegMulAdd(series, hn::Sub(set(1), x), set(1));
    s.backward = hn::Add(s.backward, hn::IfThenElse(near, hn::Mul(weight, turned), hn::MulSub(q, x, change)));
    s.p = hn::Add(s.p, p);
    s.q = hn::Add(s.q, q);
    s.shifted = hn::MulAdd(p, x, s.shifted);
    if constexpr (core) {
        s.slope_p = hn::MulAdd(p, hn::Sub(l.value, c.max_p), s.slope_p);
        s.slope_q = hn::MulAdd(q, hn::Sub(k.value, c.max_q), s.slope_q);
        largest = hn::Max(largest, hn::Abs(difference));
    }
}

/// Constants of a visit: factor makes exp(k - base_q) what p e^d is.
template <class T>
HWY_ATTR Constants constants_of(const Visit& v)
{
    const double base_p = base_of<T>(v.max_p), base_q = base_of<T>(v.max_q);
    return {sizeof(T) == 2 ? bf16_exponentials() : nullptr, set(v.max_p), set(v.max_q), set(v.shift),
            set(std::exp(base_q - base_p - v.shift))};
}

/// All sums in one visit; `core` those of entropies and max |k - l| too.
template <class T, bool core>
HWY_ATTR Sums sums_of(const Visit& v)
{
    HWY_ALIGN T buffer_p[chunk_size];
    HWY_ALIGN T buffer_q[chunk_size];
    const Constants c = constants_of<T>(v);
    ChunkSums<core> all;
    all.clear();
    V largest = hn::Zero(D());
    for (std::size_t first = 0; first < v.vocab; first += chunk_size) {
        const std::size_t n = std::min(chunk_size, v.vocab - first);
        const T* p = chunk_of(v.p, first, n, buffer_p);
        const T* q = chunk_of(v.q, first, n, buffer_q);
        fetch_next(v.p, first, n);
        fetch_next(v.q, first, n);
        ChunkSums<core> s;
        s.clear();
        for (std::size_t i = 0; i < n; i += hn::Lanes(D()))
            add_vector<T, core>(p + i, q + i, c, s, largest);
        all.add(s);
    }
    Sums sums;
    sums.p = total(all.p);
    sums.q = total(all.q);
    sums.shifted = total(all.shifted);
    sums.forward = total(all.forward);
    sums.backward = total(all.backward);
    if constexpr (core) {
        sums.slope_p = total(all.slope_p);
        sums.slope_q = total(all.slope_q);
        sums.largest = hn::GetLane(hn::MaxOfLanes(D(), largest));
    }
    return sums;
}

/// What the second visit gives, once the sums of the first are known: sum |p - q| of probabilities, and
/// sum (p + q) ln cosh(x / 2) with x = ln q - ln p.
struct Distances {
    double variation = 0, cosh = 0;
};

/// ln cosh(x / 2), cheaply where all |x| are small.
HWY_INLINE V log_cosh_half(V p, V q, V x)
{
    const D d;
    const V size = hn::Abs(x), h2 = hn::Mul(hn::Mul(x, x), set(0.25));
    if (hn::AllTrue(d, hn::Lt(size, set(0.5))))
        return hn::Mul(h2, log_cosh_near(h2));
    const V middle = hn::Mul(h2, log_cosh(h2));
    const auto far = hn::Gt(size, set(2));
    if (hn::AllFalse(d, far))
        return middle;
    // |x| / 2 - ln 2 + ln(1 + e^-|x|), whose exponential is a ratio at hand
    const V large = hn::Add(hn::MulSub(size, set(0.5), set(0x1.62e42fefa39efp-1)),
                            log_one_plus_ratio(hn::Min(p, q), hn::Max(p, q)));
    return hn::IfThenElse(far, large, middle);
}

/// `shift` of the visit is ln(Q / P) here.
template <class T>
HWY_ATTR Distances distances_of(const Visit& v, double sum_p, double sum_q)
{
    const D d;
    HWY_ALIGN T buffer_p[chunk_size];
    HWY_ALIGN T buffer_q[chunk_size];
    const Constants c = constants_of<T>(v);
    const V scale_p = set(1 / sum_p), scale_q = set(1 / sum_q);
    V variation = hn::Zero(d), cosh = hn::Zero(d);
    for (std::size_t first = 0; first < v.vocab; first += chunk_size) {
        const std::size_t n = std::min(chunk_size, v.vocab - first);
        const T* in_p = chunk_of(v.p, first, n, buffer_p);
        const T* in_q = chunk_of(v.q, first, n, buffer_q);
        V chunk_variation = hn::Zero(d), chunk_cosh = hn::Zero(d);
        for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
            const Logits l = load(in_p + i), k = load(in_q + i);
            const V p = hn::Mul(exponential<T>(c.table, l, c.max_p), scale_p);
            const V q = hn::Mul(exponential<T>(c.table, k, c.max_q), scale_q);
            const V x = hn::Sub(hn::Sub(k.value, l.value), c.shift);
            chunk_variation = hn::Add(chunk_variation, hn::Abs(hn::Sub(p, q)));
            chunk_cosh = hn::MulAdd(hn::Add(p, q), log_cosh_half(p, q, x), chunk_cosh);
        }
        variation = hn::Add(variation, chunk_variation);
        cosh = hn::Add(cosh, chunk_cosh);
    }
    return {total(variation), total(cosh)};
}

} // namespace HWY_NAMESPACE
} // namespace flipscope
HWY_AFTER_NAMESPACE();

#endif
