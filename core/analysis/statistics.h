// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace flipscope {

struct Interval {
    double low, high;
};

/// Wilson score interval of `successes` out of `n` at 95 %; NaN for n = 0.
/// E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209.
Interval wilson_95(std::int64_t successes, std::int64_t n);

/// Percentile with linear interpolation between order statistics (numpy's default), q in [0, 100].
/// `sorted` ascending and finite; NaN when empty.
double percentile(std::span<const double> sorted, double q);

/// Summary of the finite values among `values`.
struct Distribution {
    std::int64_t n = 0;                            ///< finite values
    std::int64_t n_infinite = 0;                   ///< +inf: counted, kept out of everything below
    double mean, median, p90, p95, p99, p999, max; ///< NaN when n = 0
};

/// NaN entries are skipped.
Distribution describe(std::vector<double> values);

} // namespace flipscope
