// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/heatmap.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace flipscope {

namespace {

HeatmapCell make_cell(const WindowMetric& metric, std::span<const ProbeMetrics> probes, double margin)
{
    HeatmapCell cell;
    for (const auto& probe : probes) {
        cell.n += probe.valid;
        cell.n_invalid += !probe.valid;
        cell.flips += probe.flip;
    }
    const auto value = evaluate(metric, probes, margin);
    cell.value = value.value;
    cell.interval = value.interval;
    if (cell.n == 0)
        cell.state = cell.n_invalid ? HeatmapCell::State::Invalid : HeatmapCell::State::Empty;
    else if (std::isfinite(value.value))
        cell.state = HeatmapCell::State::Value;
    else // probes without this value (Δp at the last token, say) are as good as none
        cell.state = value.n == 0 && !metric.name.starts_with("kl") ? HeatmapCell::State::Empty
                                                                    : HeatmapCell::State::Infinite;
    return cell;
}

std::string note_of(const MetricsTable& table)
{
    const auto& probes = table.probes;
    const bool equal = table.alignment.equal_types && !probes.empty() &&
                       std::all_of(probes.begin(), probes.end(), [](const auto& p) { return p.differing == 0; });
    if (equal)
        return "bit-identical";
    const auto invalid = std::count_if(probes.begin(), probes.end(), [](const auto& p) { return !p.valid; });
    if (invalid)
        return fmt::format("{} invalid", invalid);
    return table.alignment.top_k ? "top-k: lower bound" : "";
}

} // namespace

HeatmapGrid make_heatmap(const Trace& baseline, std::span<const HeatmapInput> runs, const WindowMetric& metric,
                         std::int64_t window_tokens, double margin)
{
    HeatmapGrid grid;
    grid.metric = metric;
    grid.margin = margin;
    grid.window_tokens = window_tokens;
    grid.n_tokens = static_cast<std::int64_t>(baseline.tokens.ids.size());
    grid.baseline = baseline.run_name;
    grid.spans = baseline.spans;
    std::int64_t last = baseline.probes.positions.empty() ? -1 : baseline.probes.positions.back();
    for (const auto& run : runs)
        if (run.table && !run.table->probes.empty())
            last = std::max(last, run.table->probes.back().position);
    for (std::int64_t start = 0; start <= last; start += window_tokens) {
        grid.starts.push_back(start);
        grid.ends.push_back(std::min(start + window_tokens, grid.n_tokens));
    }
    for (const auto& run : runs) {
        HeatmapRow row{run.name, run.table ? note_of(*run.table) : run.problem, {}};
        for (const auto start : grid.starts) {
            HeatmapCell cell;
            cell.value = std::numeric_limits<double>::quiet_NaN();
            if (run.table)
                cell = make_cell(metric, probes_between(run.table->probes, start, start + window_tokens), margin);
            else
                cell.state = run.problem.empty() ? HeatmapCell::State::Pending : HeatmapCell::State::NotComparable;
            row.cells.push_back(cell);
        }
        grid.rows.push_back(std::move(row));
    }
    return grid;
}

} // namespace flipscope
