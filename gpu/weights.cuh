// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// w = e^l of stored logits, unscaled: rows whose logits reach 128 are not vouched for, so nothing overflows. 16-bit
// logits have few values: their exponentials are looked up, to all digits of FP64, in tables in shared memory.

#include "gpu/exponential.cuh"
#include "gpu/lanes.cuh"
#include "gpu/ring.cuh"
#include "gpu/rows.cuh"

namespace flipscope::gpu {

/// The tables as they lie in device memory, one after the other.
constexpr int bf16_entries = 8192, f16_coarse = 8192, f16_fine = 512;
constexpr int table_entries = bf16_entries + f16_coarse + f16_fine;

/// bfloat16: a logit times 2^-102 has its magnitude in the low 12 bits of its pattern as long as it is below 128, and
/// what is below 2^-24 becomes subnormal, rounded to multiples of 2^-31, which changes e^l by less than 3e-10 of a
/// weight near 1. No pattern needs to be checked for its range. Bit 12 of the place is the sign.
constexpr int bf16_shift = 102;
constexpr float bf16_least = -127; ///< from here down weights are 0
__device__ __forceinline__ double bf16_entry(int i)
{
    const int magnitude = i & 4095;
    const double x = magnitude < 128 ? ldexp(static_cast<double>(magnitude), -31)
                                     : Bf16::to_double(static_cast<std::uint16_t>(magnitude + (bf16_shift << 7)));
    return i < 4096 ? exp(x) : x >= -static_cast<double>(bf16_least) ? 0 : exp(-x);
}

/// float16: e^l = e^(l without its last three bits) * e^(those). All values are covered.
__device__ __forceinline__ double f16_coarse_entry(int i)
{
    return exp(F16::to_double(static_cast<std::uint16_t>(i << 3)));
}
__device__ __forceinline__ double f16_fine_entry(int i) // sign and exponent, last three bits
{
    const int exponent = (i >> 3) & 31;
    const double unit = ldexp(1.0, (exponent ? exponent : 1) - 25);
    return exp((i >> 8 ? -1 : 1) * unit * (i & 7));
}
__device__ __forceinline__ double table_entry(int i)
{
    return i < bf16_entries                ? bf16_entry(i)
           : i < bf16_entries + f16_coarse ? f16_coarse_entry(i - bf16_entries)
                                           : f16_fine_entry(i - bf16_entries - f16_coarse);
}

/// The double at a byte offset of shared memory. The address is 32 bits wide and its sum is made by us: left alone, the
/// compiler works the table's place out anew for every element.
__device__ __forceinline__ double shared_double(unsigned address)
{
    double x;
    asm("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(address));
    return x;
}

/// Brings a type's table into shared memory and says where it is. All threads.
template <int first, int entries>
__device__ __forceinline__ unsigned load_table(const double* table, double* shared)
{
    for (int i = static_cast<int>(threadIdx.x); i < entries; i += block_threads)
        shared[i] = table[first + i];
    __syncthreads();
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile("" : "+r"(address)::"memory"); // nothing that uses it comes before the barrier
    return address;
}

/// Computed, for types with too many values: good to some 5e-15.
template <class T>
struct Weights {
    static constexpr int entries = 0;
    static constexpr bool looked_up = false;
    const double* powers;
    __device__ __forceinline__ Weights(const double*, double*, const double* powers) : powers(powers) {}
    __device__ __forceinline__ double one(typename T::Bits b) const { return fast_exp(T::to_double(b), powers); }
    template <int words, int n>
    __device__ __forceinline__ void all(const unsigned (&v)[words], double (&w)[n]) const
    {
#pragma unroll
        for (int j = 0; j < n; j++)
            w[j] = one(element_of<T>(v, j));
    }
};

template <>
struct Weights<Bf16> {
    static constexpr int entries = bf16_entries;
    static constexpr bool looked_up = true;
    unsigned hot;
    __device__ __forceinline__ Weights(const double* table, double* shared, const double*)
        : hot(load_table<0, entries>(table, shared))
    {
    }

    /// Eight times the places of the two logits of a word: 12 bits of magnitude and the sign above them. Of s and s -
    /// 0x7000, the lesser as unsigned brings the sign from bit 15 to bit 12.
    static __device__ __forceinline__ unsigned places(unsigned word)
    {
        using L = Lanes<Bf16>;
        constexpr unsigned least2 = 0xc2fec2feu, scale2 = 0x0c800c80u; // -127 and 2^-102, twice
        const unsigned scaled = L::raw(__hmul2(__hmax2(L::of(word), L::of(least2)), L::of(scale2)));
        return __viaddmin_u16x2(scaled, 0x90009000u, scaled) << 3;
    }
    __device__ __forceinline__ double one(std::uint16_t b) const { return shared_double(hot + (places(b) & 0xffffu)); }
    template <int words>
    __device__ __forceinline__ void all(const unsigned (&v)[words], double (&w)[2 * words]) const
    {
#pragma unroll
        for (int j = 0; j < words; j++) {
            const unsigned at = places(v[j]);
            w[2 * j] = shared_double(hot + (at & 0xffffu));
            w[2 * j + 1] = shared_double(hot + (at >> 16));
        }
    }
};

template <>
struct Weights<F16> {
    static constexpr int entries = f16_coarse + f16_fine;
    static constexpr bool looked_up = true;
    unsigned hot;
    __device__ __forceinline__ Weights(const double* table, double* shared, const double*)
        : hot(load_table<bf16_entries, entries>(table, shared))
    {
    }
    /// `word`: the logit above 16 bits of anything.
    __device__ __forceinline__ double upper(unsigned word) const
    {
        const unsigned last = ((word >> 23) & 0x1f8u) | ((word >> 16) & 7u);
        return shared_double(hot + ((word >> 16) & 0xfff8u)) * shared_double(hot + 8 * f16_coarse + 8 * last);
    }
    __device__ __forceinline__ double one(std::uint16_t b) const { return upper(static_cast<unsigned>(b) << 16); }
    template <int words>
    __device__ __forceinline__ void all(const unsigned (&v)[words], double (&w)[2 * words]) const
    {
#pragma unroll
        for (int j = 0; j < words; j++) {
            w[2 * j] = upper(v[j] << 16);
            w[2 * j + 1] = upper(v[j]);
        }
    }
};

/// Dynamic shared memory of the fast kernels: a type's table, then the rows on their way.
template <class T>
constexpr std::size_t fast_shared = Weights<T>::entries * sizeof(double) + Ring<T>::bytes;

__device__ __forceinline__ void load_powers(double* powers)
{
    if (threadIdx.x < exp_steps)
        powers[threadIdx.x] = exp2(static_cast<double>(threadIdx.x) / exp_steps);
    __syncthreads();
}

} // namespace flipscope::gpu
