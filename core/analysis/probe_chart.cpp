// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/probe_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flipscope {

namespace {

constexpr double bins_per_decade = 4;

int bin_of(double value)
{
    return static_cast<int>(std::floor(std::log10(value) * bins_per_decade));
}

double edge_of(int bin)
{
    return std::pow(10.0, bin / bins_per_decade);
}

KlHistogram::Run values_of(const SortedKl& all, const TokenRange& range)
{
    KlHistogram::Run run;
    run.sorted.reserve(all.values.size());
    for (const SortedKl::Value& value : all.values) {
        if (value.position < range.start || value.position >= range.end)
            continue;
        ++run.n;
        if (std::isinf(value.kl))
            ++run.infinite;
        else if (value.kl > 0)
            run.sorted.push_back(value.kl);
        else
            ++(value.kl < 0 ? run.below_zero : run.zero);
    }
    run.invalid = std::ranges::lower_bound(all.invalid, range.end) - std::ranges::lower_bound(all.invalid, range.start);
    return run;
}

} // namespace

std::span<const ProbeMetrics> ProbeChartData::probes(std::size_t run) const
{
    if (run >= runs.size() || !runs[run].table)
        return {};
    const TokenRange range = shown();
    return probes_between(runs[run].table->probes, range.start, range.end);
}

TokenRange ProbeChartData::shown() const
{
    return range.all() ? TokenRange{0, std::max<std::int64_t>(n_tokens, 1)} : range;
}

ProbeChartData make_probe_chart(const Trace& baseline, std::span<const HeatmapInput> runs, std::int64_t window_tokens,
                                double margin, HistoryExtent extent, TokenRange range)
{
    ProbeChartData data;
    extent.include(baseline);
    data.baseline = baseline.run_name;
    data.type = stored_type(baseline);
    data.n_tokens = std::max(extent.n_tokens, extent.last_position + 1);
    data.window_tokens = window_tokens;
    data.margin = margin;
    data.range = range;
    data.spans = baseline.spans;
    for (const HeatmapInput& run : runs)
        data.runs.push_back({run.name, run.table, run.problem, run.floor});
    return data;
}

double KlHistogram::cumulative(std::size_t run, double x) const
{
    const Run& r = runs[run];
    if (r.n == 0)
        return std::numeric_limits<double>::quiet_NaN();
    auto below = r.below_zero;
    if (x >= 0)
        below += r.zero + (std::upper_bound(r.sorted.begin(), r.sorted.end(), x) - r.sorted.begin());
    if (std::isinf(x) && x > 0)
        below += r.infinite;
    return static_cast<double>(below) / static_cast<double>(r.n);
}

SortedKl sort_kl(std::span<const ProbeMetrics> probes)
{
    SortedKl sorted;
    sorted.values.reserve(probes.size());
    for (const ProbeMetrics& p : probes) {
        if (p.valid && !std::isnan(p.kl_pq))
            sorted.values.push_back({p.kl_pq, p.position});
        else
            sorted.invalid.push_back(p.position);
    }
    std::ranges::sort(sorted.values, {}, &SortedKl::Value::kl);
    return sorted;
}

KlHistogram kl_histogram(const ProbeChartData& data)
{
    std::vector<std::shared_ptr<const SortedKl>> sorted;
    for (std::size_t i = 0; i < data.runs.size(); ++i)
        sorted.push_back(std::make_shared<const SortedKl>(sort_kl(data.probes(i))));
    return kl_histogram(data, sorted);
}

KlHistogram kl_histogram(const ProbeChartData& data, std::span<const std::shared_ptr<const SortedKl>> sorted)
{
    KlHistogram histogram;
    int first = std::numeric_limits<int>::max(), last = std::numeric_limits<int>::min();
    for (const auto& run : sorted) {
        histogram.runs.push_back(run ? values_of(*run, data.shown()) : KlHistogram::Run{});
        const auto& values = histogram.runs.back().sorted;
        if (values.empty())
            continue;
        first = std::min(first, bin_of(values.front()));
        last = std::max(last, bin_of(values.back()));
    }
    if (first > last)
        return histogram;
    for (int bin = first; bin <= last + 1; ++bin)
        histogram.edges.push_back(edge_of(bin));
    for (KlHistogram::Run& run : histogram.runs) {
        // A value on an edge counts above it; what rounding puts outside of all edges counts in the outermost bin.
        auto from = run.sorted.begin();
        for (std::size_t bin = 0; bin + 1 < histogram.edges.size(); ++bin) {
            const auto to = bin + 2 == histogram.edges.size()
                                ? run.sorted.end()
                                : std::lower_bound(from, run.sorted.end(), histogram.edges[bin + 1]);
            run.counts.push_back(to - from);
            from = to;
        }
    }
    return histogram;
}

std::vector<AgreementPoint> agreement(std::span<const ProbeMetrics> probes, std::int64_t window_tokens)
{
    std::vector<AgreementPoint> points;
    points.reserve(probes.size());
    each_agreement(probes, window_tokens, [&](const AgreementPoint& point) { points.push_back(point); });
    return points;
}

} // namespace flipscope
