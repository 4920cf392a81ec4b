// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/logit_type.h"

#include <bit>
#include <cmath>
#include <cstdint>

// Narrowing of logits as IEEE 754 has it: to the nearest, a tie to the even one; beyond the largest finite value
// infinity.
namespace flipscope {

/// A float between `x` and its neighbour that rounds on to 16 bits as `x` itself would ("round to odd").
inline float float_for_rounding(double x)
{
    const auto f = static_cast<float>(x);
    if (static_cast<double>(f) == x || !std::isfinite(f) || (std::bit_cast<std::uint32_t>(f) & 1u) != 0)
        return f;
    const bool below = std::fabs(static_cast<double>(f)) < std::fabs(x);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(f) + (below ? 1u : ~std::uint32_t{0}));
}

inline std::uint16_t float_to_bf16(float x)
{
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if (std::isnan(x))
        return static_cast<std::uint16_t>((bits >> 16) | 0x40u); // stays a NaN
    return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline std::uint16_t float_to_f16(float x)
{
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) // 65520 and more
        return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) // below 2^-14: multiples of 2^-24
        return static_cast<std::uint16_t>(
            sign | static_cast<std::uint16_t>(std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24F)));
    const std::uint32_t rebiased = magnitude - 0x38000000u;
    return static_cast<std::uint16_t>(sign | ((rebiased + 0xfffu + ((rebiased >> 13) & 1u)) >> 13));
}

/// Bits of `x` as F16 or BF16.
inline std::uint16_t narrow(double x, LogitType type)
{
    const float f = float_for_rounding(x);
    return type == LogitType::F16 ? float_to_f16(f) : float_to_bf16(f);
}

} // namespace flipscope
