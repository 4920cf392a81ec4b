// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Stored logits as floats and doubles, exactly. Included once for each vector width, hence no `#pragma once`.
#if defined(FLIPSCOPE_CPU_WIDEN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FLIPSCOPE_CPU_WIDEN_INL_H
#undef FLIPSCOPE_CPU_WIDEN_INL_H
#else
#define FLIPSCOPE_CPU_WIDEN_INL_H
#endif

#include "core/trace/logit_type.h"

#include <algorithm>
#include <hwy/highway.h>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace flipscope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Elements that are worked on at once: both rows as doubles fit the first-level cache beside what else is in use.
constexpr std::size_t chunk_size = 512; // a multiple of every vector width

/// Has this vector width instructions for float16, which are right for every value?
constexpr bool converts_float16 =
    HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON;

/// n logits of a type of 32 bits at most, from `first` on.
HWY_ATTR inline void widen_to_floats(const std::byte* row, LogitType type, std::size_t first, std::size_t n, float* out)
{
    const hn::ScalableTag<float> d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    if (type == LogitType::BF16) {
        const hn::Rebind<std::uint16_t, decltype(d)> d16;
        const hn::Rebind<std::uint32_t, decltype(d)> d32;
        const auto* in = reinterpret_cast<const std::uint16_t*>(row) + first;
        for (; i + lanes <= n; i += lanes)
            hn::StoreU(hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, in + i)))), d, out + i);
    } else if (type == LogitType::F32) {
        const auto* in = reinterpret_cast<const float*>(row) + first;
        std::copy(in, in + n, out);
        i = n;
    } else if constexpr (converts_float16) { // elsewhere Highway takes infinities and NaN for large numbers
        const hn::Rebind<hwy::float16_t, decltype(d)> dh;
        const auto* in = reinterpret_cast<const hwy::float16_t*>(row) + first;
        for (; i + lanes <= n; i += lanes)
            hn::StoreU(hn::PromoteTo(d, hn::LoadU(dh, in + i)), d, out + i);
    }
    for (; i < n; ++i)
        out[i] = static_cast<float>(widen(row, type, first + i));
}

/// n logits of any type, from `first` on.
HWY_ATTR inline void widen_to_doubles(const std::byte* row, LogitType type, std::size_t first, std::size_t n,
                                      double* out)
{
    if (type == LogitType::F64) {
        const auto* in = reinterpret_cast<const double*>(row) + first;
        std::copy(in, in + n, out);
        return;
    }
    const hn::ScalableTag<double> d;
    const hn::Rebind<float, decltype(d)> df;
    const std::size_t lanes = hn::Lanes(d);
    float narrow[chunk_size];
    for (std::size_t done = 0; done < n; done += chunk_size) {
        const std::size_t part = std::min(chunk_size, n - done);
        widen_to_floats(row, type, first + done, part, narrow);
        std::size_t i = 0;
        for (; i + lanes <= part; i += lanes)
            hn::StoreU(hn::PromoteTo(d, hn::LoadU(df, narrow + i)), d, out + done + i);
        for (; i < part; ++i)
            out[done + i] = narrow[i];
    }
}

} // namespace HWY_NAMESPACE
} // namespace flipscope
HWY_AFTER_NAMESPACE();

#endif
