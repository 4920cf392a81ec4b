// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The registry of numbers per window. A new one is an entry here: name, words, and how it is had from the probes.
#include "core/analysis/windows.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>

namespace flipscope {

namespace {

struct Divergence {
    const char* name;
    const char* title;
    const char* unit;
    const char* words;
    double ProbeMetrics::*field;
};

constexpr Divergence divergences[] = {
    {"kl_pq", "KL(P‖Q)", "nats", "Kullback-Leibler divergence from the baseline P to the run Q", &ProbeMetrics::kl_pq},
    {"kl_qp", "KL(Q‖P)", "nats", "Kullback-Leibler divergence from the run Q to the baseline P", &ProbeMetrics::kl_qp},
    {"js", "JS", "nats", "Jensen-Shannon divergence of baseline and run", &ProbeMetrics::js},
    {"tv", "TV", "", "total variation: the least probability that two samplers at temperature 1 differ",
     &ProbeMetrics::tv},
};

struct Statistic {
    const char* name;
    const char* title;
    double Distribution::*field;
};

constexpr Statistic statistics[] = {
    {"mean", "mean", &Distribution::mean}, {"median", "median", &Distribution::median},
    {"p90", "90th percentile", &Distribution::p90}, {"p95", "95th percentile", &Distribution::p95},
    {"p99", "99th percentile", &Distribution::p99}, {"max", "max", &Distribution::max},
};

std::vector<WindowMetric> make_metrics()
{
    std::vector<WindowMetric> all;
    all.push_back({"flip_rate", "Flip rate", "%", "share of probes where the run's top token is not the baseline's", true,
                   true});
    all.push_back({"flips_above_margin", "Flips above margin", "%",
                   "share of probes that flip although the baseline's margin is larger than the chosen one", true, true});
    for (const auto& d : divergences)
        for (const auto& s : statistics)
            all.push_back({fmt::format("{}_{}", d.name, s.name), fmt::format("{} {}", d.title, s.title), d.unit,
                           fmt::format("{} over the probes of the window: {}", s.title, d.words), false, false});
    all.push_back({"top5_overlap", "Top-5 overlap", "%", "share of the five likeliest tokens that both have, on average",
                   true, false});
    all.push_back({"dp_mean", "Δp mean", "", "mean of q(next) − p(next) for the history's own next token", false, false});
    return all;
}

MetricValue share_of(std::span<const ProbeMetrics> probes, bool (*counts)(const ProbeMetrics&, double), double margin)
{
    std::int64_t n = 0, hits = 0;
    for (const auto& probe : probes) {
        n += probe.valid;
        hits += probe.valid && counts(probe, margin);
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    return {n ? static_cast<double>(hits) / static_cast<double>(n) : none, wilson_95(hits, n), n};
}

Distribution distribution_of(std::span<const ProbeMetrics> probes, double ProbeMetrics::*field)
{
    std::vector<double> values;
    for (const auto& probe : probes)
        if (probe.valid)
            values.push_back(probe.*field);
    return describe(std::move(values));
}

} // namespace

const std::vector<WindowMetric>& window_metrics()
{
    static const std::vector<WindowMetric> all = make_metrics();
    return all;
}

Result<const WindowMetric*> find_window_metric(std::string_view name)
{
    std::string names;
    for (const auto& metric : window_metrics()) {
        if (metric.name == name)
            return &metric;
        names += (names.empty() ? "" : ", ") + metric.name;
    }
    return fail(ErrorKind::Usage, "There is no metric \"{}\": choose one of {}.", name, names);
}

MetricValue evaluate(const WindowMetric& metric, std::span<const ProbeMetrics> probes, double margin)
{
    const double none = std::numeric_limits<double>::quiet_NaN();
    if (metric.name == "flip_rate")
        return share_of(probes, [](const ProbeMetrics& p, double) { return p.flip != 0; }, margin);
    if (metric.name == "flips_above_margin")
        return share_of(probes, [](const ProbeMetrics& p, double m) { return p.flip && p.margin > m; }, margin);
    const auto mean = [&](double ProbeMetrics::*field) {
        const auto d = distribution_of(probes, field);
        return MetricValue{d.mean, {none, none}, d.n};
    };
    if (metric.name == "top5_overlap")
        return mean(&ProbeMetrics::top5_overlap);
    if (metric.name == "dp_mean")
        return mean(&ProbeMetrics::dp);
    for (const auto& d : divergences)
        for (const auto& s : statistics)
            if (metric.name == fmt::format("{}_{}", d.name, s.name)) {
                const auto distribution = distribution_of(probes, d.field);
                return {distribution.*s.field, {none, none}, distribution.n};
            }
    return {none, {none, none}, 0};
}

} // namespace flipscope
