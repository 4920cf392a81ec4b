// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/finding.h"
#include "core/engine/probe_metrics.h"

#include <cstdint>
#include <string>
#include <vector>

namespace flipscope {

/// The numbers of a summarised run, as they were computed from the full rows of both sides: what a summary file holds
/// in their place. `probes` are sorted by position.
struct StoredMetrics {
    std::string baseline_key; ///< Trace::summary_key of the baseline that they are against
    std::vector<ProbeMetrics> probes;
    std::int64_t common_tokens = 0, only_in_baseline = 0, only_in_run = 0;
    std::int64_t vocab = 0, baseline_vocab = 0, run_vocab = 0;
    bool equal_types = false, lower_bound = false;
    std::string engine, engine_detail, rows_hash;
    Findings findings; ///< of the alignment
};

} // namespace flipscope
