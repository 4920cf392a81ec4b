// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// How the history is cut into columns, and the grids over them.
#include "ui/session/session_private.h"

#include <algorithm>

namespace flipscope {

namespace {

/// "kv_cache_dtype: q4_0"; what a trace does not state is said so.
std::string groupOf(const Session& session, const SessionRun& run)
{
    if (session.groupKey().isEmpty())
        return {};
    const std::string key = session.groupKey().toStdString();
    const std::string* value = run.trace->setting(key);
    return key + ": " + (value != nullptr ? *value : std::string("not stated"));
}

std::vector<HeatmapInput> inputsOf(const Session& session)
{
    std::vector<HeatmapInput> inputs;
    for (const SessionRun* run : session.visibleRuns())
        inputs.push_back({run->name.toStdString(), run->table,
                          run->state == SessionRun::State::Failed ? run->problem.toStdString() : std::string(),
                          run == session.floorRun(), groupOf(session, *run)});
    return inputs;
}

} // namespace

HeatmapGrid Session::heatmap(const WindowMetric& metric) const
{
    const SessionRun* base = baseline();
    if (base == nullptr)
        return {};
    const std::vector<HeatmapInput> inputs = inputsOf(*this);
    GridKey key{metric.name, base->name.toStdString(), base->trace, {}, m_windowTokens, m_margin, extent(),
                partition()};
    for (const HeatmapInput& input : inputs)
        key.runs.push_back({input.name, input.problem, input.table, input.floor, input.group});
    auto& grids = d->grids;
    const auto known = std::ranges::find(grids, key, &std::pair<GridKey, HeatmapGrid>::first);
    if (known != grids.end())
        return known->second;
    HeatmapGrid grid = partition() == Partition::Windows
                           ? make_heatmap(*base->trace, inputs, metric, m_windowTokens, m_margin, extent())
                           : make_heatmap(*base->trace, inputs, metric, partition(), pieces(), m_margin, extent());
    grid.baseline = key.baselineName; // as shown, where it was renamed
    constexpr std::size_t kept = 4;   // heatmap, lines, and what was shown before
    grids.emplace_front(std::move(key), grid);
    if (grids.size() > kept)
        grids.pop_back();
    return grid;
}

ProbeChartData Session::probeChart() const
{
    const SessionRun* base = baseline();
    if (base == nullptr)
        return {};
    ProbeChartData data = make_probe_chart(*base->trace, inputsOf(*this), m_windowTokens, m_margin, extent(), m_range);
    data.baseline = base->name.toStdString();
    return data;
}

const std::vector<Piece>& Session::pieces() const
{
    const SessionRun* base = baseline();
    const TracePtr trace = base != nullptr ? base->trace : nullptr;
    if (d->cut != trace || d->cutBy != m_partition) {
        d->cut = trace;
        d->cutBy = m_partition;
        d->pieces.clear();
        if (trace && m_partition != Partition::Windows)
            d->pieces = pieces_of(*trace, m_partition).value_or(std::vector<Piece>{});
    }
    return d->pieces;
}

QString Session::whyNotBy(Partition by) const
{
    const SessionRun* base = baseline();
    if (by == Partition::Windows || base == nullptr)
        return {};
    const auto pieces = pieces_of(*base->trace, by);
    return pieces ? QString() : QString::fromStdString(pieces.error().message);
}

void Session::setPartition(Partition by)
{
    if (by == m_partition || !whyNotBy(by).isEmpty())
        return;
    d->keepPlace([&] { m_partition = by; });
    emit viewChanged();
}

TokenRange Session::columnTokens(qint64 start) const
{
    const auto& all = pieces();
    const auto piece = std::ranges::find(all, start, &Piece::start);
    if (piece != all.end())
        return {piece->start, piece->end};
    return {start, std::max(start, std::min<qint64>(start + m_windowTokens, extent().n_tokens))};
}

TokenRange Session::columnProbes(qint64 start) const
{
    const auto& all = pieces();
    const auto piece = std::ranges::find(all, start, &Piece::start);
    if (piece == all.end())
        return {start, start + m_windowTokens};
    const bool last = std::next(piece) == all.end();
    return {piece->start - 1, last ? piece->end : piece->end - 1}; // they predict a token of it
}

qint64 Session::columnStart(qint64 position) const
{
    const auto& all = pieces();
    if (all.empty())
        return m_windowTokens > 0 ? position / m_windowTokens * m_windowTokens : -1;
    const std::ptrdiff_t i = piece_of(all, position, all.back().end);
    return i < 0 ? -1 : all[static_cast<std::size_t>(i)].start;
}

} // namespace flipscope
