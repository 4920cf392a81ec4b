// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <span>
#include <vector>

namespace flipscope {

/// A line of two token sequences set side by side: indices into each, -1 where one has no partner.
struct TokenPair {
    std::int64_t a = -1, b = -1;
    bool same = false; ///< both there, with equal ids
    bool operator==(const TokenPair&) const = default;
};

/// Sets two sequences side by side with the fewest tokens inserted and deleted (E. W. Myers, Algorithmica 1 (1986)
/// 251); of a stretch that differs, the i-th tokens stand beside each other. Where more than `most_edits` edits would
/// be needed, the rest is set side by side one by one.
std::vector<TokenPair> align_tokens(std::span<const std::int32_t> a, std::span<const std::int32_t> b,
                                    std::int64_t most_edits = 1000);

/// Continuations of two runs from the same point of the history.
struct ContinuationPair {
    const Generation* a = nullptr;
    const Generation* b = nullptr;
    /// Index of the first generated token that differs; the shorter's length where one is the beginning of the other;
    /// -1 = equal.
    std::int64_t first_difference = -1;
};

/// By `prefix_tokens`; of several from one point the i-th with the i-th. Those without a partner are left out. The
/// pointers lead into the traces.
std::vector<ContinuationPair> pair_continuations(const Trace& a, const Trace& b);

} // namespace flipscope
