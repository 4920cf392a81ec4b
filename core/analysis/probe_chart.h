// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/flip_kind.h"
#include "core/analysis/heatmap.h"
#include "core/analysis/metrics_table.h"
#include "core/analysis/windows.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace flipscope {

/// One run of a chart over single probes; without a table it says why in `problem` (or waits to be computed).
struct ProbeChartRun {
    std::string name;
    TablePtr table;
    std::string problem;
    bool floor = false;
};

/// What the charts over single probes draw: KL over position, its distribution, margin against KL, agreement. Cheap to
/// copy: the tables are shared.
struct ProbeChartData {
    std::string baseline;
    std::optional<LogitType> type;  ///< of the baseline's rows: what a step is
    std::int64_t n_tokens = 0;      ///< of the history
    std::int64_t window_tokens = 0; ///< agreement: how far back it looks
    double margin = default_margin; ///< what flips above margin are above
    TokenRange range;               ///< only probes at these positions are shown and counted
    std::vector<Span> spans;
    std::vector<ProbeChartRun> runs;

    /// Those in the range; empty where there is no table.
    std::span<const ProbeMetrics> probes(std::size_t run) const;
    /// The range, or the whole history.
    TokenRange shown() const;
};

ProbeChartData make_probe_chart(const Trace& baseline, std::span<const HeatmapInput> runs, std::int64_t window_tokens,
                                double margin = default_margin, HistoryExtent extent = {}, TokenRange range = {});

/// How the KL(P‖Q) of single probes is spread, in bins that all runs share: four to a decade.
struct KlHistogram {
    struct Run {
        std::int64_t n = 0; ///< valid probes: the sum of everything below
        std::int64_t zero = 0, infinite = 0;
        std::int64_t below_zero = 0; ///< from sources that round: kept, counted apart
        std::int64_t invalid = 0;    ///< not in n
        std::vector<std::int64_t> counts;
        std::vector<double> sorted; ///< the positive finite values, ascending
    };
    std::vector<double> edges; ///< ascending, one more than bins; empty where no value is positive
    std::vector<Run> runs;     ///< parallel to ProbeChartData::runs

    /// Share of a run's valid probes with KL ≤ x; NaN without any.
    double cumulative(std::size_t run, double x) const;
};
KlHistogram kl_histogram(const ProbeChartData& data);

/// The valid probes' KL(P‖Q) of a whole table, ascending, each with its position: what is shown of it need not be
/// sorted again.
struct SortedKl {
    struct Value {
        double kl;
        std::int64_t position;
    };
    std::vector<Value> values;         ///< without NaN
    std::vector<std::int64_t> invalid; ///< positions of the others, ascending
};
SortedKl sort_kl(std::span<const ProbeMetrics> probes);
/// The same histogram; `sorted` is parallel to the data's runs, null where a run has no table.
KlHistogram kl_histogram(const ProbeChartData& data, std::span<const std::shared_ptr<const SortedKl>> sorted);

/// Top-1 agreement at a probe, looking back.
struct AgreementPoint {
    std::int64_t position = 0;
    double recent = 0;     ///< share of valid probes at (position − window, position] with the same top token
    double cumulative = 0; ///< the same from the first probe of the range on
    std::int64_t n = 0;    ///< probes that `recent` counts
};
/// Calls `take` with a point for every valid probe; a probe is anything with `position`, `valid` and `flip`.
template <class Probe, class Take>
void each_agreement(std::span<const Probe> probes, std::int64_t window_tokens, Take take)
{
    std::int64_t n = 0, flips = 0, all = 0, all_flips = 0;
    std::size_t oldest = 0;
    for (const Probe& p : probes) {
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
        take(AgreementPoint{p.position, 1 - static_cast<double>(flips) / static_cast<double>(n),
                            1 - static_cast<double>(all_flips) / static_cast<double>(all), n});
    }
}
std::vector<AgreementPoint> agreement(std::span<const ProbeMetrics> probes, std::int64_t window_tokens);

} // namespace flipscope
