// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The second visit of rows that the core kernel vouched for: as second_kernel.cuh, with the fast exponentials.
//
// With x = ln q - ln p, ln p and ln q stand at -x/2 and x/2 around their middle and (p+q)/2 is cosh(x/2) above it, so
// the Jensen-Shannon divergence needs one even function of x instead of two logarithms:
//   JS = 1/4 (KL(P||Q) + KL(Q||P)) - 1/2 sum (p + q) ln cosh(x/2).
// Both terms are accurate to 1e-10 of themselves; their difference is half the first where x is small, and more than a
// tenth of it for divergences up to 25 nats. A wrong x would count only by its square: the derivative is sum (q - p)/2.

#include "gpu/lanes.cuh"
#include "gpu/second_kernel.cuh"
#include "gpu/weights.cuh"

namespace flipscope::gpu {

/// ln cosh(x/2) / x^2 for |x| <= small_x; z = x^2. FP32 carries what is at most z/24 of the sum.
__device__ __forceinline__ double lncosh_small(double z, float zf)
{
    const float tail = fmaf(zf, fmaf(zf, -2.6351459e-5f, 3.4722222e-4f), -5.2083333e-3f);
    return fma(z, static_cast<double>(tail), 0.125);
}

/// The same for |x| <= 2.5: interpolated at Chebyshev's points of z in [0, 6.25], 2e-11 relative.
constexpr float bend_x = 2.5f;
__device__ __forceinline__ double lncosh_medium(double z)
{
    double s = 7.50738781374855869e-14;
    s = fma(s, z, -3.41462303647793949e-12);
    s = fma(s, z, 7.63795675920925692e-11);
    s = fma(s, z, -1.17832204817697526e-9);
    s = fma(s, z, 1.50358856878633231e-8);
    s = fma(s, z, -1.79081614444676154e-7);
    s = fma(s, z, 2.13411471014756201e-6);
    s = fma(s, z, -0.0000263504967308469889);
    s = fma(s, z, 0.000347221756113542876);
    s = fma(s, z, -0.00520833326136806914);
    s = fma(s, z, 0.1249999999981458);
    return s;
}

/// ln cosh(x/2) for any x.
__device__ __forceinline__ double lncosh_any(double x)
{
    const double far = fabs(x);
    return far <= static_cast<double>(bend_x) ? x * x * lncosh_medium(x * x)
                                              : 0.5 * far + (log1p(exp(-far)) - 0.69314718055994530942);
}

template <class T>
struct FastDistances {
    double bends = 0, tv = 0, largest = 0; ///< bends: sum (p + q) ln cosh(x/2), up to S
    float largest_f; ///< the largest difference, rounded to FP32: only vectors that reach it are looked at in FP64

    /// `scale` is e^-shift: the run's weights then are q where the baseline's are p.
    __device__ __forceinline__ void add_vector(const Weights<T>& weights, const uint4& x, const uint4& y, double shift,
                                               double scale, const double* powers)
    {
        constexpr int n = per_load<T>;
        const auto shift_f = static_cast<float>(shift);
        float d[n], most = 0, bigger = 0;
#pragma unroll
        for (int j = 0; j < n; j++) {
            const float kl = T::to_float(element<T>(y, j)) - T::to_float(element<T>(x, j));
            bigger = fmaxf(bigger, fabsf(kl));
            d[j] = kl - shift_f;
            most = fmaxf(most, fabsf(d[j]));
        }
        const auto l = [&](int j) { return T::to_double(element<T>(x, j)); };
        const auto k = [&](int j) { return T::to_double(element<T>(y, j)); };
        if (bigger >= largest_f && bigger > 0)
#pragma unroll
            for (int j = 0; j < n; j++)
                largest = fmax(largest, fabs(k(j) - l(j)));
        double p[n], q[n];
        const unsigned xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
        weights.all(xs, p);
        if constexpr (Weights<T>::looked_up)
            weights.all(ys, q);
        const bool small = __all_sync(~0U, most <= small_x);
        const bool medium = __all_sync(~0U, most <= bend_x);
        const auto add = [&](int j, double exact, double square, double bend) {
            double grown; // p - q
            if constexpr (Weights<T>::looked_up) {
                q[j] *= scale;
                grown = q[j] - p[j];
            } else {
                grown = p[j] * (exact + (small ? phi_small(exact, square, d[j]) : phi_any(exact, powers)));
                q[j] = p[j] + grown;
            }
            tv += fabs(grown);
            bends = fma(p[j] + q[j], bend, bends);
        };
        if (small) {
#pragma unroll
            for (int j = 0; j < n; j++) {
                const double exact = (k(j) - l(j)) - shift, square = exact * exact;
                add(j, exact, square, square * lncosh_small(square, d[j] * d[j]));
            }
        } else if (medium) {
#pragma unroll
            for (int j = 0; j < n; j++) {
                const double exact = (k(j) - l(j)) - shift, square = exact * exact;
                add(j, exact, square, square * lncosh_medium(square));
            }
        } else {
#pragma unroll
            for (int j = 0; j < n; j++) {
                const double exact = (k(j) - l(j)) - shift;
                add(j, exact, exact * exact, lncosh_any(exact));
            }
        }
    }
};

template <class T>
__device__ __forceinline__ void offer_vector(Candidates& c, const uint4& v, int vector, float threshold)
{
#pragma unroll
    for (int j = 0; j < per_load<T>; j++)
        c.offer(T::to_double(element<T>(v, j)), vector * per_load<T> + j, threshold);
}

template <class T>
__global__ void __launch_bounds__(block_threads, min_blocks)
    distance_kernel(Batch b, const double* table, ProbeMetrics* out, const RowState* state)
{
    using Bits = typename T::Bits;
    constexpr int n = per_load<T>;
    extern __shared__ __align__(16) double hot[];
    __shared__ double powers[exp_steps];
    __shared__ Candidates side[2];
    __shared__ int top[2][10];
    load_powers(powers);
    const Weights<T> weights(table, hot, powers);
    Ring<T> ring(hot + Weights<T>::entries);
    const int vectors = b.vocab / n;
    for (int row = static_cast<int>(blockIdx.x); row < b.rows; row += static_cast<int>(gridDim.x)) {
        if (state[row].careful)
            continue;
        ProbeMetrics& m = out[row];
        const Bits *p = p_row<T>(b, row), *q = q_row<T>(b, row);
        ring.start(p, q, vectors);
        if (threadIdx.x < 10)
            top[0][threadIdx.x] = top[1][threadIdx.x] = -1;
        if (threadIdx.x == 0)
            side[0].count = side[1].count = 0;
        const double shift = state[row].shift;
        const auto threshold_p = static_cast<float>(state[row].threshold_p); // exact: logits of at most 32 bits
        const auto threshold_q = static_cast<float>(state[row].threshold_q);
        __syncthreads();

        const double scale = exp(-shift);
        const auto limit_p = Lanes<T>::twice(threshold_p), limit_q = Lanes<T>::twice(threshold_q);
        FastDistances<T> sums;
        sums.largest_f = static_cast<float>(m.max_abs_dlogit);
        ring.template run<1>(vectors, [&](uint4& x, uint4& y, int left, int) {
            using L = Lanes<T>;
            if ((L::below(vector_max<T>(x), limit_p) & L::below(vector_max<T>(y), limit_q)) != ~0U || left <= 0) {
                if (left <= 0) { // beyond the row's end
                    x = y = Ring<T>::nothing();
                } else {
                    offer_vector<T>(side[0], x, vectors - left, threshold_p);
                    offer_vector<T>(side[1], y, vectors - left, threshold_q);
                }
            }
            sums.add_vector(weights, x, y, shift, scale, powers);
        });
        if (const int tail = vectors * n + static_cast<int>(threadIdx.x); tail < b.vocab) {
            const double l = T::to_double(p[tail]), k = T::to_double(q[tail]), d = (k - l) - shift;
            const double w = weights.one(p[tail]), grown = w * (d + phi_any(d, powers));
            sums.tv += fabs(grown);
            sums.bends = fma(w + (w + grown), lncosh_any(d), sums.bends);
            sums.largest = fmax(sums.largest, fabs(k - l));
            side[0].offer(l, tail, threshold_p);
            side[1].offer(k, tail, threshold_q);
        }
        double totals[2] = {sums.bends, sums.tv};
        block_sum(totals); // also lets all offers be seen by all
        const double largest = block_max(sums.largest);
        for (int s = 0; s < 2; s++)
            if (side[s].count <= max_candidates)
                rank_candidates(side[s], top[s]);
            else
                rank_by_rounds<T>(s == 0 ? p : q, b.vocab, top[s]);
        __syncthreads();
        if (threadIdx.x == 0) {
            const double s = exp(m.lse_p);
            m.js = fmax(0.25 * (m.kl_pq + m.kl_qp) - totals[0] / s / 2, 0.0);
            m.tv = totals[1] / s / 2;
            m.max_abs_dlogit = largest;
            m.top5_overlap = common(top[0], top[1], 5) / 5.0;
            m.top10_overlap = common(top[0], top[1], 10) / 10.0;
        }
        __syncthreads();
    }
}

} // namespace flipscope::gpu
