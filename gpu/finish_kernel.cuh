// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From the sums of a row pair to its numbers: a warp for each row. In the core kernel this was a sixth of a row's time,
// in which most threads waited for a few; here thousands of rows are brought to their end at once.

#include "gpu/core_sums.cuh"
#include "gpu/outliers.cuh"
#include "gpu/state.cuh"

#include <climits>

namespace flipscope::gpu {

/// Largest |difference| that the fast kernels take, and the range of a row's largest logit: e^l, e^d and their sums
/// then stay within FP64, and what weighs 0 in the tables would have weighed nothing.
constexpr float most_difference = 256, least_top = -64, most_top = 128;

/// The guess as a float's value, so that d is exact in FP64, and a multiple of 2^-20 where it is small, so that
/// exact_differences() can promise the same for FP32.
__device__ __forceinline__ double rounded_guess(double guess)
{
    return static_cast<double>(static_cast<float>(rint(guess * 0x1p20) * 0x1p-20));
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

/// Every lane gets the sum over the warp, put together in one order.
__device__ __forceinline__ double warp_sum(double v)
{
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(~0u, v, o);
    return v;
}

/// The sums of the warps that visited the row, in their order. All lanes get them.
__device__ __forceinline__ CoreTotals totals_of(const RowSums& row, double scale)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    double sum = 0;
    if (lane < core_sums)
        for (int w = 0; w < warps; w++)
            sum += row.sums[w][lane];
    double sums[core_sums];
#pragma unroll
    for (int c = 0; c < core_sums; c++)
        sums[c] = __shfl_sync(~0u, sum, c);
    CoreTotals all = totals_from(sums, scale);
    for (int w = 0; w < warps; w++)
        all.largest = fmax(all.largest, static_cast<double>(row.largest[w]));
    return all;
}

/// Orders the list by id: threads listed their finds as they came, and sums must not depend on that. `ids` is read four
/// at a time.
__device__ __forceinline__ void sort_outliers(const RowSums& row, int4* ids, std::uint16_t* order)
{
    const int lane = static_cast<int>(threadIdx.x) % 32, fours = (row.count + 3) / 4;
    int* single = reinterpret_cast<int*>(ids);
    for (int i = lane; i < 4 * fours; i += 32)
        single[i] = i < row.count ? row.id[i] : INT_MAX;
    __syncwarp();
    for (int i = lane; i < row.count; i += 32) {
        const int id = single[i];
        int before = 0;
        for (int j = 0; j < fours; j++) {
            const int4 other = ids[j];
            before += (other.x < id) + (other.y < id) + (other.z < id) + (other.w < id);
        }
        order[before] = static_cast<std::uint16_t>(i);
    }
    __syncwarp();
}

constexpr int finish_warps = 4;

/// One row; all lanes of a warp. `ids` and `order` have room for all that may be set aside.
template <class T, bool kl_only>
__device__ void finish_row(const Batch& b, int at, ProbeMetrics* out, RowState* state, const RowSums& row, int round,
                           int4* ids, std::uint16_t* order)
{
    using Bits = typename T::Bits;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    RowState& s = state[at];
    const double guess = row.guess, scale = exp(-guess);
    const CoreTotals totals = totals_of(row, scale);
    sort_outliers(row, ids, order);
    Top2 top_p, top_q;
    double o[4] = {0, 0, 0, 0};
    for (int j = lane; j < row.count; j += 32) {
        const int i = order[j];
        const double l = T::to_double(static_cast<Bits>(row.p[i])), k = T::to_double(static_cast<Bits>(row.q[i]));
        const double w = exp(l), v = exp(k) * scale;
        top_p.see(l, row.id[i]);
        top_q.see(k, row.id[i]);
        o[0] += w;
        o[1] += v - w;
        o[2] = fma(w, l, o[2]);
        o[3] = fma(v, k, o[3]);
    }
    top_p = warp_top2(top_p);
    top_q = warp_top2(top_q);
    const AsideTotals apart{warp_sum(o[0]), warp_sum(o[1]), warp_sum(o[2]), warp_sum(o[3])};
    const double whole = whole_log1p(totals, apart);
    double far[2] = {0, 0};
    for (int j = lane; j < row.count; j += 32) {
        const int i = order[j];
        const double l = T::to_double(static_cast<Bits>(row.p[i])), k = T::to_double(static_cast<Bits>(row.q[i]));
        const double x = ((k - l) - guess) - whole;
        far[0] = fma(exp(l), phi_far(x), far[0]);
        far[1] = fma(exp(k) * scale, phi_far(-x), far[1]);
    }
    far[0] = warp_sum(far[0]);
    far[1] = warp_sum(far[1]);
    if (lane > 0)
        return;
    const CoreResult r = put_together(totals, apart, far);
    if (const double better = rounded_guess(guess + r.log1p_a); !r.sure && round == 1 && !isnan(better)) {
        s.guess = better;
        s.again = r.clear ? 1 : 2;
        state->waiting = 1; // of all rows; whoever says it says the same
    }
    const auto ordinary = [](double top) { return top < most_top && top > least_top; };
    if (!r.sure || !(totals.largest <= most_difference) || !ordinary(top_p.first) || !ordinary(top_q.first))
        return;
    ProbeMetrics& m = out[at];
    m.kl_pq = r.kl_pq;
    m.kl_qp = r.kl_qp;
    m.lse_p = log(r.mass);
    m.lse_q = m.lse_p + (guess + r.log1p_a);
    m.entropy_p = m.lse_p - r.mean_l;
    m.entropy_q = m.lse_q - r.mean_k;
    m.max_abs_dlogit = totals.largest; // rounded to FP32; the second visit makes it exact
    m.differing = static_cast<std::int64_t>(totals.differing);
    set_tops<T>(m, b, at, p_row<T>(b, at), q_row<T>(b, at), top_p.id, top_p.first, top_p.second, top_q.id,
                top_q.first == top_q.second);
    s.shift = guess + r.log1p_a;
    if constexpr (!kl_only) {
        s.threshold_p = tenth_largest(row.groups[0], row_groups);
        s.threshold_q = tenth_largest(row.groups[1], row_groups);
    }
    s.careful = 0;
}

/// Rows whose sums are waiting. `round` 2 is the visit of those that came by a better guess; then it is known whether
/// the careful kernels have anything to do.
template <class T, bool kl_only>
__global__ void __launch_bounds__(32 * finish_warps, 8)
    finish_kernel(Batch b, ProbeMetrics* out, RowState* state, const RowSums* sums, int round)
{
    __shared__ int4 ids[finish_warps][max_outliers / 4];
    __shared__ std::uint16_t orders[finish_warps][max_outliers];
    const int warp = static_cast<int>(threadIdx.x) / 32;
    for (int at = static_cast<int>(blockIdx.x) * finish_warps + warp; at < b.rows;
         at += static_cast<int>(gridDim.x) * finish_warps) {
        const RowSums& row = sums[at];
        if (state[at].visits == round && row.count >= 0 && row.count <= max_outliers) // the same for all lanes
            finish_row<T, kl_only>(b, at, out, state, row, round, ids[warp], orders[warp]);
        if (round == 2 && threadIdx.x % 32 == 0 && state[at].careful)
            state->doubted = 1;
    }
}

/// The rank of P's top token in Q's row where the top moved, of rows that the fast kernels vouch for: elements ahead of
/// it in the order logit descending, id ascending.
template <class T>
__global__ void __launch_bounds__(block_threads) rank_kernel(Batch b, ProbeMetrics* out, const RowState* state)
{
    constexpr int n = per_load<T>;
    const int vectors = b.vocab / n;
    for (int row = static_cast<int>(blockIdx.x); row < b.rows; row += static_cast<int>(gridDim.x)) {
        ProbeMetrics& m = out[row];
        if (state[row].careful || !m.flip)
            continue;
        const typename T::Bits* q = q_row<T>(b, row);
        const int id = m.argmax_p;
        const float top = T::to_float(q[id]);
        int before = 0;
        const auto see = [&](float x, int i) { before += x > top || (x == top && i < id); };
        for (int i = static_cast<int>(threadIdx.x); i < vectors; i += block_threads) {
            const uint4 y = reinterpret_cast<const uint4*>(q)[i];
#pragma unroll
            for (int j = 0; j < n; j++)
                see(T::to_float(element<T>(y, j)), i * n + j);
        }
        for (int i = vectors * n + static_cast<int>(threadIdx.x); i < b.vocab; i += block_threads)
            see(T::to_float(q[i]), i);
        const auto all = static_cast<int>(block_sum(static_cast<long long>(before)));
        if (threadIdx.x == 0)
            m.rank = all + 1;
    }
}

} // namespace flipscope::gpu
