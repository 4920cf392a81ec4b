// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"
#include "core/base/job.h"
#include "core/trace/trace.h"

#include <optional>
#include <vector>

namespace flipscope {

/// Entries a row that a summary keeps of each side.
inline constexpr std::int64_t summary_k = 32;

/// A run and its numbers against the baseline that is summarised.
struct SummarisedRun {
    std::string name; ///< unique among the runs
    TracePtr trace;
    TablePtr table;
};

/// A trace without rows, for write_trace: of each row of the baseline and of the runs the `summary_k` likeliest tokens
/// with their log probabilities, the numbers of every probe, settings and continuations; about 1 MB a run. Dense probes
/// are left out. Rows are read once more.
Result<Trace> summarise(const TracePtr& baseline, const std::vector<SummarisedRun>& runs, const Job& job = {});

/// The numbers that a summary holds of `run` against `baseline`, with nothing computed; none where it holds them
/// against another baseline. `alignment` is that of the two summaries.
std::optional<MetricsTable> stored_table(const Trace& baseline, const Trace& run, const Alignment& alignment);

} // namespace flipscope
