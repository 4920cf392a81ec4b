// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/utf8.h"
#include "core/report/toolcalls.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace flipscope {

namespace {

constexpr std::size_t value_columns = 72;

std::string shortened(std::string_view bytes, std::size_t columns)
{
    // What cannot be shown is not looked at: one column takes at least one byte.
    const std::string text = visible(bytes.substr(0, columns * 16));
    if (display_width(text) <= columns)
        return text;
    std::size_t end = 0, width = 0;
    while (end < text.size() && width + 3 < columns) {
        const std::size_t length = std::max<std::size_t>(1, utf8_at(text, end).length);
        width += display_width(std::string_view(text).substr(end, length));
        end += length;
    }
    return text.substr(0, end) + "...";
}

std::string in_quotes(std::string_view bytes)
{
    return fmt::format("\"{}\"", shortened(bytes, value_columns));
}

std::string probability(double p, double at_most = NAN)
{
    if (!std::isnan(p))
        return fmt::format("{:.3g}", p);
    return std::isnan(at_most) ? "not stored" : fmt::format("at most {:.2g}", at_most);
}

std::string count(std::size_t n, const char* what)
{
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string value_or_none(const std::optional<std::string>& value)
{
    return value ? in_quotes(*value) : "nothing";
}

std::string token_of(const BranchSide& side)
{
    return side.id < 0 ? "its end" : fmt::format("{} ({})", in_quotes(side.text), side.id);
}

std::string margins(const Divergence& d)
{
    const auto margin = [](const BranchSide& side) {
        return std::isnan(side.margin) ? std::string("not stored") : fmt::format("{:.3g}", side.margin);
    };
    const char* verdict = d.tied()                                                    ? "a tie"
                          : d.one_step()                                              ? "one step of the logits' type"
                          : std::isnan(d.baseline.margin) || std::isnan(d.run.margin) ? ""
                                                                                      : "no tie";
    return fmt::format("margins in nats: baseline {}, run {}{}{}", margin(d.baseline), margin(d.run),
                       *verdict ? "; " : "", verdict);
}

std::string place(const Divergence& d)
{
    std::string text = fmt::format("in the {}", inside_word(d.inside()));
    if (!d.path().empty())
        text += fmt::format(" of {}", d.path());
    return d.inside() == Inside::Delimiter ? "in a delimiter" : d.inside() == Inside::Prose ? "in prose" : text;
}

/// What happened to the call, on one line.
std::string fact(const CallRow& row)
{
    switch (row.outcome) {
    case Outcome::ArgumentDiffers:
    case Outcome::Unclosed:
    case Outcome::Malformed:
        return row.path.empty() ? row.name
                                : fmt::format("{} {}: {} -> {}", row.name, row.path, value_or_none(row.baseline_value),
                                              value_or_none(row.value));
    case Outcome::OtherTool:
        return fmt::format("{} -> {}", row.name, row.run_name);
    default:
        return row.name;
    }
}

void add_divergence(std::string& text, const Divergence& d)
{
    text += fmt::format("      they part at token {}, {}{}: baseline {}, run {}\n", d.position, place(d),
                        d.fed ? " (in what was fed)" : "", token_of(d.baseline), token_of(d.run));
    if (d.baseline.id >= 0 && d.run.id >= 0 && !(d.baseline.top_ids.empty() && d.run.top_ids.empty()))
        text +=
            fmt::format("      probability of the baseline's token: baseline {}, run {}; of the run's token: baseline "
                        "{}, run {}\n",
                        probability(d.baseline.p_baseline_id, d.baseline.p_unlisted),
                        probability(d.run.p_baseline_id, d.run.p_unlisted),
                        probability(d.baseline.p_id, d.baseline.p_unlisted), probability(d.run.p_id, d.run.p_unlisted));
    if (!d.baseline.top_ids.empty() || !d.run.top_ids.empty())
        text += fmt::format("      {}\n", margins(d));
}

void add_row(std::string& text, const RunCalls& calls, std::size_t index)
{
    const CallRow& row = calls.rows[index];
    const auto& continuation = calls.continuations[static_cast<std::size_t>(row.continuation)];
    text += fmt::format("  call {}, at token {}: {} {}: {}\n", index, row.start_position, outcome_symbol(row.outcome),
                        outcome_word(row.outcome), fact(row));
    if (continuation.divergence)
        add_divergence(text, *continuation.divergence);
    if (!row.note.empty())
        text += fmt::format("      {}\n", row.note);
    if (row.parser_disagrees)
        text += fmt::format("      {}\n", shortened(row.parser_note, 200));
    if (!row.run_call)
        text += fmt::format("      the run wrote: {}\n",
                            continuation_text(calls.run->continuations[continuation.run], 120));
    if (row.recovers)
        text += *row.recovers ? "      later calls come back to the baseline's\n"
                              : "      later calls do not come back to the baseline's\n";
    for (const auto& setting : settings_for(calls, row.outcome))
        text += setting.baseline == setting.run
                    ? fmt::format("      {}: {}\n", setting.key, shortened(setting.run, value_columns))
                    : fmt::format("      {}: {} in the baseline, {} in the run\n", setting.key,
                                  shortened(setting.baseline, value_columns), shortened(setting.run, value_columns));
}

void add_forced(std::string& text, const ForcedCalls& forced, const TraceCalls& baseline)
{
    if (forced.calls.empty())
        return;
    std::size_t probes = 0;
    for (const auto& call : forced.calls)
        probes += call.probes.size();
    std::string classes;
    for (const Inside inside : {Inside::Name, Inside::Key, Inside::Value, Inside::Delimiter}) {
        const auto i = static_cast<std::size_t>(inside);
        if (forced.probes_by_class[i] > 0)
            classes += fmt::format("{}{} {} of {}", classes.empty() ? "" : ", ", inside_word(inside),
                                   forced.flips_by_class[i], forced.probes_by_class[i]);
    }
    text += fmt::format("  forced history: {} in {} of {} calls; flips: {}\n", count(probes, "probe"),
                        forced.calls.size(), forced.calls_in_history, classes);
    for (const auto& call : forced.calls) {
        if (!call.complete)
            continue;
        text += fmt::format("    {} at token {}, whole call: probability {:.3g} in the baseline, {:.3g} in the run",
                            call.name, call.start, std::exp(call.logprob_p), std::exp(call.logprob_q));
        if (call.weakest_q) {
            const ForcedProbe& weakest = call.probes[*call.weakest_q];
            text += fmt::format("; weakest token {} at {} ({:.3g}; baseline {:.3g})",
                                in_quotes(baseline.history.token(static_cast<std::size_t>(weakest.position + 1))),
                                weakest.position + 1, std::exp(weakest.logprob_q), std::exp(weakest.logprob_p));
        }
        text += "\n";
    }
}

void add_run(std::string& text, const ToolCallsRun& run)
{
    const RunCalls& calls = *run.calls;
    text += fmt::format("\n{}: {}\n", run.name, calls.summary.text);
    for (const auto& finding : calls.findings)
        text += fmt::format("  {}\n", finding.text);
    for (std::size_t i = 0; i < calls.rows.size(); ++i)
        if (calls.rows[i].broken())
            add_row(text, calls, i);
    if (run.forced)
        add_forced(text, *run.forced, *calls.baseline);
    if (!run.forced_problem.empty())
        text += fmt::format("  {}\n", run.forced_problem);
}

} // namespace

std::string continuation_text(const ContinuationCalls& continuation, std::size_t columns)
{
    return shortened(continuation.stream.bytes, columns);
}

std::string toolcalls_text(const ToolCallsReport& report)
{
    const TraceCalls& baseline = *report.baseline;
    std::string text = fmt::format(
        "baseline {}: {} in {}, {} in the forced history", baseline.trace->run_name, count(baseline.calls(), "call"),
        count(baseline.continuations.size(), "continuation"), count(baseline.in_history.calls.size(), "call"));
    text += baseline.dialect ? fmt::format("; dialect {} ({})\n", baseline.dialect->name,
                                           baseline.chosen ? "as asked for" : "detected")
                             : "; no known dialect\n";
    if (baseline.continuations.empty())
        text += "The baseline holds no continuations: record some to see what becomes of its calls.\n";
    for (const auto& run : report.runs)
        add_run(text, run);
    for (const auto& notice : report.notices)
        text += fmt::format("\n{}\n", notice);
    return text;
}

} // namespace flipscope
