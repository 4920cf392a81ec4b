// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/list_bias.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace flipscope {

namespace {

double mean_of(const MetricsTable& table, double ProbeMetrics::*value)
{
    double sum = 0;
    std::int64_t n = 0;
    for (const ProbeMetrics& m : table.probes)
        if (m.valid != 0 && std::isfinite(m.*value)) {
            sum += m.*value;
            ++n;
        }
    return n == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(n);
}

bool of_one_run(const BiasInput& full, const BiasInput& lists)
{
    return full.table && lists.table && !full.table->alignment.top_k && lists.table->alignment.top_k &&
           full.trace->run_name == lists.trace->run_name && full.trace->run == lists.trace->run;
}

ListBias compare(const MetricsTable& full, const MetricsTable& lists)
{
    ListBias bias;
    for (std::size_t i = 0, j = 0; i < full.probes.size() && j < lists.probes.size();) {
        const ProbeMetrics &f = full.probes[i], &l = lists.probes[j];
        if (f.position != l.position) {
            ++(f.position < l.position ? i : j);
            continue;
        }
        ++i, ++j;
        if (f.valid == 0 || l.valid == 0 || !std::isfinite(f.kl_pq) || !std::isfinite(l.kl_pq))
            continue;
        ++bias.n;
        bias.kl_full += f.kl_pq;
        bias.kl_lists += l.kl_pq;
        bias.largest_gap = std::max(bias.largest_gap, f.kl_pq - l.kl_pq);
        bias.flips_full += f.flip;
        bias.flips_lists += l.flip;
    }
    if (bias.n > 0) {
        bias.kl_full /= static_cast<double>(bias.n);
        bias.kl_lists /= static_cast<double>(bias.n);
    }
    bias.facts = list_facts(lists);
    return bias;
}

} // namespace

ListFacts list_facts(const MetricsTable& table)
{
    return {mean_of(table, &ProbeMetrics::kept_p), mean_of(table, &ProbeMetrics::kept_q),
            mean_of(table, &ProbeMetrics::id_overlap)};
}

std::vector<ListBias> list_bias(std::span<const BiasInput> runs)
{
    std::vector<ListBias> all;
    for (std::size_t l = 0; l < runs.size(); ++l)
        for (std::size_t f = 0; f < runs.size(); ++f)
            if (of_one_run(runs[f], runs[l])) {
                ListBias bias = compare(*runs[f].table, *runs[l].table);
                if (bias.n == 0)
                    continue;
                bias.full = f;
                bias.lists = l;
                all.push_back(bias);
            }
    return all;
}

std::string bias_text(const ListBias& b)
{
    const std::string under = b.kl_full > 0 ? fmt::format(" ({:.1f} % under)", 100 * (1 - b.kl_lists / b.kl_full)) : "";
    return fmt::format("mean KL(P‖Q) {:.6g} nats from the lists, {:.6g} from the full rows{}, at one probe up to "
                       "{:.3g} less; flips {} against {}; the lists keep {:.2f} % of P, {:.2f} % of Q and share "
                       "{:.1f} % of their ids, over {} probes",
                       b.kl_lists, b.kl_full, under, b.largest_gap, b.flips_lists, b.flips_full, 100 * b.facts.kept_p,
                       100 * b.facts.kept_q, 100 * b.facts.id_overlap, b.n);
}

} // namespace flipscope
