// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"
#include "core/analysis/metrics_table.h"
#include "core/analysis/paired.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

/// One of the two runs that are compared, with its table against the common baseline.
struct ComparisonSide {
    std::string name;
    TracePtr trace;
    TablePtr table;
};

/// One position that both runs were measured at. The pointers lead into the tables.
struct PairedProbe {
    std::int64_t position = 0;
    const ProbeMetrics* a = nullptr;
    const ProbeMetrics* b = nullptr;

    bool valid() const { return a->valid && b->valid; }
    bool only_a() const { return valid() && a->flip && !b->flip; }
    bool only_b() const { return valid() && b->flip && !a->flip; }
    bool both() const { return valid() && a->flip && b->flip; }
    /// The two runs have another top token, whatever the baseline's is.
    bool tops_differ() const { return valid() && a->argmax_q != b->argmax_q; }
    /// KL(P‖Q) of B minus that of A, in nats: above 0 where B is worse. NaN where both are infinite or one is invalid.
    double kl_difference() const { return b->kl_pq - a->kl_pq; }
};

/// Flips of two runs against one baseline, counted in pairs.
struct PairedFlips {
    std::int64_t n = 0;         ///< probes valid in both
    std::int64_t n_invalid = 0; ///< invalid in one of them at least
    std::int64_t neither = 0, only_a = 0, only_b = 0, both = 0;
    std::int64_t both_same_token = 0; ///< of `both`: to the same token
    std::int64_t tops_differ = 0;     ///< of n: A's top token is not B's
    double mcnemar_p = 1;             ///< of only_a against only_b

    std::int64_t flips_a() const { return only_a + both; }
    std::int64_t flips_b() const { return only_b + both; }
};
PairedFlips count_flips(std::span<const PairedProbe> probes);

/// The mean of a number over the probes where it is finite in both runs, and how it differs: always B − A.
struct MeanDifference {
    std::string_view name;  ///< "flip", "kl_pq", "kl_qp", "js", "tv"
    std::string_view title; ///< "KL(P‖Q)"
    std::string_view unit;
    bool share = false; ///< 0..1, shown as %
    std::int64_t n = 0;
    std::int64_t n_left_out = 0; ///< valid in both, but infinite in one at least
    double mean_a = 0, mean_b = 0, difference = 0;
    Interval interval{};                                ///< of the difference, 95 %: block_bootstrap_mean()
    std::int64_t larger_a = 0, larger_b = 0, equal = 0; ///< probes
};

/// Two runs, probe by probe, against one baseline.
struct RunComparison {
    TracePtr baseline;
    ComparisonSide a, b;
    std::vector<PairedProbe> probes;           ///< positions that both have, ascending
    std::int64_t only_in_a = 0, only_in_b = 0; ///< probes without a partner: left out
    bool lower_bound = false;                  ///< a top-k trace takes part
    PairedFlips flips;
    std::vector<MeanDifference> differences; ///< flip, kl_pq, kl_qp, js, tv
};

/// Both tables must be there and computed against `baseline`.
RunComparison compare_sides(TracePtr baseline, ComparisonSide a, ComparisonSide b);

/// The probes at positions in [start, end).
std::span<const PairedProbe> paired_between(std::span<const PairedProbe> probes, std::int64_t start, std::int64_t end);

/// `metric` of A and of B over the probes that are valid in both.
struct PairedValue {
    double a, b;
};
PairedValue evaluate_pair(std::span<const PairedProbe> probes, const WindowMetric& metric,
                          double margin = default_margin);

/// What got worse from A to B: probes that only B flips, then all others whose KL(P‖Q) is larger in B; both by how much
/// larger it is, largest first, then by position.
std::vector<PairedProbe> what_got_worse(const RunComparison& comparison);

/// Rows "A" and "B" as in any heatmap; `extent` as there.
HeatmapGrid comparison_grid(const RunComparison& comparison, const WindowMetric& metric, std::int64_t window_tokens,
                            double margin = default_margin, HistoryExtent extent = {});
/// One row: `metric` over B's probes minus over A's, both taken over the probes that are valid in both.
HeatmapGrid difference_grid(const RunComparison& comparison, const WindowMetric& metric, std::int64_t window_tokens,
                            double margin = default_margin, HistoryExtent extent = {});

/// The same with a column for each segment or turn.
HeatmapGrid comparison_grid(const RunComparison& comparison, const WindowMetric& metric, Partition by,
                            std::vector<Piece> pieces, double margin = default_margin, HistoryExtent extent = {});
HeatmapGrid difference_grid(const RunComparison& comparison, const WindowMetric& metric, Partition by,
                            std::vector<Piece> pieces, double margin = default_margin, HistoryExtent extent = {});

} // namespace flipscope
