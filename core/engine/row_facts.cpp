// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/row_facts.h"

#include <bit>

namespace flipscope {

namespace {

template <class Word>
std::int64_t count_unequal(const std::byte* a, const std::byte* b, std::int64_t n)
{
    const auto* x = reinterpret_cast<const Word*>(a);
    const auto* y = reinterpret_cast<const Word*>(b);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i)
        count += x[i] != y[i];
    return count;
}

/// Element i of a row that is not float64, as a float with the same sign, value and NaN payload.
float widen_to_float(const std::byte* row, LogitType type, std::int64_t i)
{
    if (type == LogitType::F32)
        return reinterpret_cast<const float*>(row)[i];
    const std::uint16_t bits = reinterpret_cast<const std::uint16_t*>(row)[i];
    return type == LogitType::BF16 ? bf16_to_float(bits) : f16_to_float(bits);
}

/// Bits of element i as a double. Converting a float would make a signalling NaN quiet, so NaN are moved bit by bit.
std::uint64_t widened_bits(const std::byte* row, LogitType type, std::int64_t i)
{
    if (type == LogitType::F64)
        return reinterpret_cast<const std::uint64_t*>(row)[i];
    const float f = widen_to_float(row, type, i);
    if (!std::isnan(f))
        return std::bit_cast<std::uint64_t>(static_cast<double>(f));
    const std::uint64_t bits = std::bit_cast<std::uint32_t>(f);
    return (bits >> 31) << 63 | std::uint64_t{0x7ff} << 52 | (bits & 0x7fffff) << 29;
}

} // namespace

Result<void> check_block(const PairBlock& block, std::size_t room)
{
    if (block.rows < 0 || static_cast<std::uint64_t>(block.rows) > room)
        return fail(ErrorKind::Usage, "An engine was given {} rows and room for the numbers of {}.", block.rows, room);
    if (block.vocab <= 0)
        return fail(ErrorKind::Usage, "An engine was given rows of {} ids: there is nothing to compare.", block.vocab);
    return {};
}

std::int64_t count_differing(const std::byte* a, LogitType type_a, const std::byte* b, LogitType type_b, std::int64_t n)
{
    if (type_a == type_b) {
        switch (size_of(type_a)) {
        case 2:
            return count_unequal<std::uint16_t>(a, b, n);
        case 4:
            return count_unequal<std::uint32_t>(a, b, n);
        default:
            return count_unequal<std::uint64_t>(a, b, n);
        }
    }
    std::int64_t count = 0;
    if (type_a == LogitType::F64 || type_b == LogitType::F64) {
        for (std::int64_t i = 0; i < n; ++i)
            count += widened_bits(a, type_a, i) != widened_bits(b, type_b, i);
        return count;
    }
    for (std::int64_t i = 0; i < n; ++i)
        count += std::bit_cast<std::uint32_t>(widen_to_float(a, type_a, i)) !=
                 std::bit_cast<std::uint32_t>(widen_to_float(b, type_b, i));
    return count;
}

} // namespace flipscope
