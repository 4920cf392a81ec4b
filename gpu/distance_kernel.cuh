// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The second visit of rows that the core kernel vouched for: as second_kernel.cuh, with the fast exponentials.
//
// With x = ln q - ln p, E = e^x - 1, y = 2 + E: q - p = p E, t = (q-p)/(q+p) = E / y, and an element's share of the
// Jensen-Shannon divergence is (p+q)/2 h(t) = (p/2) E h(t)/t: see js_series. For larger |x| it is
// p/2 [e^x x - y ln(y/2)], whose cancellation then costs nothing that matters.

#include "gpu/maxima.cuh"
#include "gpu/second_kernel.cuh"
#include "gpu/weights.cuh"

namespace flipscope::gpu {

/// Of a share p: twice its Jensen-Shannon share, for |x| <= small_x. e = e^x - 1.
__device__ __forceinline__ double js_small(double e)
{
    // 1/y by FP32 and one step of Newton's: 1e-14.
    const double y = 2 + e;
    const double r0 = static_cast<double>(__frcp_rn(static_cast<float>(y)));
    const double r = fma(r0, fma(-y, r0, 1.0), r0);
    const double t = e * r;
    const float u = static_cast<float>(t) * static_cast<float>(t);
    float tail = fmaf(u, 1.0f / 132, 1.0f / 90); // h's series from its second term on
    tail = fmaf(u, tail, 1.0f / 56);
    tail = fmaf(u, tail, 1.0f / 30);
    tail = fmaf(u, tail, 1.0f / 12);
    return e * t * fma(t * t, static_cast<double>(tail), 0.5);
}

__device__ __forceinline__ double js_any(double x, double e)
{
    const double y = 2 + e;
    return fma(e + 1, x, -y * log(0.5 * y));
}

template <class T>
struct FastDistances {
    double js = 0, tv = 0, largest = 0;
    float largest_f; ///< the largest difference, rounded to FP32: only elements that reach it are looked at in FP64

    __device__ __forceinline__ void add(double w, double e, double j)
    {
        tv = fma(w, fabs(e), tv);
        js = fma(w, j, js);
    }
};

template <class T>
__device__ __forceinline__ void add_distances(FastDistances<T>& sums, const Weights<T>& weight, const uint4& x,
                                              const uint4& y, double shift, const double* powers)
{
    constexpr int n = per_load<T>;
    const float shift_f = static_cast<float>(shift);
    float d[n], most = 0;
#pragma unroll
    for (int j = 0; j < n; j++) {
        const float kl = T::to_float(element<T>(y, j)) - T::to_float(element<T>(x, j));
        if (fabsf(kl) == sums.largest_f)
            sums.largest = fmax(sums.largest, fabs(T::to_double(element<T>(y, j)) - T::to_double(element<T>(x, j))));
        d[j] = kl - shift_f;
        most = fmaxf(most, fabsf(d[j]));
    }
    if (__all_sync(__activemask(), most <= small_x)) {
#pragma unroll
        for (int j = 0; j < n; j++) {
            const double l = T::to_double(element<T>(x, j));
            const double exact = (T::to_double(element<T>(y, j)) - l) - shift;
            const double e = exact + phi_small(exact, d[j]);
            sums.add(weight(element<T>(x, j), l), e, js_small(e));
        }
    } else {
#pragma unroll 2
        for (int j = 0; j < n; j++) {
            const double l = T::to_double(element<T>(x, j));
            const double exact = (T::to_double(element<T>(y, j)) - l) - shift;
            const double e = exact + phi_any(exact, powers);
            sums.add(weight(element<T>(x, j), l), e, fabs(exact) <= small_x ? js_small(e) : js_any(exact, e));
        }
    }
}

/// The largest logit of a vector.
template <class T>
__device__ __forceinline__ float vector_max(const uint4& v)
{
    if constexpr (sizeof(typename T::Bits) == 2) {
        const unsigned m = Packed<T>::max(Packed<T>::max(v.x, v.y), Packed<T>::max(v.z, v.w));
        return fmaxf(T::to_float(static_cast<std::uint16_t>(m & 0xffffu)),
                     T::to_float(static_cast<std::uint16_t>(m >> 16)));
    } else {
        return fmaxf(fmaxf(__uint_as_float(v.x), __uint_as_float(v.y)),
                     fmaxf(__uint_as_float(v.z), __uint_as_float(v.w)));
    }
}

template <class T>
__device__ __forceinline__ void offer_vector(Candidates& c, const uint4& v, int vector, float threshold)
{
    if (vector_max<T>(v) >= threshold)
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
    extern __shared__ double hot[];
    __shared__ double powers[exp_steps];
    __shared__ Candidates side[2];
    __shared__ int top[2][10];
    load_powers(powers);
    const Weights<T> weight(table, hot, powers);
    const int vectors = b.vocab / n;
    for (int row = static_cast<int>(blockIdx.x); row < b.rows; row += static_cast<int>(gridDim.x)) {
        if (state[row].careful)
            continue;
        ProbeMetrics& m = out[row];
        const Bits *p = row_of<T>(b.p, b.pitch, row), *q = row_of<T>(b.q, b.pitch, row);
        const auto *pv = reinterpret_cast<const uint4*>(p), *qv = reinterpret_cast<const uint4*>(q);
        if (threadIdx.x < 10)
            top[0][threadIdx.x] = top[1][threadIdx.x] = -1;
        if (threadIdx.x == 0)
            side[0].count = side[1].count = 0;
        const double shift = state[row].shift;
        const auto threshold_p = static_cast<float>(state[row].threshold_p); // exact: logits of at most 32 bits
        const auto threshold_q = static_cast<float>(state[row].threshold_q);
        __syncthreads();

        FastDistances<T> sums;
        sums.largest_f = static_cast<float>(m.max_abs_dlogit);
        for (int i = static_cast<int>(threadIdx.x); i < vectors; i += block_threads) {
            const uint4 x = __ldcs(pv + i), y = __ldcs(qv + i);
            offer_vector<T>(side[0], x, i, threshold_p);
            offer_vector<T>(side[1], y, i, threshold_q);
            add_distances<T>(sums, weight, x, y, shift, powers);
        }
        const int tail = vectors * n + static_cast<int>(threadIdx.x);
        if (tail < b.vocab) {
            const double l = T::to_double(p[tail]), k = T::to_double(q[tail]), x = (k - l) - shift;
            const double e = x + phi_any(x, powers);
            sums.add(weight(p[tail], l), e, fabs(x) <= small_x ? js_small(e) : js_any(x, e));
            if (fabsf(T::to_float(q[tail]) - T::to_float(p[tail])) == sums.largest_f)
                sums.largest = fmax(sums.largest, fabs(k - l));
            side[0].offer(l, tail, threshold_p);
            side[1].offer(k, tail, threshold_q);
        }
        double totals[2] = {sums.js, sums.tv};
        block_sum(totals);
        const double largest = block_max(sums.largest);

        long long before = 0;
        if (m.flip) { // only then is the rank not 1; the run's row is still in the cache
            const int top_id = m.argmax_p;
            const double top_in_q = T::to_double(q[top_id]);
            for (int i = static_cast<int>(threadIdx.x); i < b.vocab; i += block_threads)
                before += ahead(T::to_double(q[i]), i, top_in_q, top_id);
        }
        before = block_sum(before); // also lets all offers be seen by all
        for (int s = 0; s < 2; s++)
            if (side[s].count <= max_candidates)
                rank_candidates(side[s], top[s]);
            else
                rank_by_rounds<T>(s == 0 ? p : q, b.vocab, top[s]);
        __syncthreads();
        if (threadIdx.x == 0) {
            const double s = exp(m.lse_p);
            m.js = totals[0] / s / 2;
            m.tv = totals[1] / s / 2;
            m.max_abs_dlogit = largest;
            m.rank = static_cast<std::int32_t>(before) + 1;
            m.top5_overlap = common(top[0], top[1], 5) / 5.0;
            m.top10_overlap = common(top[0], top[1], 10) / 10.0;
        }
        __syncthreads();
    }
}

} // namespace flipscope::gpu
