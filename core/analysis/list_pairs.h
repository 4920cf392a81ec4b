// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/row_stream.h"
#include "core/trace/trace.h"

#include <functional>
#include <span>
#include <stop_token>

namespace flipscope {

/// Metrics of probes of which one side at least is a top-k list; lower bounds of the full ones, see core/engine/topk.h.
/// `next_ids` and `out` are parallel to `pairs`. `advanced` is told the bytes of each pair.
Result<void> compute_list_pairs(const ProbeSet& baseline, const ProbeSet& run, std::span<const MatchedProbe> pairs,
                                std::span<const std::int32_t> next_ids, std::span<ProbeMetrics> out, RowHashes& hashes,
                                const std::stop_token& stop, const std::function<void(std::int64_t bytes)>& advanced);

} // namespace flipscope
