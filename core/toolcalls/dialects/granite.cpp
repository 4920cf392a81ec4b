// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Granite. 3.0 and later: <|tool_call|>[{"name", "arguments"}, …], in 3.1 also <tool_call>[…]; 20b-functioncalling:
// <function_call> {"name", "arguments"} for each call. Granite 4 writes Hermes.
#include "core/toolcalls/call_array.h"
#include "core/toolcalls/dialects/dialects.h"

#include <array>

namespace flipscope::dialect {

namespace {

constexpr std::string_view token = "<|tool_call|>", text_tag = "<tool_call>", text_end = "</tool_call>";
constexpr std::string_view old_tag = "<function_call>";
constexpr std::array<std::string_view, 2> list_tags = {token, text_tag};

void read_list(CallWriter& turn)
{
    std::size_t at = turn.begin();
    for (std::size_t begin = turn.find_any(list_tags, at); begin < turn.end(); begin = turn.find_any(list_tags, at)) {
        const auto tag = turn.at(token, begin) ? token : text_tag;
        const std::size_t body = turn.blanks(begin + tag.size());
        if (turn.at("[", body))
            at = read_call_array(turn, begin, body, tag == text_tag ? text_end : std::string_view());
        else if (tag == text_tag) // shared with other dialects
            at = begin + tag.size();
        else
            at = opener_without_body(turn, begin, body, tag, {}, "list of calls");
    }
}

std::size_t read_object(CallWriter& turn, std::size_t begin, std::size_t body)
{
    using State = ParsedValue::State;
    ObjectCall object = read_object_call(turn.text(), body, turn.end());
    CallDraft& draft = object.draft;
    CallStatus status = CallStatus::Good;
    std::size_t end = object.end;
    draft.tolerant = object.call && object.state == State::Whole;
    if (object.state == State::Cut) {
        status = CallStatus::Unclosed;
        end = turn.end();
    } else if (object.state == State::Bad || !object.call || !draft.strict) {
        status = CallStatus::Malformed;
        end = object.state == State::Bad ? std::min(turn.find(old_tag, object.end), turn.end()) : end;
    }
    if (!object.problem.empty())
        draft.note = object.problem;
    draft.bytes = {begin, end};
    turn.add(std::move(draft), status);
    return end;
}

void read_20b(CallWriter& turn)
{
    std::size_t at = turn.begin();
    for (std::size_t begin = turn.find(old_tag, at); begin < turn.end(); begin = turn.find(old_tag, at)) {
        const std::size_t body = turn.blanks(begin + old_tag.size());
        at = turn.at("{", body) ? read_object(turn, begin, body)
                                : opener_without_body(turn, begin, body, old_tag, {}, "JSON object");
    }
}

} // namespace

Dialect granite()
{
    return {.name = "granite",
            .title = "Granite 3: a JSON list behind <|tool_call|>",
            .markers = {token, text_tag},
            .openers = 2,
            .control = true,
            .parsers = {"granite", "granite3"},
            .read = read_list};
}

Dialect granite_20b()
{
    return {.name = "granite-20b",
            .title = "Granite 20b-functioncalling: <function_call> and a JSON object",
            .markers = {old_tag},
            .openers = 1,
            .parsers = {"granite20bfc"},
            .read = read_20b};
}

} // namespace flipscope::dialect
