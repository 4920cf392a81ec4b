// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Elementary functions for the CPU kernel, on vectors of doubles. Included once for each vector width, hence no
// `#pragma once`. Polynomials are near-minimax (Chebyshev fits in 60-digit arithmetic); the largest relative error of
// each stands beside it, and all are far below the 1e-9 that the metrics promise.
#if defined(FLIPSCOPE_CPU_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FLIPSCOPE_CPU_MATH_INL_H
#undef FLIPSCOPE_CPU_MATH_INL_H
#else
#define FLIPSCOPE_CPU_MATH_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace flipscope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

HWY_INLINE V set(double x)
{
    return hn::Set(D(), x);
}

/// c0 + c1 x + c2 x^2 ... by Horner's rule, fused where the processor can.
template <class... More>
HWY_INLINE V polynomial(V x, double c0, More... more)
{
    if constexpr (sizeof...(more) == 0)
        return set(c0);
    else
        return hn::MulAdd(polynomial(x, more...), x, set(c0));
}

/// e^r for |r| <= ln 2 / 2.
HWY_INLINE V exp_reduced(V r)
{
    const V tail =
        polynomial(r, 0x1p-1, 0x1.5555555553b48p-3, 0x1.5555555554ca7p-5, 0x1.1111111c5719ap-7, 0x1.6c16c1739a511p-10,
                   0x1.a019ad55d1aa7p-13, 0x1.a019c971b4d98p-16, 0x1.72c79824255e0p-19, 0x1.288088c0e67a5p-22);
    return hn::Add(set(1), hn::MulAdd(hn::Mul(r, r), tail, r));
}

/// e^y for y <= 0, 0 below -708 (-inf too). e^0 is exactly 1. Relative error 1e-15 + 2e-17 |y|.
HWY_INLINE V exp_below_zero(V y)
{
    const D d;
    const hn::RebindToUnsigned<D> du;
    const auto kept = hn::Ge(y, set(-708));
    y = hn::Max(y, set(-708)); // keeps the exponent in its field
    // y = n ln 2 + r. Adding 1.5 * 2^52 rounds to a whole number and leaves n + 1023 in the low bits: shifted up by 52,
    // that is 2^n.
    const V magic = set(0x1.8p52 + 1023);
    const V shifted = hn::MulAdd(y, set(0x1.71547652b82fep0), magic);
    const V n = hn::Sub(shifted, magic);
    const V r = hn::NegMulAdd(n, set(0x1.62e42fefa39efp-1), y);
    const V power = hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(du, shifted)));
    return hn::IfThenElseZero(kept, hn::Mul(exp_reduced(r), power));
}

/// The same without the cut to 0: below -708 it stays 3e-308. Two instructions less, where such a weight is nothing.
HWY_INLINE V exp_not_above_zero(V y)
{
    const D d;
    const hn::RebindToUnsigned<D> du;
    y = hn::Max(y, set(-708));
    const V magic = set(0x1.8p52 + 1023);
    const V shifted = hn::MulAdd(y, set(0x1.71547652b82fep0), magic);
    const V r = hn::NegMulAdd(hn::Sub(shifted, magic), set(0x1.62e42fefa39efp-1), y);
    const V power = hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(du, shifted)));
    return hn::Mul(exp_reduced(r), power);
}

/// (e^x - 1 - x) / x^2 for |x| < 2^-6. Relative error 2e-11.
HWY_INLINE V forward_near(V x)
{
    return polynomial(x, 0x1.ffffffffd27d2p-2, 0x1.5555555548548p-3, 0x1.55560b60e38e4p-5, 0x1.11117917a5b34p-7);
}

/// ln(cosh h) / h^2 from h^2 <= 2^-4. Relative error 3e-12.
HWY_INLINE V log_cosh_near(V h2)
{
    return polynomial(h2, 0x1.fffffffffa443p-2, -0x1.5555550da18f7p-4, 0x1.6c1631b0efbd3p-6, -0x1.b9b683471b1e6p-8,
                      0x1.100a1382f5683p-9);
}

/// Within this the short series below hold.
constexpr double near_x = 0x1p-4;

/// (e^x - 1 - x) / x^2 for |x| < near_x. Relative error 1e-13.
HWY_INLINE V excess_near(V x)
{
    return polynomial(x, 0x1.00000000001a0p-1, 0x1.555555555560ep-3, 0x1.5555553813090p-5, 0x1.1111110410155p-7,
                      0x1.6c20822755e63p-10, 0x1.a022acec2a72bp-13);
}

/// What one id adds to the Jensen-Shannon divergence, over p x^2, for |x| < near_x and q = p e^x. Relative error 2e-13.
HWY_INLINE V shannon_near(V x)
{
    return polynomial(x, 0x1.00000000002d8p-3, 0x1.fffffffffffbbp-5, 0x1.ffffffccccf9dp-7, 0x1.5555555a330e6p-9,
                      0x1.c72d82cc7d389p-12, 0x1.6c1521fdadc85p-14);
}

/// ln(cosh h) / h^2 from h^2 <= 1. Relative error 3e-13.
HWY_INLINE V log_cosh(V h2)
{
    return polynomial(h2, 0x1.ffffffffff6fep-2, -0x1.555555533385bp-4, 0x1.6c16c0145263ap-6, -0x1.ba1b4cb7182ebp-8,
                      0x1.1ea0644bfe1a4p-9, -0x1.82d4b3de32c23p-11, 0x1.0a8a13cf7ac3bp-12, -0x1.697a1ae4b9e4cp-14,
                      0x1.b918d7c252884p-16, -0x1.958b842bf2b39p-18, 0x1.88f6ab739ea2dp-21);
}

/// ln(1 + low / high) for 0 <= low <= high, 0 where both are 0: twice the inverse hyperbolic tangent of
/// low / (2 high + low), which is at most 1/3. Absolute error 1e-16.
HWY_INLINE V log_one_plus_ratio(V low, V high)
{
    const V smallest = set(0x1p-1022); // instead of dividing 0 by 0
    const V s = hn::Div(low, hn::Max(hn::MulAdd(set(2), high, low), smallest));
    const V s2 = hn::Mul(s, s);
    const V r = polynomial(s2, 0x1p+0, 0x1.5555555555aeep-2, 0x1.99999998ca58bp-3, 0x1.2492498161ca5p-3,
                           0x1.c71c47af989fdp-4, 0x1.74628d4f43596p-4, 0x1.3aa5e932d3628p-4, 0x1.1659956da410fp-4,
                           0x1.94b79523b2fbbp-5, 0x1.6c26693a7c095p-4);
    return hn::Mul(hn::Add(s, s), r);
}

} // namespace HWY_NAMESPACE
} // namespace flipscope
HWY_AFTER_NAMESPACE();

#endif
