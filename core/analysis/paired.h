// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/statistics.h"

#include <cstdint>
#include <span>

namespace flipscope {

/// Two-sided exact p of McNemar's test: how likely a split at least as uneven as `only_a` : `only_b` is among their sum
/// where both are equally likely. 1 where there is nothing to split.
/// Q. McNemar, Psychometrika 12 (1947) 153; the exact form is the sign test's binomial.
double mcnemar_exact(std::int64_t only_a, std::int64_t only_b);

/// How many times block_bootstrap_mean() draws, and what it draws with.
inline constexpr int bootstrap_draws = 2000;
inline constexpr std::uint64_t bootstrap_seed = 1;

/// Length of a block for n values: the smallest l with l³ >= n, at least 1. Growing as the cube root of n is the rate
/// for the variance of a mean: P. Hall, J. L. Horowitz, B.-Y. Jing, Biometrika 82 (1995) 561.
std::int64_t bootstrap_block(std::int64_t n);

/// 95 % interval of the mean of `values`, which are in the order of their positions and may be correlated with their
/// neighbours: circular block bootstrap, percentiles 2.5 and 97.5 of the means of `bootstrap_draws` draws. Draws are
/// made from SplitMix64 with a fixed seed: the same values give the same interval. NaN for fewer than two values.
/// D. N. Politis, J. P. Romano, in Exploring the Limits of Bootstrap (1992) 263.
Interval block_bootstrap_mean(std::span<const double> values);

} // namespace flipscope
