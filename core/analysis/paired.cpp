// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/paired.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace flipscope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// S. Vigna's SplitMix64: a few lines in any language, so that anybody can draw the same blocks.
class SplitMix64 {
public:
    explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next()
    {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

private:
    std::uint64_t state_;
};

/// Sums of `length` values from each place on, going round at the end.
std::vector<double> circular_sums(std::span<const double> values, std::int64_t length)
{
    const auto n = static_cast<std::int64_t>(values.size());
    std::vector<double> sums(values.size(), 0.0);
    for (std::size_t start = 0; start < values.size(); ++start)
        for (std::int64_t i = 0, at = static_cast<std::int64_t>(start); i < length; ++i, at = at + 1 == n ? 0 : at + 1)
            sums[start] += values[static_cast<std::size_t>(at)];
    return sums;
}

} // namespace

double mcnemar_exact(std::int64_t only_a, std::int64_t only_b)
{
    const std::int64_t n = only_a + only_b, least = std::min(only_a, only_b);
    if (n <= 0 || only_a == only_b)
        return 1;
    // C(n, least) / 2^n as mantissa and exponent: either factor alone leaves the range of doubles.
    double mantissa = 1;
    std::int64_t exponent = -n;
    for (std::int64_t i = 1; i <= least; ++i) {
        int shift = 0;
        mantissa = std::frexp(mantissa * static_cast<double>(n - least + i) / static_cast<double>(i), &shift);
        exponent += shift;
    }
    // The tail relative to that term, from the largest term down.
    double term = 1, tail = 1;
    for (std::int64_t i = least; i > 0 && term > tail * 1e-18; --i) {
        term *= static_cast<double>(i) / static_cast<double>(n - i + 1);
        tail += term;
    }
    const int scale = static_cast<int>(std::max<std::int64_t>(exponent + 1, -100'000)); // + 1: both sides
    return std::min(1.0, std::ldexp(mantissa * tail, scale));
}

std::int64_t bootstrap_block(std::int64_t n)
{
    std::int64_t length = 1;
    while (length * length * length < n)
        ++length;
    return length;
}

Interval block_bootstrap_mean(std::span<const double> values)
{
    const auto n = static_cast<std::int64_t>(values.size());
    if (n < 2)
        return {nan, nan};
    const std::int64_t length = bootstrap_block(n), whole = n / length, rest = n % length;
    const std::vector<double> blocks = circular_sums(values, length), rests = circular_sums(values, rest);
    SplitMix64 random(bootstrap_seed);
    const auto start = [&] { return static_cast<std::size_t>(random.next() % static_cast<std::uint64_t>(n)); };
    std::vector<double> means(bootstrap_draws);
    for (double& mean : means) {
        double sum = 0;
        for (std::int64_t b = 0; b < whole; ++b)
            sum += blocks[start()];
        if (rest > 0)
            sum += rests[start()];
        mean = sum / static_cast<double>(n);
    }
    std::sort(means.begin(), means.end());
    return {percentile(means, 2.5), percentile(means, 97.5)};
}

} // namespace flipscope
