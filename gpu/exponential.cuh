// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// e^x and e^x - 1 - x in FP64, cut to the accuracy that is asked for (1e-9 relative of sums of such terms).

#include <cmath>
#include <cstdint>

namespace flipscope::gpu {

/// e^x - 1 - x for |x| <= 1/2 to full FP64: Taylor's series by Horner. Every use of it is a term of a divergence, of
/// size x^2 / 2; the library's expm1(x) - x would lose digits to cancellation when x is small.
__device__ __forceinline__ double phi_exact(double x)
{
    // x^2 (1/2! + x/3! + x^2/4! + ...); the first term left out is x^15/17!, 1e-19 of the sum at 1/2.
    double s = 1.0 / 20922789888000.0; // 1/16!
    s = fma(s, x, 1.0 / 1307674368000.0);
    s = fma(s, x, 1.0 / 87178291200.0);
    s = fma(s, x, 1.0 / 6227020800.0);
    s = fma(s, x, 1.0 / 479001600.0);
    s = fma(s, x, 1.0 / 39916800.0);
    s = fma(s, x, 1.0 / 3628800.0);
    s = fma(s, x, 1.0 / 362880.0);
    s = fma(s, x, 1.0 / 40320.0);
    s = fma(s, x, 1.0 / 5040.0);
    s = fma(s, x, 1.0 / 720.0);
    s = fma(s, x, 1.0 / 120.0);
    s = fma(s, x, 1.0 / 24.0);
    s = fma(s, x, 1.0 / 6.0);
    s = fma(s, x, 0.5);
    return x * x * s;
}

/// h(t) = 1/2 [(1+t) ln(1+t) + (1-t) ln(1-t)] for |t| <= 1/4: even, every term positive. With t = (q-p)/(q+p) an
/// element's share of the Jensen-Shannon divergence is (p+q)/2 * h(t).
__device__ __forceinline__ double js_series(double t)
{
    // t^2/(1*2) + t^4/(3*4) + t^6/(5*6) + ... ; the first left out, t^26/(25*26), is 1e-17 of the sum at 1/4.
    const double u = t * t;
    double s = 1.0 / 552.0; // 1/(23*24)
    s = fma(s, u, 1.0 / 462.0);
    s = fma(s, u, 1.0 / 380.0);
    s = fma(s, u, 1.0 / 306.0);
    s = fma(s, u, 1.0 / 240.0);
    s = fma(s, u, 1.0 / 182.0);
    s = fma(s, u, 1.0 / 132.0);
    s = fma(s, u, 1.0 / 90.0);
    s = fma(s, u, 1.0 / 56.0);
    s = fma(s, u, 1.0 / 30.0);
    s = fma(s, u, 1.0 / 12.0);
    s = fma(s, u, 0.5);
    return u * s;
}

/// a - ln(1 + a) without cancellation for small a.
__device__ __forceinline__ double a_minus_log1p(double a)
{
    if (fabs(a) > 0.03)
        return a - log1p(a);
    double s = -1.0 / 13.0; // a^2/2 - a^3/3 + a^4/4 - ...
    for (int k = 12; k >= 2; k--)
        s = fma(s, a, (k % 2 ? -1.0 : 1.0) / k);
    return a * a * s;
}

// --- the fast kernels' exponentials -------------------------------------------------------------------------------
//
// x = n ln2/32 + r with |r| <= ln2/64 = 0.0108, e^x = 2^(n/32) e^r: 32 values of 2^(j/32) in shared memory, the rest of
// n goes into the exponent, and a short polynomial does e^r. 32 doubles lie two to a bank pair, so a warp's look-ups
// hardly collide whatever it asks for.

constexpr int exp_steps = 32;
constexpr double exp_step = 0.69314718055994530942 / exp_steps;
/// Adding it pushes the integer part of a double into the low word (round to nearest), subtracting gives it back.
constexpr double round_magic = 6755399441055744.0; // 1.5 * 2^52

struct Reduced {
    double n, r;  ///< x = n * exp_step + r
    double scale; ///< 2^(n/32)
};

/// `powers`: 2^(j/32), j = 0 .. 31. Valid for |x| < 700; below that the scale sticks at 2^-1000, which no sum notices.
__device__ __forceinline__ Reduced reduce(double x, const double* powers)
{
    const double t = fma(x, 1 / exp_step, round_magic);
    Reduced e;
    e.n = t - round_magic;
    e.r = fma(e.n, -exp_step, x);
    const int n = max(__double2loint(t), -1000 * exp_steps);
    const double power = powers[n & (exp_steps - 1)];
    e.scale = __hiloint2double(__double2hiint(power) + ((n >> 5) << 20), __double2loint(power));
    return e;
}

/// e^x, 5e-15 relative (the first term left out is r^6/720).
__device__ __forceinline__ double fast_exp(double x, const double* powers)
{
    const Reduced e = reduce(x, powers);
    double s = fma(e.r, 1.0 / 120, 1.0 / 24);
    s = fma(e.r, s, 1.0 / 6);
    s = fma(e.r, s, 0.5);
    s = fma(e.r, s, 1.0);
    return fma(e.scale * e.r, s, e.scale);
}

/// e^x - 1 - x without cancellation anywhere, 2e-10 relative at worst: with E = 2^(n/32) - 1 it is
/// (E - n c) + E r + (E + 1)(e^r - 1 - r), and for n = 0 the first two are exactly 0.
__device__ __forceinline__ double phi_any(double x, const double* powers)
{
    const Reduced e = reduce(x, powers);
    double s = fma(e.r, 1.0 / 120, 1.0 / 24);
    s = fma(e.r, s, 1.0 / 6);
    s = fma(e.r, s, 0.5);
    const double grown = e.scale - 1, phi_r = e.r * e.r * s;
    return fma(e.scale, phi_r, fma(grown, e.r, fma(e.n, -exp_step, grown)));
}

/// Up to here phi_small() is good to 1.6e-10 relative.
constexpr float small_x = 0.2f;

/// e^x - 1 - x for |x| <= small_x. `f` is x as a float: from the third term on, FP32 is enough, since the terms it
/// carries are at most x^2/12 of the sum; FP32 operations cost half of FP64's here and a 64th on consumer cards. Their
/// coefficients are those of the series, adapted so that a cubic does for all that follows.
__device__ __forceinline__ double phi_small(double x, double square, float f)
{
    float tail = fmaf(f, 1.98603550e-4f, 1.39026751e-3f);
    tail = fmaf(f, tail, 8.33333004e-3f);
    tail = fmaf(f, tail, 4.16666493e-2f);
    return square * fma(square, static_cast<double>(tail), fma(x, 1.0 / 6, 0.5));
}

/// The same for |x| <= medium_x, good to 5e-11: two terms more are FP64, since FP32 carries up to x^4/360 of the sum.
constexpr float medium_x = 0.65f;
__device__ __forceinline__ double phi_medium(double x, double square, float f)
{
    float tail = fmaf(f, 2.77568148e-7f, 2.77284789e-6f);
    tail = fmaf(f, tail, 2.48009874e-5f);
    tail = fmaf(f, tail, 1.98409893e-4f);
    tail = fmaf(f, tail, 1.38888892e-3f);
    const double upper = fma(square, static_cast<double>(tail), fma(x, 1.0 / 120, 1.0 / 24));
    return square * fma(square, upper, fma(x, 1.0 / 6, 0.5));
}

} // namespace flipscope::gpu
