// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/checks/checks.h"

#include "core/engine/top_list.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace flipscope {

namespace {

constexpr std::int64_t rows_looked_at = 8;
constexpr std::size_t top = 16;
constexpr double least_gap = 1.5; ///< nats; below, the steps of 16-bit logits hide the ratio
constexpr std::size_t enough_ratios = 12;

/// A few log probabilities (or logits: only differences count) of one row.
struct Values {
    std::vector<std::int32_t> ids;
    std::vector<double> values;
};

Result<Values> best_of(const ProbeSet& set, std::int64_t row)
{
    Values out;
    if (set.kind == ProbeSet::Kind::TopK) {
        std::vector<float> logprobs(static_cast<std::size_t>(set.lists->k()));
        out.ids.resize(logprobs.size());
        if (auto ok = set.lists->read(row, 1, out.ids, logprobs); !ok)
            return tl::unexpected(ok.error());
        out.values.assign(logprobs.begin(), logprobs.end());
        return out;
    }
    std::vector<std::byte> data(static_cast<std::size_t>(set.rows->row_bytes()));
    if (auto ok = set.rows->read(row, 1, data); !ok)
        return tl::unexpected(ok.error());
    TopList<top> best;
    for (std::int64_t i = 0; i < set.rows->columns(); ++i)
        best.offer(widen(data.data(), set.rows->type(), static_cast<std::size_t>(i)), static_cast<std::int32_t>(i));
    for (std::size_t i = 0; i < best.size(); ++i) {
        out.ids.push_back(best.id(i));
        out.values.push_back(best.value(i));
    }
    return out;
}

/// How much larger gaps of q are than those of p, over ids that both name.
void add_ratios(const Values& p, const Values& q, std::vector<double>& ratios)
{
    std::vector<std::pair<double, double>> both;
    for (std::size_t i = 0; i < p.ids.size(); ++i) {
        const auto at = std::find(q.ids.begin(), q.ids.end(), p.ids[i]);
        if (p.ids[i] < 0 || at == q.ids.end())
            continue;
        const double a = p.values[i], b = q.values[static_cast<std::size_t>(at - q.ids.begin())];
        if (std::isfinite(a) && std::isfinite(b))
            both.emplace_back(a, b);
    }
    for (const auto& [a, b] : both)
        if (both.front().first - a >= least_gap)
            ratios.push_back((both.front().second - b) / (both.front().first - a));
}

} // namespace

Findings check_temperature(const Trace& baseline, const Trace& run, const Alignment& alignment)
{
    const bool both_raw = baseline.probes.values == "raw" && run.probes.values == "raw";
    const bool said = baseline.probes.temperature && run.probes.temperature &&
                      *baseline.probes.temperature != *run.probes.temperature; // alignment says it
    const auto readable = [](const ProbeSet& s) {
        return s.kind == ProbeSet::Kind::Full ? s.rows != nullptr : s.lists != nullptr;
    };
    if (both_raw || said || alignment.probes.empty() || !readable(baseline.probes) || !readable(run.probes))
        return {};
    std::vector<double> ratios;
    const auto n = static_cast<std::int64_t>(alignment.probes.size());
    // Lists are cheap; of full rows a few are enough.
    const std::int64_t wanted = alignment.top_k ? std::min<std::int64_t>(n, 64) : std::min(n, rows_looked_at);
    for (std::int64_t i = 0; i < wanted; ++i) {
        const MatchedProbe& pair = alignment.probes[static_cast<std::size_t>(i * n / wanted)];
        const auto p = best_of(baseline.probes, pair.baseline_row), q = best_of(run.probes, pair.run_row);
        if (!p || !q)
            return {}; // the computation will say what is wrong
        add_ratios(*p, *q, ratios);
    }
    if (ratios.size() < enough_ratios)
        return {};
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    const double ratio = *middle;
    const auto near = std::count_if(ratios.begin(), ratios.end(),
                                    [&](double r) { return std::fabs(r - ratio) <= 0.05 * std::fabs(ratio); });
    if (ratio <= 0 || std::fabs(ratio - 1) < 0.05 ||
        static_cast<double>(near) < 0.9 * static_cast<double>(ratios.size()))
        return {};
    const bool run_hot = ratio > 1;
    return {{Finding::Level::Warning, "looks-like-temperature",
             fmt::format("The differences between log probabilities of {} are those of {} times {:.3g}: it looks like "
                         "temperature {:.2g} was applied to them, so the two are not comparable; record raw values.",
                         run_hot ? run.run_name : baseline.run_name, run_hot ? baseline.run_name : run.run_name,
                         run_hot ? ratio : 1 / ratio, run_hot ? 1 / ratio : ratio)}};
}

} // namespace flipscope
