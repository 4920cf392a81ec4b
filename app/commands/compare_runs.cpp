// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/compare_runs.h"
#include "app/commands/console.h"
#include "app/commands/option_checks.h"
#include "core/analysis/analysis.h"
#include "core/analysis/compute.h"
#include "core/base/file.h"
#include "core/trace/open.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace flipscope {

namespace {

Result<void> check_windows_of(const Trace& trace, std::int64_t window)
{
    return check_windows(window, trace.probes.positions.empty() ? -1 : trace.probes.positions.back());
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void tell_opened(const std::string& file, Clock::time_point start)
{
    complain(fmt::format("{}: opened in {:.3f} s", file, seconds_since(start)));
}

/// A line for each stage: what went through it, how fast, and which one the other waited for.
void tell_stages(const std::string& file, const MetricsTable& table)
{
    const StreamTimes& t = table.times;
    if (table.from_cache)
        return complain(fmt::format("{}: numbers from the cache, no row was read", file));
    if (t.bytes == 0)
        return complain(fmt::format("{}: no full rows to be read", file));
    const double gigabytes = 1e-9 * static_cast<double>(t.bytes);
    const auto line = [&](const char* stage, double seconds, const std::string& by) {
        complain(fmt::format("{}: {} {:.3f} GB in {:.3f} s, {:.2f} GB/s{}", file, stage, gigabytes, seconds,
                             seconds > 0 ? gigabytes / seconds : 0, by));
    };
    line("reading", t.reading, fmt::format(" ({} thread{})", t.readers, t.readers == 1 ? "" : "s"));
    line("computing", t.computing, fmt::format(" ({}: {})", table.engine, table.engine_detail));
    line("together", t.seconds, fmt::format(", bound by {}", t.bound()));
}

/// Fills `run`, whose trace is there, as far as it comes.
Result<void> compute_run(const TracePtr& baseline, Engine& engine, const CompareOptions& options, const Job& job,
                         ComparedRun& run)
{
    if (auto ok = check_windows_of(*run.trace, options.window); !ok)
        return ok;
    ComputeOptions how;
    how.use_cache = !options.no_cache;
    how.threads = options.threads;
    auto table = compute_table(baseline, run.trace, engine, how, job);
    if (!table)
        return tl::unexpected(table.error());
    run.table = *table;
    if (options.verbose)
        tell_stages(run.trace->path.string(), **table);
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

CompareOptions::CompareOptions() : window(default_window_tokens), hints(std::make_shared<OpenHints>()) {}

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

int Compared::run_of(const std::string& file) const
{
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (runs[i].table && same_file(runs[i].trace->path, file))
            return static_cast<int>(i);
    return -1;
}

void add_floor_option(CLI::App& command, std::string& floor)
{
    command
        .add_option("--floor", floor,
                    "The noise floor: a repeat of the baseline, or the same model on a second engine; compared like a "
                    "run, and what lies above it is said")
        ->check(not_empty())
        ->type_name("FILE");
}

void include_floor(CompareOptions& options, const std::string& floor)
{
    const auto is_floor = [&](const std::string& run) { return same_file(run, floor); };
    if (!floor.empty() && std::none_of(options.runs.begin(), options.runs.end(), is_floor))
        options.runs.push_back(floor);
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
        ->required(!options.runs_optional)
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
    add_window_option(command, options);
    add_engine_options(command, options);
}

void add_window_option(CLI::App& command, CompareOptions& options)
{
    command.add_option("--window", options.window, "Tokens per window")
        ->transform(whole_number(1, std::numeric_limits<std::int64_t>::max()))
        ->capture_default_str()
        ->type_name("TOKENS");
}

Result<Compared> compare_runs(const CompareOptions& options, const Job& job)
{
    const auto choice = parse_engine(options.engine);
    if (!choice)
        return tl::unexpected(choice.error());
    Compared result;
    const auto start = Clock::now();
    auto baseline = open_trace(options.baseline, *options.hints, job);
    if (!baseline)
        return fail(baseline.error().kind, "{}", naming_file(options.baseline, baseline.error()));
    if (options.verbose)
        tell_opened(options.baseline, start);
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
    if (options.runs.empty() && result.baseline->others.empty())
        return fail(ErrorKind::Usage, "{} is no summary with runs in it: name the runs to compare with it.",
                    options.baseline);
    std::vector<std::string> names;
    const auto problem = [&](const std::string& file, const Error& error) {
        result.problems.push_back({error.kind, naming_file(file, error)});
        complain(result.problems.back().message);
    };
    const auto compare = [&](const TracePtr& trace, const std::string& file) -> Result<void> {
        ComparedRun run;
        run.trace = trace;
        if (const auto computed = compute_run(result.baseline, engine, options, job, run); !computed) {
            if (computed.error().kind == ErrorKind::Cancelled)
                return computed;
            run.problem = computed.error().message;
            problem(file, computed.error());
        }
        run.name = distinct_name(trace->run_name, names);
        names.push_back(run.name);
        result.runs.push_back(std::move(run));
        return {};
    };
    if (options.runs.empty())
        for (const TracePtr& trace : result.baseline->others)
            if (auto ok = compare(trace, options.baseline); !ok)
                return tl::unexpected(ok.error());
    for (const std::string& file : options.runs) {
        if (is_kld_log(file)) {
            if (auto log = open_kld_log(file))
                result.logs.push_back(std::move(*log));
            else
                problem(file, log.error());
            continue;
        }
        const auto began = Clock::now();
        const auto trace = open_trace(file, *options.hints, job);
        if (trace && options.verbose)
            tell_opened(file, began);
        if (!trace) {
            if (trace.error().kind == ErrorKind::Cancelled)
                return tl::unexpected(trace.error());
            problem(file, trace.error());
            continue;
        }
        // A summary stands for its runs.
        const std::vector<TracePtr> traces =
            (*trace)->others.empty() ? std::vector<TracePtr>{*trace} : (*trace)->others;
        for (const TracePtr& one : traces)
            if (auto ok = compare(one, file); !ok)
                return tl::unexpected(ok.error());
    }
    return result;
}

} // namespace flipscope
