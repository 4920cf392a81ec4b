// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/compare_report.h"

#include "core/base/utf8.h"
#include "core/report/environment_report.h"
#include "core/report/method.h"
#include "core/text/token_text.h"

#include <cmath>
#include <fmt/format.h>

namespace flipscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t worse_in_json = 100, worse_in_text = 12;

Json number(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json side_json(const ComparisonSide& side)
{
    const WindowStats stats = summarize(side.table->probes, 0, 0);
    return {{"name", side.name},
            {"path", side.trace->path.string()},
            {"n_probes", static_cast<std::int64_t>(side.table->probes.size())},
            {"n_invalid", stats.n_invalid},
            {"flips", stats.flips},
            {"flip_rate", number(stats.flip_rate)},
            {"kl_mean", number(stats.kl_pq.mean)},
            {"kl_median", number(stats.kl_pq.median)},
            {"kl_p99", number(stats.kl_pq.p99)},
            {"kl_max", number(stats.kl_pq.max)},
            {"kl_n_infinite", stats.kl_pq.n_infinite},
            {"bit_identical", bit_identical(*side.table)},
            {"lower_bound", side.table->alignment.top_k}};
}

Json flips_json(const PairedFlips& flips)
{
    return {{"n", flips.n},
            {"n_invalid", flips.n_invalid},
            {"neither", flips.neither},
            {"only_a", flips.only_a},
            {"only_b", flips.only_b},
            {"both", flips.both},
            {"both_same_token", flips.both_same_token},
            {"tops_differ", flips.tops_differ},
            {"mcnemar_p", flips.mcnemar_p}};
}

Json difference_json(const MeanDifference& d)
{
    return {{"name", d.name},
            {"n", d.n},
            {"n_infinite", d.n_left_out},
            {"mean_a", number(d.mean_a)},
            {"mean_b", number(d.mean_b)},
            {"difference", number(d.difference)},
            {"low", number(d.interval.low)},
            {"high", number(d.interval.high)},
            {"larger_a", d.larger_a},
            {"larger_b", d.larger_b},
            {"equal", d.equal}};
}

Json windows_json(const RunComparison& c, std::int64_t window_tokens)
{
    const auto rate = find_window_metric("flip_rate"), kl = find_window_metric("kl_pq_mean");
    HistoryExtent extent;
    for (const TracePtr& trace : {c.baseline, c.a.trace, c.b.trace})
        extent.include(*trace);
    Json windows = Json::array();
    for (const WindowRange& range : window_ranges(window_tokens, extent.last_position, extent.n_tokens)) {
        const auto probes = paired_between(c.probes, range.start, range.end);
        const PairedValue rates = evaluate_pair(probes, **rate), kls = evaluate_pair(probes, **kl);
        Json window = {{"start", range.start}, {"end", range.end}};
        window.update(flips_json(count_flips(probes)));
        window["flip_rate_a"] = number(rates.a);
        window["flip_rate_b"] = number(rates.b);
        window["flip_rate_difference"] = number(rates.b - rates.a);
        window["kl_mean_a"] = number(kls.a);
        window["kl_mean_b"] = number(kls.b);
        window["kl_mean_difference"] = number(kls.b - kls.a);
        windows.push_back(std::move(window));
    }
    return windows;
}

const char* class_of(const PairedProbe& p)
{
    if (!p.valid())
        return "invalid";
    if (p.both())
        return "both";
    return p.only_a() ? "only_a" : p.only_b() ? "only_b" : "neither";
}

Json worse_json(const RunComparison& c)
{
    Json worse = Json::array();
    for (const PairedProbe& p : what_got_worse(c)) {
        if (worse.size() == worse_in_json)
            break;
        worse.push_back({{"position", p.position},
                         {"flips", class_of(p)},
                         {"argmax_p", p.a->argmax_p},
                         {"argmax_a", p.a->argmax_q},
                         {"argmax_b", p.b->argmax_q},
                         {"kl_a", number(p.a->kl_pq)},
                         {"kl_b", number(p.b->kl_pq)},
                         {"kl_difference", number(p.kl_difference())},
                         {"margin", number(p.a->margin)}});
    }
    return worse;
}

std::string percent(double share)
{
    return std::isnan(share) ? "-" : fmt::format("{:.2f} %", share * 100);
}

std::string amount(const MeanDifference& d, double value, bool sign)
{
    if (std::isnan(value))
        return "-";
    if (d.share)
        return sign ? fmt::format("{:+.2f} %", value * 100) : percent(value);
    return sign ? fmt::format("{:+.4g}", value) : fmt::format("{:.4g}", value);
}

std::string padded(const std::string& text, std::size_t width)
{
    const std::size_t have = display_width(text);
    return have < width ? text + std::string(width - have, ' ') : text;
}

std::string differences_text(const RunComparison& c)
{
    std::string text = "mean over paired probes   A            B            B - A        95 % interval of B - A\n";
    for (const MeanDifference& d : c.differences) {
        text += padded(fmt::format("{}{}", d.title, d.share ? "" : fmt::format(", {}", d.unit)), 26) +
                padded(amount(d, d.mean_a, false), 13) + padded(amount(d, d.mean_b, false), 13) +
                padded(amount(d, d.difference, true), 13);
        if (!std::isnan(d.interval.low))
            text += amount(d, d.interval.low, true) + " to " + amount(d, d.interval.high, true);
        if (d.n_left_out > 0)
            text += fmt::format("   ({} infinite left out)", d.n_left_out);
        text += '\n';
    }
    return text;
}

std::string worse_text(const RunComparison& c, const TokenTexts& texts)
{
    const auto worse = what_got_worse(c);
    if (worse.empty())
        return "\nNothing got worse from A to B.\n";
    std::string text = fmt::format("\nWhat got worse from A to B ({} probes; the first {})\n", worse.size(),
                                   std::min(worse.size(), worse_in_text));
    for (std::size_t i = 0; i < std::min(worse.size(), worse_in_text); ++i) {
        const PairedProbe& p = worse[i];
        text += fmt::format("  {:>8}  KL {:.4g} -> {:.4g}  {}", p.position, p.a->kl_pq, p.b->kl_pq,
                            p.only_b()   ? "flips in B only"
                            : p.both()   ? "flips in both"
                            : p.only_a() ? "flips in A only"
                                         : "no flip");
        text += fmt::format("  baseline {}, A {}, B {}\n", texts.label(p.a->argmax_p), texts.label(p.a->argmax_q),
                            texts.label(p.b->argmax_q));
    }
    return text;
}

} // namespace

nlohmann::ordered_json comparison_json(const ComparisonReport& report)
{
    const RunComparison& c = report.comparison;
    Json json = {{"format", "flipscope-compare"},
                 {"version", 1},
                 {"window_tokens", report.window_tokens},
                 {"engine", {{"name", report.engine}, {"detail", report.engine_detail}}},
                 {"baseline", {{"name", c.baseline->run_name}, {"path", c.baseline->path.string()}}},
                 {"a", side_json(c.a)},
                 {"b", side_json(c.b)},
                 {"only_in_a", c.only_in_a},
                 {"only_in_b", c.only_in_b},
                 {"lower_bound", c.lower_bound}};
    json["flips"] = flips_json(c.flips);
    json["differences"] = Json::array();
    for (const MeanDifference& d : c.differences)
        json["differences"].push_back(difference_json(d));
    json["interval"] = {{"method", "circular block bootstrap"},
                        {"level", 0.95},
                        {"draws", bootstrap_draws},
                        {"block", bootstrap_block(c.flips.n)},
                        {"seed", bootstrap_seed}};
    json["differing_settings"] = Json::object();
    for (const auto& difference : differing_settings({c.a.trace, c.b.trace}))
        json["differing_settings"][difference.key] = {{"a", difference.values[0]}, {"b", difference.values[1]}};
    json["environment"] = environment_json(environment_difference({c.a.trace, c.b.trace}), {"a", "b"});
    json["method"] = Json::object();
    for (const auto& line : method_of(*c.baseline, {c.a.trace, c.b.trace}, "per probe, paired by position"))
        json["method"][line.label] = line.value;
    json["notices"] = report.notices;
    json["worse"] = worse_json(c);
    json["n_worse"] = static_cast<std::int64_t>(what_got_worse(c).size());
    json["windows"] = windows_json(c, report.window_tokens);
    return json;
}

std::string comparison_text(const ComparisonReport& report)
{
    const RunComparison& c = report.comparison;
    const PairedFlips& f = c.flips;
    std::string text =
        fmt::format("Baseline P: {} ({})\nA: {} ({})\nB: {} ({})\nEngine: {} ({})\n\n", visible(c.baseline->run_name),
                    visible(c.baseline->path.string()), visible(c.a.name), visible(c.a.trace->path.string()),
                    visible(c.b.name), visible(c.b.trace->path.string()), report.engine, report.engine_detail);
    text += fmt::format("{} paired probes", f.n);
    if (f.n_invalid > 0)
        text += fmt::format(", {} invalid", f.n_invalid);
    if (c.only_in_a + c.only_in_b > 0)
        text += fmt::format(", left out: {} only in A, {} only in B", c.only_in_a, c.only_in_b);
    text += fmt::format("\nflips: {} in both ({} to the same token), {} only in A, {} only in B, {} in neither\n",
                        f.both, f.both_same_token, f.only_a, f.only_b, f.neither);
    text += fmt::format("exact McNemar test: p = {:.4g}\nA and B disagree on the top token at {} of {} probes\n\n",
                        f.mcnemar_p, f.tops_differ, f.n);
    text += differences_text(c);
    if (c.lower_bound)
        text += "A top-k trace takes part: divergences are lower bounds.\n";
    text += worse_text(c, TokenTexts({c.baseline, c.a.trace, c.b.trace}));
    text += environment_text(environment_difference({c.a.trace, c.b.trace}));
    for (const std::string& notice : report.notices)
        text += fmt::format("\n{}\n", visible(notice));
    return text;
}

std::string comparison_csv(const RunComparison& comparison)
{
    const auto number_of = [](double value) {
        return std::isnan(value)   ? std::string("nan")
               : std::isinf(value) ? std::string(value > 0 ? "inf" : "-inf")
                                   : fmt::format("{:.17g}", value);
    };
    std::string csv =
        "position,flips,argmax_p,argmax_a,argmax_b,margin,kl_pq_a,kl_pq_b,kl_pq_difference,kl_qp_a,kl_qp_b,"
        "js_a,js_b,tv_a,tv_b\n";
    for (const PairedProbe& p : comparison.probes) {
        csv += fmt::format("{},{},{},{},{}", p.position, class_of(p), p.a->argmax_p, p.a->argmax_q, p.b->argmax_q);
        for (const double v : {p.a->margin, p.a->kl_pq, p.b->kl_pq, p.kl_difference(), p.a->kl_qp, p.b->kl_qp, p.a->js,
                               p.b->js, p.a->tv, p.b->tv})
            csv += ',' + number_of(v);
        csv += '\n';
    }
    return csv;
}

} // namespace flipscope
