// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the kernels tell each other about a row, and the parts of a row's numbers that do not depend on how its sums
// were found.

#include "core/engine/probe_metrics.h"
#include "gpu/rows.cuh"

#include <cmath>

namespace flipscope::gpu {

/// Per row, from the first visit to the later ones.
struct RowState {
    double threshold_p, threshold_q; ///< at least ten elements of the row are >= this, or it is -inf
    double shift;                    ///< lse_q - lse_p, to more digits than their difference would have
    double guess;                    ///< at `shift`, for another visit by the core kernel
    std::uint8_t careful;            ///< the fast kernel does not vouch for its numbers: look again, carefully
    std::uint8_t visits;             ///< by the core kernel
    std::uint8_t again;              ///< wants another visit: 1 as before, 2 by way 3 in place of 2 (core_sums.cuh)
    std::uint8_t waiting, doubted;   ///< of the first row alone: some row wants another visit, some is careful
};

constexpr int core_sums = 12, max_outliers = 1024;

/// Parts of a block whose largest elements are told apart.
constexpr int row_groups = 2 * warps;

/// What the core kernel leaves of a row for the finishing kernel (finish_kernel.cuh).
struct RowSums {
    double guess;
    double sums[warps][core_sums];
    float largest[warps], groups[2][row_groups];
    int count;                                      ///< of what was set aside; may exceed the room; -1 = no sums
    int id[max_outliers];                           ///< in no order
    std::uint32_t p[max_outliers], q[max_outliers]; ///< bits
};

/// Everything NaN, as the rules for invalid rows have it. `differing` is the caller's.
__device__ inline void set_invalid(ProbeMetrics& m)
{
    const double none = NAN;
    m.kl_pq = m.kl_qp = m.js = m.tv = m.margin = m.p_top = m.q_top = none;
    m.entropy_p = m.entropy_q = m.nll_p = m.nll_q = m.dp = m.max_abs_dlogit = none;
    m.lse_p = m.lse_q = m.top5_overlap = m.top10_overlap = none;
    m.argmax_p = m.argmax_q = -1;
    m.rank = -1;
    m.flip = m.tied = m.valid = 0;
}

/// Fills what follows from the largest elements and the log-sum-exps: argmaxes, flip, ties, margin, probabilities of
/// the top and of the next token. One thread. `rank` is 1 here; the second visit counts it where the top moved.
template <class T>
__device__ void set_tops(ProbeMetrics& m, const Batch& b, int row, const typename T::Bits* p, const typename T::Bits* q,
                         int argmax_p, double first_p, double second_p, int argmax_q, bool tied_q)
{
    m.valid = 1;
    m.argmax_p = argmax_p;
    m.argmax_q = argmax_q;
    m.flip = argmax_p != argmax_q;
    m.tied = b.vocab > 1 && (first_p == second_p || tied_q);
    m.margin = b.vocab > 1 ? first_p - second_p : NAN;
    m.rank = 1;
    m.p_top = exp(first_p - m.lse_p);
    m.q_top = exp(T::to_double(q[argmax_p]) - m.lse_q);
    const int next = b.next_of(row);
    m.nll_p = m.nll_q = m.dp = NAN;
    if (next >= 0 && next < b.vocab) {
        const double l = T::to_double(p[next]), k = T::to_double(q[next]);
        m.nll_p = m.lse_p - l;
        m.nll_q = m.lse_q - k;
        m.dp = exp(k - m.lse_q) - exp(l - m.lse_p);
    }
}

/// The tenth largest of what the parts of a block saw as their largest: each is another element of the row, so at least
/// ten elements reach it, and hardly more than twice as many do. One thread.
static_assert(row_groups >= 10, "the overlaps' thresholds come from ten groups or more");
template <class Value>
__device__ inline double tenth_largest(const Value* firsts, int count)
{
    double sorted[10];
    for (double& s : sorted)
        s = -INFINITY;
    for (int g = 0; g < count; g++) {
        double x = firsts[g];
        for (double& s : sorted) // insertion: what is pushed out sinks on
            if (x > s) {
                const double t = s;
                s = x;
                x = t;
            }
    }
    return sorted[9];
}

} // namespace flipscope::gpu
