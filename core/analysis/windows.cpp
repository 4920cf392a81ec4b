// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/windows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flipscope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> column(std::span<const ProbeMetrics> probes, double ProbeMetrics::*field)
{
    std::vector<double> values;
    values.reserve(probes.size());
    for (const ProbeMetrics& p : probes)
        if (p.valid)
            values.push_back(p.*field);
    return values;
}

double share(std::int64_t part, std::int64_t whole)
{
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : nan;
}

} // namespace

void HistoryExtent::include(const Trace& trace)
{
    if (!trace.probes.positions.empty())
        last_position = std::max(last_position, trace.probes.positions.back());
    n_tokens = std::max(n_tokens, static_cast<std::int64_t>(trace.tokens.ids.size()));
}

WindowStats summarize(std::span<const ProbeMetrics> probes, std::int64_t start, std::int64_t end)
{
    WindowStats s;
    s.start = start;
    s.end = end;
    for (const ProbeMetrics& p : probes) {
        if (!p.valid) {
            ++s.n_invalid;
            continue;
        }
        ++s.n;
        s.flips += p.flip ? 1 : 0;
        s.flips_tied += p.flip && p.tied ? 1 : 0;
    }
    s.flip_rate = share(s.flips, s.n);
    s.flip_interval = wilson_95(s.flips, s.n);
    s.kl_pq = describe(column(probes, &ProbeMetrics::kl_pq));
    s.kl_qp = describe(column(probes, &ProbeMetrics::kl_qp));
    s.js = describe(column(probes, &ProbeMetrics::js));
    s.tv = describe(column(probes, &ProbeMetrics::tv));
    s.top5_overlap = describe(column(probes, &ProbeMetrics::top5_overlap)).mean;
    s.dp_mean = describe(column(probes, &ProbeMetrics::dp)).mean;
    return s;
}

std::span<const ProbeMetrics> probes_between(std::span<const ProbeMetrics> probes, std::int64_t start, std::int64_t end)
{
    const auto before = [](const ProbeMetrics& p, std::int64_t position) { return p.position < position; };
    const auto first = std::lower_bound(probes.begin(), probes.end(), start, before);
    const auto last = std::lower_bound(first, probes.end(), end, before);
    return {first, last};
}

std::vector<WindowRange> window_ranges(std::int64_t window_tokens, std::int64_t last_position, std::int64_t n_tokens)
{
    std::vector<WindowRange> ranges;
    if (window_tokens <= 0 || last_position < 0)
        return ranges;
    const std::int64_t end_of_all = std::max(n_tokens, last_position + 1);
    const std::int64_t count = last_position / window_tokens + 1;
    ranges.reserve(static_cast<std::size_t>(count));
    for (std::int64_t w = 0; w < count; ++w) {
        const std::int64_t start = w * window_tokens;
        // Written so that no window size overflows.
        const std::int64_t end = end_of_all - start <= window_tokens ? end_of_all : start + window_tokens;
        ranges.push_back({start, end});
    }
    return ranges;
}

std::vector<WindowStats> windows_of(std::span<const ProbeMetrics> probes, std::int64_t window_tokens,
                                    std::int64_t last_position, std::int64_t n_tokens)
{
    std::vector<WindowStats> windows;
    for (const WindowRange& r : window_ranges(window_tokens, last_position, n_tokens))
        windows.push_back(summarize(probes_between(probes, r.start, r.end), r.start, r.end));
    return windows;
}

Result<void> check_windows(std::int64_t window_tokens, std::int64_t last_position)
{
    if (window_tokens > 0 && last_position / window_tokens < most_windows)
        return {};
    return fail(ErrorKind::Usage,
                "Windows of {} tokens are too many for a history of {} tokens: choose at least {} tokens per window.",
                window_tokens, last_position + 1, last_position / most_windows + 1);
}

std::int64_t first_window_tokens(std::int64_t last_position)
{
    constexpr std::int64_t enough = 6;
    const auto windows = [&](std::int64_t w) { return last_position / w + 1; };
    if (last_position < 0 || windows(default_window_tokens) >= enough)
        return default_window_tokens;
    std::int64_t w = 4096;
    while (w > 1 && windows(w) < enough)
        w /= 2;
    return w;
}

} // namespace flipscope
