// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The two largest logits of a row while it streams past, and where the largest was first seen. A compare and two moves
// for every element would cost more than the sums; so 16-bit logits are kept two to a register, even ids in one half
// and odd ids in the other, and only the number of the 16-byte vector is noted when a half's maximum changes.

#include "gpu/rows.cuh"

#include <cmath>

namespace flipscope::gpu {

template <class T>
struct Packed; // two logits of one 32-bit word

template <>
struct Packed<Bf16> {
    static __device__ __forceinline__ unsigned max(unsigned a, unsigned b) { return raw(__hmax2(of(a), of(b))); }
    static __device__ __forceinline__ unsigned min(unsigned a, unsigned b) { return raw(__hmin2(of(a), of(b))); }
    static constexpr unsigned lowest = 0xff80ff80u; // -inf twice

private:
    static __device__ __forceinline__ __nv_bfloat162 of(unsigned w) { return *reinterpret_cast<__nv_bfloat162*>(&w); }
    static __device__ __forceinline__ unsigned raw(__nv_bfloat162 v) { return *reinterpret_cast<unsigned*>(&v); }
};

template <>
struct Packed<F16> {
    static __device__ __forceinline__ unsigned max(unsigned a, unsigned b) { return raw(__hmax2(of(a), of(b))); }
    static __device__ __forceinline__ unsigned min(unsigned a, unsigned b) { return raw(__hmin2(of(a), of(b))); }
    static constexpr unsigned lowest = 0xfc00fc00u;

private:
    static __device__ __forceinline__ __half2 of(unsigned w) { return *reinterpret_cast<__half2*>(&w); }
    static __device__ __forceinline__ unsigned raw(__half2 v) { return *reinterpret_cast<unsigned*>(&v); }
};

/// One thread's view of a row. NaN are passed over (the sums tell of them).
template <class T>
struct Maxima {
    unsigned first = Packed<T>::lowest, second = Packed<T>::lowest;
    int even_at = -1, odd_at = -1; ///< vector in which each half's largest was first seen

    /// Says whether a maximum rose.
    __device__ __forceinline__ bool see(const uint4& v, int vector)
    {
        const unsigned words[4] = {v.x, v.y, v.z, v.w};
        const unsigned before = first;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            second = Packed<T>::max(second, Packed<T>::min(first, words[j]));
            first = Packed<T>::max(first, words[j]);
        }
        const unsigned changed = first ^ before;
        even_at = changed & 0xffffu ? vector : even_at;
        odd_at = changed & 0xffff0000u ? vector : odd_at;
        return changed != 0;
    }
    __device__ __forceinline__ float even() const
    {
        return T::to_float(static_cast<std::uint16_t>(first & 0xffffu));
    }
    __device__ __forceinline__ float odd() const
    {
        return T::to_float(static_cast<std::uint16_t>(first >> 16));
    }
    __device__ __forceinline__ float largest() const
    {
        return fmaxf(even(), odd());
    }
    __device__ __forceinline__ float next_largest() const
    {
        const float even2 = T::to_float(static_cast<std::uint16_t>(second & 0xffffu));
        const float odd2 = T::to_float(static_cast<std::uint16_t>(second >> 16));
        return fmaxf(fminf(even(), odd()), fmaxf(even2, odd2));
    }
    /// The lowest id of this thread whose logit is `x`, or the limit where it has none.
    __device__ int find(float x, const typename T::Bits* row, int limit) const
    {
        int id = limit;
        for (int half = 0; half < 2; half++) {
            const int at = half ? odd_at : even_at;
            if (at >= 0 && (half ? odd() : even()) == x)
                for (int j = 3; j >= 0; j--)
                    if (T::to_float(row[at * 8 + 2 * j + half]) == x)
                        id = min(id, at * 8 + 2 * j + half);
        }
        return id;
    }
};

template <>
struct Maxima<F32> {
    float first = -INFINITY, second = -INFINITY;
    int at = -1;

    /// Says whether a maximum rose.
    __device__ __forceinline__ bool see(const uint4& v, int vector)
    {
        const unsigned words[4] = {v.x, v.y, v.z, v.w};
        const float before = first;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float x = __uint_as_float(words[j]);
            second = fmaxf(second, fminf(first, x));
            first = fmaxf(first, x);
        }
        at = first != before ? vector : at;
        return first != before;
    }
    __device__ __forceinline__ float largest() const
    {
        return first;
    }
    __device__ __forceinline__ float next_largest() const
    {
        return second;
    }
    __device__ int find(float x, const std::uint32_t* row, int limit) const
    {
        int id = limit;
        if (at >= 0 && first == x)
            for (int j = 3; j >= 0; j--)
                if (__uint_as_float(row[at * 4 + j]) == x)
                    id = at * 4 + j;
        return id;
    }
};

/// Of the whole block. All threads get it.
struct BlockMaxima {
    float first, second;
    int id;
};

/// `tail`, `tail_id`: one more element that this thread saw (id < 0 = none). `warp_first` receives each warp's largest.
template <class T>
__device__ __forceinline__ BlockMaxima block_maxima(const Maxima<T>& mine, float tail, int tail_id,
                                                    const typename T::Bits* row, int vocab, double* warp_first)
{
    __shared__ float firsts[warps], seconds[warps];
    __shared__ int id;
    float first = mine.largest(), second = mine.next_largest();
    if (tail_id >= 0) {
        second = fmaxf(second, fminf(first, tail));
        first = fmaxf(first, tail);
    }
    for (int o = 16; o > 0; o /= 2) {
        const float f = __shfl_down_sync(~0u, first, o), s = __shfl_down_sync(~0u, second, o);
        second = fmaxf(fminf(first, f), fmaxf(second, s));
        first = fmaxf(first, f);
    }
    if (threadIdx.x % 32 == 0) {
        firsts[threadIdx.x / 32] = first;
        seconds[threadIdx.x / 32] = second;
        warp_first[threadIdx.x / 32] = first;
    }
    if (threadIdx.x == 0)
        id = vocab;
    __syncthreads();
    first = firsts[0];
    second = seconds[0];
    for (int w = 1; w < warps; w++) {
        second = fmaxf(fminf(first, firsts[w]), fmaxf(second, seconds[w]));
        first = fmaxf(first, firsts[w]);
    }
    int found = mine.find(first, row, vocab);
    if (tail_id >= 0 && tail == first)
        found = min(found, tail_id);
    if (found < vocab)
        atomicMin(&id, found); // the lowest wins, whoever comes first
    __syncthreads();
    const BlockMaxima all{first, second, id};
    __syncthreads();
    return all;
}

} // namespace flipscope::gpu
