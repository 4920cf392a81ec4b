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
// D0 is a guess at lse_Q - lse_P from the first vector of every thread. All terms of G and B are >= 0; what is
// subtracted is about half the square of the guess's error. Where that is not small beside the result (tiny
// divergences), or anything is out of the ordinary (infinities, NaN, logits of 128 and more), the row stays marked for
// the careful kernel: what the fast kernel says, it vouches for.

#include "gpu/exponential.cuh"
#include "gpu/maxima.cuh"
#include "gpu/reduce.cuh"
#include "gpu/state.cuh"
#include "gpu/weights.cuh"

namespace flipscope::gpu {

/// Largest |logit| and |difference| that the fast kernels take: e^l, e^d and their sums then stay within FP64.
constexpr float most_logit = 128, most_difference = 256, most_guess = 300;

/// Elements of two 16-byte vectors that differ by bits.
template <class T>
__device__ __forceinline__ int differing_in(const uint4& x, const uint4& y)
{
    const unsigned z[4] = {x.x ^ y.x, x.y ^ y.y, x.z ^ y.z, x.w ^ y.w};
    int n = 0;
#pragma unroll
    for (int j = 0; j < 4; j++)
        if constexpr (sizeof(typename T::Bits) == 2)
            // Adding 0x7fff to 15 bits carries into the 16th exactly where they are not 0.
            n += __popc((((z[j] & 0x7fff7fffu) + 0x7fff7fffu) | z[j]) & 0x80008000u);
        else
            n += z[j] != 0;
    return n;
}

/// The sums of one thread. `kl_only` leaves out the entropies; it serves the benchmark.
template <bool kl_only>
struct CoreSums {
    double s = 0, g = 0, a = 0, b = 0, pl = 0, qk = 0;
    float largest = 0; ///< |k - l|

    __device__ __forceinline__ void add(double w, double d, double phi, double l, double k)
    {
        const double u = phi + d; // e^d - 1
        s += w;
        g = fma(w, phi, g);
        a = fma(w, u, a);
        b = fma(w, fma(d, u, -phi), b);
        if constexpr (!kl_only) {
            pl = fma(w, l, pl);
            qk = fma(fma(w, u, w), k, qk); // w e^d is the run's weight, up to e^D0
        }
    }
};

/// Sums up one 16-byte vector of each row.
template <class T, bool kl_only>
__device__ __forceinline__ void add_vector(CoreSums<kl_only>& sums, const Weights<T>& weight, const uint4& x,
                                           const uint4& y, double guess, const double* powers)
{
    constexpr int n = per_load<T>;
    const float guess_f = static_cast<float>(guess); // exact: the guess was rounded to a float
    float d[n], most = 0;
#pragma unroll
    for (int j = 0; j < n; j++) {
        const float kl = T::to_float(element<T>(y, j)) - T::to_float(element<T>(x, j));
        sums.largest = fmaxf(sums.largest, fabsf(kl));
        d[j] = kl - guess_f;
        most = fmaxf(most, fabsf(d[j]));
    }
    // The whole warp takes one way: lanes that part would wait for each other anyway.
    if (__all_sync(__activemask(), most <= small_x)) {
#pragma unroll
        for (int j = 0; j < n; j++) {
            const double l = T::to_double(element<T>(x, j)), k = T::to_double(element<T>(y, j));
            const double exact = (k - l) - guess;
            sums.add(weight(element<T>(x, j), l), exact, phi_small(exact, d[j]), l, k);
        }
    } else {
#pragma unroll
        for (int j = 0; j < n; j++) {
            const double l = T::to_double(element<T>(x, j)), k = T::to_double(element<T>(y, j));
            const double exact = (k - l) - guess;
            sums.add(weight(element<T>(x, j), l), exact, phi_any(exact, powers), l, k);
        }
    }
}

/// lse_Q - lse_P of the first vectors, rounded to a float so that differences from it are exact in FP32 and FP64 alike.
template <class T>
__device__ double guess_shift(const typename T::Bits* p, const typename T::Bits* q, int vectors, const double* powers)
{
    double sums[2] = {0, 0};
    if (static_cast<int>(threadIdx.x) < vectors) {
        const uint4 x = reinterpret_cast<const uint4*>(p)[threadIdx.x],
                    y = reinterpret_cast<const uint4*>(q)[threadIdx.x];
#pragma unroll
        for (int j = 0; j < per_load<T>; j++) {
            sums[0] += fast_exp(T::to_double(element<T>(x, j)), powers);
            sums[1] += fast_exp(T::to_double(element<T>(y, j)), powers);
        }
    }
    block_sum(sums);
    return static_cast<double>(static_cast<float>(log(sums[1] / sums[0])));
}

template <class T, bool kl_only>
__global__ void __launch_bounds__(block_threads, min_blocks)
    core_kernel(Batch b, const double* table, ProbeMetrics* out, RowState* state)
{
    using Bits = typename T::Bits;
    constexpr int n = per_load<T>;
    extern __shared__ double hot[];
    __shared__ double powers[exp_steps], warp_first[2][warps];
    load_powers(powers);
    const Weights<T> weight(table, hot, powers);
    const int vectors = b.vocab / n;
    for (int row = static_cast<int>(blockIdx.x); row < b.rows; row += static_cast<int>(gridDim.x)) {
        const Bits *p = row_of<T>(b.p, b.pitch, row), *q = row_of<T>(b.q, b.pitch, row);
        const auto *pv = reinterpret_cast<const uint4*>(p), *qv = reinterpret_cast<const uint4*>(q);
        const double guess = guess_shift<T>(p, q, vectors, powers);
        if (!(fabs(guess) <= most_guess))
            continue; // the same for all threads

        CoreSums<kl_only> sums;
        Maxima<T> max_p, max_q;
        int differing = 0;
        int i = static_cast<int>(threadIdx.x);
        uint4 x{}, y{};
        if (i < vectors) {
            x = __ldcs(pv + i);
            y = __ldcs(qv + i);
        }
        while (i < vectors) {
            // The next vectors are on their way while these are worked on.
            const int following = i + block_threads;
            uint4 next_x{}, next_y{};
            if (following < vectors) {
                next_x = __ldcs(pv + following);
                next_y = __ldcs(qv + following);
            }
            max_p.see(x, i);
            max_q.see(y, i);
            if constexpr (!kl_only)
                differing += differing_in<T>(x, y);
            add_vector<T, kl_only>(sums, weight, x, y, guess, powers);
            x = next_x;
            y = next_y;
            i = following;
        }
        const int tail = vectors * n + static_cast<int>(threadIdx.x);
        const int tail_id = tail < b.vocab ? tail : -1;
        float tail_p = 0, tail_q = 0;
        if (tail_id >= 0) {
            const double l = T::to_double(p[tail]), k = T::to_double(q[tail]), d = (k - l) - guess;
            tail_p = T::to_float(p[tail]);
            tail_q = T::to_float(q[tail]);
            differing += p[tail] != q[tail];
            sums.largest = fmaxf(sums.largest, fabsf(tail_q - tail_p));
            sums.add(weight(p[tail], l), d, phi_any(d, powers), l, k);
        }

        const BlockMaxima top_p = block_maxima<T>(max_p, tail_p, tail_id, p, b.vocab, warp_first[0]);
        const BlockMaxima top_q = block_maxima<T>(max_q, tail_q, tail_id, q, b.vocab, warp_first[1]);
        double totals[7] = {sums.s, sums.g, sums.a, sums.b, sums.pl, sums.qk, static_cast<double>(differing)};
        block_sum(totals);
        const double largest = block_max(sums.largest);
        if (threadIdx.x == 0) {
            const double s = totals[0], a = totals[2] / s, log1p_a = log1p(a);
            const double g = totals[1] / s, b_share = totals[3] / (s + totals[2]);
            const double kl_pq = g - a_minus_log1p(a);
            // ln(1+a) - a/(1+a) = c - ln(1+c) with c = -a/(1+a)
            const double kl_qp = b_share - a_minus_log1p(-a / (1 + a));
            // NaN anywhere fails the comparisons. A top of 0 may be -0 and +0: the packed maxima tell those apart.
            const bool same = g == 0 && a == 0 && b_share == 0;
            const bool sure = same || (kl_pq >= 0.5 * g && kl_qp >= 0.5 * b_share && s < INFINITY);
            if (sure && largest <= most_difference && fabsf(top_p.first) <= most_logit &&
                fabsf(top_q.first) <= most_logit && top_p.first != 0 && top_q.first != 0) {
                ProbeMetrics& m = out[row];
                m.kl_pq = same ? 0 : kl_pq;
                m.kl_qp = same ? 0 : kl_qp;
                m.lse_p = log(s);
                m.lse_q = m.lse_p + (guess + log1p_a);
                m.entropy_p = m.lse_p - totals[4] / s;
                m.entropy_q = m.lse_q - totals[5] / (s + totals[2]);
                m.max_abs_dlogit = largest; // rounded to FP32; the second visit makes it exact
                m.differing = static_cast<std::int64_t>(totals[6]);
                set_tops<T>(m, b, row, p, q, top_p.id, top_p.first, top_p.second, top_q.id,
                            top_q.first == top_q.second);
                state[row].shift = guess + log1p_a;
                state[row].threshold_p = tenth_largest(warp_first[0]);
                state[row].threshold_q = tenth_largest(warp_first[1]);
                state[row].careful = 0;
            }
        }
        __syncthreads();
    }
}

} // namespace flipscope::gpu
