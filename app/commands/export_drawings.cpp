// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/export_drawings.h"

#include "core/analysis/probe_detail.h"
#include "core/toolcalls/call_marks.h"
#include "ui/charts/compare_figure.h"
#include "ui/charts/probe_figure.h"
#include "ui/models/compare_texts.h"
#include "ui/views/tokens_figure.h"

#include <algorithm>
#include <cmath>

namespace flipscope {

namespace {

using Drawing = Result<std::shared_ptr<FigureDrawing>>;

std::vector<const ComparedRun*> usable(const Compared& compared)
{
    std::vector<const ComparedRun*> runs;
    for (const ComparedRun& run : compared.runs)
        if (run.table)
            runs.push_back(&run);
    return runs;
}

ChartStyle style_of(bool dark)
{
    return dark ? ChartStyle::dark() : ChartStyle::light();
}

std::shared_ptr<const RunComparison> pair_of(const Compared& compared, const ComparedRun& a, const ComparedRun& b)
{
    return std::make_shared<const RunComparison>(
        compare_sides(compared.baseline, {a.name, a.trace, a.table}, {b.name, b.trace, b.table}));
}

/// The probe asked for, or the one where the first run is furthest from the baseline.
Result<std::int64_t> probe_of(const DrawingRequest& request, const ComparedRun& run)
{
    const auto& probes = run.table->probes;
    if (request.position) {
        const auto it = std::ranges::lower_bound(probes, *request.position, {}, &ProbeMetrics::position);
        if (it != probes.end() && it->position == *request.position)
            return *request.position;
        std::string nearest;
        if (it != probes.begin())
            nearest += fmt::format("{}", std::prev(it)->position);
        if (it != probes.end())
            nearest += fmt::format("{}{}", nearest.empty() ? "" : " and ", it->position);
        return fail(ErrorKind::Usage, "{} has no probe at position {}; the nearest are {}.", run.name,
                    *request.position, nearest.empty() ? std::string("none") : nearest);
    }
    const ProbeMetrics* worst = nullptr;
    for (const ProbeMetrics& p : probes)
        if (p.valid && !std::isnan(p.kl_pq) && (worst == nullptr || p.kl_pq > worst->kl_pq))
            worst = &p;
    if (worst == nullptr)
        return fail(ErrorKind::NotFound, "{} has no valid probe in common with the baseline.", run.name);
    return worst->position;
}

Drawing compare_drawing(const DrawingRequest& request, const Compared& compared)
{
    const auto runs = usable(compared);
    if (runs.size() != 2)
        return fail(ErrorKind::NotComparable, "One of the two runs cannot be compared with the baseline.");
    return pair_figure(pair_of(compared, *runs[0], *runs[1]), *request.metric, request.window, request.dark);
}

Drawing probe_drawing(const DrawingRequest& request, const Compared& compared)
{
    const auto runs = usable(compared);
    const auto position = probe_of(request, *runs.front());
    if (!position)
        return tl::unexpected(position.error());
    ProbeFigureSpec spec;
    spec.baseline = compared.baseline;
    spec.baselineName = compared.baseline->run_name;
    spec.position = *position;
    std::vector<TracePtr> traces{compared.baseline};
    const ChartStyle style = style_of(request.dark);
    for (const ComparedRun& run : compared.runs) {
        if (!run.table)
            continue;
        traces.push_back(run.trace);
        auto detail = probe_detail(*compared.baseline, *run.trace, *position, probeFigureTokens);
        if (!detail)
            return tl::unexpected(detail.error());
        const auto index = static_cast<int>(&run - compared.runs.data());
        spec.runs.push_back({run.name, style.runColor(index + 1), std::move(*detail)});
    }
    spec.texts = TokenTexts(traces);
    return probeFigure(std::move(spec));
}

Drawing tokens_drawing(const DrawingRequest& request, const Compared& compared)
{
    const auto runs = usable(compared);
    const ComparedRun &a = *runs.front(), &b = *runs.back();
    const auto pair = pair_of(compared, a, b);
    std::int64_t about = request.position.value_or(-1);
    if (!request.position) {
        const auto probe = probe_of(request, a);
        if (!probe)
            return tl::unexpected(probe.error());
        about = *probe;
    }
    const auto tokens = static_cast<std::int64_t>(compared.baseline->tokens.ids.size());
    if (about >= tokens)
        return fail(ErrorKind::Usage, "The history has {} tokens; there is no position {}.", tokens, about);
    TokensFigureSpec spec;
    spec.start = std::max<std::int64_t>(0, about + 1 - tokensFigureReach);
    spec.end = std::min<std::int64_t>(tokens, about + 1 + tokensFigureReach);
    spec.baseline = QString::fromStdString(visible(compared.baseline->run_name));
    spec.units = historyUnits(*pair, TokenTexts({compared.baseline, a.trace, b.trace}), spec.start, spec.end);
    spec.titleA = QString::fromStdString(visible(a.name));
    spec.titleB = QString::fromStdString(visible(b.name));
    if (&a == &b) { // one run: beside the history as it is
        baselineOnTheLeft(spec.units);
        spec.titleA = spec.baseline;
    }
    return tokensFigure(std::move(spec));
}

} // namespace

const std::vector<std::string>& drawing_names()
{
    static const std::vector<std::string> names{"compare", "probe", "tokens"};
    return names;
}

Result<void> check_drawing(const DrawingRequest& request, std::size_t runs)
{
    if (request.chart == "compare" && runs != 2)
        return fail(ErrorKind::Usage, "--chart compare wants a baseline and two runs, A and B; there are {}.", runs);
    if (request.chart == "tokens" && runs > 2)
        return fail(ErrorKind::Usage, "--chart tokens has two columns: name one run or two, not {}.", runs);
    const bool about_a_position = request.chart == "probe" || request.chart == "tokens";
    if (request.position && !about_a_position)
        return fail(ErrorKind::Usage, "--position is for the charts probe and tokens; {} shows the whole history.",
                    request.chart);
    return {};
}

std::shared_ptr<FigureDrawing> pair_figure(std::shared_ptr<const RunComparison> pair, const WindowMetric& metric,
                                           std::int64_t window, bool dark)
{
    const ChartStyle style = style_of(dark);
    const std::vector<NamedTrace> runs{{pair->a.name, pair->a.trace}, {pair->b.name, pair->b.trace}};
    auto marks = call_marks(pair->baseline, runs);
    return compareFigure({.comparison = std::move(pair),
                          .metric = &metric,
                          .window_tokens = window,
                          .margin = default_margin,
                          .extent = {},
                          .scale = {},
                          .colorA = style.runColor(1), // the first colour is the baseline's, as in the window
                          .colorB = style.runColor(2),
                          .baseline = {},
                          .marks = std::move(marks)});
}

Result<std::shared_ptr<FigureDrawing>> make_drawing(const DrawingRequest& request, const Compared& compared)
{
    if (request.chart == "compare")
        return compare_drawing(request, compared);
    return request.chart == "probe" ? probe_drawing(request, compared) : tokens_drawing(request, compared);
}

} // namespace flipscope
