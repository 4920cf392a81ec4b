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

KlHistogram::Run values_of(std::span<const ProbeMetrics> probes)
{
    KlHistogram::Run run;
    for (const ProbeMetrics& p : probes) {
        if (!p.valid || std::isnan(p.kl_pq)) {
            ++run.invalid;
            continue;
        }
        ++run.n;
        if (std::isinf(p.kl_pq))
            ++run.infinite;
        else if (p.kl_pq > 0)
            run.sorted.push_back(p.kl_pq);
        else
            ++(p.kl_pq < 0 ? run.below_zero : run.zero);
    }
    std::sort(run.sorted.begin(), run.sorted.end());
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

KlHistogram kl_histogram(const ProbeChartData& data)
{
    KlHistogram histogram;
    int first = std::numeric_limits<int>::max(), last = std::numeric_limits<int>::min();
    for (std::size_t i = 0; i < data.runs.size(); ++i) {
        histogram.runs.push_back(values_of(data.probes(i)));
        const auto& sorted = histogram.runs.back().sorted;
        if (sorted.empty())
            continue;
        first = std::min(first, bin_of(sorted.front()));
        last = std::max(last, bin_of(sorted.back()));
    }
    if (first > last)
        return histogram;
    for (int bin = first; bin <= last + 1; ++bin)
        histogram.edges.push_back(edge_of(bin));
    for (KlHistogram::Run& run : histogram.runs) {
        run.counts.assign(histogram.edges.size() - 1, 0);
        for (const double value : run.sorted) {
            const auto above = std::upper_bound(histogram.edges.begin(), histogram.edges.end(), value);
            const auto bin = std::clamp<std::ptrdiff_t>(above - histogram.edges.begin() - 1, 0, last - first);
            ++run.counts[static_cast<std::size_t>(bin)];
        }
    }
    return histogram;
}

std::vector<AgreementPoint> agreement(std::span<const ProbeMetrics> probes, std::int64_t window_tokens)
{
    std::vector<AgreementPoint> points;
    points.reserve(probes.size());
    std::int64_t n = 0, flips = 0, all = 0, all_flips = 0;
    std::size_t oldest = 0;
    for (const ProbeMetrics& p : probes) {
        if (!p.valid)
            continue;
        ++n;
        ++all;
        flips += p.flip ? 1 : 0;
        all_flips += p.flip ? 1 : 0;
        for (; probes[oldest].position <= p.position - window_tokens; ++oldest) {
            n -= probes[oldest].valid ? 1 : 0;
            flips -= probes[oldest].valid && probes[oldest].flip ? 1 : 0;
        }
        points.push_back({p.position, 1 - static_cast<double>(flips) / static_cast<double>(n),
                          1 - static_cast<double>(all_flips) / static_cast<double>(all), n});
    }
    return points;
}

} // namespace flipscope
