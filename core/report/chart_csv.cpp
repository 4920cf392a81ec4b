// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/csv_fields.h"
#include "core/report/report.h"

#include <limits>

namespace flipscope {

namespace {

/// Calls `line(name, probe)` for every probe in the range of every run that has numbers.
template <class Line>
std::string per_probe(const ProbeChartData& data, const char* header, const Line& line)
{
    std::string text = header;
    for (std::size_t run = 0; run < data.runs.size(); ++run) {
        const std::string name = csv::field(data.runs[run].name);
        for (const ProbeMetrics& probe : data.probes(run))
            text += line(name, probe);
    }
    return text;
}

} // namespace

std::string position_csv(const ProbeChartData& data)
{
    return per_probe(data, "run,position,kl_pq,flip,tied,kind,valid\n",
                     [&](const std::string& name, const ProbeMetrics& p) {
                         return fmt::format("{},{},{},{},{},{},{}\n", name, p.position, csv::optional_number(p.kl_pq),
                                            p.flip, p.tied, name_of(flip_kind(p, data.type)), p.valid);
                     });
}

std::string margin_csv(const ProbeChartData& data)
{
    return per_probe(data, "run,position,margin,step,kl_pq,flip,kind\n",
                     [&](const std::string& name, const ProbeMetrics& p) {
                         if (!p.valid)
                             return std::string();
                         const double step = data.type ? step_below(top_logit(p), *data.type)
                                                       : std::numeric_limits<double>::quiet_NaN();
                         return fmt::format("{},{},{},{},{},{},{}\n", name, p.position, csv::optional_number(p.margin),
                                            csv::optional_number(step), csv::optional_number(p.kl_pq), p.flip,
                                            name_of(flip_kind(p, data.type)));
                     });
}

std::string distribution_csv(const ProbeChartData& data)
{
    std::string text = "run,low,high,count,n,cumulative\n";
    const KlHistogram histogram = kl_histogram(data);
    for (std::size_t run = 0; run < data.runs.size(); ++run) {
        if (!data.runs[run].table)
            continue;
        const std::string name = csv::field(data.runs[run].name);
        const KlHistogram::Run& r = histogram.runs[run];
        std::int64_t so_far = 0;
        const auto line = [&](double low, double high, std::int64_t count) {
            so_far += count;
            const double share = static_cast<double>(so_far) / static_cast<double>(r.n);
            text += fmt::format("{},{},{},{},{},{}\n", name, csv::number(low), csv::number(high), count, r.n,
                                csv::optional_number(share));
        };
        if (r.below_zero > 0)
            line(-std::numeric_limits<double>::infinity(), 0, r.below_zero);
        line(0, 0, r.zero);
        for (std::size_t bin = 0; bin < r.counts.size(); ++bin)
            line(histogram.edges[bin], histogram.edges[bin + 1], r.counts[bin]);
        line(std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), r.infinite);
    }
    return text;
}

std::string agreement_csv(const ProbeChartData& data)
{
    std::string text = "run,position,agreement,n,cumulative\n";
    for (std::size_t run = 0; run < data.runs.size(); ++run) {
        const std::string name = csv::field(data.runs[run].name);
        for (const AgreementPoint& p : agreement(data.probes(run), data.window_tokens))
            text += fmt::format("{},{},{},{},{}\n", name, p.position, csv::number(p.recent), p.n,
                                csv::number(p.cumulative));
    }
    return text;
}

} // namespace flipscope
