// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The largest logit of a 16-byte vector, in as few instructions as there are: 16-bit logits are compared two at a time,
// ids of even place in one half of a register and those of odd place in the other. Where in a row its largest logits
// stand is not followed here: a vector whose maximum reaches a threshold known beforehand is looked at more closely
// (outliers.cuh), and such vectors are rare.

#include "gpu/rows.cuh"

#include <cmath>

namespace flipscope::gpu {

template <class T>
struct Lanes;

/// Two bfloat16 of one word. NaN lose against numbers; the sums tell of them.
template <>
struct Lanes<Bf16> {
    using Value = unsigned;
    static __device__ __forceinline__ Value max(Value a, Value b) { return raw(__hmax2(of(a), of(b))); }
    /// All bits set where both halves are below.
    static __device__ __forceinline__ unsigned below(Value a, Value limit) { return __hlt2_mask(of(a), of(limit)); }
    static __device__ __forceinline__ Value twice(float x)
    {
        return raw(__float2bfloat162_rn(x)); // exact: the logits of a row are compared with one of them
    }
    static __device__ __forceinline__ Value value(unsigned w) { return w; }
    static __device__ __forceinline__ __nv_bfloat162 of(unsigned w) { return *reinterpret_cast<__nv_bfloat162*>(&w); }
    static __device__ __forceinline__ unsigned raw(__nv_bfloat162 v) { return *reinterpret_cast<unsigned*>(&v); }
};

template <>
struct Lanes<F16> {
    using Value = unsigned;
    static __device__ __forceinline__ Value max(Value a, Value b) { return raw(__hmax2(of(a), of(b))); }
    static __device__ __forceinline__ unsigned below(Value a, Value limit) { return __hlt2_mask(of(a), of(limit)); }
    static __device__ __forceinline__ Value twice(float x) { return raw(__float2half2_rn(x)); }
    static __device__ __forceinline__ Value value(unsigned w) { return w; }
    static __device__ __forceinline__ __half2 of(unsigned w) { return *reinterpret_cast<__half2*>(&w); }
    static __device__ __forceinline__ unsigned raw(__half2 v) { return *reinterpret_cast<unsigned*>(&v); }
};

template <>
struct Lanes<F32> {
    using Value = float;
    static __device__ __forceinline__ Value max(Value a, Value b) { return fmaxf(a, b); }
    static __device__ __forceinline__ unsigned below(Value a, Value limit) { return a < limit ? ~0U : 0U; }
    static __device__ __forceinline__ Value twice(float x) { return x; }
    static __device__ __forceinline__ Value value(unsigned w) { return __uint_as_float(w); }
};

/// Whether the differences of two vectors' 16-bit logits, as far as they are below 4, are exact in FP32, and also less
/// a multiple of 2^-20: so when no logit is below 2^-15 (float16: 2^-12), since all are multiples of 2^-22 then.
template <class T>
__device__ __forceinline__ bool exact_differences(const unsigned (&x)[4], const unsigned (&y)[4])
{
#if __CUDA_ARCH__ >= 860
    const auto least_of = [](unsigned a, unsigned b) { // magnitude; the sign means nothing
        unsigned m;
        if constexpr (T::weightless == Bf16::weightless)
            asm("min.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
        else
            asm("min.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
        return m;
    };
    const unsigned m = least_of(least_of(least_of(x[0], y[0]), least_of(x[1], y[1])),
                                least_of(least_of(x[2], y[2]), least_of(x[3], y[3])));
    using L = Lanes<T>;
    constexpr unsigned least = T::weightless == Bf16::weightless ? 0x38003800u : 0x0c000c00u; // 2^-15, 2^-12
    return __hbge2(__habs2(L::of(m)), L::of(least));
#else
    float least = INFINITY;
    for (int j = 0; j < 8; j++)
        least = fminf(least, fminf(fabsf(T::to_float(element_of<T>(x, j))), fabsf(T::to_float(element_of<T>(y, j)))));
    return least >= 0x1p-12f;
#endif
}

template <class T>
__device__ __forceinline__ typename Lanes<T>::Value vector_max(const uint4& v)
{
    using L = Lanes<T>;
    if constexpr (sizeof(typename T::Bits) == 2)
        return L::max(L::max(v.x, v.y), L::max(v.z, v.w));
    else
        return L::max(L::max(__uint_as_float(v.x), __uint_as_float(v.y)),
                      L::max(__uint_as_float(v.z), __uint_as_float(v.w)));
}

/// The larger of the two halves.
template <class T>
__device__ __forceinline__ float single(typename Lanes<T>::Value v)
{
    if constexpr (sizeof(typename T::Bits) == 2)
        return fmaxf(T::to_float(static_cast<std::uint16_t>(v & 0xffffu)),
                     T::to_float(static_cast<std::uint16_t>(v >> 16)));
    else
        return v;
}

/// Elements of two vectors that differ by bits, counted in two halves of a word (even and odd places).
template <class T>
__device__ __forceinline__ unsigned differing_in(const uint4& x, const uint4& y)
{
    if constexpr (sizeof(typename T::Bits) == 2) // min(difference, 1) in each half
        return (__vminu2(x.x ^ y.x, 0x00010001u) + __vminu2(x.y ^ y.y, 0x00010001u)) +
               (__vminu2(x.z ^ y.z, 0x00010001u) + __vminu2(x.w ^ y.w, 0x00010001u));
    else
        return static_cast<unsigned>(x.x != y.x) + static_cast<unsigned>(x.y != y.y) +
               static_cast<unsigned>(x.z != y.z) + static_cast<unsigned>(x.w != y.w);
}
/// What the counts come to. A half overflows after 65,535 elements of a thread: `most_vocab` is far below that.
template <class T>
__device__ __forceinline__ int differing_total(unsigned counts)
{
    return sizeof(typename T::Bits) == 2 ? static_cast<int>((counts & 0xffffu) + (counts >> 16))
                                         : static_cast<int>(counts);
}
constexpr int most_vocab = 1 << 24; ///< wider rows go the careful way

} // namespace flipscope::gpu
