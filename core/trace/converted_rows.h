// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job.h"
#include "core/trace/trace.h"

// Sources that change what another source delivers while it is read.
namespace flipscope {

/// One row, rounded to F16 or BF16, beside what it was.
struct RoundedRow {
    std::int32_t top_before = -1, top_after = -1; ///< the lowest id of the largest; -1 where there is a NaN
    double lse = 0;                               ///< log-sum-exp before
    double max_abs_error = 0;                     ///< over finite logits
    std::int64_t overflows = 0;                   ///< finite logits that became -inf
    bool too_large = false;                       ///< a finite logit became +inf
    double largest = 0;                           ///< of the finite ones
};
RoundedRow round_row(std::span<const std::byte> row, LogitType from, LogitType to, std::int64_t columns);

std::shared_ptr<const RowSource> rounded_rows(std::shared_ptr<const RowSource> rows, LogitType type);

/// The best `k` of each row with their log-probabilities, equal logits by id.
std::shared_ptr<const TopKSource> best_of_rows(std::shared_ptr<const RowSource> rows, std::int64_t k);
/// The first `k` of each list.
std::shared_ptr<const TopKSource> best_of_lists(std::shared_ptr<const TopKSource> lists, std::int64_t k);

/// Has the rows of all probe sets report to `job` how far they were read, and stop where it was cancelled.
void watch_rows(Trace& trace, const Job& job);

} // namespace flipscope
