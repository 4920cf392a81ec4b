// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/navigation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flipscope {

namespace {

/// The larger the worse; NaN (no such value) is the least bad.
double badness(const ProbeMetrics& probe, const WindowMetric& metric)
{
    double value = probe.kl_pq;
    if (metric.name.starts_with("kl_qp"))
        value = probe.kl_qp;
    else if (metric.name.starts_with("js"))
        value = probe.js;
    else if (metric.name.starts_with("tv"))
        value = probe.tv;
    else if (metric.name.starts_with("top5_"))
        value = -probe.top5_overlap;
    else if (metric.name.starts_with("top10_"))
        value = -probe.top10_overlap;
    else if (metric.name == "dp_mean")
        value = -probe.dp;
    return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
}

std::optional<qint64> worstWindow(const Session& session, const SessionRun& run)
{
    const HeatmapGrid grid = session.heatmap();
    const auto visible = session.visibleRuns();
    const auto it = std::ranges::find(visible, run.id, &SessionRun::id);
    if (it == visible.end())
        return {};
    const HeatmapRow& row = grid.rows[static_cast<std::size_t>(it - visible.begin())];
    const bool lowIsBad = grid.metric.name == "top5_overlap" || grid.metric.name == "dp_mean";
    std::optional<qint64> start;
    double worst = 0;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
        const HeatmapCell& cell = row.cells[i];
        if (cell.n == 0)
            continue;
        double bad = cell.state == HeatmapCell::State::Infinite ? std::numeric_limits<double>::infinity()
                     : lowIsBad                                 ? -cell.value
                                                                : cell.value;
        if (std::isnan(bad)) // no value: the least bad
            bad = -std::numeric_limits<double>::infinity();
        if (!start || bad > worst) {
            start = grid.starts[i];
            worst = bad;
        }
    }
    return start;
}

} // namespace

std::optional<qint64> worstProbe(const MetricsTable& table, const WindowMetric& metric, qint64 start, qint64 end)
{
    const ProbeMetrics* worst = nullptr;
    for (const ProbeMetrics& probe : table.probes) {
        if (probe.position < start || probe.position >= end || probe.valid == 0)
            continue;
        const bool flipsDecide = worst != nullptr && metric.counts_flips && probe.flip != worst->flip;
        if (worst == nullptr ||
            (flipsDecide ? probe.flip > worst->flip : badness(probe, metric) > badness(*worst, metric)))
            worst = &probe;
    }
    return worst != nullptr ? std::optional<qint64>(worst->position) : std::nullopt;
}

Place downFrom(const Session& session, const Place& place)
{
    Place next = place;
    const SessionRun* run = session.run(place.run);
    switch (place.depth()) {
    case Place::Depth::Top:
        if (const auto visible = session.visibleRuns(); !visible.empty())
            next.run = visible.front()->id;
        break;
    case Place::Depth::Run:
        if (run != nullptr && run->table)
            next.windowStart = worstWindow(session, *run).value_or(-1);
        break;
    case Place::Depth::Window:
        if (run != nullptr && run->table) {
            const TokenRange in = session.columnProbes(place.windowStart);
            next.probe = worstProbe(*run->table, session.metric(), in.start, in.end).value_or(-1);
        }
        break;
    case Place::Depth::Probe:
        if (run != nullptr && place.probe + 1 < static_cast<qint64>(run->trace->tokens.ids.size()))
            next.token = place.probe + 1;
        break;
    case Place::Depth::Token:
        break;
    }
    return next;
}

Analysis analysisOf(const Session& session)
{
    Analysis analysis;
    analysis.window_tokens = session.windowTokens();
    const SessionRun* base = session.baseline();
    if (base == nullptr)
        return analysis;
    analysis.baseline = base->trace;
    const HistoryExtent extent = session.extent();
    for (const SessionRun* run : session.visibleRuns()) {
        if (!run->table) {
            if (run->state == SessionRun::State::Failed)
                analysis.problems.push_back({ErrorKind::NotComparable, run->problem.toStdString()});
            continue;
        }
        analysis.runs.push_back(analyze_table(run->trace, run->table, session.windowTokens(), extent));
        analysis.runs.back().name = run->name.toStdString();
        analysis.engine = run->table->engine;
        analysis.engine_detail = run->table->engine_detail;
    }
    return analysis;
}

} // namespace flipscope
