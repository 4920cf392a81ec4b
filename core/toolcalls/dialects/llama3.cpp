// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Llama 3.1 to 3.3: {"name": N, "parameters": {…}}, optionally behind <|python_tag|>; built-in tools as
// <|python_tag|>tool.call(key="value"), the code interpreter as <|python_tag|> and raw Python.
#include "core/toolcalls/call_array.h"
#include "core/toolcalls/dialects/dialects.h"
#include "core/toolcalls/python_call.h"

#include <algorithm>

namespace flipscope::dialect {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view python_tag = "<|python_tag|>";

/// An object that may be anything becomes a call where it names a tool and its arguments at least begin.
bool looks_like_call(const ObjectCall& object, bool tagged)
{
    return tagged || (!object.draft.name.empty() && object.has_arguments);
}

std::size_t add_object(CallWriter& turn, std::size_t begin, ObjectCall object, bool at_start)
{
    using State = ParsedValue::State;
    CallDraft& draft = object.draft;
    CallStatus status = CallStatus::Good;
    draft.tolerant = object.call;
    std::size_t end = object.end;
    if (object.state == State::Whole) {
        if (!object.call || !draft.strict) {
            status = CallStatus::Malformed;
            draft.note = object.call ? draft.note : object.problem;
        } else if (!at_start) {
            status = CallStatus::Malformed;
            draft.note = "text stands before the call: some parsers look for it anywhere, others at the start only";
        }
    } else {
        status = object.state == State::Cut ? CallStatus::Unclosed : CallStatus::Malformed;
        draft.note = object.problem;
        draft.tolerant = false;
        const std::size_t line = turn.text().find('\n', object.end);
        end = object.state == State::Cut ? turn.end() : std::min(line, turn.end());
    }
    draft.bytes = {begin, end};
    turn.add(std::move(draft), status);
    return end;
}

/// Objects one after the other, with ";" or a comma or nothing between them.
std::size_t read_objects(CallWriter& turn, std::size_t begin, std::size_t at, bool tagged, bool at_start)
{
    for (bool first = true;; first = false) {
        ObjectCall object = read_object_call(turn.text(), at, turn.end());
        if (!looks_like_call(object, tagged && first))
            return object.state == ParsedValue::State::Whole ? object.end : at + 1;
        const bool whole = object.state == ParsedValue::State::Whole;
        const std::size_t end = add_object(turn, begin, std::move(object), at_start);
        if (!whole)
            return end;
        std::size_t next = turn.blanks(end);
        if (turn.at(";", next) || turn.at(",", next))
            next = turn.blanks(next + 1);
        if (!turn.at("{", next))
            return end;
        begin = at = next;
    }
}

std::size_t after_tag(CallWriter& turn, std::size_t begin)
{
    const std::size_t body = turn.blanks(begin + python_tag.size());
    if (turn.at("{", body))
        return read_objects(turn, begin, body, true, true);
    if (turn.at("[", body) && turn.at("{", turn.blanks(body + 1)))
        return read_call_array(turn, begin, body);
    if (body == turn.end())
        return opener_without_body(turn, begin, body, python_tag, {}, "a call");
    PythonCall call = read_python_call(turn.text(), body, turn.end());
    const bool built_in = call.draft.name.ends_with(".call");
    if (built_in && call.state != ParsedValue::State::Bad) {
        const bool whole = call.state == ParsedValue::State::Whole;
        call.draft.bytes = {begin, whole ? call.end : turn.end()};
        if (call.draft.note.empty())
            call.draft.note = call.problem;
        call.draft.tolerant = whole;
        const bool good = whole && call.problem.empty() && call.draft.strict;
        turn.add(std::move(call.draft), good ? CallStatus::Good : whole ? CallStatus::Malformed : CallStatus::Unclosed);
        return turn.end();
    }
    CallDraft code;
    code.bytes = {begin, turn.end()};
    code.set_name("python", {});
    const ByteRange text{body, turn.end()};
    code.parts.push_back({text, Inside::Value, "$"});
    code.arguments.push_back({"$", std::string(turn.slice(body, turn.end())), Argument::Type::Text, {}, text, true});
    turn.add(std::move(code), CallStatus::Good);
    return turn.end();
}

/// The first thing in a Markdown fence is another dialect's.
bool opens_fence(const CallWriter& turn, std::size_t at)
{
    constexpr std::size_t look_back = 32;
    const auto before = turn.slice(std::max(turn.begin(), at - std::min(at, look_back)), at);
    const std::size_t fence = before.rfind("```");
    return fence != npos && before.substr(fence).find_first_not_of("`abcdefghijklmnopqrstuvwxyzJSON_ \n") == npos;
}

void read(CallWriter& turn)
{
    std::size_t at = turn.blanks(turn.begin());
    bool at_start = true;
    while (at < turn.end()) {
        const std::size_t tag = turn.find(python_tag, at);
        std::size_t object = turn.text().find('{', at);
        // An object inside a sentence is data.
        while (object < tag && (!turn.line_start(object) || opens_fence(turn, object)))
            object = turn.text().find('{', object + 1);
        if (tag == npos && object == npos)
            return;
        if (tag < object)
            at = after_tag(turn, tag);
        else
            at = read_objects(turn, object, object, false, at_start && object == at);
        at_start = false;
    }
}

} // namespace

Dialect llama3()
{
    return {.name = "llama3",
            .title = "Llama 3.1 to 3.3: a bare JSON object, or behind <|python_tag|>",
            .markers = {python_tag},
            .parsers = {"llama3json", "llama3", "llama4json", "llama"},
            .read = read};
}

} // namespace flipscope::dialect
