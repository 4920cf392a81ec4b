// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What is known of a row without a single exponential: is it valid, where are its largest logits, how many ids are
// ahead of one. Included once for each vector width, hence no `#pragma once`.
//
// All of it is integer work on the stored bits, as many elements a vector as fit. The bits of a floating-point number
// become a whole number of the same order, its *key*, when a negative one's other bits are turned round:
// -inf < ... < -0 < +0 < ... < +inf, NaN beyond the infinities on both ends, and -0 = -1 next to +0 = 0.
#if defined(FLIPSCOPE_CPU_SCAN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FLIPSCOPE_CPU_SCAN_INL_H
#undef FLIPSCOPE_CPU_SCAN_INL_H
#else
#define FLIPSCOPE_CPU_SCAN_INL_H
#endif

#include "core/engine/top_list.h"
#include "core/trace/logit_type.h"

#include <algorithm>
#include <hwy/highway.h>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace flipscope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The largest key of each span of a row: few spans can hold one of the ten largest logits.
constexpr std::size_t most_spans = 1024;
constexpr std::size_t shortest_span = 1024;

struct RowScan {
    std::size_t span = shortest_span, spans = 0;
    std::int64_t largest[most_spans]; ///< +0 for -0, so that equal logits have equal keys
    std::int64_t max = std::numeric_limits<std::int64_t>::min();
    std::int64_t min = std::numeric_limits<std::int64_t>::max();
};

inline std::size_t span_of(std::size_t vocab)
{
    const std::size_t needed = (vocab + most_spans - 1) / most_spans;
    return std::max(shortest_span, (needed + shortest_span - 1) / shortest_span * shortest_span);
}

template <class I>
I key_of(I bits)
{
    return bits ^ ((bits >> (8 * sizeof(I) - 1)) & std::numeric_limits<I>::max());
}

template <class I>
HWY_INLINE hn::Vec<hn::ScalableTag<I>> keys_of(hn::Vec<hn::ScalableTag<I>> bits)
{
    const hn::ScalableTag<I> d;
    const auto negative = hn::ShiftRight<8 * sizeof(I) - 1>(bits); // all ones or all zeros
    return hn::Xor(bits, hn::And(negative, hn::Set(d, std::numeric_limits<I>::max())));
}

/// Bits of +inf in a type; ~ of them is the key of -inf.
inline std::int64_t infinity_of(LogitType type)
{
    switch (type) {
    case LogitType::BF16:
        return 0x7f80;
    case LogitType::F16:
        return 0x7c00;
    case LogitType::F32:
        return 0x7f800000;
    case LogitType::F64:
        return 0x7ff0000000000000;
    }
    return 0;
}

/// Takes elements [first, first + n), one span, into the scan.
template <class I>
HWY_ATTR void scan_span(const I* row, std::size_t first, std::size_t n, RowScan& scan)
{
    const hn::ScalableTag<I> d;
    const std::size_t lanes = hn::Lanes(d), whole = n / lanes * lanes;
    const I* in = row + first;
    I max = std::numeric_limits<I>::min(), min = std::numeric_limits<I>::max();
    if (whole > 0) {
        auto most = hn::Set(d, max), least = hn::Set(d, min);
        for (std::size_t i = 0; i < whole; i += lanes) {
            const auto keys = keys_of<I>(hn::LoadU(d, in + i));
            most = hn::Max(most, keys);
            least = hn::Min(least, keys);
        }
        HWY_ALIGN I mosts[HWY_MAX_BYTES / sizeof(I)];
        HWY_ALIGN I leasts[HWY_MAX_BYTES / sizeof(I)];
        hn::Store(most, d, mosts);
        hn::Store(least, d, leasts);
        max = *std::max_element(mosts, mosts + lanes);
        min = *std::min_element(leasts, leasts + lanes);
    }
    for (std::size_t i = whole; i < n; ++i) {
        max = std::max(max, key_of(in[i]));
        min = std::min(min, key_of(in[i]));
    }
    const std::int64_t key = max == -1 ? 0 : max;
    scan.largest[scan.spans++] = key;
    scan.max = std::max(scan.max, key);
    scan.min = std::min(scan.min, std::int64_t{min});
}

template <class I>
HWY_ATTR std::size_t unequal(const I* a, const I* b, std::size_t n)
{
    const hn::ScalableTag<I> d;
    const std::size_t lanes = hn::Lanes(d), whole = n / lanes * lanes;
    std::size_t count = 0;
    for (std::size_t i = 0; i < whole; i += lanes)
        count += lanes - hn::CountTrue(d, hn::Eq(hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
    for (std::size_t i = whole; i < n; ++i)
        count += a[i] != b[i];
    return count;
}

/// Is an element -inf in one row and not in the other?
template <class I>
HWY_ATTR bool masked_on_one_side(const I* a, const I* b, std::size_t n, I mask)
{
    const hn::ScalableTag<I> d;
    const std::size_t lanes = hn::Lanes(d), whole = n / lanes * lanes;
    const auto masked = hn::Set(d, mask);
    for (std::size_t i = 0; i < whole; i += lanes)
        if (!hn::AllFalse(d, hn::Xor(hn::Eq(hn::LoadU(d, a + i), masked), hn::Eq(hn::LoadU(d, b + i), masked))))
            return true;
    for (std::size_t i = whole; i < n; ++i)
        if ((a[i] == mask) != (b[i] == mask))
            return true;
    return false;
}

/// Elements of [from, to) whose key is above `limit`.
template <class I>
HWY_ATTR std::size_t count_above(const I* row, std::size_t from, std::size_t to, I limit)
{
    const hn::ScalableTag<I> d;
    const std::size_t lanes = hn::Lanes(d), whole = from + (to - from) / lanes * lanes;
    const auto limits = hn::Set(d, limit);
    std::size_t count = 0;
    for (std::size_t i = from; i < whole; i += lanes)
        count += hn::CountTrue(d, hn::Gt(keys_of<I>(hn::LoadU(d, row + i)), limits));
    for (std::size_t i = whole; i < to; ++i)
        count += key_of(row[i]) > limit;
    return count;
}

/// 1 + ids ahead of `id`, in the order logit descending, id ascending.
template <class I>
HWY_ATTR std::int32_t rank_in(const I* row, std::size_t vocab, std::size_t id)
{
    const I key = key_of(row[id]);
    const bool zero = key == 0 || key == -1; // -0 and +0 are equal
    const I below = static_cast<I>(zero ? -2 : key - 1), top = zero ? I{0} : key;
    return static_cast<std::int32_t>(1 + count_above(row, 0, id, below) + count_above(row, id, vocab, top));
}

/// The K-th largest of the spans' largest keys: no smaller key can be among the row's K largest.
template <std::size_t K>
std::int64_t lowest_wanted(const RowScan& scan)
{
    std::int64_t best[K];
    std::fill(best, best + K, std::numeric_limits<std::int64_t>::min());
    for (std::size_t s = 0; s < scan.spans; ++s) {
        if (scan.largest[s] <= best[K - 1])
            continue;
        std::size_t at = K - 1;
        for (; at > 0 && best[at - 1] < scan.largest[s]; --at)
            best[at] = best[at - 1];
        best[at] = scan.largest[s];
    }
    return best[K - 1];
}

/// Fills `list` with the row's largest logits.
template <class I, std::size_t K>
HWY_ATTR void find_top(const std::byte* row, LogitType type, std::size_t vocab, const RowScan& scan, TopList<K>& list)
{
    const hn::ScalableTag<I> d;
    const I* in = reinterpret_cast<const I*>(row);
    const std::int64_t wanted = lowest_wanted<K>(scan);
    // -0 counts as +0; where fewer than K spans are, every key may be among the largest.
    I limit = static_cast<I>(
        std::max(wanted == 0 ? std::int64_t{-1} : wanted, std::int64_t{std::numeric_limits<I>::min()} + 1));
    for (std::size_t s = 0; s < scan.spans; ++s) {
        if (scan.largest[s] < limit)
            continue;
        const std::size_t end = std::min(vocab, (s + 1) * scan.span);
        for (std::size_t i = s * scan.span; i < end; i += hn::Lanes(d)) {
            const std::size_t stop = std::min(end, i + hn::Lanes(d));
            if (stop == i + hn::Lanes(d) &&
                hn::AllFalse(d, hn::Gt(keys_of<I>(hn::LoadU(d, in + i)), hn::Set(d, static_cast<I>(limit - 1)))))
                continue;
            for (std::size_t j = i; j < stop; ++j)
                if (key_of(in[j]) >= limit)
                    list.offer(widen(row, type, j), static_cast<std::int32_t>(j));
            if (list.full()) { // an equal logit with a higher id does not enter
                const I last = key_of(in[list.id(K - 1)]);
                limit = std::max(limit, static_cast<I>(last == -1 ? 1 : last + 1));
            }
        }
    }
}

} // namespace HWY_NAMESPACE
} // namespace flipscope
HWY_AFTER_NAMESPACE();

#endif
