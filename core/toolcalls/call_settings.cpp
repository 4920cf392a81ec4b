// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/call_settings.h"

#include <algorithm>
#include <array>

namespace flipscope {

namespace {

constexpr std::string_view not_stated = "not stated";

constexpr std::array<std::string_view, 10> keys = {
    "tool_parser",   "reasoning_parser", "grammar",     "structured_outputs",  "tool_choice",
    "chat_template", "sampler",          "speculative", "skip_special_tokens", "chat_template_sha256"};

std::string value_of(const Trace& trace, std::string_view key)
{
    if (key == "chat_template_sha256" && !trace.tokens.chat_template_sha256.empty())
        return trace.tokens.chat_template_sha256;
    const std::string* value = trace.setting(key);
    return value && !value->empty() ? *value : std::string(not_stated);
}

/// What may be behind an outcome.
std::vector<std::string_view> keys_for(Outcome outcome)
{
    switch (outcome) {
    case Outcome::ParserDisagrees:
        return {"tool_parser", "reasoning_parser", "speculative", "skip_special_tokens"};
    case Outcome::Malformed:
    case Outcome::Unclosed:
    case Outcome::ArgumentsEmpty:
        return {"grammar", "structured_outputs", "tool_parser", "sampler"};
    case Outcome::Missing:
    case Outcome::Extra:
    case Outcome::OtherTool:
        return {"tool_choice",          "grammar",         "structured_outputs", "chat_template",
                "chat_template_sha256", "reasoning_parser"};
    case Outcome::ArgumentDiffers:
    case Outcome::Repeated:
        return {"grammar", "structured_outputs", "sampler"};
    case Outcome::Same:
        break;
    }
    return {};
}

} // namespace

std::vector<SettingNote> call_settings(const Trace& baseline, const Trace& run)
{
    std::vector<SettingNote> settings;
    for (const auto key : keys) {
        SettingNote note{std::string(key), value_of(baseline, key), value_of(run, key)};
        if (note.baseline != not_stated || note.run != not_stated)
            settings.push_back(std::move(note));
    }
    return settings;
}

std::vector<SettingNote> settings_for(const RunCalls& calls, Outcome outcome)
{
    std::vector<SettingNote> settings;
    for (const auto key : keys_for(outcome)) {
        const auto known = std::find_if(calls.settings.begin(), calls.settings.end(),
                                        [&](const SettingNote& note) { return note.key == key; });
        if (known != calls.settings.end())
            settings.push_back(*known);
    }
    return settings;
}

} // namespace flipscope
