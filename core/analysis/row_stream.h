// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/alignment.h"
#include "core/base/hash.h"
#include "core/engine/engine.h"
#include "core/trace/rows.h"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>

namespace flipscope {

/// Hashes over everything read, one for each side, in the order of the probes: no cutting into blocks shows in them.
struct RowHashes {
    Hasher baseline, run;
    std::string hex() const;
};

/// Pairs of full rows to be read: pair i is row pairs[i].baseline_row of one and pairs[i].run_row of the other.
struct RowPairs {
    const RowSource& baseline;
    const RowSource& run;
    std::span<const MatchedProbe> pairs;

    std::int64_t pair_bytes() const { return baseline.row_bytes() + run.row_bytes(); }
};

/// Some pairs in memory, in their order.
struct RowBlock {
    std::int64_t first = 0; ///< index of the first pair
    std::int64_t rows = 0;
    RowView baseline, run;
};

/// Reads all pairs block by block in a thread of its own, one block ahead of `use`, which gets them in order on the
/// calling thread. Memory: two buffers of `engine` with some 64 MB each, or two single pairs where one is larger than
/// that. Stops between pieces of a few MB with ErrorKind::Cancelled; the first error of reading or of `use` ends it.
Result<void> stream_rows(const RowPairs& rows, Engine& engine, RowHashes& hashes, const std::stop_token& stop,
                         const std::function<Result<void>(const RowBlock&)>& use);

} // namespace flipscope
