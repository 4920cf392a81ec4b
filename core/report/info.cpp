// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/llamacpp_base.h"
#include "core/report/environment_report.h"
#include "core/report/report.h"
#include "core/text/token_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace flipscope {

namespace {

using Json = nlohmann::ordered_json;

std::string kind_name(const ProbeSet& set)
{
    return set.kind == ProbeSet::Kind::Full ? "full" : "topk";
}

std::string type_name(const ProbeSet& set)
{
    if (set.kind == ProbeSet::Kind::Full && set.rows)
        return name_of(set.rows->type());
    return set.kind == ProbeSet::Kind::Full ? "unreadable" : fmt::format("lists of {}", set.k);
}

Json probes_json(const ProbeSet& set)
{
    Json json = {
        {"n_probes", set.size()}, {"kind", kind_name(set)}, {"logits", type_name(set)}, {"n_vocab", set.n_vocab}};
    if (set.kind == ProbeSet::Kind::TopK)
        json["k"] = set.k;
    json["first_position"] = set.positions.empty() ? Json(nullptr) : Json(set.positions.front());
    json["last_position"] = set.positions.empty() ? Json(nullptr) : Json(set.positions.back());
    const auto stated = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
    json["scoring"] = stated(set.scoring);
    json["values"] = stated(set.values);
    json["temperature"] = set.temperature ? Json(*set.temperature) : Json(nullptr);
    json["has_top1"] = !set.top1.empty();
    json["has_lse"] = !set.lse.empty();
    return json;
}

std::map<std::string, int> span_counts(const Trace& trace)
{
    std::map<std::string, int> counts;
    for (const auto& span : trace.spans)
        ++counts[span.kind];
    return counts;
}

struct Abilities {
    std::vector<std::string> can, cannot;
};

Abilities abilities(const Trace& trace)
{
    Abilities a;
    if (!trace.others.empty())
        a.can.push_back(fmt::format("every number of the {} run{} in it, as computed from the full rows",
                                    trace.others.size(), trace.others.size() == 1 ? "" : "s"));
    if (trace.probes.positions.empty())
        a.cannot.push_back("flip rates and divergences: the file holds no probes");
    else if (trace.probes.kind == ProbeSet::Kind::Full && trace.probes.rows)
        a.can.push_back(
            "flips, KL in both directions, JS, TV and every other metric against a trace of the same history");
    else if (trace.probes.kind == ProbeSet::Kind::TopK) {
        a.can.push_back("flips, and lower bounds of the divergences (lists of the likeliest tokens only)");
        a.cannot.push_back(
            trace.others.empty()
                ? "exact divergences, entropies and ranks: what lies behind the lists is not in the file"
                : "exact divergences from anything else: of each row only the likeliest tokens are there");
    } else
        a.cannot.push_back("flip rates and divergences: the rows cannot be read");
    if (is_llamacpp_base(trace)) {
        a.can.push_back("as a baseline, the statistics that llama.cpp's --kl-divergence prints");
        a.cannot.push_back("anything about the first half of each chunk: the file holds no rows there");
    }
    const auto& ids = trace.tokens.ids;
    if (const auto unknown = std::count(ids.begin(), ids.end(), unknown_id); unknown > 0)
        a.cannot.push_back(
            fmt::format("checking which text was fed, and the likelihood of its tokens: {} of {} ids are not "
                        "known",
                        unknown, ids.size()));
    if (trace.tokens.text.empty() && !trace.vocabulary)
        a.cannot.push_back("showing the text of tokens: the file holds no bytes (another open trace's are used)");
    else
        a.can.push_back(trace.vocabulary ? "showing the text of every token"
                                         : "showing the text of the history's tokens");
    if (trace.generations.empty())
        a.cannot.push_back("comparing continuations: the file holds none");
    else
        a.can.push_back(fmt::format("comparing {} continuation{}", trace.generations.size(),
                                    trace.generations.size() == 1 ? "" : "s"));
    return a;
}

} // namespace

nlohmann::ordered_json info_json(const Trace& trace)
{
    Json json = {{"format", "flipscope-info"},  {"version", 1},
                 {"path", trace.path.string()}, {"kind", trace.format},
                 {"bytes", trace.stamp.size},   {"run_name", trace.run_name},
                 {"created", trace.created},    {"producer", trace.producer}};
    json["tokens"] = {{"n", static_cast<std::int64_t>(trace.tokens.ids.size())},
                      {"has_text", !trace.tokens.text.empty()},
                      {"tokenizer", trace.tokens.tokenizer},
                      {"prompt_sha256", trace.tokens.prompt_sha256}};
    json["vocabulary"] =
        trace.vocabulary ? Json(static_cast<std::int64_t>(trace.vocabulary->text.size())) : Json(nullptr);
    json["probes"] = probes_json(trace.probes);
    json["dense"] = Json::object();
    for (const auto& set : trace.dense)
        json["dense"][set.name] = probes_json(set);
    json["spans"] = Json::object();
    for (const auto& [kind, n] : span_counts(trace))
        json["spans"][kind] = n;
    json["generations"] = static_cast<std::int64_t>(trace.generations.size());
    json["run"] = Json::object();
    for (const auto& [key, value] : trace.run)
        json["run"][key] = value;
    json["packages"] = static_cast<std::int64_t>(trace.packages.size());
    json["environment"] = environment_json(trace);
    json["launch_log_bytes"] = static_cast<std::int64_t>(trace.launch_log.size());
    json["summary"] = Json(nullptr);
    if (!trace.summary_key.empty()) {
        json["summary"] = {{"key", trace.summary_key}, {"runs", Json::array()}};
        for (const auto& run : trace.others)
            json["summary"]["runs"].push_back({{"name", run->run_name}, {"n_probes", run->probes.size()}});
    }
    const auto a = abilities(trace);
    json["can"] = a.can;
    json["cannot"] = a.cannot;
    json["findings"] = Json::array();
    for (const auto& finding : trace.findings)
        json["findings"].push_back({{"level", finding.level == Finding::Level::Warning ? "warning" : "note"},
                                    {"code", finding.code},
                                    {"text", finding.text}});
    return json;
}

std::string info_text(const Trace& trace)
{
    std::string text;
    const auto line = [&](std::string_view label, const std::string& value) {
        text += fmt::format("{:<14}{}\n", label, value.empty() ? "not stated" : visible(value));
    };
    const auto set_text = [](const ProbeSet& set) {
        if (set.positions.empty())
            return std::string("none");
        const std::string place = set.size() == 1 ? fmt::format("1 at position {}", set.positions.front())
                                                  : fmt::format("{} at positions {} to {}", set.size(),
                                                                set.positions.front(), set.positions.back());
        return fmt::format("{}, {} of {}", place, type_name(set),
                           set.n_vocab > 0 ? fmt::format("{} ids", set.n_vocab) : "a vocabulary of unstated size");
    };
    line("file", trace.path.string());
    line("kind", trace.format);
    line("run", trace.run_name);
    line("created", trace.created);
    line("producer", trace.producer);
    line("history", fmt::format("{} tokens, {}", trace.tokens.ids.size(),
                                trace.tokens.text.empty() ? "without text" : "with text"));
    line("tokenizer", trace.tokens.tokenizer);
    line("vocabulary", trace.vocabulary ? fmt::format("text of {} ids", trace.vocabulary->text.size()) : "not stored");
    line("probes", set_text(trace.probes));
    line("scoring", trace.probes.scoring);
    line("values", trace.probes.values);
    for (const auto& set : trace.dense)
        line("dense probes", fmt::format("{}: {}", set.name, set_text(set)));
    std::string spans;
    for (const auto& [kind, n] : span_counts(trace))
        spans += fmt::format("{}{} {}", spans.empty() ? "" : ", ", n, kind);
    line("segments", spans.empty() ? "none" : spans);
    line("continuations", fmt::format("{}", trace.generations.size()));
    line("packages", trace.packages.empty() ? "" : fmt::format("{} listed", trace.packages.size()));
    std::string runs;
    for (const auto& run : trace.others)
        runs += (runs.empty() ? "" : ", ") + run->run_name;
    if (!runs.empty())
        line("summary of", runs);
    text += "\nRun settings\n" + environment_text(trace);
    const auto a = abilities(trace);
    text += "\nWhat can be done with it\n";
    for (const auto& can : a.can)
        text += "  yes: " + can + '\n';
    for (const auto& cannot : a.cannot)
        text += "  no:  " + cannot + '\n';
    if (!trace.findings.empty())
        text += "\nTo know\n";
    for (const auto& finding : trace.findings)
        text += "  " + visible(finding.text) + '\n';
    return text;
}

} // namespace flipscope
