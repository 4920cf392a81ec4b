// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"
#include "core/base/job.h"
#include "core/engine/engine.h"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace flipscope {

struct ComputeOptions {
    bool use_cache = true; ///< false: neither read nor write the cache (also FLIPSCOPE_NO_CACHE=1)
    bool refresh = false;  ///< recompute even when cached, compare with what was cached, and write the new table
    bool keep_rows =
        true;        ///< rows may stay with an engine that keeps some, for further pairs; not where `refresh` is set
    int threads = 0; ///< of the CPU engine that goes on where `engine` fails; 0 = one for each core
};

/// The table of one pair: aligns, takes it from the cache, or streams the rows through `engine` with bounded memory.
/// Of a summary and its own baseline the stored numbers are given, and nothing is computed.
/// When the engine fails midway (ErrorKind::Device, OutOfMemory) the rest is computed on the CPU, and it is said.
Result<TablePtr> compute_table(const TracePtr& baseline, const TracePtr& run, Engine& engine,
                               const ComputeOptions& options = {}, const Job& job = {});

/// So many runs are read along one baseline. With more a block has few rows, and the baseline is a small part of what
/// is read.
inline constexpr std::size_t most_runs_together = 16;

/// Whether compute_tables() gains from several runs: the engine wants large blocks, and the baseline is read once.
inline bool computes_together(const Engine& engine)
{
    return engine.workers() == 0;
}

/// Hears of each of several tables as soon as it is there, once, on the thread that computes; `run` is an index.
using TableHeard = std::function<void(std::size_t run, const Result<TablePtr>& table)>;

/// The tables of several runs, or why there is none, in their order; each is what compute_table() gives. An engine that
/// wants large blocks reads the baseline's rows once for all of them.
std::vector<Result<TablePtr>> compute_tables(const TracePtr& baseline, std::span<const TracePtr> runs, Engine& engine,
                                             const ComputeOptions& options = {}, const Job& job = {},
                                             const TableHeard& heard = {});

} // namespace flipscope
