// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/heatmap.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flipscope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

HeatmapCell cell_of(std::span<const ProbeMetrics> probes, const WindowMetric& metric, double margin)
{
    HeatmapCell cell;
    bool infinite = false;
    for (const ProbeMetrics& p : probes) {
        cell.n += p.valid ? 1 : 0;
        cell.n_invalid += p.valid ? 0 : 1;
        cell.flips += p.valid && p.flip ? 1 : 0;
        infinite = infinite || (p.valid && (std::isinf(p.kl_pq) || std::isinf(p.kl_qp)));
    }
    const MetricValue value = evaluate(metric, probes, margin);
    cell.value = value.value;
    cell.interval = value.interval;
    if (!std::isnan(cell.value))
        cell.state = HeatmapCell::State::Value;
    else if (cell.n > 0)
        cell.state =
            infinite && metric.name.starts_with("kl_") ? HeatmapCell::State::Infinite : HeatmapCell::State::Empty;
    else
        cell.state = cell.n_invalid > 0 ? HeatmapCell::State::Invalid : HeatmapCell::State::Empty;
    return cell;
}

std::string plural(std::int64_t count, const char* one, const char* many)
{
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string note_of(const MetricsTable& table)
{
    std::vector<std::string> notes;
    const Alignment& a = table.alignment;
    if (bit_identical(table))
        notes.emplace_back("bit-identical");
    if (a.top_k)
        notes.emplace_back("top-k lists: divergences are lower bounds");
    if (a.only_in_baseline + a.only_in_run > 0)
        notes.push_back(plural(a.only_in_baseline + a.only_in_run, "probe left out", "probes left out"));
    if (!a.top_k && a.baseline_vocab != a.run_vocab)
        notes.push_back(fmt::format("{} shared ids compared", a.vocab));
    std::int64_t invalid = 0, infinite = 0;
    for (const ProbeMetrics& p : table.probes) {
        invalid += p.valid ? 0 : 1;
        infinite += p.valid && std::isinf(p.kl_pq) ? 1 : 0;
    }
    if (invalid > 0)
        notes.push_back(plural(invalid, "invalid probe", "invalid probes"));
    if (infinite > 0)
        notes.push_back(plural(infinite, "probe with infinite KL(P‖Q)", "probes with infinite KL(P‖Q)"));
    return fmt::format("{}", fmt::join(notes, ", "));
}

HeatmapRow row_of(const HeatmapInput& run, const HeatmapGrid& grid)
{
    HeatmapRow row;
    row.name = run.name;
    row.floor = run.floor;
    row.group = run.group;
    if (!run.table) {
        HeatmapCell cell;
        cell.state = run.problem.empty() ? HeatmapCell::State::Pending : HeatmapCell::State::NotComparable;
        cell.value = nan;
        cell.interval = {nan, nan};
        row.note = run.problem.empty() ? "not computed yet" : run.problem;
        row.cells.assign(grid.starts.size(), cell);
        return row;
    }
    row.note = note_of(*run.table);
    if (run.floor)
        row.note = row.note.empty() ? "noise floor" : "noise floor, " + row.note;
    const std::span<const ProbeMetrics> probes = run.table->probes;
    for (std::size_t c = 0; c < grid.starts.size(); ++c)
        row.cells.push_back(cell_of(grid.pieces.empty() ? probes_between(probes, grid.starts[c], grid.ends[c])
                                                        : probes_predicting(probes, grid.pieces[c], grid.n_tokens),
                                    grid.metric, grid.margin));
    return row;
}

} // namespace

namespace {

HeatmapGrid empty_grid(const Trace& baseline, const WindowMetric& metric, double margin, HistoryExtent& extent)
{
    HeatmapGrid grid;
    grid.metric = metric;
    grid.margin = margin;
    extent.include(baseline);
    grid.n_tokens = extent.n_tokens;
    grid.baseline = baseline.run_name;
    grid.spans = baseline.spans;
    return grid;
}

} // namespace

HeatmapGrid make_heatmap(const Trace& baseline, std::span<const HeatmapInput> runs, const WindowMetric& metric,
                         std::int64_t window_tokens, double margin, HistoryExtent extent)
{
    HeatmapGrid grid = empty_grid(baseline, metric, margin, extent);
    grid.window_tokens = window_tokens;
    for (const WindowRange& range : window_ranges(window_tokens, extent.last_position, grid.n_tokens)) {
        grid.starts.push_back(range.start);
        grid.ends.push_back(range.end);
    }
    for (const HeatmapInput& run : runs)
        grid.rows.push_back(row_of(run, grid));
    return grid;
}

HeatmapGrid make_heatmap(const Trace& baseline, std::span<const HeatmapInput> runs, const WindowMetric& metric,
                         Partition by, std::vector<Piece> pieces, double margin, HistoryExtent extent)
{
    HeatmapGrid grid = empty_grid(baseline, metric, margin, extent);
    grid.by = by;
    grid.pieces = std::move(pieces);
    for (const Piece& piece : grid.pieces) {
        grid.starts.push_back(piece.start);
        grid.ends.push_back(piece.end);
    }
    for (const HeatmapInput& run : runs)
        grid.rows.push_back(row_of(run, grid));
    return grid;
}

HeatmapGrid cut_to(const HeatmapGrid& grid, const TokenRange& range)
{
    if (range.all())
        return grid;
    std::size_t first = 0, last = grid.starts.size();
    while (first < last && grid.ends[first] <= range.start)
        ++first;
    while (last > first && grid.starts[last - 1] >= range.end)
        --last;
    if (first == last)
        return grid;
    HeatmapGrid cut = grid;
    const auto keep = [&](auto& values) {
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(last), values.end());
        values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first));
    };
    keep(cut.starts);
    keep(cut.ends);
    if (!cut.pieces.empty())
        keep(cut.pieces);
    for (HeatmapRow& row : cut.rows)
        keep(row.cells);
    return cut;
}

} // namespace flipscope
