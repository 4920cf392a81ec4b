// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/compute.h"
#include "core/analysis/llamacpp_statistics.h"
#include "core/analysis/partition.h"
#include "core/analysis/windows.h"
#include "core/formats/kld_log.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <optional>
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
    std::vector<WindowStats> pieces;            ///< per Analysis::pieces
    std::vector<WindowStats> kinds;             ///< per Analysis::kinds; start and end are those of the history
    std::optional<LlamacppStatistics> llamacpp; ///< where the baseline is a base file of llama.cpp
};

struct Analysis {
    std::int64_t window_tokens = 0;
    Partition by = Partition::Windows;
    std::vector<Piece> pieces;      ///< segments or turns, where asked for
    std::vector<std::string> kinds; ///< segments: their kinds, in order of appearance
    std::string engine, engine_detail;
    TracePtr baseline;
    std::vector<RunAnalysis> runs;
    int floor = -1; ///< index of the run that is the noise floor
    std::vector<std::string> notices;
    std::vector<KldLog> logs;    ///< printouts of llama-perplexity named among the runs
    std::vector<Error> problems; ///< runs that could not be read or compared; each sentence names its file
};

/// `name`, or "name (2)", "name (3)" ... where it is taken: in tables and CSV files runs are told apart by name alone.
std::string distinct_name(const std::string& name, std::span<const std::string> taken);

/// Adds the statistics of each segment or turn of the baseline's history, and of segments those of each kind, to all
/// runs. An error where the baseline's trace does not mark them.
Result<void> add_pieces(Analysis& analysis, Partition by, std::int64_t n_tokens);

/// `extent` is that of the baseline and of all runs compared with it.
RunAnalysis analyze_table(const TracePtr& run, const TablePtr& table, std::int64_t window_tokens,
                          const HistoryExtent& extent);

} // namespace flipscope
