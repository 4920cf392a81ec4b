// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rows of logits on the device and how their elements are widened.

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace flipscope::gpu {

/// Threads of a block; one block works on one pair of rows at a time. How a row is shared out depends on this and on
/// the row's width alone, so a probe's numbers are the same bits whatever batch it travels in.
#ifndef FLIPSCOPE_BLOCK_THREADS // may be set to measure other cuts
#define FLIPSCOPE_BLOCK_THREADS 256
#endif
constexpr int block_threads = FLIPSCOPE_BLOCK_THREADS;
#ifndef FLIPSCOPE_MIN_BLOCKS
#define FLIPSCOPE_MIN_BLOCKS 2
#endif
/// Blocks that shall fit on a multiprocessor together: this bounds the registers of a thread of the fast kernels. While
/// one block is between two rows, where threads wait for each other, another has work.
constexpr int min_blocks = FLIPSCOPE_MIN_BLOCKS;
constexpr int warps = block_threads / 32;

/// Pairs of rows in device memory, each wherever it is. Each row starts on a 16-byte border (the copy to the device
/// sees to it), so that a thread can load 16 bytes at once even where the vocabulary is odd and rows of the file start
/// anywhere. Pairs that share a row should be neighbours: they are worked on at about the same time, and the row comes
/// from memory once and from the cache after.
struct Batch {
    const unsigned char *const *p, *const *q; ///< per pair the row of the baseline and of the run
    std::int32_t vocab;
    std::int32_t rows;        ///< pairs
    const std::int32_t* next; ///< per pair the next token, -1 = none; null = none at all

    __device__ __forceinline__ int next_of(int pair) const { return next ? next[pair] : -1; }
};

/// Logits as 16-bit patterns: the types below give them a meaning.
struct Bf16 {
    using Bits = std::uint16_t;
    static constexpr unsigned weightless = 0xc61cu; ///< -9984: e to its power is 0
    static __device__ __forceinline__ float to_float(Bits b) { return __uint_as_float(static_cast<unsigned>(b) << 16); }
    static __device__ __forceinline__ double to_double(Bits b) { return static_cast<double>(to_float(b)); }
};

struct F16 {
    using Bits = std::uint16_t;
    static constexpr unsigned weightless = 0xf0e2u; ///< -10000
    static __device__ __forceinline__ float to_float(Bits b) { return __half2float(__ushort_as_half(b)); }
    static __device__ __forceinline__ double to_double(Bits b) { return static_cast<double>(to_float(b)); }
};

struct F32 {
    using Bits = std::uint32_t;
    static constexpr unsigned weightless = 0xc61c4000u; ///< -10000
    static __device__ __forceinline__ float to_float(Bits b) { return __uint_as_float(b); }
    static __device__ __forceinline__ double to_double(Bits b) { return static_cast<double>(__uint_as_float(b)); }
};

struct F64 {
    using Bits = std::uint64_t;
    static __device__ __forceinline__ double to_double(Bits b)
    {
        return __longlong_as_double(static_cast<long long>(b));
    }
};

/// Elements that one 16-byte load brings.
template <class T>
constexpr int per_load = 16 / static_cast<int>(sizeof(typename T::Bits));

template <class T>
__device__ __forceinline__ const typename T::Bits* p_row(const Batch& b, int pair)
{
    return reinterpret_cast<const typename T::Bits*>(b.p[pair]);
}
template <class T>
__device__ __forceinline__ const typename T::Bits* q_row(const Batch& b, int pair)
{
    return reinterpret_cast<const typename T::Bits*>(b.q[pair]);
}

/// The bits of element j of some 32-bit words. j is a constant after unrolling: no register is indexed at run time.
template <class T, int count>
__device__ __forceinline__ typename T::Bits element_of(const unsigned (&words)[count], int j)
{
    if constexpr (sizeof(typename T::Bits) == 2)
        return static_cast<std::uint16_t>(j & 1 ? words[j / 2] >> 16 : words[j / 2] & 0xffffu);
    else if constexpr (sizeof(typename T::Bits) == 4)
        return words[j];
    else
        return static_cast<std::uint64_t>(words[2 * j + 1]) << 32 | words[2 * j];
}

/// The same of a 16-byte load.
template <class T>
__device__ __forceinline__ typename T::Bits element(const uint4& v, int j)
{
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
    return element_of<T>(words, j);
}

/// Visits the elements of a pair of rows: f(id, bits of P, bits of Q). Thread t takes the 16-byte vectors t, t +
/// block_threads … in rising order, then its share of the tail. Plain and always right.
template <class T, class F>
__device__ __forceinline__ void for_each_pair(const typename T::Bits* p, const typename T::Bits* q, int vocab, F f)
{
    constexpr int n = per_load<T>;
    const int vectors = vocab / n;
    for (int i = static_cast<int>(threadIdx.x); i < vectors; i += block_threads) {
        const uint4 x = reinterpret_cast<const uint4*>(p)[i], y = reinterpret_cast<const uint4*>(q)[i];
#pragma unroll
        for (int j = 0; j < n; j++)
            f(i * n + j, element<T>(x, j), element<T>(y, j));
    }
    for (int i = vectors * n + static_cast<int>(threadIdx.x); i < vocab; i += block_threads)
        f(i, p[i], q[i]);
}

} // namespace flipscope::gpu
