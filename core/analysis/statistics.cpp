// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flipscope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// 97.5 % quantile of the standard normal distribution.
constexpr double z_95 = 1.959963984540054;

// Neumaier's compensated sum: a mean over 100,000 probes of very different size keeps its last digits.
double sum_of(std::span<const double> values)
{
    double sum = 0, lost = 0;
    for (const double v : values) {
        const double t = sum + v;
        lost += std::fabs(sum) >= std::fabs(v) ? (sum - t) + v : (v - t) + sum;
        sum = t;
    }
    return sum + lost;
}

} // namespace

Interval wilson_95(std::int64_t successes, std::int64_t n)
{
    if (n <= 0)
        return {nan, nan};
    const double count = static_cast<double>(n);
    const double p = static_cast<double>(successes) / count;
    const double z2 = z_95 * z_95;
    const double centre = (p + z2 / (2 * count)) / (1 + z2 / count);
    const double half = z_95 * std::sqrt(p * (1 - p) / count + z2 / (4 * count * count)) / (1 + z2 / count);
    // The ends are exact at none and all; elsewhere rounding must not leave [0, 1].
    return {successes == 0 ? 0.0 : std::max(0.0, centre - half), successes == n ? 1.0 : std::min(1.0, centre + half)};
}

double percentile(std::span<const double> sorted, double q)
{
    if (sorted.empty())
        return nan;
    const double last = static_cast<double>(sorted.size() - 1);
    const double place = std::clamp(q / 100.0 * last, 0.0, last);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double t = place - static_cast<double>(below);
    const double step = sorted[above] - sorted[below];
    // From the nearer end, as numpy does: both ends are hit exactly.
    return t < 0.5 ? sorted[below] + step * t : sorted[above] - step * (1 - t);
}

Distribution describe(std::vector<double> values)
{
    Distribution d{};
    std::erase_if(values, [&](double v) {
        d.n_infinite += std::isinf(v) ? 1 : 0;
        return !std::isfinite(v);
    });
    d.n = static_cast<std::int64_t>(values.size());
    if (values.empty()) {
        d.mean = d.median = d.p90 = d.p95 = d.p99 = d.p999 = d.max = nan;
        return d;
    }
    std::sort(values.begin(), values.end());
    d.mean = sum_of(values) / static_cast<double>(values.size());
    d.median = percentile(values, 50);
    d.p90 = percentile(values, 90);
    d.p95 = percentile(values, 95);
    d.p99 = percentile(values, 99);
    d.p999 = percentile(values, 99.9);
    d.max = values.back();
    return d;
}

} // namespace flipscope
