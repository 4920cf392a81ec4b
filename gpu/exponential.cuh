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

} // namespace flipscope::gpu
