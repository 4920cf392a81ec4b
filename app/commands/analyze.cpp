// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/commands.h"
#include "app/commands/console.h"
#include "core/analysis/analysis.h"
#include "core/analysis/compute.h"
#include "core/base/file.h"
#include "core/report/report.h"
#include "core/trace/open.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace flipscope {

namespace {

struct AnalyzeOptions {
    std::vector<std::string> files; ///< the baseline, then the runs
    std::int64_t window = default_window_tokens;
    std::string engine = "auto";
    int threads = 0;
    std::string json, csv_windows, csv_probes;
    bool no_cache = false;
};

/// A run whose table is there, before windows are counted: they depend on all of them.
struct Computed {
    TracePtr trace;
    TablePtr table;
};

Result<Computed> compute_run(const TracePtr& baseline, const std::string& file, Engine& engine,
                             const AnalyzeOptions& options, const Job& job)
{
    auto run = open_trace(file, job);
    if (!run)
        return tl::unexpected(run.error());
    ComputeOptions how;
    how.use_cache = !options.no_cache;
    auto table = compute_table(baseline, *run, engine, how, job);
    if (!table)
        return tl::unexpected(table.error());
    return Computed{*run, *table};
}

/// Windows of all runs reach to the last probe of any of them.
void add_windows(Analysis& analysis, const std::vector<Computed>& runs)
{
    std::int64_t last = -1;
    auto n_tokens = static_cast<std::int64_t>(analysis.baseline->tokens.ids.size());
    const auto include = [&](const Trace& trace) {
        if (!trace.probes.positions.empty())
            last = std::max(last, trace.probes.positions.back());
        n_tokens = std::max(n_tokens, static_cast<std::int64_t>(trace.tokens.ids.size()));
    };
    include(*analysis.baseline);
    for (const Computed& run : runs)
        include(*run.trace);
    for (const Computed& run : runs) {
        analysis.runs.push_back(analyze_table(run.trace, run.table, analysis.window_tokens, last, n_tokens));
        for (const std::string& notice : run.table->notices)
            analysis.notices.push_back(fmt::format("{}: {}", run.trace->run_name, notice));
    }
}

Result<void> write_reports(const Analysis& analysis, const AnalyzeOptions& options)
{
    // Names and texts may hold any bytes; JSON may not.
    const auto json = [&] {
        return analysis_json(analysis).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    };
    Result<void> written;
    if (!options.json.empty())
        written = write_text(options.json, json());
    if (written && !options.csv_windows.empty())
        written = write_text(options.csv_windows, windows_csv(analysis));
    if (written && !options.csv_probes.empty())
        written = write_text(options.csv_probes, probes_csv(analysis));
    // What is asked for on the standard output must not be mixed with the table.
    const bool taken = options.json == "-" || options.csv_windows == "-" || options.csv_probes == "-";
    if (written && !taken)
        written = write_text("-", analysis_text(analysis));
    return written;
}

std::string named(const std::string& file, const Error& error)
{
    return error.message.find(file) == std::string::npos ? file + ": " + error.message : error.message;
}

int ended(const Error& error)
{
    complain(error.message);
    return exit_code_of(error);
}

int run_analyze(const AnalyzeOptions& options)
{
    const auto choice = parse_engine(options.engine);
    if (!choice)
        return ended(choice.error());
    const std::vector<std::filesystem::path> inputs(options.files.begin(), options.files.end());
    if (const auto ok = check_outputs(inputs, {options.json, options.csv_windows, options.csv_probes}); !ok)
        return ended(ok.error());

    const ConsoleJob console;
    Analysis analysis;
    analysis.window_tokens = options.window;
    auto baseline = open_trace(options.files.front(), console.job());
    if (!baseline)
        return ended(baseline.error());
    analysis.baseline = *baseline;
    auto selection = make_engine({*choice, options.threads});
    if (!selection)
        return ended(selection.error());
    Engine& engine = *selection->engine;
    analysis.engine = engine.name();
    analysis.engine_detail = engine.detail();
    if (!selection->notice.empty())
        analysis.notices.push_back(selection->notice);

    std::vector<Computed> runs;
    for (std::size_t i = 1; i < options.files.size(); ++i) {
        auto computed = compute_run(analysis.baseline, options.files[i], engine, options, console.job());
        if (computed) {
            runs.push_back(std::move(*computed));
            continue;
        }
        if (computed.error().kind == ErrorKind::Cancelled)
            return ended(computed.error());
        analysis.problems.push_back({computed.error().kind, named(options.files[i], computed.error())});
        complain(analysis.problems.back().message);
    }
    add_windows(analysis, runs);
    if (runs.empty()) // nothing to report on, and each reason was named
        return exit_failed;
    if (const auto written = write_reports(analysis, options); !written)
        return ended(written.error());
    return analysis.problems.empty() ? exit_done : exit_failed;
}

} // namespace

void add_analyze(CLI::App& app, int& exit_code)
{
    const auto options = std::make_shared<AnalyzeOptions>();
    CLI::App* command = app.add_subcommand(
        "analyze", "How far runs are from a baseline: flips, KL(P‖Q) in nats (P baseline, Q run), per context window");
    command->add_option("FILES", options->files, "The baseline's trace, then one or more runs")
        ->required()
        ->expected(2, std::numeric_limits<int>::max())
        ->type_name("BASE RUN...");
    command->add_option("--window", options->window, "Tokens per window")
        ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max(), "positive number of tokens"))
        ->capture_default_str()
        ->type_name("TOKENS");
    command->add_option("--engine", options->engine, "What computes: auto takes the GPU where it works, else the CPU")
        ->check(CLI::IsMember({"auto", "cpu", "cuda", "reference"}))
        ->capture_default_str()
        ->type_name("auto|cpu|cuda|reference");
    command->add_option("--threads", options->threads, "Threads of the CPU engine; 0 = one for each core")
        ->check(CLI::Range(0, 4096, "number of threads"))
        ->capture_default_str()
        ->type_name("N");
    command->add_option("--json", options->json, "Write everything as JSON; - is the standard output")
        ->type_name("FILE");
    command->add_option("--csv-windows", options->csv_windows, "Write a row per run and window")->type_name("FILE");
    command->add_option("--csv-probes", options->csv_probes, "Write a row per run and probe")->type_name("FILE");
    command->add_flag("--no-cache", options->no_cache, "Neither read nor write the cache (also FLIPSCOPE_NO_CACHE=1)");
    command->callback([options, &exit_code] { exit_code = run_analyze(*options); });
}

} // namespace flipscope
