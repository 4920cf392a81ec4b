// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The core set of a row pair in one visit of its data.
//
// With d = (k - l) - D0, w = e^l and phi(d) = e^d - 1 - d, one polynomial serves both directions:
//   S = sum w,  G = sum w phi,  A = sum w (phi + d),  B = sum w (d^2 + d phi - phi),  a = A / S
//   KL(P||Q) = G / S - (a - ln(1 + a))
//   KL(Q||P) = B / (S + A) - (ln(1 + a) - a / (1 + a))
//   ln q - ln p = d - ln(1 + a), and lse_Q - lse_P = D0 + ln(1 + a)
// D0 is a guess at lse_Q - lse_P from a sample, the first vectors of every thread; elements that reach the sample's
// second largest are set aside (outliers.cuh), so that none outweighs what the guess is made from. All terms of G and B
// are >= 0; what is subtracted is about half the square of the guess's error. Where that is not small beside the
// result, the row is visited once more with the difference just found as the guess. Where even that is not enough (tiny
// divergences), or anything is out of the ordinary (infinities, NaN, logits of 128 and more, too many outliers), the
// row stays marked for the careful kernel: what the fast kernel says, it vouches for.

#include "gpu/core_sums.cuh"
#include "gpu/outliers.cuh"
#include "gpu/state.cuh"

namespace flipscope::gpu {

/// Largest |difference| and |guess| that the fast kernels take, and the range of a row's largest logit: e^l, e^d and
/// their sums then stay within FP64, and what weighs 0 in the tables would have weighed nothing.
constexpr float most_difference = 256, most_guess = 300, least_top = -64, most_top = 128;

/// The guess as a float's value, so that d is exact in FP64, and a multiple of 2^-20 where it is small, so that
/// exact_differences() can promise the same for FP32.
__device__ __forceinline__ double rounded_guess(double guess)
{
    return static_cast<double>(static_cast<float>(rint(guess * 0x1p20) * 0x1p-20));
}

/// What some vectors of every thread tell about a row pair.
struct Sample {
    double guess;         ///< lse_Q - lse_P of the sample, rounded
    float most_p, most_q; ///< at least two elements of the row reach them
};

/// From the first vectors of every thread, 8,192 elements of 16 bits: then few rows need a second visit (the weights
/// are so uneven that a sample is worth little more than its few dozen heaviest elements), and some 60 elements of
/// 248,320 are set aside on either side.
template <class T>
__device__ Sample take_sample(const Weights<T>& weights, const Ring<T>& ring)
{
    constexpr int n = per_load<T>;
    float most_p = -INFINITY, most_q = -INFINITY;
    ring.peek([&](const uint4& x, const uint4& y) {
        most_p = fmaxf(most_p, single<T>(vector_max<T>(x)));
        most_q = fmaxf(most_q, single<T>(vector_max<T>(y)));
    });
    const Seconds most = block_second(most_p, most_q);
    double sums[2] = {0, 0};
    ring.peek([&](const uint4& x, const uint4& y) {
        double w[n], v[n];
        const unsigned xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
        weights.all(xs, w);
        weights.all(ys, v);
#pragma unroll
        for (int j = 0; j < n; j++)
            if (T::to_float(element<T>(x, j)) < most.p && T::to_float(element<T>(y, j)) < most.q) {
                sums[0] += w[j];
                sums[1] += v[j];
            }
    });
    block_sum(sums);
    return {rounded_guess(log(sums[1] / sums[0])), most.p, most.q};
}

/// What the sums of a row come to.
struct CoreResult {
    double kl_pq, kl_qp, mass, log1p_a, mean_l, mean_k;
    bool clear; ///< of the noise of way 2
    bool sure;
};

/// Of what was set aside: sum w, sum (w e^d - w), sum w l, sum w e^d k.
struct AsideTotals {
    double w, grown, wl, vk;
};

/// ln(1 + a) of the whole row.
__device__ __forceinline__ double whole_log1p(const CoreTotals& v, const AsideTotals& o)
{
    return log1p((v.a + o.grown) / (v.s + o.w));
}

/// `far`: the terms of the chain rule for what was set aside, both ways.
__device__ __forceinline__ CoreResult put_together(const CoreTotals& v, const AsideTotals& o, const double* far)
{
    CoreResult r;
    const double s = v.s, t = s + v.a, a = v.a / s; // masses of the rest: of P, and of Q up to e^D0
    const double g = v.g / s, b = v.b / t;
    const double all_s = s + o.w, all_t = all_s + (v.a + o.grown);
    r.mass = all_s;
    r.log1p_a = whole_log1p(v, o);
    const double x = log1p(a) - r.log1p_a; // ln Q(R) - ln P(R); exactly 0 where nothing was set aside
    // ln(1+a) - a/(1+a) = c - ln(1+c) with c = -a/(1+a)
    r.kl_pq = (s * ((g - a_minus_log1p(a)) + phi_far(x)) + far[0]) / all_s;
    r.kl_qp = (t * ((b - a_minus_log1p(-a / (1 + a))) + phi_far(-x)) + far[1]) / all_t;
    r.mean_l = (v.pl + o.wl) / all_s;
    r.mean_k = (v.qk + o.vk) / all_t;
    // The polynomials are good to some 1e-10 of G and B; so must be what is left of them. What came by difference of
    // large sums (way 2) is good to 2e-14 of those at worst, so it must not be below 1e-4 of them. And Q's mass is S +
    // A, which has digits only while the guess is not far off. NaN fails the comparisons.
    r.clear = v.g >= 1e-4 * v.noise && v.b >= 1e-4 * v.noise;
    r.sure = r.clear && r.kl_pq * all_s >= 0.5 * v.g && r.kl_qp * all_t >= 0.5 * v.b && all_s < INFINITY &&
             fabs(r.log1p_a) <= 4 && fabs(log1p(a)) <= 4;
    return r;
}

/// Elements of Q's row ahead of its element `id` in the order logit descending, id ascending. All threads.
template <class T>
__device__ int count_ahead(const typename T::Bits* q, int vocab, int id)
{
    constexpr int n = per_load<T>;
    const float top = T::to_float(q[id]);
    const int vectors = vocab / n;
    int before = 0;
    const auto see = [&](float x, int i) { before += x > top || (x == top && i < id); };
    for (int i = static_cast<int>(threadIdx.x); i < vectors; i += block_threads) {
        const uint4 y = reinterpret_cast<const uint4*>(q)[i];
#pragma unroll
        for (int j = 0; j < n; j++)
            see(T::to_float(element<T>(y, j)), i * n + j);
    }
    for (int i = vectors * n + static_cast<int>(threadIdx.x); i < vocab; i += block_threads)
        see(T::to_float(q[i]), i);
    return static_cast<int>(block_sum(static_cast<long long>(before)));
}

/// The largest of each half warp: that many different elements of the row reach the least of them.
__device__ __forceinline__ void group_maxima(float most, double* groups)
{
    for (int o = 8; o > 0; o /= 2)
        most = fmaxf(most, __shfl_down_sync(~0u, most, o, 16));
    if (threadIdx.x % 16 == 0)
        groups[threadIdx.x / 16] = most;
}

template <class T, bool kl_only>
__global__ void __launch_bounds__(block_threads, min_blocks)
    core_kernel(Batch b, const double* table, ProbeMetrics* out, RowState* state)
{
    using Bits = typename T::Bits;
    using L = Lanes<T>;
    constexpr int n = per_load<T>;
    extern __shared__ __align__(16) double hot[];
    __shared__ double powers[exp_steps], groups[2][row_groups];
    __shared__ Outliers<T> aside;
    __shared__ double better_guess;
    __shared__ bool with_care; // way 3 instead of 2
    load_powers(powers);
    __shared__ Top2 tops[2];
    const Weights<T> weights(table, hot, powers);
    Ring<T> ring(hot + Weights<T>::entries);
    const int vectors = b.vocab / n;
    const auto start = [&](int row) {
        if (row < b.rows)
            ring.start(p_row<T>(b, row), q_row<T>(b, row), vectors);
    };
    start(static_cast<int>(blockIdx.x));
    bool again = false; // this row a second time, with what the first time found as the guess
    for (int row = static_cast<int>(blockIdx.x); row < b.rows; row += again ? 0 : static_cast<int>(gridDim.x)) {
        const bool second = again;
        again = false;
        const Bits *p = p_row<T>(b, row), *q = q_row<T>(b, row);
        if (second)
            start(row);
        if (threadIdx.x == 0)
            aside.count = 0; // the sample's barriers make it known
        Sample sample = take_sample<T>(weights, ring);
        if (second)
            sample.guess = better_guess;
        const double guess = sample.guess;
        const bool careful = second && with_care;
        const int following = row + static_cast<int>(gridDim.x);
        if (!(fabs(guess) <= most_guess) || !(sample.most_p > least_top) || !(sample.most_q > least_top)) {
            start(following);
            continue; // the same for all threads
        }

        CoreSums<T, kl_only> sums;
        const auto limit_p = L::twice(sample.most_p), limit_q = L::twice(sample.most_q);
        auto most_p = L::twice(-INFINITY), most_q = most_p;
        const auto see = [&](uint4& x, uint4& y, int vector) {
            const auto max_p = vector_max<T>(x), max_q = vector_max<T>(y);
            if constexpr (!kl_only) {
                sums.differing += differing_in<T>(x, y);
                most_p = L::max(most_p, max_p);
                most_q = L::max(most_q, max_q);
            }
            if ((L::below(max_p, limit_p) & L::below(max_q, limit_q)) != ~0U) {
                if constexpr (!kl_only)
                    sums.note_largest(x, y); // before they go
                set_aside<T>(aside, x, y, vector, sample.most_p, sample.most_q);
            }
            sums.add_vector(weights, x, y, guess, careful, powers);
        };
        ring.run(vectors, see);
        start(following); // on its way while this row is brought to an end
        float tail_p = -INFINITY, tail_q = -INFINITY;
        if (const int tail = vectors * n + static_cast<int>(threadIdx.x); tail < b.vocab) {
            const double l = T::to_double(p[tail]), k = T::to_double(q[tail]), d = (k - l) - guess;
            tail_p = T::to_float(p[tail]);
            tail_q = T::to_float(q[tail]);
            sums.differing += p[tail] != q[tail];
            sums.largest = fmaxf(sums.largest, fabsf(tail_q - tail_p));
            if (tail_p >= sample.most_p || tail_q >= sample.most_q)
                aside.add(tail, p[tail], q[tail]);
            else
                sums.add(weights.one(p[tail]), d, d * d, phi_any(d, powers), l, k);
        }
        if constexpr (!kl_only) {
            group_maxima(fmaxf(single<T>(most_p), tail_p), groups[0]);
            group_maxima(fmaxf(single<T>(most_q), tail_q), groups[1]);
        }
        const double scale = exp(-guess);
        const CoreTotals totals = sums.over_block(scale);
        const int count = aside.count;
        __syncthreads(); // all have read it before the next row's first thread clears it
        if (count > max_outliers)
            continue;

        sort_outliers(aside);
        if (threadIdx.x < 64) // a warp for each side; the sum's barriers make it known
            tops[threadIdx.x / 32] = largest_aside(aside, threadIdx.x / 32 == 0 ? aside.p : aside.q);
        double o[4] = {0, 0, 0, 0};
        for (int j = static_cast<int>(threadIdx.x); j < count; j += block_threads) {
            const int at = aside.order[j];
            const double l = T::to_double(aside.p[at]), k = T::to_double(aside.q[at]);
            const double w = weights.one(aside.p[at]), v = weights.one(aside.q[at]) * scale;
            o[0] += w;
            o[1] += v - w;
            o[2] = fma(w, l, o[2]);
            o[3] = fma(v, k, o[3]);
        }
        block_sum(o);
        const AsideTotals apart{o[0], o[1], o[2], o[3]};
        const double whole = whole_log1p(totals, apart);
        double far[2] = {0, 0};
        for (int j = static_cast<int>(threadIdx.x); j < count; j += block_threads) {
            const int at = aside.order[j];
            const double l = T::to_double(aside.p[at]), k = T::to_double(aside.q[at]), x = ((k - l) - guess) - whole;
            far[0] = fma(weights.one(aside.p[at]), phi_far(x), far[0]);
            far[1] = fma(weights.one(aside.q[at]) * scale, phi_far(-x), far[1]);
        }
        block_sum(far);
        const Top2 top_p = tops[0], top_q = tops[1];
        const int before = !kl_only && top_p.id >= 0 && top_p.id != top_q.id ? count_ahead<T>(q, b.vocab, top_p.id) : 0;
        if (threadIdx.x == 0) {
            const CoreResult r = put_together(totals, apart, far);
            state[row].visits = second ? 2 : 1;
            better_guess = r.sure || second ? NAN : rounded_guess(guess + r.log1p_a);
            with_care = !r.clear;
            const auto ordinary = [](double top) { return top < most_top && top > least_top; };
            if (r.sure && totals.largest <= most_difference && ordinary(top_p.first) && ordinary(top_q.first)) {
                ProbeMetrics& m = out[row];
                m.kl_pq = r.kl_pq;
                m.kl_qp = r.kl_qp;
                m.lse_p = log(r.mass);
                m.lse_q = m.lse_p + (guess + r.log1p_a);
                m.entropy_p = m.lse_p - r.mean_l;
                m.entropy_q = m.lse_q - r.mean_k;
                m.max_abs_dlogit = totals.largest; // rounded to FP32; the second visit makes it exact
                m.differing = static_cast<std::int64_t>(totals.differing);
                set_tops<T>(m, b, row, p, q, top_p.id, top_p.first, top_p.second, top_q.id,
                            top_q.first == top_q.second);
                m.rank = before + 1;
                state[row].shift = guess + r.log1p_a;
                if constexpr (!kl_only) {
                    state[row].threshold_p = tenth_largest(groups[0], row_groups);
                    state[row].threshold_q = tenth_largest(groups[1], row_groups);
                }
                state[row].careful = 0;
            }
        }
        __syncthreads();
        again = !isnan(better_guess); // the same for all threads; read before the next row's end writes it
    }
}

} // namespace flipscope::gpu
