// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/commands.h"
#include "app/commands/compare_runs.h"
#include "app/commands/console.h"
#include "app/commands/hint_options.h"
#include "app/commands/option_checks.h"
#include "core/analysis/analysis.h"
#include "core/analysis/floor.h"
#include "core/base/file.h"
#include "core/formats/llamacpp_base.h"
#include "core/report/report.h"

#include <memory>
#include <string>
#include <vector>

namespace flipscope {

namespace {

struct AnalyzeOptions : CompareOptions {
    std::string json, csv_windows, csv_probes;
    std::string by = "window";
    std::string floor;
};

Result<void> write_reports(const Analysis& analysis, const AnalyzeOptions& options)
{
    Result<void> written;
    if (!options.json.empty())
        written = write_text(options.json, json_text(analysis_json(analysis)));
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

/// A base file is meant to be read by llama.cpp's own statistics, so that they stand beside ours.
Result<void> add_llamacpp(Analysis& analysis, const Job& job)
{
    if (!is_llamacpp_base(*analysis.baseline))
        return {};
    for (RunAnalysis& run : analysis.runs) {
        auto statistics = llamacpp_statistics(*analysis.baseline, *run.trace, run.table->alignment, job);
        if (statistics)
            run.llamacpp = std::move(*statistics);
        else if (statistics.error().kind == ErrorKind::Cancelled)
            return tl::unexpected(statistics.error());
        else
            analysis.notices.push_back(statistics.error().message);
    }
    return {};
}

int run_analyze(AnalyzeOptions options)
{
    include_floor(options, options.floor);
    if (const auto ok = check_outputs(options.inputs(), {options.json, options.csv_windows, options.csv_probes}); !ok)
        return ended(ok.error());

    const ConsoleJob console;
    const auto compared = compare_runs(options, console.job());
    if (!compared)
        return ended(compared.error());
    if (!compared->any()) { // nothing to report on, and each reason was named
        if (compared->problems.empty())
            complain("There is nothing to compute: a printout of llama-perplexity stands beside runs, so name one.");
        return exit_failed;
    }
    Analysis analysis;
    analysis.window_tokens = options.window;
    analysis.engine = compared->engine;
    analysis.engine_detail = compared->engine_detail;
    analysis.baseline = compared->baseline;
    analysis.notices = compared->notices;
    analysis.logs = compared->logs;
    analysis.problems = compared->problems;
    const HistoryExtent extent = compared->extent();
    const int floor_index = options.floor.empty() ? -1 : compared->run_of(options.floor);
    const ComparedRun* floor = floor_index < 0 ? nullptr : &compared->runs[static_cast<std::size_t>(floor_index)];
    for (const ComparedRun& run : compared->runs)
        if (run.table) {
            analysis.runs.push_back(analyze_table(run.trace, run.table, options.window, extent));
            analysis.runs.back().name = run.name;
            if (&run == floor)
                analysis.floor = static_cast<int>(analysis.runs.size()) - 1;
            const std::string warning = engine_warning(*compared->baseline, *run.trace);
            if (options.floor.empty() && !warning.empty())
                analysis.notices.push_back(run.name + ": " + warning);
        }
    if (const auto ok = add_pieces(analysis, *parse_partition(options.by), extent.n_tokens); !ok)
        return ended(ok.error());
    if (const auto added = add_llamacpp(analysis, console.job()); !added)
        return ended(added.error());
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
    options->runs_optional = true;
    add_compare_options(*command, *options);
    add_window_option(*command, *options);
    command
        ->add_option("--by", options->by,
                     "What to count by: windows of equally many tokens, segments (system, user, assistant, thinking, "
                     "tool, tool call) or turns")
        ->check(CLI::IsMember({"window", "segment", "turn"}))
        ->capture_default_str()
        ->type_name("window|segment|turn");
    add_floor_option(*command, options->floor);
    command->add_flag(
        "--verbose", options->verbose,
        "Say on the standard error how much went through each stage, how fast, and which one set the pace");
    command->add_option("--json", options->json, "Write everything as JSON; - is the standard output")
        ->check(not_empty())
        ->type_name("FILE");
    command->add_option("--csv-windows", options->csv_windows, "Write a row per run and window (or segment, or turn)")
        ->check(not_empty())
        ->type_name("FILE");
    command->add_option("--csv-probes", options->csv_probes, "Write a row per run and probe")
        ->check(not_empty())
        ->type_name("FILE");
    add_hint_options(*command, options->hints);
    command->callback([options, &exit_code] { exit_code = run_analyze(*options); });
}

} // namespace flipscope
