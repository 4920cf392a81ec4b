// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/compute.h"

#include <span>

namespace flipscope {

/// A run whose table is computed: the alignment is there, the numbers are to be filled in.
struct ComputedRun {
    const Trace& run;
    MetricsTable& table;
    bool engine_failed = false; ///< set where numbers of the table are from the CPU after the engine failed
};

/// Computes the tables of runs against one baseline. An engine that wants large blocks gets the runs whose probes and
/// vocabulary are the same at once; others get run after run. The numbers are the same either way.
/// The first error of reading or computing ends it for all.
Result<void> compute_together(const Trace& baseline, std::span<ComputedRun> runs, Engine& engine,
                              const ComputeOptions& options, const Job& job);

} // namespace flipscope
