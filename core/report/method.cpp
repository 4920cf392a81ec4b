// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/method.h"

#include <fmt/format.h>
#include <set>

namespace flipscope {

namespace {

const std::string not_stated = "not stated";

std::string stated_or_not(const std::string* value)
{
    return value && !value->empty() ? *value : not_stated;
}

/// One setting over the baseline and all runs: a single value where they agree, else "name: value" for each.
MethodLine setting_line(std::string label, std::string_view key, const Trace& baseline,
                        const std::vector<TracePtr>& runs)
{
    const std::string first = stated_or_not(baseline.setting(key));
    bool equal = true;
    for (const auto& run : runs)
        equal = equal && stated_or_not(run->setting(key)) == first;
    std::string value = first;
    if (!equal) {
        value = fmt::format("{}: {}", baseline.run_name, first);
        for (const auto& run : runs)
            value += fmt::format("; {}: {}", run->run_name, stated_or_not(run->setting(key)));
    }
    return {std::move(label), value, value != not_stated};
}

std::string stride_of(const std::vector<std::int64_t>& positions)
{
    if (positions.size() < 2)
        return fmt::format("{} probe{}", positions.size(), positions.size() == 1 ? "" : "s");
    const std::int64_t stride = positions[1] - positions[0];
    for (std::size_t i = 2; i < positions.size(); ++i)
        if (positions[i] - positions[i - 1] != stride)
            return fmt::format("{} probes at irregular positions {} to {}", positions.size(), positions.front(),
                               positions.back());
    return fmt::format("every {} tokens from {} to {} ({} probes)", stride, positions.front(), positions.back(),
                       positions.size());
}

std::string environment_of(const Trace& trace)
{
    std::string text;
    const auto add = [&](std::string_view key) {
        if (const auto* value = trace.setting(key); value && !value->empty())
            text += (text.empty() ? "" : ", ") + *value;
    };
    for (const auto* key : {"engine", "engine_version", "attention_backend", "gpu", "driver", "cuda"})
        add(key);
    if (!trace.packages.empty())
        text += fmt::format("{}{} packages listed", text.empty() ? "" : ", ", trace.packages.size());
    return text;
}

MethodLine environment_line(const Trace& baseline, const std::vector<TracePtr>& runs)
{
    const std::string first = environment_of(baseline);
    bool equal = true, stated = !first.empty();
    for (const auto& run : runs)
        equal = equal && environment_of(*run) == first;
    const auto or_not = [](const std::string& text) { return text.empty() ? not_stated : text; };
    std::string value = or_not(first);
    if (!equal) {
        value = fmt::format("{}: {}", baseline.run_name, value);
        for (const auto& run : runs) {
            value += fmt::format("; {}: {}", run->run_name, or_not(environment_of(*run)));
            stated = stated || !environment_of(*run).empty();
        }
    }
    return {"environment", value, stated};
}

MethodLine vocabulary_line(const Trace& baseline, const std::vector<TracePtr>& runs)
{
    if (const auto* value = baseline.setting("vocab_truncation"); value && !value->empty())
        return {"vocabulary truncation", *value, true};
    std::string lists;
    const auto add = [&](const Trace& trace) {
        if (trace.probes.kind == ProbeSet::Kind::TopK)
            lists += fmt::format("{}{}: top {}", lists.empty() ? "" : "; ", trace.run_name, trace.probes.k);
    };
    add(baseline);
    for (const auto& run : runs)
        add(*run);
    if (!lists.empty())
        return {"vocabulary truncation", lists + " (divergences are lower bounds)", true};
    std::string others;
    for (const auto& run : runs)
        if (run->probes.n_vocab != baseline.probes.n_vocab)
            others += fmt::format(", {} in {}", run->probes.n_vocab, run->run_name);
    return {"vocabulary truncation",
            fmt::format("none: full rows of {} logits{}{}", baseline.probes.n_vocab, others,
                        others.empty() ? "" : " (the ids that both sides have are compared)"),
            true};
}

} // namespace

std::vector<MethodLine> method_of(const Trace& baseline, const std::vector<TracePtr>& runs,
                                  std::string_view aggregation)
{
    std::vector<MethodLine> lines;
    lines.push_back(setting_line("reference checkpoint", "reference_checkpoint", baseline, runs));
    lines.push_back(environment_line(baseline, runs));
    lines.push_back(setting_line("evaluation text", "evaluation_text", baseline, runs));
    lines.push_back(setting_line("calibration data", "calibration_data", baseline, runs));
    auto context = setting_line("context length", "context_length", baseline, runs);
    if (!context.stated)
        context = {"context length", fmt::format("{} tokens of forced history", baseline.tokens.ids.size()), true};
    lines.push_back(std::move(context));
    lines.push_back({"sampling positions", stride_of(baseline.probes.positions), true});
    lines.push_back({"direction", "KL(P‖Q) from the baseline P to the run Q, in nats; KL(Q‖P) beside it", true});
    lines.push_back(vocabulary_line(baseline, runs));
    lines.push_back({"aggregation", std::string(aggregation), !aggregation.empty()});
    return lines;
}

std::vector<SettingDifference> differing_settings(const std::vector<TracePtr>& traces)
{
    std::set<std::string> keys;
    for (const auto& trace : traces)
        for (const auto& [key, value] : trace->run)
            if (key != "capture_config") // what a capture goes on by; the settings in it have keys of their own
                keys.insert(key);
    std::vector<SettingDifference> differences;
    const auto compare = [&](const std::string& key, const auto& value_of) {
        SettingDifference difference{key, {}};
        for (const auto& trace : traces)
            difference.values.push_back(value_of(*trace));
        if (std::set<std::string>(difference.values.begin(), difference.values.end()).size() > 1)
            differences.push_back(std::move(difference));
    };
    for (const auto& key : keys)
        compare(key, [&](const Trace& trace) { return stated_or_not(trace.setting(key)); });
    // Settings that a trace keeps outside /run.
    compare("scoring", [](const Trace& t) { return stated_or_not(&t.probes.scoring); });
    compare("values", [](const Trace& t) { return stated_or_not(&t.probes.values); });
    compare("temperature", [](const Trace& t) {
        return t.probes.temperature ? fmt::format("{}", *t.probes.temperature) : not_stated;
    });
    return differences;
}

} // namespace flipscope
