// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reductions over a block in a fixed order: lanes of a warp by halving, then warp 0, 1, 2 … one after the other. Every
// thread gets the result. All threads of the block must call them.

#include "gpu/rows.cuh"

#include <cmath>

namespace flipscope::gpu {

/// Sums `count` values per thread at once.
template <int count>
__device__ __forceinline__ void block_sum(double (&v)[count])
{
    __shared__ double parts[count][warps];
#pragma unroll
    for (int c = 0; c < count; c++) {
#pragma unroll
        for (int o = 16; o > 0; o /= 2)
            v[c] += __shfl_down_sync(~0u, v[c], o);
        if (threadIdx.x % 32 == 0)
            parts[c][threadIdx.x / 32] = v[c];
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < count; c++) {
        double sum = parts[c][0];
        for (int w = 1; w < warps; w++)
            sum += parts[c][w];
        v[c] = sum;
    }
    __syncthreads(); // `parts` may be used again at once
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

/// Largest of all threads. `warp_first`, where given, receives the largest value of each warp (-inf = saw nothing).
__device__ __forceinline__ Top2 block_top2(Top2 t, double* warp_first = nullptr)
{
    __shared__ Top2 parts[warps];
    for (int o = 16; o > 0; o /= 2) {
        Top2 other;
        other.first = __shfl_down_sync(~0u, t.first, o);
        other.second = __shfl_down_sync(~0u, t.second, o);
        other.id = __shfl_down_sync(~0u, t.id, o);
        t.merge(other);
    }
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = t;
    __syncthreads();
    Top2 all = parts[0];
    for (int w = 1; w < warps; w++)
        all.merge(parts[w]);
    if (warp_first && threadIdx.x < warps)
        warp_first[threadIdx.x] = parts[threadIdx.x].id < 0 ? -INFINITY : parts[threadIdx.x].first;
    __syncthreads();
    return all;
}

} // namespace flipscope::gpu
