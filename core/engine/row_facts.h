// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/engine.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace flipscope {

/// Refuses a block without rows to compare, or with more rows than `out` has room for.
Result<void> check_block(const PairBlock& block, std::size_t room);

/// Elements of two rows that differ by bits after exact widening. Rows of one type are compared as they are, so that
/// not even the payload of a NaN is lost on the way.
std::int64_t count_differing(const std::byte* a, LogitType type_a, const std::byte* b, LogitType type_b,
                             std::int64_t n);

/// The engine's part of a probe that has no numbers: a NaN, a +inf or nothing but -inf in one of its rows.
inline void set_invalid(ProbeMetrics& m, std::int64_t differing)
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    m.kl_pq = m.kl_qp = m.js = m.tv = m.margin = m.p_top = m.q_top = nan;
    m.entropy_p = m.entropy_q = m.nll_p = m.nll_q = m.dp = m.max_abs_dlogit = nan;
    m.lse_p = m.lse_q = m.top5_overlap = m.top10_overlap = nan;
    m.differing = differing;
    m.argmax_p = m.argmax_q = m.rank = -1;
    m.flip = m.tied = m.valid = 0;
}

} // namespace flipscope
