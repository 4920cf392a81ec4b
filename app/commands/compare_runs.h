// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/windows.h"
#include "core/base/job.h"
#include "core/formats/kld_log.h"
#include "core/trace/open_hints.h"
#include "core/trace/trace.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace flipscope {

/// What every sub-command that compares runs with a baseline takes.
struct CompareOptions {
    std::string baseline;
    std::vector<std::string> runs;
    std::int64_t window;
    std::string engine = "auto";
    int threads = 0;
    bool no_cache = false;
    bool verbose = false;             ///< say on stderr where the time went
    std::shared_ptr<OpenHints> hints; ///< for all files that are no Flipscope traces
    bool runs_optional = false;       ///< a summary brings its own
    bool shift_bos = false;           ///< runs with one token more or less at their start are shifted to fit
    CompareOptions();
    std::vector<std::filesystem::path> inputs() const; ///< all files that are read
};

/// Adds --floor. After parsing, include_floor() makes its file one of the runs where it is not.
void add_floor_option(CLI::App& command, std::string& floor);
void include_floor(CompareOptions& options, const std::string& floor);

/// Adds BASE RUN…, --engine, --threads and --no-cache.
void add_compare_options(CLI::App& command, CompareOptions& options);
/// The same with exactly two runs, A and B, and --window.
void add_pair_options(CLI::App& command, CompareOptions& options);
/// Adds --window.
void add_window_option(CLI::App& command, CompareOptions& options);

/// A run that could be read, and its numbers.
struct ComparedRun {
    std::string name; ///< the trace's own, with a number where an earlier run has it
    TracePtr trace;
    TablePtr table;      ///< null where it could not be compared
    std::string problem; ///< why
};

struct Compared {
    TracePtr baseline;
    std::vector<ComparedRun> runs; ///< in the order they were named
    std::string engine, engine_detail;
    std::vector<std::string> notices;
    std::vector<KldLog> logs;    ///< printouts of llama-perplexity, named among the runs
    std::vector<Error> problems; ///< runs that could not be read or compared, each already named on stderr

    bool any() const; ///< a run could be compared
    /// Index of the run of that file; -1 = none, or it could not be compared.
    int run_of(const std::string& file) const;
    HistoryExtent extent() const; ///< of the baseline and the runs that could be compared
};

/// The error's sentence, with the file in front where it does not name it.
std::string naming_file(const std::string& file, const Error& error);

/// Opens and computes. An error ends everything (baseline or engine unusable, Ctrl-C); a run that fails does not.
Result<Compared> compare_runs(const CompareOptions& options, const Job& job);

} // namespace flipscope
