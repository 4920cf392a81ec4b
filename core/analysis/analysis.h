// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/compute.h"
#include "core/analysis/windows.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace flipscope {

/// Everything `flipscope analyze` says about one run.
struct RunAnalysis {
    std::string name;
    TracePtr trace;
    TablePtr table;
    WindowStats overall;          ///< over all matched probes
    std::int64_t flips_top1 = -1; ///< -1: not both traces carry `top1`
    std::int64_t differing_rows = 0;
    bool bit_identical = false; ///< no differing row, equal types, at least one matched probe
    std::vector<WindowStats> windows;
};

struct Analysis {
    std::int64_t window_tokens = 0;
    std::string engine, engine_detail;
    TracePtr baseline;
    std::vector<RunAnalysis> runs;
    std::vector<std::string> notices;
    std::vector<Error> problems; ///< runs that could not be read or compared; each sentence names its file
};

/// `name`, or "name (2)", "name (3)" ... where it is taken: in tables and CSV files runs are told apart by name alone.
std::string distinct_name(const std::string& name, std::span<const std::string> taken);

/// `extent` is that of the baseline and of all runs compared with it.
RunAnalysis analyze_table(const TracePtr& run, const TablePtr& table, std::int64_t window_tokens,
                          const HistoryExtent& extent);

} // namespace flipscope
