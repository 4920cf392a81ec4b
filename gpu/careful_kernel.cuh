// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The core set by the book, for any row: masks, infinities, NaN, logits of 1e4, divergences near nothing. Three visits
// of the row (maxima; log-sum-exps; divergences), each element with library exponentials. The fast kernel hands over
// the rows that it does not vouch for; what no fast kernel exists for comes here whole.

#include "gpu/exponential.cuh"
#include "gpu/reduce.cuh"
#include "gpu/state.cuh"

namespace flipscope::gpu {

/// KL both ways by form B. With x = ln q - ln p: sum p (e^x - 1 - x) = KL(P||Q) + sum q - sum p, and the two sums
/// are 1. No term is negative, and an error in the log-sum-exps enters squared. A p of 0 leaves q behind in the first
/// sum (the limit of the term), a q of 0 makes it infinite.
struct FormB {
    double pq = 0, qp = 0, entropy_p = 0, entropy_q = 0;

    __device__ __forceinline__ void add(double l, double k, double lse_p, double lse_q, double shift)
    {
        const double p = exp(l - lse_p), q = exp(k - lse_q);
        const bool no_p = l == -INFINITY, no_q = k == -INFINITY;
        if (p > 0)
            entropy_p = fma(p, lse_p - l, entropy_p);
        if (q > 0)
            entropy_q = fma(q, lse_q - k, entropy_q);
        if (no_p || no_q) {
            if (!no_q) {
                pq += q;
                qp = INFINITY;
            }
            if (!no_p) {
                qp += p;
                pq = INFINITY;
            }
            return;
        }
        const double x = (k - l) - shift;
        if (fabs(x) <= 0.5) {
            pq = fma(p, phi_exact(x), pq);
            qp = fma(q, phi_exact(-x), qp);
        } else { // written out: e^x may overflow where p has long vanished
            pq += (q - p) - (p > 0 ? p * x : 0);
            qp += (p - q) + (q > 0 ? q * x : 0);
        }
    }
};

template <class T>
__global__ void __launch_bounds__(block_threads) careful_kernel(Batch b, ProbeMetrics* out, RowState* state)
{
    using Bits = typename T::Bits;
    __shared__ double groups[row_groups];
    if (!state->doubted)
        return; // the fast kernels vouch for all rows
    for (int row = static_cast<int>(blockIdx.x); row < b.rows; row += static_cast<int>(gridDim.x)) {
        if (!state[row].careful)
            continue;
        const Bits *p = p_row<T>(b, row), *q = q_row<T>(b, row);
        ProbeMetrics& m = out[row];

        Top2 top_p, top_q;
        double bad = 0, max_abs = 0;
        long long differing = 0;
        for_each_pair<T>(p, q, b.vocab, [&](int i, Bits x, Bits y) {
            const double l = T::to_double(x), k = T::to_double(y);
            differing += x != y;
            bad = !(l < INFINITY) || !(k < INFINITY) ? 1 : bad; // NaN or +inf
            top_p.see(l, i);
            top_q.see(k, i);
            max_abs = fmax(max_abs, l == k ? 0 : fabs(l - k));
        });
        differing = block_sum(differing);
        bad = block_max(bad);
        max_abs = block_max(max_abs);
        top_p = block_top2(top_p, groups);
        const double threshold_p = threadIdx.x == 0 ? tenth_largest(groups, row_groups) : 0;
        __syncthreads();
        top_q = block_top2(top_q, groups);
        if (threadIdx.x == 0) {
            m.differing = differing;
            state[row].threshold_p = threshold_p;
            state[row].threshold_q = tenth_largest(groups, row_groups);
        }
        if (bad > 0 || top_p.first == -INFINITY || top_q.first == -INFINITY) {
            if (threadIdx.x == 0)
                set_invalid(m);
            __syncthreads();
            continue;
        }

        double sums[2] = {0, 0};
        for_each_pair<T>(p, q, b.vocab, [&](int, Bits x, Bits y) {
            sums[0] += exp(T::to_double(x) - top_p.first);
            sums[1] += exp(T::to_double(y) - top_q.first);
        });
        block_sum(sums);
        const double log_p = log(sums[0]), log_q = log(sums[1]);
        const double lse_p = top_p.first + log_p, lse_q = top_q.first + log_q;
        // Not lse_q - lse_p: where both rows hold logits near 1e4, their difference has more digits than they have.
        const double shift = (top_q.first - top_p.first) + (log_q - log_p);

        FormB f;
        for_each_pair<T>(p, q, b.vocab,
                         [&](int, Bits x, Bits y) { f.add(T::to_double(x), T::to_double(y), lse_p, lse_q, shift); });
        double totals[4] = {f.pq, f.qp, f.entropy_p, f.entropy_q};
        block_sum(totals);
        if (threadIdx.x == 0) {
            m.kl_pq = totals[0];
            m.kl_qp = totals[1];
            m.entropy_p = totals[2];
            m.entropy_q = totals[3];
            m.lse_p = lse_p;
            m.lse_q = lse_q;
            m.max_abs_dlogit = max_abs;
            state[row].shift = shift;
            set_tops<T>(m, b, row, p, q, top_p.id, top_p.first, top_p.second, top_q.id, top_q.first == top_q.second);
        }
        __syncthreads();
    }
}

} // namespace flipscope::gpu
