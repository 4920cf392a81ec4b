// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Kimi K2: <|tool_calls_section_begin|><|tool_call_begin|>functions.N:IDX<|tool_call_argument_begin|>{…}
// <|tool_call_end|>…<|tool_calls_section_end|>.
#include "core/toolcalls/dialects/dialects.h"
#include "core/toolcalls/sectioned_calls.h"

#include <array>

namespace flipscope::dialect {

namespace {

constexpr std::string_view section_begin = "<|tool_calls_section_begin|>", section_end = "<|tool_calls_section_end|>";
constexpr std::string_view singular_begin = "<|tool_call_section_begin|>", singular_end = "<|tool_call_section_end|>";
constexpr std::string_view call_begin = "<|tool_call_begin|>", call_end = "<|tool_call_end|>";
constexpr std::string_view separator = "<|tool_call_argument_begin|>";
constexpr std::array<std::string_view, 2> section_opens = {section_begin, singular_begin};
constexpr std::array<std::string_view, 2> section_closes = {section_end, singular_end};
constexpr std::string_view prefix = "functions.";

/// "functions.N:IDX"; the model drops the prefix or the index at times.
SectionedFormat::Head read_head(const CallWriter& turn, ByteRange head, CallDraft& draft)
{
    const auto blank = [&](std::size_t at) { return turn.text()[at] == ' ' || turn.text()[at] == '\n'; };
    while (!head.empty() && blank(head.begin))
        ++head.begin;
    while (!head.empty() && blank(head.end - 1))
        --head.end;
    const auto id = turn.slice(head.begin, head.end);
    const bool prefixed = id.starts_with(prefix);
    const std::size_t colon = id.rfind(':');
    const bool indexed = colon != std::string_view::npos && colon + 1 < id.size() &&
                         id.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
    const ByteRange name{head.begin + (prefixed ? prefix.size() : 0), indexed ? head.begin + colon : head.end};
    draft.set_name(turn.slice(name.begin, name.end), name);
    return prefixed && indexed && !name.empty() ? SectionedFormat::Head::Own : SectionedFormat::Head::Odd;
}

constexpr SectionedFormat format = {section_opens, section_closes, call_begin, separator, call_end, read_head, {}, {},
                                    false};

void read(CallWriter& turn)
{
    read_sectioned_calls(turn, format);
}

} // namespace

Dialect kimi_k2()
{
    return {.name = "kimi-k2",
            .title = "Kimi K2: functions.NAME:INDEX between tokens",
            .markers = {section_begin, singular_begin, call_begin, call_end, separator, section_end, singular_end},
            .openers = 3,
            .control = true,
            .parsers = {"kimik2", "kimi"},
            .read = read};
}

} // namespace flipscope::dialect
