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

#include "gpu/finish_kernel.cuh"
#include "gpu/reduce.cuh"

namespace flipscope::gpu {

constexpr float most_guess = 300; ///< |guess| that the fast kernels take

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

/// The largest of each half warp: that many different elements of the row reach the least of them.
__device__ __forceinline__ void group_maxima(float most, float* groups)
{
    for (int o = 8; o > 0; o /= 2)
        most = fmaxf(most, __shfl_down_sync(~0u, most, o, 16));
    if (threadIdx.x % 16 == 0)
        groups[threadIdx.x / 16] = most;
}

/// The sums of all rows, or with `again` of those that want another visit. Between two rows no thread waits for another
/// but in take_sample(): what is left of a row is written to memory and put together by the finishing kernel.
template <class T, bool kl_only>
__global__ void __launch_bounds__(block_threads, min_blocks)
    core_kernel(Batch b, const double* table, RowState* state, RowSums* all_sums, bool again)
{
    using Bits = typename T::Bits;
    using L = Lanes<T>;
    constexpr int n = per_load<T>;
    extern __shared__ __align__(16) double hot[];
    __shared__ double powers[exp_steps];
    __shared__ int counts[2]; // what was set aside, of this row and of the one before
    if (again && !state->waiting)
        return;
    load_powers(powers);
    const Weights<T> weights(table, hot, powers);
    Ring<T> ring(hot + Weights<T>::entries);
    const int vectors = b.vocab / n;
    const auto wanted = [&](int row) { // the block's next row from there on
        while (again && row < b.rows && !state[row].again)
            row += static_cast<int>(gridDim.x);
        return row;
    };
    const auto start = [&](int row) {
        if (row < b.rows)
            ring.start(p_row<T>(b, row), q_row<T>(b, row), vectors);
    };
    int row = wanted(static_cast<int>(blockIdx.x)), turn = 0;
    RowSums* before = nullptr;        // whose number of outliers is still to be written
    const auto end_row_before = [&] { // once all threads are past it
        if (threadIdx.x == 0 && before)
            before->count = counts[turn ^ 1];
    };
    start(row);
    while (row < b.rows) {
        RowSums& mine = all_sums[row];
        if (threadIdx.x == 0)
            counts[turn] = 0; // the sample's barriers make it known
        Sample sample = take_sample<T>(weights, ring);
        end_row_before();
        before = nullptr;
        if (again)
            sample.guess = state[row].guess;
        const double guess = sample.guess;
        const bool careful = again && state[row].again == 2;
        const int following = wanted(row + static_cast<int>(gridDim.x));
        if (threadIdx.x == 0) {
            mine.guess = guess;
            mine.count = -1;
            state[row].visits = again ? 2 : 1;
        }
        if (!(fabs(guess) <= most_guess) || !(sample.most_p > least_top) || !(sample.most_q > least_top)) {
            start(following); // the same for all threads
            row = following;
            continue;
        }

        CoreSums<T, kl_only> sums;
        const Outliers aside{&mine, &counts[turn]};
        const auto limit_p = L::twice(sample.most_p), limit_q = L::twice(sample.most_q);
        auto most_p = L::twice(-INFINITY), most_q = most_p;
        const auto see = [&](uint4& x, uint4& y, int left, int step) {
            auto max_p = vector_max<T>(x), max_q = vector_max<T>(y);
            if ((L::below(max_p, limit_p) & L::below(max_q, limit_q)) != ~0U || left <= 0) { // rare
                const bool beyond = left <= 0;
                if constexpr (!kl_only) // before they go
                    if (!beyond) {
                        sums.note_largest(x, y);
                        sums.differing += differing_in<T>(x, y);
                    }
                set_aside<T>(aside, x, y, vectors - left, beyond, limit_p, limit_q);
                if constexpr (!kl_only) {
                    if (beyond)
                        max_p = max_q = L::twice(-INFINITY);
                    else
                        sums.differing -= differing_in<T>(x, y); // those that stay are counted below
                }
            }
            if constexpr (!kl_only) {
                sums.differing += differing_in<T>(x, y);
                most_p = L::max(most_p, max_p);
                most_q = L::max(most_q, max_q);
            }
            sums.add_vector(weights, x, y, guess, careful, powers, step % 2 != 0);
        };
        ring.template run<2>(vectors, see);
        start(following); // on its way while this row is brought to an end
        float tail_p = -INFINITY, tail_q = -INFINITY;
        const Bits *p = p_row<T>(b, row), *q = q_row<T>(b, row);
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
            group_maxima(fmaxf(single<T>(most_p), tail_p), mine.groups[0]);
            group_maxima(fmaxf(single<T>(most_q), tail_q), mine.groups[1]);
        }
        sums.leave(mine);
        before = &mine;
        turn ^= 1;
        row = following;
    }
    __syncthreads();
    end_row_before();
}

} // namespace flipscope::gpu
