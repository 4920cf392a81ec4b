// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/align_calls.h"

#include <algorithm>
#include <cstdint>

namespace flipscope {

namespace {

// Costs of an alignment. A pair of two different tools is still cheaper than one call lost and another gained.
constexpr std::uint32_t gap = 100, other_tool = 150, same_tool = 40, all_differs = 50, broken = 5;
constexpr std::size_t largest_block = 1000;

bool has_equal(const std::vector<Argument>& all, const Argument& wanted)
{
    return std::any_of(all.begin(), all.end(),
                       [&](const Argument& a) { return a.path == wanted.path && equal_value(a, wanted); });
}

std::uint32_t cost_of(const Call& a, const Call& b)
{
    const std::uint32_t status = a.status == b.status ? 0 : broken;
    if (a.name() != b.name())
        return a.name().empty() || b.name().empty() ? same_tool + all_differs + broken : other_tool + status;
    const auto& p = a.arguments();
    const auto& q = b.arguments();
    const std::size_t most = std::max(p.size(), q.size());
    if (most > 32) // long lists: equal or not is enough
        return (equal_calls(a, b) ? 0 : same_tool + all_differs / 2) + status;
    std::size_t equal = 0;
    for (const Argument& argument : p)
        equal += has_equal(q, argument) ? 1 : 0;
    if (equal == most)
        return status;
    return same_tool + static_cast<std::uint32_t>(all_differs * (most - equal) / most) + status;
}

class Aligner {
public:
    Aligner(const std::vector<Call>& baseline, const std::vector<Call>& run) : baseline_(baseline), run_(run) {}

    std::vector<CallPair> align()
    {
        std::size_t b = 0, r = 0;
        std::size_t b_end = baseline_.size(), r_end = run_.size();
        while (b < b_end && r < r_end && equal_calls(baseline_[b], run_[r]))
            pairs_.push_back({b++, r++});
        std::size_t tail = 0;
        // A run of equal calls must not be taken from the end: the first of a repetition is the baseline's.
        while (b < b_end && r < r_end && baseline_.size() == run_.size() &&
               equal_calls(baseline_[b_end - 1], run_[r_end - 1])) {
            --b_end;
            --r_end;
            ++tail;
        }
        while (b < b_end || r < r_end) {
            const std::size_t b_next = std::min(b_end, b + largest_block), r_next = std::min(r_end, r + largest_block);
            block(b, b_next, r, r_next);
            b = b_next;
            r = r_next;
        }
        for (; tail > 0; --tail)
            pairs_.push_back({b_end++, r_end++});
        return std::move(pairs_);
    }

private:
    void block(std::size_t b0, std::size_t b1, std::size_t r0, std::size_t r1)
    {
        const std::size_t n = b1 - b0, m = r1 - r0;
        std::vector<std::uint32_t> best((n + 1) * (m + 1)), pair(n * m);
        const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return best[i * (m + 1) + j]; };
        for (std::size_t i = n + 1; i-- > 0;)
            for (std::size_t j = m + 1; j-- > 0;) {
                if (i == n || j == m) {
                    at(i, j) = static_cast<std::uint32_t>((n - i) + (m - j)) * gap;
                    continue;
                }
                const std::uint32_t cost = pair[i * m + j] = cost_of(baseline_[b0 + i], run_[r0 + j]);
                at(i, j) = std::min({at(i + 1, j + 1) + cost, at(i + 1, j) + gap, at(i, j + 1) + gap});
            }
        std::size_t i = 0, j = 0;
        while (i < n || j < m) {
            if (i < n && j < m && at(i, j) == at(i + 1, j + 1) + pair[i * m + j])
                pairs_.push_back({b0 + i++, r0 + j++});
            else if (i < n && at(i, j) == at(i + 1, j) + gap)
                pairs_.push_back({b0 + i++, std::nullopt});
            else
                pairs_.push_back({std::nullopt, r0 + j++});
        }
    }

    const std::vector<Call>& baseline_;
    const std::vector<Call>& run_;
    std::vector<CallPair> pairs_;
};

} // namespace

bool equal_calls(const Call& a, const Call& b)
{
    if (a.status != b.status || a.name() != b.name() || a.arguments().size() != b.arguments().size())
        return false;
    for (std::size_t i = 0; i < a.arguments().size(); ++i) {
        const Argument& argument = a.arguments()[i];
        const Argument& same_place = b.arguments()[i]; // the usual order spares the search
        const Argument* other = same_place.path == argument.path ? &same_place : b.tolerant.find(argument.path);
        if (!other || !equal_value(argument, *other))
            return false;
    }
    return true;
}

std::vector<CallPair> align_calls(const std::vector<Call>& baseline, const std::vector<Call>& run)
{
    return Aligner(baseline, run).align();
}

} // namespace flipscope
