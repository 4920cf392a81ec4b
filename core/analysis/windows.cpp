// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/windows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flipscope {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

std::vector<double> column(std::span<const ProbeMetrics> probes, double ProbeMetrics::*field)
{
    std::vector<double> values;
    values.reserve(probes.size());
    for (const auto& probe : probes)
        if (probe.valid)
            values.push_back(probe.*field);
    return values;
}

} // namespace

WindowStats summarize(std::span<const ProbeMetrics> probes, std::int64_t start, std::int64_t end)
{
    WindowStats w;
    w.start = start;
    w.end = end;
    for (const auto& probe : probes) {
        if (!probe.valid) {
            ++w.n_invalid;
            continue;
        }
        ++w.n;
        w.flips += probe.flip;
        w.flips_tied += probe.flip && probe.tied;
    }
    w.flip_rate = w.n ? static_cast<double>(w.flips) / static_cast<double>(w.n) : none;
    w.flip_interval = wilson_95(w.flips, w.n);
    w.kl_pq = describe(column(probes, &ProbeMetrics::kl_pq));
    w.kl_qp = describe(column(probes, &ProbeMetrics::kl_qp));
    w.js = describe(column(probes, &ProbeMetrics::js));
    w.tv = describe(column(probes, &ProbeMetrics::tv));
    w.top5_overlap = describe(column(probes, &ProbeMetrics::top5_overlap)).mean;
    w.dp_mean = describe(column(probes, &ProbeMetrics::dp)).mean;
    return w;
}

std::span<const ProbeMetrics> probes_between(std::span<const ProbeMetrics> probes, std::int64_t start, std::int64_t end)
{
    const auto before = [](const ProbeMetrics& probe, std::int64_t position) { return probe.position < position; };
    const auto first = std::lower_bound(probes.begin(), probes.end(), start, before);
    const auto last = std::lower_bound(first, probes.end(), end, before);
    return {first, last};
}

std::vector<WindowStats> windows_of(std::span<const ProbeMetrics> probes, std::int64_t window_tokens,
                                    std::int64_t last_position, std::int64_t n_tokens)
{
    std::vector<WindowStats> windows;
    for (std::int64_t start = 0; start <= last_position; start += window_tokens) {
        const std::int64_t end = start + window_tokens;
        windows.push_back(summarize(probes_between(probes, start, end), start, std::min(end, n_tokens)));
    }
    return windows;
}

std::int64_t first_window_tokens(std::int64_t last_position)
{
    const auto windows = [&](std::int64_t tokens) { return last_position / tokens + 1; };
    if (last_position < 0 || windows(default_window_tokens) >= 6)
        return default_window_tokens;
    std::int64_t tokens = 4096;
    while (tokens > 1 && windows(tokens) < 6)
        tokens /= 2;
    return tokens;
}

} // namespace flipscope
