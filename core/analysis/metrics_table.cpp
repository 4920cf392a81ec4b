// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/metrics_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace flipscope {

namespace {

using Value = std::optional<double>;
using Kind = ProbeColumn::Kind;

// A number of an invalid probe is NaN, and shown as such; NaN in a valid probe means that there is no such number.
template <double ProbeMetrics::*field>
Value real(const ProbeMetrics& p)
{
    const double v = p.*field;
    return std::isnan(v) && p.valid ? Value{} : Value{v};
}

// Numbers of the pair of traces rather than of the rows: missing unless there is one.
template <double ProbeMetrics::*field>
Value pair_number(const ProbeMetrics& p)
{
    const double v = p.*field;
    return std::isnan(v) ? Value{} : Value{v};
}

template <std::int32_t ProbeMetrics::*field>
Value integer(const ProbeMetrics& p)
{
    return p.valid && p.*field >= 0 ? Value{p.*field} : Value{};
}

template <std::uint8_t ProbeMetrics::*field>
Value verdict(const ProbeMetrics& p)
{
    return p.valid ? Value{p.*field} : Value{};
}

template <double ProbeMetrics::*field>
constexpr ProbeColumn real_column(std::string_view name, std::string_view title, std::string_view unit,
                                  std::string_view description)
{
    return {name, title, unit, description, Kind::Real, real<field>};
}

using M = ProbeMetrics;

const std::vector<ProbeColumn> columns{
    {"position", "Position", "tokens", "position of the last token fed; the row predicts the next one", Kind::Integer,
     [](const M& p) { return Value{static_cast<double>(p.position)}; }},
    real_column<&M::kl_pq>("kl_pq", "KL(P‖Q)", "nats", "KL divergence from the baseline P to the run Q"),
    real_column<&M::kl_qp>("kl_qp", "KL(Q‖P)", "nats", "KL divergence from the run Q to the baseline P"),
    real_column<&M::js>("js", "JS(P,Q)", "nats", "Jensen-Shannon divergence, at most ln 2"),
    real_column<&M::tv>("tv", "TV(P,Q)", "",
                        "total variation distance: least probability that two samplers at temperature 1 differ"),
    {"flip", "Flip", "", "the run's top token is not the baseline's", Kind::Boolean, verdict<&M::flip>},
    {"tied", "Tied", "", "the largest logit occurs twice in a row of either side", Kind::Boolean, verdict<&M::tied>},
    {"argmax_p", "Top of P", "id", "top token of the baseline; the lowest id among equals", Kind::Integer,
     integer<&M::argmax_p>},
    {"argmax_q", "Top of Q", "id", "top token of the run; the lowest id among equals", Kind::Integer,
     integer<&M::argmax_q>},
    real_column<&M::margin>("margin", "Margin", "nats", "largest minus second largest logit of the baseline"),
    {"rank", "Rank", "", "rank in the run of the baseline's top token; 1 = no flip", Kind::Integer, integer<&M::rank>},
    real_column<&M::top5_overlap>("top5_overlap", "Top-5 overlap", "", "share of the five best ids that both have"),
    real_column<&M::top10_overlap>("top10_overlap", "Top-10 overlap", "", "share of the ten best ids that both have"),
    real_column<&M::p_top>("p_top", "p(top)", "", "baseline's probability of its own top token"),
    real_column<&M::q_top>("q_top", "q(top)", "", "run's probability of the baseline's top token"),
    real_column<&M::entropy_p>("entropy_p", "H(P)", "nats", "entropy of the baseline's distribution"),
    real_column<&M::entropy_q>("entropy_q", "H(Q)", "nats", "entropy of the run's distribution"),
    real_column<&M::nll_p>("nll_p", "−ln p(next)", "nats", "baseline's surprise at the history's own next token"),
    real_column<&M::nll_q>("nll_q", "−ln q(next)", "nats", "run's surprise at the history's own next token"),
    real_column<&M::dp>("dp", "Δp", "", "q(next) − p(next) of the history's own next token"),
    {"differing", "Differing", "logits", "logits that differ by a bit after exact widening", Kind::Integer,
     [](const M& p) { return Value{static_cast<double>(p.differing)}; }},
    real_column<&M::max_abs_dlogit>("max_abs_dlogit", "max |Δlogit|", "nats", "largest difference of two logits"),
    {"flip_top1", "Flip before rounding", "", "the top tokens noted before the logits were rounded for storage differ",
     Kind::Boolean, [](const M& p) { return p.flip_top1 < 0 ? Value{} : Value{p.flip_top1}; }},
    {"valid", "Valid", "", "both rows are distributions: no NaN, no +inf, not all −inf", Kind::Boolean,
     [](const M& p) { return Value{p.valid}; }},
    real_column<&M::lse_p>("lse_p", "lse(P)", "nats", "log-sum-exp of the baseline's compared logits"),
    real_column<&M::lse_q>("lse_q", "lse(Q)", "nats", "log-sum-exp of the run's compared logits"),
    {"outside_p", "Outside P", "", "baseline's probability of ids that the run does not have", Kind::Real,
     pair_number<&M::outside_p>},
    {"outside_q", "Outside Q", "", "run's probability of ids that the baseline does not have", Kind::Real,
     pair_number<&M::outside_q>},
    {"kept_p", "Kept P", "", "top-k lists: baseline's probability of the ids known on both sides", Kind::Real,
     pair_number<&M::kept_p>},
    {"kept_q", "Kept Q", "", "top-k lists: run's probability of the ids known on both sides", Kind::Real,
     pair_number<&M::kept_q>},
    {"id_overlap", "Id overlap", "", "top-k lists: share of the k ids known on both sides", Kind::Real,
     pair_number<&M::id_overlap>},
};

static_assert(sizeof(M) == 22 * sizeof(double) + 2 * sizeof(std::int64_t) + 3 * sizeof(std::int32_t) + 4,
              "no padding, whose bytes mean nothing");

std::int64_t different(const std::vector<M>& a, const std::vector<M>& b)
{
    const std::size_t n = std::min(a.size(), b.size());
    auto count = static_cast<std::int64_t>(std::max(a.size(), b.size()) - n);
    for (std::size_t i = 0; i < n; ++i)
        // Bit by bit is meant: NaN equals NaN. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
        count += std::memcmp(&a[i], &b[i], sizeof(M)) != 0 ? 1 : 0;
    return count;
}

} // namespace

std::int64_t different_probes(const MetricsTable& a, const MetricsTable& b)
{
    return different(a.probes, b.probes) + different(a.dense, b.dense);
}

std::int64_t differing_rows(const MetricsTable& table)
{
    return std::count_if(table.probes.begin(), table.probes.end(), [](const M& p) { return p.differing > 0; });
}

bool bit_identical(const MetricsTable& table)
{
    return !table.probes.empty() && table.alignment.equal_types && !table.alignment.top_k &&
           table.alignment.baseline_vocab == table.alignment.run_vocab && differing_rows(table) == 0;
}

const std::vector<ProbeColumn>& probe_columns()
{
    return columns;
}

const ProbeColumn* find_probe_column(std::string_view name)
{
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
    return found == columns.end() ? nullptr : &*found;
}

} // namespace flipscope
