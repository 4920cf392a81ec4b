// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/compare_runs.h"
#include "app/commands/console.h"
#include "app/commands/option_checks.h"
#include "core/analysis/analysis.h"
#include "core/analysis/compute.h"
#include "core/trace/open.h"

#include <algorithm>
#include <limits>

namespace flipscope {

namespace {

Result<void> check_windows_of(const Trace& trace, std::int64_t window)
{
    return check_windows(window, trace.probes.positions.empty() ? -1 : trace.probes.positions.back());
}

/// Fills `run` as far as it comes.
Result<void> compute_run(const TracePtr& baseline, const std::string& file, Engine& engine,
                         const CompareOptions& options, const Job& job, ComparedRun& run)
{
    auto trace = open_trace(file, job);
    if (!trace)
        return tl::unexpected(trace.error());
    run.trace = *trace;
    if (auto ok = check_windows_of(**trace, options.window); !ok)
        return ok;
    ComputeOptions how;
    how.use_cache = !options.no_cache;
    auto table = compute_table(baseline, *trace, engine, how, job);
    if (!table)
        return tl::unexpected(table.error());
    run.table = *table;
    return {};
}

} // namespace

std::string naming_file(const std::string& file, const Error& error)
{
    std::string shown = file; // as the readers write it
    for (char& c : shown)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            c = ' ';
    const auto names = [&](const std::string& name) { return error.message.find(name) != std::string::npos; };
    return names(file) || names(shown) ? error.message : file + ": " + error.message;
}

CompareOptions::CompareOptions() : window(default_window_tokens) {}

std::vector<std::filesystem::path> CompareOptions::inputs() const
{
    std::vector<std::filesystem::path> all(runs.begin(), runs.end());
    all.emplace_back(baseline);
    return all;
}

bool Compared::any() const
{
    return std::any_of(runs.begin(), runs.end(), [](const ComparedRun& run) { return run.table != nullptr; });
}

HistoryExtent Compared::extent() const
{
    HistoryExtent extent;
    extent.include(*baseline);
    for (const ComparedRun& run : runs)
        if (run.table) // another text has no place on this axis
            extent.include(*run.trace);
    return extent;
}

namespace {

void add_baseline(CLI::App& command, CompareOptions& options)
{
    command.add_option("BASE", options.baseline, "The baseline's trace: P")
        ->required()
        ->check(not_empty())
        ->type_name("");
}

void add_engine_options(CLI::App& command, CompareOptions& options)
{
    command.add_option("--window", options.window, "Tokens per window")
        ->transform(whole_number(1, std::numeric_limits<std::int64_t>::max()))
        ->capture_default_str()
        ->type_name("TOKENS");
    command.add_option("--engine", options.engine, "What computes: auto takes the GPU where it works, else the CPU")
        ->check(CLI::IsMember({"auto", "cpu", "cuda", "reference"}))
        ->capture_default_str()
        ->type_name("auto|cpu|cuda|reference");
    command.add_option("--threads", options.threads, "Threads of the CPU engine; 0 = one for each core")
        ->transform(whole_number(0, 4096))
        ->capture_default_str()
        ->type_name("N");
    command.add_flag("--no-cache", options.no_cache, "Neither read nor write the cache (also FLIPSCOPE_NO_CACHE=1)");
}

} // namespace

void add_compare_options(CLI::App& command, CompareOptions& options)
{
    add_baseline(command, options);
    command.add_option("RUN", options.runs, "Traces of the runs that are compared with it: Q")
        ->required()
        ->check(not_empty())
        ->type_name("");
    add_engine_options(command, options);
}

void add_pair_options(CLI::App& command, CompareOptions& options)
{
    add_baseline(command, options);
    options.runs.resize(2);
    command.add_option("A", options.runs[0], "The trace of the first run")
        ->required()
        ->check(not_empty())
        ->type_name("");
    command.add_option("B", options.runs[1], "The trace of the second run; differences are B - A")
        ->required()
        ->check(not_empty())
        ->type_name("");
    add_engine_options(command, options);
}

Result<Compared> compare_runs(const CompareOptions& options, const Job& job)
{
    const auto choice = parse_engine(options.engine);
    if (!choice)
        return tl::unexpected(choice.error());
    Compared result;
    auto baseline = open_trace(options.baseline, job);
    if (!baseline)
        return fail(baseline.error().kind, "{}", naming_file(options.baseline, baseline.error()));
    if (auto ok = check_windows_of(**baseline, options.window); !ok)
        return tl::unexpected(ok.error());
    result.baseline = *baseline;
    auto selection = make_engine({*choice, options.threads});
    if (!selection)
        return tl::unexpected(selection.error());
    Engine& engine = *selection->engine;
    result.engine = engine.name();
    result.engine_detail = engine.detail();
    if (!selection->notice.empty())
        result.notices.push_back(selection->notice);
    std::vector<std::string> names;
    for (const std::string& file : options.runs) {
        ComparedRun run;
        if (const auto computed = compute_run(result.baseline, file, engine, options, job, run); !computed) {
            if (computed.error().kind == ErrorKind::Cancelled)
                return tl::unexpected(computed.error());
            run.problem = computed.error().message;
            result.problems.push_back({computed.error().kind, naming_file(file, computed.error())});
            complain(result.problems.back().message);
        }
        if (!run.trace)
            continue;
        run.name = distinct_name(run.trace->run_name, names);
        names.push_back(run.name);
        result.runs.push_back(std::move(run));
    }
    return result;
}

} // namespace flipscope
