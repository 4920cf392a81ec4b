// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// w = e^l of a stored logit, unscaled: rows whose logits reach 128 are not vouched for, so nothing overflows.

#include "gpu/exponential.cuh"
#include "gpu/rows.cuh"

namespace flipscope::gpu {

/// Computed, for types with too many values for a table that fits into shared memory.
template <class T>
struct Weights {
    static constexpr std::size_t shared_bytes = 0;
    const double* powers;
    __device__ __forceinline__ Weights(const double*, double*, const double* powers) : powers(powers) {}
    __device__ __forceinline__ double operator()(typename T::Bits, double l) const { return fast_exp(l, powers); }
};

/// Looked up. bfloat16 has but 65,536 values, and those of |l| in [2^-18, 2^7), 25 binades of 128 values and both
/// signs, fit into 50 KiB of shared memory; the rest (zeros, mostly) is read from the whole table in device memory.
template <>
struct Weights<Bf16> {
    static constexpr int low = 109 << 7, size = 25 * 128;
    static constexpr std::size_t shared_bytes = 2 * size * sizeof(double);
    const double* whole;
    const double* hot;

    __device__ __forceinline__ Weights(const double* table, double* shared, const double*) : whole(table), hot(shared)
    {
        for (int i = static_cast<int>(threadIdx.x); i < 2 * size; i += block_threads)
            shared[i] = table[i < size ? low + i : 0x8000 + low + i - size];
        __syncthreads();
    }
    __device__ __forceinline__ double operator()(std::uint16_t u, double) const
    {
        const unsigned at = (u & 0x7fffu) - low;
        return at < size ? hot[at + (u >> 15) * size] : __ldg(whole + u);
    }
};

__device__ __forceinline__ void load_powers(double* powers)
{
    if (threadIdx.x < exp_steps)
        powers[threadIdx.x] = exp2(static_cast<double>(threadIdx.x) / exp_steps);
    __syncthreads();
}

} // namespace flipscope::gpu
