// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/token_diff.h"

#include <algorithm>

namespace flipscope {

namespace {

using Ids = std::span<const std::int32_t>;
using Index = std::ptrdiff_t;

/// Index pairs of the longest common subsequence, ascending; empty where it takes more edits than allowed.
std::vector<std::pair<Index, Index>> common_tokens(Ids a, Ids b, std::int64_t most_edits)
{
    const auto n = static_cast<Index>(a.size()), m = static_cast<Index>(b.size());
    const Index most = std::min<Index>(n + m, static_cast<Index>(most_edits));
    const Index middle = most + 1;
    // furthest[k]: how far along `a` one gets on diagonal k = x - y with the edits so far.
    std::vector<Index> furthest(static_cast<std::size_t>(2 * most + 3), 0);
    std::vector<std::vector<Index>> steps;
    const auto at = [&](std::vector<Index>& v, Index k) -> Index& { return v[static_cast<std::size_t>(middle + k)]; };
    const auto goes_down = [&](std::vector<Index>& v, Index k, Index d) {
        return k == -d || (k != d && at(v, k - 1) < at(v, k + 1));
    };
    Index edits = -1;
    for (Index d = 0; d <= most && edits < 0; ++d) {
        steps.push_back(furthest);
        for (Index k = -d; k <= d; k += 2) {
            Index x = goes_down(furthest, k, d) ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
            while (x < n && x - k < m && x - k >= 0 &&
                   a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)])
                ++x;
            at(furthest, k) = x;
            if (x >= n && x - k >= m) {
                edits = d;
                break;
            }
        }
    }
    std::vector<std::pair<Index, Index>> common;
    if (edits < 0)
        return common;
    Index x = n, y = m;
    for (Index d = edits; d >= 0; --d) {
        std::vector<Index>& before = steps[static_cast<std::size_t>(d)];
        const Index k = x - y;
        const Index from_k = goes_down(before, k, d) ? k + 1 : k - 1;
        const Index from_x = d == 0 ? 0 : at(before, from_k), from_y = d == 0 ? 0 : from_x - from_k;
        while (x > from_x && y > from_y) {
            --x;
            --y;
            common.emplace_back(x, y);
        }
        x = from_x;
        y = from_y;
    }
    std::reverse(common.begin(), common.end());
    return common;
}

/// Everything between two common tokens.
void append_stretch(std::vector<TokenPair>& pairs, Ids a, Ids b, Index a_from, Index a_to, Index b_from, Index b_to)
{
    for (Index i = 0; i < std::max(a_to - a_from, b_to - b_from); ++i) {
        TokenPair pair{a_from + i < a_to ? a_from + i : -1, b_from + i < b_to ? b_from + i : -1, false};
        pair.same =
            pair.a >= 0 && pair.b >= 0 && a[static_cast<std::size_t>(pair.a)] == b[static_cast<std::size_t>(pair.b)];
        pairs.push_back(pair);
    }
}

} // namespace

std::vector<TokenPair> align_tokens(std::span<const std::int32_t> a, std::span<const std::int32_t> b,
                                    std::int64_t most_edits)
{
    const auto equal_start = static_cast<Index>(std::ranges::mismatch(a, b).in1 - a.begin());
    std::vector<TokenPair> pairs;
    for (Index i = 0; i < equal_start; ++i)
        pairs.push_back({i, i, true});
    const Ids rest_a = a.subspan(static_cast<std::size_t>(equal_start));
    const Ids rest_b = b.subspan(static_cast<std::size_t>(equal_start));
    Index x = equal_start, y = equal_start;
    for (const auto& [in_a, in_b] : common_tokens(rest_a, rest_b, most_edits)) {
        append_stretch(pairs, a, b, x, equal_start + in_a, y, equal_start + in_b);
        pairs.push_back({equal_start + in_a, equal_start + in_b, true});
        x = equal_start + in_a + 1;
        y = equal_start + in_b + 1;
    }
    append_stretch(pairs, a, b, x, static_cast<Index>(a.size()), y, static_cast<Index>(b.size()));
    return pairs;
}

std::vector<ContinuationPair> pair_continuations(const Trace& a, const Trace& b)
{
    std::vector<ContinuationPair> pairs;
    auto other = b.generations.begin();
    for (const Generation& one : a.generations) {
        while (other != b.generations.end() && other->prefix_tokens < one.prefix_tokens)
            ++other;
        if (other == b.generations.end())
            break;
        if (other->prefix_tokens != one.prefix_tokens)
            continue;
        ContinuationPair pair{&one, &*other, -1};
        const auto [in_a, in_b] = std::ranges::mismatch(one.ids, other->ids);
        if (in_a != one.ids.end() || in_b != other->ids.end())
            pair.first_difference = in_a - one.ids.begin();
        pairs.push_back(pair);
        ++other;
    }
    return pairs;
}

} // namespace flipscope
