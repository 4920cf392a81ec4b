// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/compare.h"
#include "app/commands/commands.h"
#include "app/commands/compare_runs.h"
#include "app/commands/console.h"
#include "app/commands/option_checks.h"
#include "core/base/file.h"
#include "core/report/compare_report.h"
#include "core/report/report.h"

#if FLIPSCOPE_UI
#include "app/commands/export_drawings.h"
#include "app/commands/figure_output.h"
#include "core/report/method.h"
#endif

#include <memory>
#include <string>

namespace flipscope {

namespace {

struct PairOptions : CompareOptions {
    std::string json, csv, out;
    std::string metric = "flip_rate";
#if FLIPSCOPE_UI
    FigureOptions figure;
#endif
};

Result<void> write_reports(const ComparisonReport& report, const PairOptions& options)
{
    Result<void> written;
    if (!options.json.empty())
        written = write_text(options.json, json_text(comparison_json(report)));
    if (written && !options.csv.empty())
        written = write_text(options.csv, comparison_csv(report.comparison));
    // What is asked for on the standard output must not be mixed with the table.
    if (written && options.json != "-" && options.csv != "-")
        written = write_text("-", comparison_text(report));
    return written;
}

#if FLIPSCOPE_UI
Result<void> write_out(const RunComparison& comparison, const PairOptions& options, const WindowMetric& metric)
{
    auto spec = figure_spec(options.figure, options.out);
    if (!spec)
        return tl::unexpected(spec.error());
    spec->method = method_of(
        *comparison.baseline, {comparison.a.trace, comparison.b.trace},
        fmt::format("{} per window of {} tokens, and per probe, paired by position", metric.title, options.window));
    return write_figure(*spec, options.figure, options.out, [&](FigureSpec& figure) {
        figure.drawing = pair_figure(std::make_shared<RunComparison>(comparison), metric, options.window,
                                     figure.theme == ChartStyle::Theme::Dark);
    });
}

Result<void> check_out(const PairOptions& options)
{
    if (options.out.empty())
        return {};
    const auto spec = figure_spec(options.figure, options.out);
    return spec ? Result<void>() : tl::unexpected(spec.error());
}
#else
Result<void> write_out(const RunComparison&, const PairOptions&, const WindowMetric&)
{
    return {};
}

Result<void> check_out(const PairOptions&)
{
    return {};
}
#endif

int run_compare(const PairOptions& options)
{
    // Asked before anything is computed: a wrong suffix should not cost minutes.
    const auto metric = find_window_metric(options.metric);
    if (!metric)
        return ended(metric.error());
    if (const auto ok = check_out(options); !ok)
        return ended(ok.error());
    if (const auto ok = check_outputs(options.inputs(), {options.json, options.csv, options.out}); !ok)
        return ended(ok.error());
    const ConsoleJob console;
    const auto compared = compare_runs(options, console.job());
    if (!compared)
        return ended(compared.error());
    if (!compared->problems.empty()) // a pair with one half is none, and the reason was named
        return exit_failed;
    const ComparedRun &a = compared->runs[0], &b = compared->runs[1];
    const RunComparison comparison =
        compare_sides(compared->baseline, {a.name, a.trace, a.table}, {b.name, b.trace, b.table});
    const ComparisonReport report{.comparison = comparison,
                                  .window_tokens = options.window,
                                  .engine = compared->engine,
                                  .engine_detail = compared->engine_detail,
                                  .notices = compared->notices};
    if (!options.out.empty())
        if (const auto written = write_out(comparison, options, **metric); !written)
            return ended(written.error());
    if (const auto written = write_reports(report, options); !written)
        return ended(written.error());
    return exit_done;
}

} // namespace

void add_compare(CLI::App& app, int& exit_code)
{
    const auto options = std::make_shared<PairOptions>();
    CLI::App* command = app.add_subcommand(
        "compare",
        "Two runs side by side against one baseline: paired flips, differences with intervals, what got worse");
    add_pair_options(*command, *options);
    command->add_option("--json", options->json, "Write everything as JSON; - is the standard output")
        ->check(not_empty())
        ->type_name("FILE");
    command->add_option("--csv", options->csv, "Write a row per probe that both runs have")
        ->check(not_empty())
        ->type_name("FILE");
#if FLIPSCOPE_UI
    command
        ->add_option("--out", options->out,
                     "Draw both runs, their difference and every probe into a file: .png, .svg, .pdf or .csv")
        ->check(not_empty())
        ->type_name("FILE");
    command->add_option("--metric", options->metric, "What the windows of the drawing show; the names are export's")
        ->check(not_empty())
        ->capture_default_str()
        ->type_name("NAME");
    add_figure_options(*command, options->figure);
#endif
    command->callback([options, &exit_code] { exit_code = run_compare(*options); });
}

} // namespace flipscope
