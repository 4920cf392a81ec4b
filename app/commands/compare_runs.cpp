// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/compare_runs.h"
#include "app/commands/console.h"
#include "app/commands/option_checks.h"
#include "core/analysis/analysis.h"
#include "core/analysis/compute.h"
#include "core/base/file.h"
#include "core/trace/open.h"
#include "core/trace/shift.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace flipscope {

namespace {

Result<void> check_windows_of(const Trace& trace, std::int64_t window)
{
    return check_windows(window, trace.probes.positions.empty() ? -1 : trace.probes.positions.back());
}

void tell_opened(const std::string& file, const OpenedTrace& opened)
{
    if (opened.trace)
        complain(fmt::format("{}: opened in {:.3f} s", file, opened.seconds));
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
    line("together", t.seconds,
         fmt::format(", bound by {}{}", t.bound(), t.runs > 1 ? fmt::format(", {} runs at once", t.runs) : ""));
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
    command.add_flag("--shift-bos", options.shift_bos,
                     "Compare a run whose history has one token more or less at its start (a doubled or missing BOS), "
                     "counting its positions one less or more; it is said wherever that is done");
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

namespace {

/// A file named as a run, or one of the runs that a summary brings.
struct Input {
    std::string file;
    TracePtr trace;             ///< null where it cannot be opened
    std::optional<Error> error; ///< why it is not compared
};

/// Computes what can be compared and takes all into `result`. An error where it was stopped.
Result<void> compute_inputs(const std::vector<Input>& inputs, Engine& engine, const CompareOptions& options,
                            const Job& job, Compared& result)
{
    std::vector<TracePtr> traces;
    for (const Input& input : inputs)
        if (!input.error)
            traces.push_back(input.trace);
    ComputeOptions how;
    how.use_cache = !options.no_cache;
    how.threads = options.threads;
    how.keep_rows = false; // nothing is compared after this
    const auto tables = compute_tables(result.baseline, traces, engine, how, job);
    std::vector<std::string> names;
    auto next = tables.begin();
    for (const Input& input : inputs) {
        std::optional<Error> error = input.error;
        ComparedRun run;
        run.trace = input.trace;
        if (!error) {
            const Result<TablePtr>& table = *next++;
            if (table)
                run.table = *table;
            else
                error = table.error();
        }
        if (error && error->kind == ErrorKind::Cancelled)
            return tl::unexpected(*error);
        if (error) {
            run.problem = error->message;
            result.problems.push_back({error->kind, naming_file(input.file, *error)});
            complain(result.problems.back().message);
        } else if (options.verbose)
            tell_stages(run.trace->path.string(), *run.table);
        if (!run.trace)
            continue;
        run.name = distinct_name(run.trace->run_name, names);
        names.push_back(run.name);
        result.runs.push_back(std::move(run));
    }
    return {};
}

} // namespace

Result<Compared> compare_runs(const CompareOptions& options, const Job& job)
{
    const auto choice = parse_engine(options.engine);
    if (!choice)
        return tl::unexpected(choice.error());
    Compared result;
    // The baseline alone first: without it the others need not be opened.
    const std::vector<std::filesystem::path> first{options.baseline};
    const OpenedTrace opened_baseline = open_traces(first, *options.hints, job).front();
    const Result<TracePtr>& baseline = opened_baseline.trace;
    if (!baseline)
        return fail(baseline.error().kind, "{}", naming_file(options.baseline, baseline.error()));
    if (options.verbose)
        tell_opened(options.baseline, opened_baseline);
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
    // Compared all at once: an engine may read the baseline once for all of them.
    std::vector<Input> inputs;
    const auto add = [&](const std::string& file, Result<TracePtr> trace) {
        if (const int by = trace && options.shift_bos ? shift_that_fits(*result.baseline, **trace) : 0; by != 0)
            trace = shifted(**trace, by);
        if (trace)
            if (auto ok = check_windows_of(**trace, options.window); !ok)
                return inputs.push_back({file, *trace, ok.error()});
        inputs.push_back({file, trace.value_or(nullptr), trace ? std::nullopt : std::optional(trace.error())});
    };
    if (options.runs.empty())
        for (const TracePtr& trace : result.baseline->others)
            add(options.baseline, trace);
    std::vector<std::filesystem::path> files;
    std::ranges::remove_copy_if(options.runs, std::back_inserter(files), is_kld_log);
    const std::vector<OpenedTrace> opened = open_traces(files, *options.hints, job);
    std::size_t next = 0;
    for (const std::string& file : options.runs) {
        if (is_kld_log(file)) { // no trace, but it stands beside them
            if (auto log = open_kld_log(file))
                result.logs.push_back(std::move(*log));
            else
                add(file, tl::unexpected(log.error()));
            continue;
        }
        const OpenedTrace& one = opened[next++];
        const Result<TracePtr>& trace = one.trace;
        if (options.verbose)
            tell_opened(file, one);
        if (!trace) {
            if (trace.error().kind == ErrorKind::Cancelled)
                return tl::unexpected(trace.error());
            add(file, tl::unexpected(trace.error()));
            continue;
        }
        // A summary stands for its runs.
        const std::vector<TracePtr> traces =
            (*trace)->others.empty() ? std::vector<TracePtr>{*trace} : (*trace)->others;
        for (const TracePtr& each : traces)
            add(file, each);
    }
    if (auto ok = compute_inputs(inputs, engine, options, job, result); !ok)
        return tl::unexpected(ok.error());
    return result;
}

} // namespace flipscope
