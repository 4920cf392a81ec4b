// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The second visit of rows that went the careful way: Jensen-Shannon divergence, total variation, overlaps of the top
// tokens, the exact largest difference, and the rank of P's top token in Q's row where the top moved. It knows the
// log-sum-exps of the first.

#include "gpu/exponential.cuh"
#include "gpu/reduce.cuh"
#include "gpu/state.cuh"

namespace flipscope::gpu {

/// Elements of a row that reach its threshold. Usually 10 to 30; more than fit happens where many are equal.
constexpr int max_candidates = 256;

/// Does (x, i) come before (y, j) in the order of ranks: larger logit first, then lower id?
__device__ __forceinline__ bool ahead(double x, int i, double y, int j)
{
    return x > y || (x == y && i < j);
}

struct Candidates {
    double value[max_candidates];
    int id[max_candidates];
    int count;

    __device__ __forceinline__ void offer(double x, int i, double threshold)
    {
        if (x >= threshold) {
            // The order in which threads arrive does not matter: the list is ranked by (value, id), which is unique.
            const int at = atomicAdd(&count, 1);
            if (at < max_candidates) {
                value[at] = x;
                id[at] = i;
            }
        }
    }
};

/// Writes the ids of the ten first in rank order to `top`. All threads.
__device__ inline void rank_candidates(const Candidates& c, int* top)
{
    for (int i = static_cast<int>(threadIdx.x); i < c.count; i += block_threads) {
        int before = 0;
        for (int j = 0; j < c.count; j++)
            before += ahead(c.value[j], c.id[j], c.value[i], c.id[i]);
        if (before < 10)
            top[before] = c.id[i];
    }
}

/// The long way: ten times the first in rank order after the one before. For rows with thousands of equal logits.
template <class T>
__device__ void rank_by_rounds(const typename T::Bits* row, int vocab, int* top)
{
    double last = INFINITY;
    int last_id = -1;
    for (int n = 0; n < 10 && n < vocab; n++) {
        Top2 best;
        for (int i = static_cast<int>(threadIdx.x); i < vocab; i += block_threads) {
            const double x = T::to_double(row[i]);
            if (ahead(last, last_id, x, i))
                best.see(x, i);
        }
        best = block_top2(best);
        last = best.first;
        last_id = best.id;
        if (threadIdx.x == 0)
            top[n] = best.id;
    }
    __syncthreads();
}

__device__ inline int common(const int* a, const int* b, int k)
{
    int n = 0;
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++)
            n += a[i] >= 0 && a[i] == b[j];
    return n;
}

/// Sums of the second set.
struct Distances {
    double js = 0, tv = 0;

    /// x = ln q - ln p. Nearly equal shares go through t = (q-p)/(q+p) = (e^x - 1)/(e^x + 1) and h(t), which has no
    /// cancellation; others by the definition.
    __device__ __forceinline__ void add(double l, double k, double lse_p, double lse_q, double shift)
    {
        const double p = exp(l - lse_p), q = exp(k - lse_q), both = p + q;
        const double x = (k - l) - shift; // NaN where both are -inf: then `both` is 0
        if (!(both > 0))
            return;
        if (fabs(x) <= 0.5) {
            const double e = x + phi_exact(x); // e^x - 1
            tv = fma(p, fabs(e), tv);
            js = fma(both, js_series(e / (e + 2)), js);
        } else {
            tv += fabs(q - p);
            js += (p > 0 ? p * log(2 * (p / both)) : 0) + (q > 0 ? q * log(2 * (q / both)) : 0);
        }
    }
};

template <class T>
__global__ void __launch_bounds__(block_threads) second_kernel(Batch b, ProbeMetrics* out, RowState* state)
{
    using Bits = typename T::Bits;
    __shared__ Candidates side[2];
    __shared__ int top[2][10];
    if (!state->doubted)
        return; // the fast kernels vouch for all rows
    for (int row = static_cast<int>(blockIdx.x); row < b.rows; row += static_cast<int>(gridDim.x)) {
        ProbeMetrics& m = out[row];
        if (!m.valid || !state[row].careful)
            continue;
        const Bits *p = p_row<T>(b, row), *q = q_row<T>(b, row);
        if (threadIdx.x < 10)
            top[0][threadIdx.x] = top[1][threadIdx.x] = -1;
        if (threadIdx.x == 0)
            side[0].count = side[1].count = 0;
        const double lse_p = m.lse_p, lse_q = m.lse_q, shift = state[row].shift;
        const double threshold_p = state[row].threshold_p, threshold_q = state[row].threshold_q;
        const int top_id = m.argmax_p;
        const double top_in_q = T::to_double(q[top_id]);
        __syncthreads();

        Distances d;
        double max_abs = 0;
        long long before = 0;
        for_each_pair<T>(p, q, b.vocab, [&](int i, Bits x, Bits y) {
            const double l = T::to_double(x), k = T::to_double(y);
            d.add(l, k, lse_p, lse_q, shift);
            side[0].offer(l, i, threshold_p);
            side[1].offer(k, i, threshold_q);
            max_abs = fmax(max_abs, l == k ? 0 : fabs(l - k));
            before += ahead(k, i, top_in_q, top_id);
        });
        double sums[2] = {d.js, d.tv};
        block_sum(sums);
        max_abs = block_max(max_abs);
        before = block_sum(before); // also lets all offers be seen by all

        for (int s = 0; s < 2; s++)
            if (side[s].count <= max_candidates)
                rank_candidates(side[s], top[s]);
            else
                rank_by_rounds<T>(s == 0 ? p : q, b.vocab, top[s]);
        __syncthreads();
        if (threadIdx.x == 0) {
            m.js = sums[0] / 2;
            m.tv = sums[1] / 2;
            m.max_abs_dlogit = max_abs;
            m.rank = static_cast<std::int32_t>(before) + 1;
            m.top5_overlap = common(top[0], top[1], 5) / 5.0;
            m.top10_overlap = common(top[0], top[1], 10) / 10.0;
        }
        __syncthreads();
    }
}

} // namespace flipscope::gpu
