// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reductions over a block in a fixed order: lanes of a warp by halving, then warp 0, 1, 2 … one after the other. Every
// thread gets the result. All threads of the block must call them.

#include "gpu/rows.cuh"

#include <cmath>

namespace flipscope::gpu {

/// Sums `count` values per thread at once. Thread c puts together what the warps have of value c: one does as well as
/// all, and the others need not.
template <int count>
__device__ __forceinline__ void block_sum(double (&v)[count])
{
    __shared__ double parts[count][warps], sums[count];
    static_assert(count <= block_threads, "a thread for each sum");
#pragma unroll
    for (int c = 0; c < count; c++) {
#pragma unroll
        for (int o = 16; o > 0; o /= 2)
            v[c] += __shfl_down_sync(~0u, v[c], o);
        if (threadIdx.x % 32 == 0)
            parts[c][threadIdx.x / 32] = v[c];
    }
    __syncthreads();
    if (threadIdx.x < count) {
        double sum = parts[threadIdx.x][0];
#pragma unroll
        for (int w = 1; w < warps; w++)
            sum += parts[threadIdx.x][w];
        sums[threadIdx.x] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < count; c++)
        v[c] = sums[c];
    // `sums` is written again only after the first barrier of the next call, `parts` after this one's second
}

__device__ __forceinline__ long long block_sum(long long v)
{
    __shared__ long long parts[warps];
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = v;
    __syncthreads();
    long long sum = 0;
    for (int w = 0; w < warps; w++)
        sum += parts[w];
    __syncthreads();
    return sum;
}

__device__ __forceinline__ double block_max(double v)
{
    __shared__ double parts[warps];
    for (int o = 16; o > 0; o /= 2)
        v = fmax(v, __shfl_down_sync(~0u, v, o));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = v;
    __syncthreads();
    double max = parts[0];
    for (int w = 1; w < warps; w++)
        max = fmax(max, parts[w]);
    __syncthreads();
    return max;
}

/// Of one value per thread and side, the second largest each.
struct Seconds {
    float p, q;
};
__device__ __forceinline__ Seconds block_second(float p, float q)
{
    __shared__ float firsts[2][warps], seconds[2][warps];
    float first[2] = {p, q}, second[2] = {-INFINITY, -INFINITY};
    const auto merge = [&](int s, float f, float g) {
        second[s] = fmaxf(fminf(first[s], f), fmaxf(second[s], g));
        first[s] = fmaxf(first[s], f);
    };
    for (int s = 0; s < 2; s++) {
        for (int o = 16; o > 0; o /= 2)
            merge(s, __shfl_down_sync(~0u, first[s], o), __shfl_down_sync(~0u, second[s], o));
        if (threadIdx.x % 32 == 0) {
            firsts[s][threadIdx.x / 32] = first[s];
            seconds[s][threadIdx.x / 32] = second[s];
        }
    }
    __syncthreads();
    for (int s = 0; s < 2; s++) {
        first[s] = second[s] = -INFINITY;
        for (int w = 0; w < warps; w++)
            merge(s, firsts[s][w], seconds[s][w]);
    }
    __syncthreads();
    return {second[0], second[1]};
}

/// The largest value seen, the lowest id that has it, and the second largest with its multiplicity (equal to the
/// largest where that occurs twice). id < 0 = nothing seen.
struct Top2 {
    double first = -INFINITY, second = -INFINITY;
    int id = -1;

    /// Ids of one thread must rise: then ">" keeps the lowest.
    __device__ __forceinline__ void see(double x, int i)
    {
        if (id < 0 || x > first) {
            second = id < 0 ? second : first;
            first = x;
            id = i;
        } else if (x > second) {
            second = x;
        }
    }
    __device__ __forceinline__ void merge(const Top2& o)
    {
        if (o.id < 0)
            return;
        if (id < 0) {
            *this = o;
        } else if (o.first > first || (o.first == first && o.id < id)) {
            second = fmax(first, o.second);
            first = o.first;
            id = o.id;
        } else {
            second = fmax(second, o.first);
        }
    }
};

/// Largest of a warp. `halves`, where given, receives the largest value of each half warp (-inf = saw nothing).
__device__ __forceinline__ Top2 warp_top2(Top2 t, double* halves = nullptr)
{
    for (int o = 1; o < 32; o *= 2) {
        Top2 other;
        other.first = __shfl_xor_sync(~0u, t.first, o);
        other.second = __shfl_xor_sync(~0u, t.second, o);
        other.id = __shfl_xor_sync(~0u, t.id, o);
        if (o == 16 && halves && threadIdx.x % 16 == 0)
            halves[threadIdx.x / 16] = t.id < 0 ? -INFINITY : t.first;
        t.merge(other);
    }
    return t;
}

/// Largest of all threads.
__device__ __forceinline__ Top2 block_top2(Top2 t, double* halves = nullptr)
{
    __shared__ Top2 parts[warps];
    t = warp_top2(t, halves);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = t;
    __syncthreads();
    Top2 all = parts[0];
    for (int w = 1; w < warps; w++)
        all.merge(parts[w]);
    __syncthreads();
    return all;
}

} // namespace flipscope::gpu
