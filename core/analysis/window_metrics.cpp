// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/windows.h"

#include <array>
#include <functional>
#include <limits>

namespace flipscope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// One statistic of a distribution: "_p99" of "kl_pq_p99".
struct Statistic {
    const char* name;
    const char* title;
    double Distribution::*value;
};

constexpr std::array<Statistic, 6> statistics{{{"mean", "mean", &Distribution::mean},
                                               {"median", "median", &Distribution::median},
                                               {"p90", "p90", &Distribution::p90},
                                               {"p95", "p95", &Distribution::p95},
                                               {"p99", "p99", &Distribution::p99},
                                               {"max", "max", &Distribution::max}}};

struct Quantity {
    const char* name;
    const char* title;
    const char* unit;
    const char* description;
    bool share;
    double ProbeMetrics::*value;
};

constexpr std::array<Quantity, 4> quantities{
    {{"kl_pq", "KL(P‖Q)", "nats", "KL divergence from the baseline P to the run Q", false, &ProbeMetrics::kl_pq},
     {"kl_qp", "KL(Q‖P)", "nats", "KL divergence from the run Q to the baseline P", false, &ProbeMetrics::kl_qp},
     {"js", "JS(P,Q)", "nats", "Jensen-Shannon divergence, at most ln 2", false, &ProbeMetrics::js},
     {"tv", "TV(P,Q)", "%", "total variation distance: least probability that two samplers differ", true,
      &ProbeMetrics::tv}}};

using Evaluation = std::function<MetricValue(std::span<const ProbeMetrics>, double margin)>;

struct Entry {
    WindowMetric metric;
    Evaluation evaluate;
};

MetricValue rate_of(std::span<const ProbeMetrics> probes, bool (*counts)(const ProbeMetrics&, double), double margin)
{
    std::int64_t n = 0, hits = 0;
    for (const ProbeMetrics& p : probes) {
        n += p.valid ? 1 : 0;
        hits += p.valid && p.flip && counts(p, margin) ? 1 : 0;
    }
    return {n > 0 ? static_cast<double>(hits) / static_cast<double>(n) : nan, wilson_95(hits, n), n};
}

MetricValue statistic_of(std::span<const ProbeMetrics> probes, double ProbeMetrics::*field,
                         double Distribution::*statistic)
{
    std::vector<double> values;
    values.reserve(probes.size());
    for (const ProbeMetrics& p : probes)
        if (p.valid)
            values.push_back(p.*field);
    const Distribution d = describe(std::move(values));
    return {d.*statistic, {nan, nan}, d.n};
}

MetricValue disagreement_of(std::span<const ProbeMetrics> probes, double ProbeMetrics::*overlap)
{
    MetricValue value = statistic_of(probes, overlap, &Distribution::mean);
    value.value = 1 - value.value;
    return value;
}

std::vector<Entry> make_entries()
{
    std::vector<Entry> entries;
    entries.push_back(
        {{"flip_rate", "Flip rate", "%", "share of probes where the run's top token is not the baseline's", true, true},
         [](auto probes, double margin) {
             return rate_of(
                 probes, [](const ProbeMetrics&, double) { return true; }, margin);
         }});
    entries.push_back({{"flips_above_margin", "Flips above margin", "%",
                        "share of probes that flip although the baseline's best two logits lie further apart than the "
                        "margin",
                        true, true},
                       [](auto probes, double margin) {
                           return rate_of(
                               probes, [](const ProbeMetrics& p, double m) { return p.margin > m; }, margin);
                       }});
    for (const Quantity& q : quantities)
        for (const Statistic& s : statistics)
            entries.push_back(
                {{fmt::format("{}_{}", q.name, s.name), fmt::format("{} {}", q.title, s.title), q.unit,
                  fmt::format("{}; {} over the window's finite values", q.description, s.title), q.share, false},
                 [field = q.value, statistic = s.value](auto probes, double) {
                     return statistic_of(probes, field, statistic);
                 }});
    entries.push_back(
        {{"top5_overlap", "Top-5 overlap", "%", "mean share of the five best ids that both have", true, false},
         [](auto probes, double) { return statistic_of(probes, &ProbeMetrics::top5_overlap, &Distribution::mean); }});
    entries.push_back({{"top5_disagreement", "Top-5 disagreement", "%",
                        "mean share of the baseline's five best ids that are not among the run's", true, false},
                       [](auto probes, double) { return disagreement_of(probes, &ProbeMetrics::top5_overlap); }});
    entries.push_back({{"top10_disagreement", "Top-10 disagreement", "%",
                        "mean share of the baseline's ten best ids that are not among the run's", true, false},
                       [](auto probes, double) { return disagreement_of(probes, &ProbeMetrics::top10_overlap); }});
    entries.push_back(
        {{"dp_mean", "Δp mean", "", "mean of q(next) − p(next), the probability of the history's own next token", false,
          false},
         [](auto probes, double) { return statistic_of(probes, &ProbeMetrics::dp, &Distribution::mean); }});
    return entries;
}

const std::vector<Entry>& entries()
{
    static const std::vector<Entry> all = make_entries();
    return all;
}

} // namespace

const std::vector<WindowMetric>& window_metrics()
{
    static const std::vector<WindowMetric> all = [] {
        std::vector<WindowMetric> metrics;
        for (const Entry& e : entries())
            metrics.push_back(e.metric);
        return metrics;
    }();
    return all;
}

Result<const WindowMetric*> find_window_metric(std::string_view name)
{
    for (const WindowMetric& m : window_metrics())
        if (m.name == name)
            return &m;
    std::string known;
    for (const WindowMetric& m : window_metrics())
        known += (known.empty() ? "" : ", ") + m.name;
    return fail(ErrorKind::Usage, "There is no metric \"{}\"; there are {}.", name, known);
}

MetricValue evaluate(const WindowMetric& metric, std::span<const ProbeMetrics> probes, double margin)
{
    for (const Entry& e : entries())
        if (e.metric.name == metric.name)
            return e.evaluate(probes, margin);
    return {nan, {nan, nan}, 0};
}

} // namespace flipscope
