// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/finding.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <vector>

namespace flipscope {

/// One probe that both traces have, found by position.
struct MatchedProbe {
    std::int64_t position;
    std::int64_t baseline_row, run_row;         ///< row numbers inside their probe sets
    std::int32_t baseline_set = 0, run_set = 0; ///< dense probes: index into Trace::dense
};

/// How a run lines up with a baseline. Made before any number is computed.
struct Alignment {
    std::int64_t common_tokens = 0; ///< length of the common history
    std::vector<MatchedProbe> probes;
    std::vector<MatchedProbe> dense;                    ///< matched over all dense groups of both traces, by position
    std::int64_t only_in_baseline = 0, only_in_run = 0; ///< probes left out
    std::int32_t vocab = 0;                             ///< ids 0 .. vocab-1 are compared (full rows)
    std::int64_t baseline_vocab = 0, run_vocab = 0;
    bool equal_types = false; ///< same logit type on both sides
    bool top_k = false;       ///< one side at least has lists only: results are lower bounds
    Findings findings;
};

/// Compares token ids first: a difference is ErrorKind::NotComparable and names position, both ids and both texts (and
/// says where one history is the other shifted by one token). A common prefix is compared, and it is said. An
/// unknown_id agrees with any id, and it is said. Histories fed in chunks (spans of that kind, each with a context of
/// its own) must be cut alike.
Result<Alignment> align(const Trace& baseline, const Trace& run);

} // namespace flipscope
