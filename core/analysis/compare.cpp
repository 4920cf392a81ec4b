// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace flipscope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Quantity {
    std::string_view name, title, unit;
    bool share;
    double (*value)(const ProbeMetrics&);
};

constexpr std::array<Quantity, 5> quantities{
    {{"flip", "Flip rate", "%", true, [](const ProbeMetrics& p) { return p.flip ? 1.0 : 0.0; }},
     {"kl_pq", "KL(P‖Q)", "nats", false, [](const ProbeMetrics& p) { return p.kl_pq; }},
     {"kl_qp", "KL(Q‖P)", "nats", false, [](const ProbeMetrics& p) { return p.kl_qp; }},
     {"js", "JS(P,Q)", "nats", false, [](const ProbeMetrics& p) { return p.js; }},
     {"tv", "TV(P,Q)", "%", true, [](const ProbeMetrics& p) { return p.tv; }}}};

MeanDifference difference_of(std::span<const PairedProbe> probes, const Quantity& quantity)
{
    MeanDifference d{.name = quantity.name, .title = quantity.title, .unit = quantity.unit, .share = quantity.share};
    std::vector<double> a, b, differences;
    for (const PairedProbe& p : probes) {
        if (!p.valid())
            continue;
        const double va = quantity.value(*p.a), vb = quantity.value(*p.b);
        if (!std::isfinite(va) || !std::isfinite(vb)) {
            ++d.n_left_out;
            continue;
        }
        a.push_back(va);
        b.push_back(vb);
        differences.push_back(vb - va);
        d.larger_a += va > vb ? 1 : 0;
        d.larger_b += vb > va ? 1 : 0;
        d.equal += va == vb ? 1 : 0;
    }
    d.n = static_cast<std::int64_t>(differences.size());
    d.interval = block_bootstrap_mean(differences);
    d.difference = describe(std::move(differences)).mean;
    d.mean_a = describe(std::move(a)).mean;
    d.mean_b = describe(std::move(b)).mean;
    return d;
}

/// The paired probes of one side, without those that are invalid in either.
std::vector<ProbeMetrics> side_of(std::span<const PairedProbe> probes, const ProbeMetrics* PairedProbe::*side)
{
    std::vector<ProbeMetrics> valid;
    for (const PairedProbe& p : probes)
        if (p.valid())
            valid.push_back(*(p.*side));
    return valid;
}

HeatmapCell difference_cell(std::span<const PairedProbe> probes, const WindowMetric& metric, double margin)
{
    HeatmapCell cell;
    cell.value = nan;
    cell.interval = {nan, nan};
    cell.n = std::ranges::count_if(probes, &PairedProbe::valid);
    cell.n_invalid = static_cast<std::int64_t>(probes.size()) - cell.n;
    if (cell.n == 0) {
        cell.state = cell.n_invalid > 0 ? HeatmapCell::State::Invalid : HeatmapCell::State::Empty;
        return cell;
    }
    const PairedValue value = evaluate_pair(probes, metric, margin);
    cell.value = value.b - value.a;
    if (!std::isnan(cell.value))
        cell.state = HeatmapCell::State::Value;
    else
        cell.state = metric.name.starts_with("kl_") ? HeatmapCell::State::Infinite : HeatmapCell::State::Empty;
    return cell;
}

} // namespace

PairedValue evaluate_pair(std::span<const PairedProbe> probes, const WindowMetric& metric, double margin)
{
    return {evaluate(metric, side_of(probes, &PairedProbe::a), margin).value,
            evaluate(metric, side_of(probes, &PairedProbe::b), margin).value};
}

PairedFlips count_flips(std::span<const PairedProbe> probes)
{
    PairedFlips flips;
    for (const PairedProbe& p : probes) {
        if (!p.valid()) {
            ++flips.n_invalid;
            continue;
        }
        ++flips.n;
        flips.only_a += p.only_a() ? 1 : 0;
        flips.only_b += p.only_b() ? 1 : 0;
        flips.both += p.both() ? 1 : 0;
        flips.both_same_token += p.both() && !p.tops_differ() ? 1 : 0;
        flips.tops_differ += p.tops_differ() ? 1 : 0;
    }
    flips.neither = flips.n - flips.only_a - flips.only_b - flips.both;
    flips.mcnemar_p = mcnemar_exact(flips.only_a, flips.only_b);
    return flips;
}

RunComparison compare_sides(TracePtr baseline, ComparisonSide a, ComparisonSide b)
{
    RunComparison c;
    c.baseline = std::move(baseline);
    c.a = std::move(a);
    c.b = std::move(b);
    c.lower_bound = c.a.table->alignment.top_k || c.b.table->alignment.top_k;
    const auto &in_a = c.a.table->probes, &in_b = c.b.table->probes;
    auto one = in_a.begin();
    auto other = in_b.begin();
    while (one != in_a.end() && other != in_b.end()) {
        if (one->position == other->position) {
            c.probes.push_back({one->position, &*one, &*other});
            ++one;
            ++other;
        } else if (one->position < other->position) {
            ++one;
        } else {
            ++other;
        }
    }
    c.only_in_a = static_cast<std::int64_t>(in_a.size() - c.probes.size());
    c.only_in_b = static_cast<std::int64_t>(in_b.size() - c.probes.size());
    c.flips = count_flips(c.probes);
    for (const Quantity& quantity : quantities)
        c.differences.push_back(difference_of(c.probes, quantity));
    return c;
}

std::span<const PairedProbe> paired_between(std::span<const PairedProbe> probes, std::int64_t start, std::int64_t end)
{
    const auto first = std::ranges::lower_bound(probes, start, {}, &PairedProbe::position);
    const auto last = std::ranges::lower_bound(first, probes.end(), end, {}, &PairedProbe::position);
    return {first, last};
}

std::vector<PairedProbe> what_got_worse(const RunComparison& comparison)
{
    std::vector<PairedProbe> worse;
    std::ranges::copy_if(comparison.probes, std::back_inserter(worse),
                         [](const PairedProbe& p) { return p.only_b() || (p.valid() && p.kl_difference() > 0); });
    // Two infinite divergences have no difference: behind all that have one.
    const auto key = [](const PairedProbe& p) {
        return std::isnan(p.kl_difference()) ? -std::numeric_limits<double>::infinity() : p.kl_difference();
    };
    std::ranges::stable_sort(worse, [&](const PairedProbe& x, const PairedProbe& y) {
        if (x.only_b() != y.only_b())
            return x.only_b();
        return key(x) > key(y);
    });
    return worse;
}

namespace {

std::vector<HeatmapInput> rows_of(const RunComparison& comparison)
{
    return {{comparison.a.name, comparison.a.table, {}}, {comparison.b.name, comparison.b.table, {}}};
}

HistoryExtent extent_of(const RunComparison& comparison, HistoryExtent extent)
{
    extent.include(*comparison.a.trace);
    extent.include(*comparison.b.trace);
    return extent;
}

/// The row of differences in a grid that has only its columns yet.
HeatmapGrid with_difference(HeatmapGrid grid, const RunComparison& comparison)
{
    const WindowMetric metric = grid.metric;
    grid.metric.name += "_difference";
    grid.metric.title += ": B − A";
    grid.metric.description += "; of B minus that of A, over the probes that are valid in both";
    grid.metric.counts_flips = false;
    HeatmapRow row;
    row.name = "B − A";
    if (comparison.only_in_a + comparison.only_in_b > 0)
        row.note = fmt::format("{} left out that only one of the two has",
                               comparison.only_in_a + comparison.only_in_b == 1
                                   ? std::string("1 probe")
                                   : fmt::format("{} probes", comparison.only_in_a + comparison.only_in_b));
    for (std::size_t c = 0; c < grid.starts.size(); ++c) {
        std::int64_t start = grid.starts[c], end = grid.ends[c];
        if (!grid.pieces.empty()) { // the probes that predict a token of it, as probes_predicting() has them
            --start;
            end -= end < grid.n_tokens ? 1 : 0;
        }
        const auto probes = paired_between(comparison.probes, start, end);
        row.cells.push_back(difference_cell(probes, metric, grid.margin));
        row.cells.back().flips = count_flips(probes).only_b;
    }
    grid.rows.push_back(std::move(row));
    return grid;
}

} // namespace

HeatmapGrid comparison_grid(const RunComparison& comparison, const WindowMetric& metric, std::int64_t window_tokens,
                            double margin, HistoryExtent extent)
{
    return make_heatmap(*comparison.baseline, rows_of(comparison), metric, window_tokens, margin,
                        extent_of(comparison, extent));
}

HeatmapGrid comparison_grid(const RunComparison& comparison, const WindowMetric& metric, Partition by,
                            std::vector<Piece> pieces, double margin, HistoryExtent extent)
{
    return make_heatmap(*comparison.baseline, rows_of(comparison), metric, by, std::move(pieces), margin,
                        extent_of(comparison, extent));
}

HeatmapGrid difference_grid(const RunComparison& comparison, const WindowMetric& metric, std::int64_t window_tokens,
                            double margin, HistoryExtent extent)
{
    return with_difference(
        make_heatmap(*comparison.baseline, {}, metric, window_tokens, margin, extent_of(comparison, extent)),
        comparison);
}

HeatmapGrid difference_grid(const RunComparison& comparison, const WindowMetric& metric, Partition by,
                            std::vector<Piece> pieces, double margin, HistoryExtent extent)
{
    return with_difference(
        make_heatmap(*comparison.baseline, {}, metric, by, std::move(pieces), margin, extent_of(comparison, extent)),
        comparison);
}

} // namespace flipscope
