// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flipscope {

namespace {
constexpr double none = std::numeric_limits<double>::quiet_NaN();
}

Interval wilson_95(std::int64_t successes, std::int64_t n)
{
    if (n <= 0)
        return {none, none};
    constexpr double z = 1.959963984540054; // the 97.5 % point of the normal distribution
    const double count = static_cast<double>(n), share = static_cast<double>(successes) / count;
    const double centre = share + z * z / (2 * count);
    const double spread = z * std::sqrt(share * (1 - share) / count + z * z / (4 * count * count));
    const double scale = 1 + z * z / count;
    // Rounding may put a bound a hair outside.
    return {successes == 0 ? 0 : std::max(0.0, (centre - spread) / scale),
            successes == n ? 1 : std::min(1.0, (centre + spread) / scale)};
}

double percentile(std::span<const double> sorted, double q)
{
    if (sorted.empty())
        return none;
    const double at = q / 100 * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

Distribution describe(std::vector<double> values)
{
    Distribution d;
    d.n_infinite = std::count(values.begin(), values.end(), std::numeric_limits<double>::infinity());
    std::erase_if(values, [](double v) { return !std::isfinite(v); });
    std::sort(values.begin(), values.end());
    d.n = static_cast<std::int64_t>(values.size());
    double sum = 0;
    for (const double v : values)
        sum += v;
    d.mean = values.empty() ? none : sum / static_cast<double>(values.size());
    d.median = percentile(values, 50);
    d.p90 = percentile(values, 90);
    d.p95 = percentile(values, 95);
    d.p99 = percentile(values, 99);
    d.p999 = percentile(values, 99.9);
    d.max = values.empty() ? none : values.back();
    return d;
}

} // namespace flipscope
