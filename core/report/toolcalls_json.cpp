// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/toolcalls.h"

#include <cmath>

namespace flipscope {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

template <class T>
Json optional(const std::optional<T>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

Json id_or_null(std::int32_t id)
{
    return id < 0 ? Json(nullptr) : Json(id);
}

Json list_json(const BranchSide& side, const TokenTexts& texts)
{
    Json list = Json::array();
    for (std::size_t i = 0; i < side.top_ids.size(); ++i)
        list.push_back({{"id", side.top_ids[i]},
                        {"text", std::string(texts.bytes(side.top_ids[i]).value_or(std::string_view()))},
                        {"logprob", number(side.top_logprobs[i])},
                        {"probability", number(std::exp(side.top_logprobs[i]))}});
    return list;
}

Json divergence_json(const Divergence& d, const TokenTexts& texts)
{
    return {{"position", d.position},
            {"step", d.step},
            {"baseline_id", id_or_null(d.baseline.id)},
            {"id", id_or_null(d.run.id)},
            {"baseline_text", d.baseline.id < 0 ? Json(nullptr) : Json(d.baseline.text)},
            {"text", d.run.id < 0 ? Json(nullptr) : Json(d.run.text)},
            {"baseline_margin", number(d.baseline.margin)},
            {"margin", number(d.run.margin)},
            {"tied", d.tied()},
            {"baseline_tied", d.baseline.tied},
            {"run_tied", d.run.tied},
            {"one_step", d.one_step()},
            {"inside", inside_word(d.inside())},
            {"path", text_or_null(d.path())},
            {"baseline_inside", inside_word(d.baseline.inside)},
            {"run_inside", inside_word(d.run.inside)},
            {"fed", d.fed},
            {"baseline_probability", number(d.baseline.p_baseline_id)},
            {"baseline_probability_of_run_token", number(d.baseline.p_id)},
            {"probability", number(d.run.p_id)},
            {"probability_of_baseline_token", number(d.run.p_baseline_id)},
            {"baseline_unlisted_at_most", number(d.baseline.p_unlisted)},
            {"unlisted_at_most", number(d.run.p_unlisted)},
            {"baseline_top", list_json(d.baseline, texts)},
            {"top", list_json(d.run, texts)}};
}

Json arguments_json(const std::vector<Argument>& arguments)
{
    Json json = Json::object();
    for (const auto& argument : arguments)
        json[argument.path] = argument.value;
    return json;
}

Json reading_json(const Reading& reading)
{
    return {{"accepted", reading.accepted},
            {"name", reading.name},
            {"arguments", arguments_json(reading.arguments)},
            {"note", text_or_null(reading.note)}};
}

Json call_json(const Call& call, std::int64_t prefix)
{
    return {{"status", status_word(call.status)},
            {"start", prefix + static_cast<std::int64_t>(call.tokens.begin)},
            {"end", prefix + static_cast<std::int64_t>(call.tokens.end)},
            {"readings_differ", call.readings_differ},
            {"strict", reading_json(call.strict)},
            {"tolerant", reading_json(call.tolerant)}};
}

Json settings_json(const std::vector<SettingNote>& settings)
{
    Json json = Json::object();
    for (const auto& setting : settings)
        json[setting.key] = {{"baseline", setting.baseline}, {"run", setting.run}};
    return json;
}

Json row_json(const ToolCallsReport& report, const RunCalls& calls, std::size_t index)
{
    const CallRow& row = calls.rows[index];
    const auto& continuation = calls.continuations[static_cast<std::size_t>(row.continuation)];
    const auto& base = calls.baseline->continuations[continuation.baseline];
    const auto& run = calls.run->continuations[continuation.run];
    Json json = {{"index", index},
                 {"baseline_index", optional(row.baseline_index)},
                 {"prefix_tokens", row.prefix_tokens},
                 {"start_position", row.start_position},
                 {"outcome", outcome_word(row.outcome)},
                 {"name", row.name},
                 {"run_name", text_or_null(row.run_name)},
                 {"path", text_or_null(row.path)},
                 {"baseline_value", optional(row.baseline_value)},
                 {"value", optional(row.value)},
                 {"recovers", optional(row.recovers)},
                 {"parser_disagrees", row.parser_disagrees},
                 {"parser_note", text_or_null(row.parser_note)},
                 {"readings_differ", row.readings_differ},
                 {"note", text_or_null(row.note)},
                 {"run_text", row.run_call ? Json(nullptr) : Json(continuation_text(run, 400))},
                 {"settings", settings_json(settings_for(calls, row.outcome))},
                 {"baseline_call", nullptr},
                 {"run_call", nullptr},
                 {"first_divergence", nullptr}};
    if (row.baseline_call)
        json["baseline_call"] = call_json(base.found.calls[*row.baseline_call], base.prefix_tokens);
    if (row.run_call)
        json["run_call"] = call_json(run.found.calls[*row.run_call], run.prefix_tokens);
    if (continuation.divergence)
        json["first_divergence"] = divergence_json(*continuation.divergence, report.texts);
    return json;
}

Json summary_json(const RunCalls& calls)
{
    const CallSummary& s = calls.summary;
    Json counts = Json::object();
    for (std::size_t i = 0; i < outcome_count; ++i)
        counts[std::string(outcome_word(static_cast<Outcome>(i)))] = s.counts[i];
    Json loops = Json::array(), survive = Json::array();
    for (const auto& continuation : calls.continuations) {
        Json words = Json::array();
        for (std::size_t i = continuation.first_row; i < continuation.first_row + continuation.rows; ++i) {
            words.push_back(outcome_word(calls.rows[i].outcome));
            if (!continuation.closed_loop && !calls.rows[i].broken())
                survive.push_back(i);
        }
        if (continuation.closed_loop)
            loops.push_back({{"prefix_tokens", continuation.prefix_tokens},
                             {"first_index", continuation.first_row},
                             {"calls", words},
                             {"recovers", optional(continuation.recovers)},
                             {"recovers_after_call", optional(continuation.recovers_after_call)}});
    }
    return {{"text", s.text},
            {"calls", s.rows},
            {"baseline_calls", s.baseline_calls},
            {"found", s.found},
            {"counts", counts},
            {"parser_disagrees", s.parser_disagrees},
            {"recovers", optional(s.recovers)},
            {"recovers_after_index", optional(s.recovers_after_row)},
            {"closed_loops", loops},
            {"survive", survive},
            {"continuations", calls.continuations.size()},
            {"unmatched_in_baseline", s.unmatched_in_baseline},
            {"unmatched_in_run", s.unmatched_in_run}};
}

Json probe_json(const ForcedCall& call, const std::optional<std::size_t>& index, const TraceCalls& calls)
{
    if (!index)
        return nullptr;
    const ForcedProbe& probe = call.probes[*index];
    const auto token = static_cast<std::size_t>(probe.position + 1);
    return {{"position", probe.position + 1},
            {"text", std::string(calls.history.token(token))},
            {"inside", inside_word(probe.inside)},
            {"path", text_or_null(probe.path)},
            {"baseline_probability", number(std::exp(probe.logprob_p))},
            {"probability", number(std::exp(probe.logprob_q))},
            {"flip", probe.flip},
            {"tied", probe.tied}};
}

Json forced_json(const ForcedCalls& forced, const TraceCalls& baseline)
{
    Json classes = Json::object();
    for (const Inside inside : {Inside::Prose, Inside::Name, Inside::Key, Inside::Value, Inside::Delimiter})
        classes[std::string(inside_word(inside))] = {
            {"probes", forced.probes_by_class[static_cast<std::size_t>(inside)]},
            {"flips", forced.flips_by_class[static_cast<std::size_t>(inside)]}};
    Json all = Json::array();
    for (const auto& call : forced.calls)
        all.push_back({{"start", call.start},
                       {"end", call.end},
                       {"name", call.name},
                       {"probes", call.probes.size()},
                       {"complete", call.complete},
                       {"flips", call.flips},
                       {"baseline_logprob", number(call.logprob_p)},
                       {"logprob", number(call.logprob_q)},
                       {"baseline_probability", number(std::exp(call.logprob_p))},
                       {"probability", number(std::exp(call.logprob_q))},
                       {"baseline_weakest", probe_json(call, call.weakest_p, baseline)},
                       {"weakest", probe_json(call, call.weakest_q, baseline)},
                       {"largest_drop", probe_json(call, call.largest_drop, baseline)}});
    return {{"calls_in_history", forced.calls_in_history}, {"classes", classes}, {"calls", all}};
}

Json run_json(const ToolCallsReport& report, const ToolCallsRun& run)
{
    const RunCalls& calls = *run.calls;
    Json json = {{"name", run.name},
                 {"path", calls.run->trace->path.string()},
                 {"dialect", calls.run->dialect ? Json(calls.run->dialect->name) : Json(nullptr)},
                 {"settings", settings_json(calls.settings)},
                 {"calls", Json::array()}};
    for (std::size_t i = 0; i < calls.rows.size(); ++i)
        json["calls"].push_back(row_json(report, calls, i));
    json["summary"] = summary_json(calls);
    json["history"] = run.forced ? forced_json(*run.forced, *calls.baseline) : Json(nullptr);
    json["findings"] = Json::array();
    for (const auto& finding : calls.findings)
        json["findings"].push_back({{"level", finding.level == Finding::Level::Warning ? "warning" : "note"},
                                    {"code", finding.code},
                                    {"text", finding.text}});
    if (!run.forced_problem.empty())
        json["findings"].push_back({{"level", "warning"}, {"code", "probes"}, {"text", run.forced_problem}});
    return json;
}

} // namespace

nlohmann::ordered_json toolcalls_json(const ToolCallsReport& report)
{
    const TraceCalls& baseline = *report.baseline;
    Json json = {{"format", "flipscope-toolcalls"},
                 {"version", 1},
                 {"baseline",
                  {{"name", baseline.trace->run_name},
                   {"path", baseline.trace->path.string()},
                   {"dialect", baseline.dialect ? Json(baseline.dialect->name) : Json(nullptr)},
                   {"dialect_chosen", baseline.chosen},
                   {"continuations", baseline.continuations.size()},
                   {"calls", baseline.calls()},
                   {"calls_in_history", baseline.in_history.calls.size()}}},
                 {"notices", report.notices},
                 {"problems", Json::array()},
                 {"runs", Json::array()}};
    for (const auto& problem : report.problems)
        json["problems"].push_back(problem.message);
    for (const auto& run : report.runs)
        json["runs"].push_back(run_json(report, run));
    return json;
}

} // namespace flipscope
