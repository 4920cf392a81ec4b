// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/floor.h"
#include "core/analysis/kld_card.h"
#include "core/analysis/list_bias.h"
#include "core/report/environment_report.h"
#include "core/report/method.h"
#include "core/report/report.h"

#include <array>
#include <cmath>

namespace flipscope {

namespace {

using Json = nlohmann::ordered_json;

/// JSON knows no infinity and no NaN: null for what is not finite or not there.
Json number(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json distribution_json(const Distribution& d, std::int64_t n_invalid)
{
    return {{"mean", number(d.mean)},     {"median", number(d.median)}, {"p90", number(d.p90)}, {"p95", number(d.p95)},
            {"p99", number(d.p99)},       {"p999", number(d.p999)},     {"max", number(d.max)}, {"n", d.n},
            {"n_infinite", d.n_infinite}, {"n_invalid", n_invalid}};
}

Json window_json(const WindowStats& w)
{
    return {{"start", w.start},
            {"end", w.end},
            {"n", w.n},
            {"n_invalid", w.n_invalid},
            {"flips", w.flips},
            {"flips_tied", w.flips_tied},
            {"flip_rate", number(w.flip_rate)},
            {"flip_low", number(w.flip_interval.low)},
            {"flip_high", number(w.flip_interval.high)},
            {"tv_mean", number(w.tv.mean)},
            {"kl_mean", number(w.kl_pq.mean)},
            {"kl_median", number(w.kl_pq.median)},
            {"kl_p90", number(w.kl_pq.p90)},
            {"kl_p95", number(w.kl_pq.p95)},
            {"kl_p99", number(w.kl_pq.p99)},
            {"kl_p999", number(w.kl_pq.p999)},
            {"kl_max", number(w.kl_pq.max)},
            {"kl_n_infinite", w.kl_pq.n_infinite},
            {"kl_qp_mean", number(w.kl_qp.mean)},
            {"js_mean", number(w.js.mean)},
            {"top5_overlap", number(w.top5_overlap)},
            {"dp_mean", number(w.dp_mean)}};
}

Json findings_json(const Findings& findings)
{
    Json all = Json::array();
    for (const auto& finding : findings)
        all.push_back({{"level", finding.level == Finding::Level::Warning ? "warning" : "note"},
                       {"code", finding.code},
                       {"text", finding.text}});
    return all;
}

void add_pieces_json(const Analysis& analysis, const RunAnalysis& run, Json& json)
{
    if (analysis.by == Partition::Windows)
        return;
    Json& all = json[analysis.by == Partition::Turns ? "turns" : "segments"] = Json::array();
    for (std::size_t i = 0; i < run.pieces.size(); ++i) {
        Json piece = {{"kind", analysis.pieces[i].kind}, {"label", analysis.pieces[i].label}};
        piece.update(window_json(run.pieces[i]));
        all.push_back(std::move(piece));
    }
    if (analysis.kinds.empty())
        return;
    Json& kinds = json["kinds"] = Json::object();
    for (std::size_t i = 0; i < run.kinds.size(); ++i)
        kinds[analysis.kinds[i].empty() ? "none" : analysis.kinds[i]] = window_json(run.kinds[i]);
}

Json uncertain_json(const Uncertain& u)
{
    return {{"value", number(u.value)}, {"error", number(u.error)}};
}

/// The block that llama.cpp prints; shares are 0..1, not percent.
Json llamacpp_json(const LlamacppStatistics& s)
{
    Json json = {{"n", s.n},
                 {"n_invalid", s.n_invalid},
                 {"codec_limited", true},
                 {"run_is_codec", s.run_is_codec},
                 {"ppl_q", uncertain_json(s.ppl_q)},
                 {"ppl_base", uncertain_json(s.ppl_base)},
                 {"correlation", number(s.correlation)},
                 {"ln_ppl_ratio", uncertain_json(s.ln_ratio)},
                 {"ppl_ratio", uncertain_json(s.ratio)},
                 {"ppl_difference", uncertain_json(s.difference)},
                 {"kld_mean", uncertain_json(s.kld_mean)},
                 {"dp_mean", uncertain_json(s.dp_mean)},
                 {"dp_rms", uncertain_json(s.dp_rms)},
                 {"same_top", uncertain_json(s.same_top)}};
    static constexpr std::array<const char*, 13> names = {"max", "p999", "p99", "p95", "p90",  "p75", "median",
                                                          "p25", "p10",  "p5",  "p1",  "p0_1", "min"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        json["kld"][names[i]] = number(s.kld[i]);
        json["dp"][names[i]] = number(s.dp[i]);
    }
    json["chunks"] = Json::array();
    for (const auto& c : s.chunks)
        json["chunks"].push_back({{"chunk", c.chunk},
                                  {"ppl", uncertain_json(c.ppl)},
                                  {"ln_ppl_ratio", uncertain_json(c.ln_ratio)},
                                  {"kld", uncertain_json(c.kld)},
                                  {"dp_rms", uncertain_json(c.dp_rms)},
                                  {"same_top", uncertain_json(c.same_top)}});
    return json;
}

Json run_json(const RunAnalysis& run)
{
    const auto& w = run.overall;
    const auto& alignment = run.table->alignment;
    Json json = {{"name", run.name},
                 {"path", run.trace->path.string()},
                 {"n_probes", static_cast<std::int64_t>(run.table->probes.size())},
                 {"flips", w.flips},
                 {"flip_rate", number(w.flip_rate)},
                 {"flip_low", number(w.flip_interval.low)},
                 {"flip_high", number(w.flip_interval.high)},
                 {"flips_tied", w.flips_tied},
                 {"flips_top1", run.flips_top1 < 0 ? Json(nullptr) : Json(run.flips_top1)},
                 {"bit_identical", run.bit_identical},
                 {"differing_rows", run.differing_rows},
                 {"n_invalid", w.n_invalid},
                 {"lower_bound", alignment.top_k},
                 {"kl_pq", distribution_json(w.kl_pq, w.n_invalid)},
                 {"kl_qp", distribution_json(w.kl_qp, w.n_invalid)},
                 {"js", distribution_json(w.js, w.n_invalid)},
                 {"tv", distribution_json(w.tv, w.n_invalid)},
                 {"top5_overlap", number(w.top5_overlap)},
                 {"dp_mean", number(w.dp_mean)},
                 {"common_tokens", alignment.common_tokens},
                 {"only_in_baseline", alignment.only_in_baseline},
                 {"only_in_run", alignment.only_in_run},
                 {"vocab_compared", alignment.vocab},
                 {"from_cache", run.table->from_cache}};
    if (alignment.top_k) {
        const ListFacts facts = list_facts(*run.table);
        json["lists"] = {{"kept_p_mean", number(facts.kept_p)},
                         {"kept_q_mean", number(facts.kept_q)},
                         {"id_overlap_mean", number(facts.id_overlap)}};
    }
    Findings findings = run.trace->findings;
    findings.insert(findings.end(), alignment.findings.begin(), alignment.findings.end());
    json["findings"] = findings_json(findings);
    json["notices"] = run.table->notices;
    if (run.llamacpp)
        json["llamacpp"] = llamacpp_json(*run.llamacpp);
    json["windows"] = Json::array();
    for (const auto& window : run.windows)
        json["windows"].push_back(window_json(window));
    return json;
}

/// Lists beside the full rows of the same run; nothing where no run is there as both.
void add_bias_json(const Analysis& analysis, Json& json)
{
    std::vector<BiasInput> inputs;
    for (const auto& run : analysis.runs)
        inputs.push_back({run.trace, run.table});
    for (const ListBias& b : list_bias(inputs))
        json["list_bias"].push_back({{"lists", analysis.runs[b.lists].name},
                                     {"full", analysis.runs[b.full].name},
                                     {"n", b.n},
                                     {"kl_pq_mean_lists", number(b.kl_lists)},
                                     {"kl_pq_mean_full", number(b.kl_full)},
                                     {"largest_gap", number(b.largest_gap)},
                                     {"flips_lists", b.flips_lists},
                                     {"flips_full", b.flips_full}});
}

std::vector<TracePtr> traces_of(const Analysis& analysis)
{
    std::vector<TracePtr> traces;
    for (const auto& run : analysis.runs)
        traces.push_back(run.trace);
    return traces;
}

} // namespace

std::string json_text(const nlohmann::ordered_json& json)
{
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json analysis_json(const Analysis& analysis)
{
    Json json = {{"format", "flipscope-analysis"},
                 {"version", 1},
                 {"window_tokens", analysis.window_tokens},
                 {"engine", {{"name", analysis.engine}, {"detail", analysis.engine_detail}}},
                 {"baseline",
                  {{"name", analysis.baseline->run_name},
                   {"path", analysis.baseline->path.string()},
                   {"findings", findings_json(analysis.baseline->findings)}}}};
    const auto traces = traces_of(analysis);
    json["method"] = Json::object();
    for (const auto& line :
         method_of(*analysis.baseline, traces, "per probe, pooled over the matched probes of one history"))
        json["method"][line.label] = line.value;
    auto with_baseline = traces;
    with_baseline.insert(with_baseline.begin(), analysis.baseline);
    json["differing_settings"] = Json::object();
    for (const auto& difference : differing_settings(with_baseline))
        json["differing_settings"][difference.key] = difference.values;
    json["environment"] = environment_json(environment_difference(with_baseline));
    json["notices"] = analysis.notices;
    json["problems"] = Json::array();
    for (const auto& problem : analysis.problems)
        json["problems"].push_back(problem.message);
    const RunAnalysis* floor = analysis.floor >= 0 ? &analysis.runs[static_cast<std::size_t>(analysis.floor)] : nullptr;
    if (floor != nullptr)
        json["floor"] = floor->name;
    json["runs"] = Json::array();
    for (const auto& run : analysis.runs) {
        json["runs"].push_back(run_json(run));
        add_pieces_json(analysis, run, json["runs"].back());
        if (floor != nullptr && &run != floor) {
            const AboveFloor above = above_floor(run.overall, floor->overall);
            json["runs"].back()["above_floor"] = {{"kl_pq_mean", number(above.kl_pq_mean)},
                                                  {"flip_rate", number(above.flip_rate)}};
        }
    }
    add_bias_json(analysis, json);
    if (!analysis.logs.empty()) {
        json["logs"] = Json::array();
        for (std::size_t i = 0; i < analysis.runs.size(); ++i) // beside what was printed, under the same labels
            for (const KldStatistic& s : in_words_of_the_printout(*analysis.runs[i].table))
                json["runs"][i]["as_printed"][s.label] = number(s.value);
    }
    for (const auto& log : analysis.logs)
        json["logs"].push_back(kld_log_json(log));
    return json;
}

} // namespace flipscope
