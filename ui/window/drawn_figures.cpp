// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/drawn_figures.h"

#include "core/analysis/probe_detail.h"
#include "core/report/method.h"
#include "ui/charts/probe_figure.h"
#include "ui/models/compare_texts.h"
#include "ui/models/notes_model.h"
#include "ui/session/call_results.h"
#include "ui/session/navigation.h"
#include "ui/views/tokens_figure.h"

#include <algorithm>
#include <limits>

namespace flipscope {

namespace {

/// The selected run where it has numbers, else the first that has.
const SessionRun* runWithNumbers(const Session& session)
{
    const SessionRun* first = nullptr;
    for (const SessionRun* run : session.visibleRuns()) {
        if (!run->table)
            continue;
        if (run->id == session.path().place().run)
            return run;
        if (first == nullptr)
            first = run;
    }
    return first;
}

/// The probe that is looked at, else the furthest from the baseline; -1 = none.
qint64 probeOf(const Session& session)
{
    if (session.path().place().probe >= 0)
        return session.path().place().probe;
    const SessionRun* run = runWithNumbers(session);
    const auto metric = find_window_metric("kl_pq_mean");
    if (run == nullptr || !metric)
        return -1;
    return worstProbe(*run->table, **metric, 0, std::numeric_limits<qint64>::max()).value_or(-1);
}

/// A drawing and the runs in it, which are what its caption is about.
struct Drawn {
    std::shared_ptr<FigureDrawing> drawing;
    std::vector<TracePtr> traces;
};

Result<Drawn> probeDrawing(const Session& session, const ChartStyle& style)
{
    const SessionRun* base = session.baseline();
    ProbeFigureSpec spec;
    spec.baseline = base->trace;
    spec.baselineName = base->name.toStdString();
    spec.position = probeOf(session);
    spec.texts = session.texts();
    std::vector<TracePtr> traces;
    for (const SessionRun* run : session.visibleRuns()) {
        if (!run->table || !std::ranges::binary_search(run->table->probes, spec.position, {}, &ProbeMetrics::position))
            continue; // its grid has no such probe
        auto detail = probe_detail(*base->trace, *run->trace, spec.position, probeFigureTokens);
        if (!detail)
            return tl::unexpected(detail.error());
        spec.runs.push_back({run->name.toStdString(), ownColor(*run, style), std::move(*detail)});
        traces.push_back(run->trace);
    }
    if (spec.runs.empty())
        return fail(ErrorKind::NotFound, "No visible run has a probe at position {}: choose another one.",
                    spec.position);
    return Drawn{probeFigure(std::move(spec)), std::move(traces)};
}

Drawn tokensDrawing(const Session& session)
{
    const SessionRun* base = session.baseline();
    ComparisonPtr pair = comparisonOf(session);
    const bool single = pair == nullptr;
    if (single) { // one run: beside the history as it is
        const SessionRun* run = runWithNumbers(session);
        const ComparisonSide side{run->name.toStdString(), run->trace, run->table};
        pair = std::make_shared<const RunComparison>(compare_sides(base->trace, side, side));
    }
    const Place& place = session.path().place();
    const qint64 about = place.token >= 0 ? place.token : probeOf(session) + 1;
    const auto tokens = static_cast<qint64>(base->trace->tokens.ids.size());
    TokensFigureSpec spec;
    spec.start = std::max<qint64>(0, about - tokensFigureReach);
    spec.end = std::min<qint64>(tokens, about + tokensFigureReach);
    spec.baseline = base->name;
    spec.units = historyUnits(*pair, session.texts(), spec.start, spec.end);
    spec.titleA = QString::fromStdString(pair->a.name);
    spec.titleB = QString::fromStdString(pair->b.name);
    if (single) {
        baselineOnTheLeft(spec.units);
        spec.titleA = spec.baseline;
    }
    std::vector<TracePtr> traces{pair->a.trace};
    if (!single)
        traces.push_back(pair->b.trace);
    return {tokensFigure(std::move(spec)), std::move(traces)};
}

} // namespace

QString nameOf(DrawnFigure figure)
{
    switch (figure) {
    case DrawnFigure::Compare:
        return QStringLiteral("compare");
    case DrawnFigure::Probe:
        return QStringLiteral("probe");
    case DrawnFigure::Tokens:
        break;
    }
    return QStringLiteral("tokens");
}

CompareFigureSpec compareSpecOf(Session& session, const ComparisonPtr& comparison)
{
    CompareFigureSpec spec;
    spec.comparison = comparison;
    spec.metric = &session.metric();
    spec.window_tokens = session.windowTokens();
    spec.margin = session.margin();
    spec.extent = session.extent();
    spec.scale = session.colourScale();
    if (const SessionRun* base = session.baseline())
        spec.baseline = base->name.toStdString();
    spec.by = session.partition();
    spec.pieces = session.pieces();
    spec.range = session.range();
    if (const auto [a, b] = session.comparedRuns(); a != nullptr && b != nullptr)
        spec.marks = CallResults::of(&session)->marks(a->id, b->id);
    return spec;
}

QString whyNoFigure(const Session& session, DrawnFigure figure)
{
    if (figure == DrawnFigure::Compare)
        return whyNoComparison(session);
    if (session.baseline() == nullptr || runWithNumbers(session) == nullptr)
        return Session::tr("No visible run has been compared with the baseline yet.");
    if (figure == DrawnFigure::Probe && probeOf(session) < 0)
        return Session::tr("No probe can be compared.");
    return {};
}

Result<FigureSpec> figureOf(Session& session, DrawnFigure figure, ChartStyle::Theme theme)
{
    if (const QString why = whyNoFigure(session, figure); !why.isEmpty())
        return fail(ErrorKind::NotFound, "{}", why.toStdString());
    const ChartStyle style = theme == ChartStyle::Theme::Dark ? ChartStyle::dark() : ChartStyle::light();
    FigureSpec spec;
    spec.theme = theme;
    spec.notes = noteLines(session);
    Drawn drawn;
    if (figure == DrawnFigure::Compare) {
        const auto [a, b] = session.comparedRuns();
        CompareFigureSpec compare = compareSpecOf(session, comparisonOf(session));
        compare.colorA = ownColor(*a, style);
        compare.colorB = ownColor(*b, style);
        drawn = {compareFigure(std::move(compare)), {a->trace, b->trace}};
    } else if (figure == DrawnFigure::Probe) {
        auto probe = probeDrawing(session, style);
        if (!probe)
            return tl::unexpected(probe.error());
        drawn = std::move(*probe);
    } else {
        drawn = tokensDrawing(session);
    }
    spec.drawing = std::move(drawn.drawing);
    spec.method = method_of(*session.baseline()->trace, drawn.traces,
                            figure == DrawnFigure::Compare
                                ? fmt::format("two runs against one baseline, {}", session.metric().title)
                                : std::string("per probe, over one history"));
    return spec;
}

} // namespace flipscope
