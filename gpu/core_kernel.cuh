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
// D0 is a guess at lse_Q - lse_P from the first vector of every thread; elements larger than all of that sample are set
// aside (outliers.cuh), so that none outweighs what the guess is made from. All terms of G and B are >= 0; what is
// subtracted is about half the square of the guess's error. Where that is not small beside the result, the row is
// visited once more with the difference just found as the guess. Where even that is not enough (tiny divergences), or
// anything is out of the ordinary (infinities, NaN, logits of 128 and more, too many outliers), the row stays marked
// for the careful kernel: what the fast kernel says, it vouches for.

#include "gpu/exponential.cuh"
#include "gpu/maxima.cuh"
#include "gpu/outliers.cuh"
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

    template <class T>
    __device__ __forceinline__ void note_largest(const uint4& x, const uint4& y)
    {
#pragma unroll
        for (int j = 0; j < per_load<T>; j++)
            largest = fmaxf(largest, fabsf(T::to_float(element<T>(y, j)) - T::to_float(element<T>(x, j))));
    }

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

/// What the first vector of every thread tells about a row pair.
struct Sample {
    double guess;         ///< lse_Q - lse_P of the sample, rounded to a float so that differences from it are exact
    float most_p, most_q; ///< its largest logits
};

template <class T>
__device__ Sample take_sample(const typename T::Bits* p, const typename T::Bits* q, int vectors, const double* powers)
{
    double sums[2] = {0, 0};
    float most_p = -INFINITY, most_q = -INFINITY;
    if (static_cast<int>(threadIdx.x) < vectors) {
        const uint4 x = reinterpret_cast<const uint4*>(p)[threadIdx.x];
        const uint4 y = reinterpret_cast<const uint4*>(q)[threadIdx.x];
#pragma unroll
        for (int j = 0; j < per_load<T>; j++) {
            sums[0] += fast_exp(T::to_double(element<T>(x, j)), powers);
            sums[1] += fast_exp(T::to_double(element<T>(y, j)), powers);
            most_p = fmaxf(most_p, T::to_float(element<T>(x, j)));
            most_q = fmaxf(most_q, T::to_float(element<T>(y, j)));
        }
    }
    block_sum(sums);
    return {static_cast<double>(static_cast<float>(log(sums[1] / sums[0]))), static_cast<float>(block_max(most_p)),
            static_cast<float>(block_max(most_q))};
}

/// What the sums of a row come to.
struct CoreResult {
    double kl_pq, kl_qp, mass, log1p_a, mean_l, mean_k;
    bool sure;
};

// Below, `v` holds S, G, A, B, sum w l, sum w e^d k of the rest; `o` sum w, sum (w e^d - w), sum w l, sum w e^d k of
// what was set aside; `far` the terms of the chain rule for the latter, both ways.

/// ln(1 + a) of the whole row.
__device__ __forceinline__ double whole_log1p(const double* v, const double* o)
{
    return log1p((v[2] + o[1]) / (v[0] + o[0]));
}

__device__ __forceinline__ CoreResult put_together(const double* v, const double* o, const double* far)
{
    CoreResult r;
    const double s = v[0], t = s + v[2], a = v[2] / s; // masses of the rest: of P, and of Q up to e^D0
    const double g = v[1] / s, b = v[3] / t;
    const double all_s = s + o[0], all_t = all_s + (v[2] + o[1]);
    r.mass = all_s;
    r.log1p_a = whole_log1p(v, o);
    const double x = log1p(a) - r.log1p_a; // ln Q(R) - ln P(R); exactly 0 where nothing was set aside
    // ln(1+a) - a/(1+a) = c - ln(1+c) with c = -a/(1+a)
    r.kl_pq = (s * ((g - a_minus_log1p(a)) + phi_far(x)) + far[0]) / all_s;
    r.kl_qp = (t * ((b - a_minus_log1p(-a / (1 + a))) + phi_far(-x)) + far[1]) / all_t;
    r.mean_l = (v[4] + o[2]) / all_s;
    r.mean_k = (v[5] + o[3]) / all_t;
    // The polynomials are good to some 1e-10 of G and B; so must be what is left of them. And Q's mass is S + A, which
    // has digits only while the guess is not far off. NaN fails the comparisons.
    r.sure = r.kl_pq * all_s >= 0.5 * v[1] && r.kl_qp * all_t >= 0.5 * v[3] && all_s < INFINITY &&
             fabs(r.log1p_a) <= 4 && fabs(log1p(a)) <= 4;
    return r;
}

// One block of 512 threads on a multiprocessor: with two, 64 registers a thread spill, and that cost more than the
// second block gave (tests/bench/RESULTS.md).
template <class T, bool kl_only>
__global__ void __launch_bounds__(block_threads, 1)
    core_kernel(Batch b, const double* table, ProbeMetrics* out, RowState* state)
{
    using Bits = typename T::Bits;
    constexpr int n = per_load<T>;
    extern __shared__ double hot[];
    __shared__ double powers[exp_steps], warp_first[2][warps];
    __shared__ Outliers aside;
    __shared__ double better_guess;
    load_powers(powers);
    const Weights<T> weight(table, hot, powers);
    const int vectors = b.vocab / n;
    bool again = false; // this row a second time, with what the first time found as the guess
    for (int row = static_cast<int>(blockIdx.x); row < b.rows; row += again ? 0 : static_cast<int>(gridDim.x)) {
        const bool second = again;
        again = false;
        const Bits *p = row_of<T>(b.p, b.pitch, row), *q = row_of<T>(b.q, b.pitch, row);
        const auto *pv = reinterpret_cast<const uint4*>(p), *qv = reinterpret_cast<const uint4*>(q);
        if (threadIdx.x == 0)
            aside.count = 0; // the sample's barriers make it known
        Sample sample = take_sample<T>(p, q, vectors, powers);
        if (second)
            sample.guess = better_guess;
        const double guess = sample.guess;
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
            if constexpr (!kl_only)
                differing += differing_in<T>(x, y);
            const bool new_p = max_p.see(x, i), new_q = max_q.see(y, i);
            if ((new_p && max_p.largest() > sample.most_p) || (new_q && max_q.largest() > sample.most_q)) {
                sums.template note_largest<T>(x, y); // before they go
                set_aside<T>(aside, x, y, i, sample.most_p, sample.most_q);
            }
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
        const int count = aside.count;
        __syncthreads(); // all have read it before the next row's first thread clears it
        if (count > max_outliers)
            continue;

        sort_outliers(aside);
        double o[4] = {0, 0, 0, 0}, l = 0, k = 0, w = 0, v = 0;
        const bool mine = static_cast<int>(threadIdx.x) < count;
        if (mine) {
            l = T::to_double(p[aside.sorted[threadIdx.x]]);
            k = T::to_double(q[aside.sorted[threadIdx.x]]);
            w = exp(l);
            v = exp(k - guess);
            o[0] = w;
            o[1] = v - w;
            o[2] = w * l;
            o[3] = v * k;
        }
        block_sum(o);
        double far[2] = {0, 0};
        if (mine) {
            const double x = ((k - l) - guess) - whole_log1p(totals, o);
            far[0] = w * phi_far(x);
            far[1] = v * phi_far(-x);
        }
        block_sum(far);
        if (threadIdx.x == 0) {
            const CoreResult r = put_together(totals, o, far);
            better_guess = r.sure || second ? NAN : static_cast<float>(guess + r.log1p_a);
            // A top of 0 may be -0 and +0: the packed maxima tell those apart.
            if (r.sure && largest <= most_difference && fabsf(top_p.first) <= most_logit &&
                fabsf(top_q.first) <= most_logit && top_p.first != 0 && top_q.first != 0) {
                ProbeMetrics& m = out[row];
                m.kl_pq = r.kl_pq;
                m.kl_qp = r.kl_qp;
                m.lse_p = log(r.mass);
                m.lse_q = m.lse_p + (guess + r.log1p_a);
                m.entropy_p = m.lse_p - r.mean_l;
                m.entropy_q = m.lse_q - r.mean_k;
                m.max_abs_dlogit = largest; // rounded to FP32; the second visit makes it exact
                m.differing = static_cast<std::int64_t>(totals[6]);
                set_tops<T>(m, b, row, p, q, top_p.id, top_p.first, top_p.second, top_q.id,
                            top_q.first == top_q.second);
                state[row].shift = guess + r.log1p_a;
                state[row].threshold_p = tenth_largest(warp_first[0]);
                state[row].threshold_q = tenth_largest(warp_first[1]);
                state[row].careful = 0;
            }
        }
        __syncthreads();
        again = !isnan(better_guess); // the same for all threads; read before the next row's end writes it
    }
}

} // namespace flipscope::gpu
