// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"
#include "core/analysis/statistics.h"
#include "core/base/error.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

inline constexpr std::int64_t default_window_tokens = 8000;

/// How far the windows of a baseline and the runs beside it reach, so that all of them have the same ones.
struct HistoryExtent {
    std::int64_t last_position = -1; ///< of the last probe of any of them; -1 = none
    std::int64_t n_tokens = 0;       ///< of the longest history
    void include(const Trace& trace);
    bool operator==(const HistoryExtent&) const = default;
};

/// Statistics of the probes whose position lies in [start, end).
struct WindowStats {
    std::int64_t start = 0, end = 0; ///< token positions; the last window's end is cut at n_tokens
    std::int64_t n = 0;              ///< valid probes matched in both
    std::int64_t n_invalid = 0;
    std::int64_t flips = 0;
    std::int64_t flips_tied = 0;
    double flip_rate = 0; ///< NaN when n = 0
    Interval flip_interval{};
    Distribution kl_pq, kl_qp, js, tv;
    double top5_overlap = 0, dp_mean = 0; ///< means; NaN when there is nothing to average
};

/// Statistics over any probes (one window, one span, or all).
WindowStats summarize(std::span<const ProbeMetrics> probes, std::int64_t start, std::int64_t end);

/// Half-open range of positions of probes that a person looks at; without an end it is the whole history.
struct TokenRange {
    std::int64_t start = 0, end = -1;
    bool all() const { return end < 0; }
    bool operator==(const TokenRange&) const = default;
};

/// Half-open range of token positions that one window covers.
struct WindowRange {
    std::int64_t start, end;
};

/// The ranges that windows_of() summarizes, and columns of a heatmap: the same rules in one place.
std::vector<WindowRange> window_ranges(std::int64_t window_tokens, std::int64_t last_position, std::int64_t n_tokens);

/// The probes at positions in [start, end); `probes` is sorted by position, as in a table.
std::span<const ProbeMetrics> probes_between(std::span<const ProbeMetrics> probes, std::int64_t start,
                                             std::int64_t end);

/// All windows from 0 to that of `last_position`, window w = positions in [w*W, (w+1)*W). `last_position` is that of
/// the last probe of any open run, so that all runs have the same windows.
std::vector<WindowStats> windows_of(std::span<const ProbeMetrics> probes, std::int64_t window_tokens,
                                    std::int64_t last_position, std::int64_t n_tokens);

/// More windows than this are refused: no screen, and hardly a table, could hold them.
inline constexpr std::int64_t most_windows = 1 << 20;

/// An error where windows of that size up to `last_position` would be more than `most_windows`.
Result<void> check_windows(std::int64_t window_tokens, std::int64_t last_position);

/// The window size a screen starts with: 8,000 where that gives at least 6 windows, else the largest of 4,096, 2,048,
/// 1,024, 512, 256, ... that does.
std::int64_t first_window_tokens(std::int64_t last_position);

/// A number per window: what a heatmap cell or a chart point shows.
struct WindowMetric {
    std::string name;          ///< "flip_rate", "kl_pq_p99", ...
    std::string title;         ///< "Flip rate", "KL(P‖Q) p99"
    std::string unit;          ///< "%", "nats", ""; a share is kept as 0..1 and shown in %
    std::string description;   ///< one line, for legends and tooltips
    bool share = false;        ///< value in 0..1, shown as %
    bool counts_flips = false; ///< has a Wilson interval
};

/// flip_rate, flips_above_margin, {kl_pq,kl_qp,js,tv}_{mean,median,p90,p95,p99,max}, top5_overlap, top5_disagreement,
/// top10_disagreement, dp_mean.
const std::vector<WindowMetric>& window_metrics();
Result<const WindowMetric*> find_window_metric(std::string_view name);

/// Flips of probes whose margin is larger than this many nats count as "above margin".
inline constexpr double default_margin = 0.5;

/// Value and interval (low = high = NaN without one) of `metric` over `probes`, which are those of one window.
struct MetricValue {
    double value;
    Interval interval;
    std::int64_t n;
};
MetricValue evaluate(const WindowMetric& metric, std::span<const ProbeMetrics> probes, double margin = default_margin);

} // namespace flipscope
