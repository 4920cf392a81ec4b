// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/commands.h"
#include "app/commands/compare_runs.h"
#include "app/commands/console.h"
#include "app/commands/export_drawings.h"
#include "app/commands/figure_output.h"
#include "app/commands/option_checks.h"
#include "core/analysis/heatmap.h"
#include "core/base/file.h"
#include "core/report/method.h"
#include "core/toolcalls/call_marks.h"
#include "ui/charts/chart_style.h"
#include "ui/charts/figure.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace flipscope {

namespace {

struct ExportOptions : CompareOptions {
    std::string chart = "heatmap";
    std::string metric; ///< empty = the chart's own
    std::string by = "window";
    std::string floor;
    std::string out;
    FigureOptions figure;
    std::optional<std::int64_t> position;

    bool drawn() const { return std::ranges::find(drawing_names(), chart) != drawing_names().end(); }
    DrawingRequest drawing(const WindowMetric& metric_shown) const
    {
        return {chart, &metric_shown, window, position, figure.theme == "dark"};
    }
};

FigureSpec::Chart chart_of(const std::string& name)
{
    for (const auto& [known, chart] : figureCharts())
        if (known == name)
            return chart;
    return FigureSpec::Chart::Heatmap;
}

std::vector<std::string> chart_names()
{
    std::vector<std::string> names;
    for (const auto& [name, chart] : figureCharts())
        names.push_back(name);
    names.insert(names.end(), drawing_names().begin(), drawing_names().end());
    return names;
}

std::string metric_of(const ExportOptions& options)
{
    if (!options.metric.empty())
        return options.metric;
    return options.chart == "kl" ? "kl_pq_mean" : "flip_rate";
}

Result<void> fill(FigureSpec& spec, const Compared& compared, const WindowMetric& metric, std::int64_t window,
                  Partition by, int floor)
{
    std::vector<HeatmapInput> inputs;
    std::vector<TracePtr> traces;
    const ChartStyle style = spec.theme == ChartStyle::Theme::Dark ? ChartStyle::dark() : ChartStyle::light();
    for (const ComparedRun& run : compared.runs) { // those without numbers too: the row says why it has none
        inputs.push_back({run.name, run.table, run.problem, static_cast<int>(traces.size()) == floor});
        traces.push_back(run.trace);
        // The first colour is the baseline's, as in the window: a run has one colour in all figures.
        spec.runColors.append(style.runColor(static_cast<int>(traces.size())));
    }
    if (by == Partition::Windows) {
        spec.grid = make_heatmap(*compared.baseline, inputs, metric, window, default_margin, compared.extent());
    } else {
        auto pieces = pieces_of(*compared.baseline, by);
        if (!pieces)
            return tl::unexpected(pieces.error());
        spec.grid =
            make_heatmap(*compared.baseline, inputs, metric, by, std::move(*pieces), default_margin, compared.extent());
    }
    if (spec.chart == FigureSpec::Chart::Heatmap) {
        std::vector<NamedTrace> named;
        for (const ComparedRun& run : compared.runs)
            named.push_back({run.name, run.trace});
        spec.grid.marks = call_marks(compared.baseline, named);
    }
    spec.probes = make_probe_chart(*compared.baseline, inputs, window, default_margin, compared.extent());
    spec.method = method_of(
        *compared.baseline, traces,
        probePlotOf(spec.chart)    ? std::string("per probe, pooled over the matched probes of one history")
        : by == Partition::Windows ? fmt::format("{} per window of {} tokens of one history", metric.title, window)
                                   : fmt::format("{} per {} of one history", metric.title, name_of(by)));
    return {};
}

int run_export(ExportOptions options)
{
    include_floor(options, options.floor);
    const auto metric = find_window_metric(metric_of(options));
    if (!metric)
        return ended(metric.error());
    if (probePlotOf(chart_of(options.chart)) && (!options.metric.empty() || options.by != "window"))
        return ended(Error{ErrorKind::Usage,
                           fmt::format("--metric and --by are for charts over windows (heatmap, flips, kl); the chart "
                                       "{} is about single probes.",
                                       options.chart)});
    if (options.drawn() && options.by != "window")
        return ended(
            Error{ErrorKind::Usage, fmt::format("--by is for charts over windows (heatmap, flips, kl), not for "
                                                "the chart {}.",
                                                options.chart)});
    // Asked before anything is computed: a wrong suffix should not cost minutes.
    auto spec = figure_spec(options.figure, options.out);
    if (!spec)
        return ended(spec.error());
    if ((*metric)->name == "dp_mean") // the one metric with a sign
        spec->scale.map = QStringLiteral("vik");
    spec->chart = chart_of(options.chart);
    if (const auto ok = check_drawing(options.drawing(**metric), options.runs.size()); !ok)
        return ended(ok.error());
    if (const auto ok = check_outputs(options.inputs(), {options.out}); !ok)
        return ended(ok.error());

    const ConsoleJob console;
    const auto compared = compare_runs(options, console.job());
    if (!compared)
        return ended(compared.error());
    if (!compared->any()) // each reason was named
        return exit_failed;
    for (const std::string& notice : compared->notices)
        complain(notice);
    if (const auto ok = fill(*spec, *compared, **metric, options.window, *parse_partition(options.by),
                             options.floor.empty() ? -1 : compared->run_of(options.floor));
        !ok)
        return ended(ok.error());
    if (options.drawn()) {
        auto drawing = make_drawing(options.drawing(**metric), *compared);
        if (!drawing)
            return ended(drawing.error());
        spec->drawing = *drawing;
    }
    if (const auto written = write_figure(*spec, options.figure, options.out, [](FigureSpec&) {}); !written)
        return ended(written.error());
    return compared->problems.empty() ? exit_done : exit_failed;
}

} // namespace

void add_export(CLI::App& app, int& exit_code)
{
    const auto options = std::make_shared<ExportOptions>();
    CLI::App* command = app.add_subcommand("export", "Draw a chart into a file; needs no display");
    options->runs_optional = true;
    add_compare_options(*command, *options);
    add_window_option(*command, *options);
    command
        ->add_option("--chart", options->chart,
                     "What to draw: runs x windows (heatmap), a line per run over the windows (flips, kl), KL(P‖Q) at "
                     "every probe (position), its histogram and cumulative share (distribution), the baseline's margin "
                     "against it (margin), top-1 agreement over the last window of tokens (agreement), two runs side "
                     "by side (compare), the top tokens of one probe (probe), text of one or two runs in columns "
                     "(tokens)")
        ->check(CLI::IsMember(chart_names()))
        ->capture_default_str()
        ->type_name(fmt::format("{}", fmt::join(chart_names(), "|")));
    command
        ->add_option("--position", options->position,
                     "The probe that the charts probe and tokens are about (default: where the first run's KL(P‖Q) is "
                     "largest)")
        ->transform(whole_number(0, std::numeric_limits<std::int64_t>::max()))
        ->type_name("TOKEN");
    command
        ->add_option("--metric", options->metric,
                     "What the chart shows: flip_rate, flips_above_margin, {kl_pq,kl_qp,js,tv}_"
                     "{mean,median,p90,p95,p99,max}, top5_overlap, top5_disagreement, top10_disagreement, dp_mean "
                     "(default: flip_rate, for kl: kl_pq_mean)")
        ->check(not_empty())
        ->type_name("NAME");
    command
        ->add_option("--by", options->by,
                     "Charts over windows: what a column is, a window of equally many tokens, a segment or a turn")
        ->check(CLI::IsMember({"window", "segment", "turn"}))
        ->capture_default_str()
        ->type_name("window|segment|turn");
    add_floor_option(*command, options->floor);
    command->add_option("--out", options->out, "The file to write; its suffix decides: .png, .svg, .pdf or .csv")
        ->required()
        ->check(not_empty())
        ->type_name("FILE");
    add_figure_options(*command, options->figure);
    command->callback([options, &exit_code] { exit_code = run_export(*options); });
}

} // namespace flipscope
