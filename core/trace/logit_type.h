// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace flipscope {

/// Stored type of a logit, always in the machine's (little-endian) byte order once it has left a reader.
enum class LogitType : std::int32_t { BF16 = 0, F16 = 1, F32 = 2, F64 = 3 };

constexpr std::size_t size_of(LogitType t)
{
    return t == LogitType::F64 ? 8 : t == LogitType::F32 ? 4 : 2;
}

constexpr const char* name_of(LogitType t)
{
    switch (t) {
    case LogitType::BF16:
        return "bfloat16";
    case LogitType::F16:
        return "float16";
    case LogitType::F32:
        return "float32";
    case LogitType::F64:
        return "float64";
    }
    return "?";
}

/// Exact widening; NaN payloads, signed zeros and subnormals survive.
constexpr float bf16_to_float(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

constexpr float f16_to_float(std::uint16_t h)
{
    const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
    const std::uint32_t exponent = (h >> 10) & 0x1fu;
    const std::uint32_t mantissa = h & 0x3ffu;
    if (exponent == 31) // inf, NaN
        return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent != 0)
        return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
    // Zero and subnormals: mantissa * 2^-24 is exact in a float.
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

/// Element `i` of a row of type `t`, exactly.
inline double widen(const std::byte* row, LogitType t, std::size_t i)
{
    switch (t) {
    case LogitType::BF16:
        return bf16_to_float(reinterpret_cast<const std::uint16_t*>(row)[i]);
    case LogitType::F16:
        return f16_to_float(reinterpret_cast<const std::uint16_t*>(row)[i]);
    case LogitType::F32:
        return reinterpret_cast<const float*>(row)[i];
    case LogitType::F64:
        return reinterpret_cast<const double*>(row)[i];
    }
    return 0;
}

} // namespace flipscope
