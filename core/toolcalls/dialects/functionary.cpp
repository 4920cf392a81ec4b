// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Functionary (MeetKai). v3.2: >>>N\n{…}, the first chunk without >>> because the prompt ends in it; "all" is text for
// the user, "python" raw code. v3.1: <function=N>{…}</function>. v2: <|recipient|> N\n<|content|> {…}.
#include "core/toolcalls/call_writer.h"
#include "core/toolcalls/dialects/dialects.h"

#include <array>

namespace flipscope::dialect {

namespace {

constexpr auto npos = std::string_view::npos;
using State = ParsedValue::State;

/// The end of a tool's name that begins at `at`.
std::size_t name_end(const CallWriter& turn, std::size_t at)
{
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    };
    while (at < turn.end() && letter(turn.text()[at]))
        ++at;
    return at;
}

/// Arguments that reach up to `limit`, without an end tag of their own.
std::size_t add_open_ended(CallWriter& turn, CallDraft draft, std::size_t begin, std::size_t body, std::size_t limit)
{
    CallStatus status = CallStatus::Good;
    std::size_t end = limit;
    if (draft.name == "python") {
        const ByteRange code{body, limit};
        draft.parts.push_back({code, Inside::Value, "$"});
        draft.arguments.push_back({"$", std::string(turn.slice(body, limit)), Argument::Type::Text, {}, code, true});
    } else {
        const auto parsed = parse_value(turn.text(), body, turn.end());
        const bool object = collect_arguments(turn.text(), parsed.node, draft.arguments, draft.parts);
        if (parsed.state == State::Whole)
            end = std::max(parsed.end, std::min(limit, turn.blanks(parsed.end)));
        else if (parsed.state == State::Cut)
            end = turn.end();
        draft.tolerant = parsed.state == State::Whole && object;
        draft.note = parsed.state == State::Whole ? parsed.liberty : parsed.problem;
        if (parsed.state == State::Cut)
            status = CallStatus::Unclosed;
        else if (parsed.state == State::Bad || !object || !parsed.liberty.empty())
            status = CallStatus::Malformed;
        if (draft.note.empty() && !object)
            draft.note = "the arguments are no JSON object";
    }
    draft.bytes = {begin, end};
    turn.add(std::move(draft), status);
    return end;
}

constexpr std::string_view chunk = ">>>";

/// N\n at `at`: the draft gets the name, the result is the place of the body, npos where it is no chunk.
std::size_t chunk_head(const CallWriter& turn, std::size_t at, CallDraft& draft)
{
    const std::size_t end = name_end(turn, at);
    draft.set_name(turn.slice(at, end), {at, end});
    const bool line = end < turn.end() && turn.text()[end] == '\n';
    return end > at && line ? end + 1 : npos;
}

void read_v32(CallWriter& turn)
{
    std::size_t at = turn.begin();
    CallDraft first;
    const std::size_t head = turn.blanks(at);
    if (const std::size_t body = turn.at(chunk, head) ? npos : chunk_head(turn, head, first);
        body != npos && first.name != "all" && (turn.at("{", turn.blanks(body)) || first.name == "python"))
        at = add_open_ended(turn, std::move(first), head, body, std::min(turn.find(chunk, body), turn.end()));
    for (std::size_t begin = turn.find(chunk, at); begin < turn.end(); begin = turn.find(chunk, at)) {
        CallDraft draft;
        const std::size_t name = begin + chunk.size();
        const std::size_t body = chunk_head(turn, name, draft);
        at = name;
        if (!turn.line_start(begin)) // inside a text or a value
            continue;
        if (body == npos) {
            if (name_end(turn, name) != turn.end() || name == turn.end())
                continue;
            draft.bytes = {begin, turn.end()};
            draft.note = "the turn ends inside the tool's name";
            draft.tolerant = false;
            if (draft.name != "all")
                turn.add(std::move(draft), CallStatus::Unclosed);
            return;
        }
        if (draft.name == "all")
            continue;
        at = add_open_ended(turn, std::move(draft), begin, body, std::min(turn.find("\n>>>", body), turn.end()));
    }
}

constexpr std::string_view function_open = "<function=", function_close = "</function>";
constexpr std::array<std::string_view, 1> function_openers = {function_open};

void read_v31(CallWriter& turn)
{
    std::size_t at = turn.begin();
    for (std::size_t begin = turn.find(function_open, at); begin < turn.end(); begin = turn.find(function_open, at)) {
        const std::size_t name = begin + function_open.size();
        const std::size_t end = name_end(turn, name);
        const std::size_t body = turn.at(">", end) ? turn.blanks(end + 1) : npos;
        at = name;
        if (body == npos && end == turn.end() && turn.line_start(begin)) {
            CallDraft draft;
            draft.set_name(turn.slice(name, end), {name, end});
            draft.bytes = {begin, end};
            draft.note = "the turn ends inside the tag";
            draft.tolerant = false;
            turn.add(std::move(draft), CallStatus::Unclosed);
            return;
        }
        if (body == npos || turn.at("<parameter=", body)) // the latter is Qwen3-Coder's
            continue;
        ObjectCall object;
        const auto parsed = parse_value(turn.text(), body, turn.end());
        if (!turn.at("{", body) && body < turn.end()) {
            turn.mention({begin, end + 1}, "no JSON object follows the tag");
            continue;
        }
        object.draft.set_name(turn.slice(name, end), {name, end});
        object.call = collect_arguments(turn.text(), parsed.node, object.draft.arguments, object.draft.parts);
        object.state = parsed.state;
        object.end = parsed.end;
        object.problem = parsed.problem;
        object.last_text = parsed.last_text;
        object.draft.note = parsed.liberty;
        object.draft.strict = parsed.liberty.empty();
        at = finish_tagged_call(turn, begin, std::move(object), function_close, function_openers);
    }
}

constexpr std::string_view recipient = "<|recipient|>", content = "<|content|>", from = "<|from|>";

void read_v2(CallWriter& turn)
{
    std::size_t at = turn.begin();
    for (std::size_t begin = turn.find(recipient, at); begin < turn.end(); begin = turn.find(recipient, at)) {
        const std::size_t name = turn.blanks(begin + recipient.size());
        const std::size_t end = name_end(turn, name);
        const std::size_t body_mark = turn.blanks(end);
        CallDraft draft;
        draft.set_name(turn.slice(name, end), {name, end});
        at = end;
        if (draft.name == "all")
            continue;
        if (!turn.at(content, body_mark)) {
            const bool cut = body_mark == turn.end();
            if (!cut)
                turn.mention({begin, end}, "<|content|> is missing");
            if (!cut || draft.name.empty())
                continue;
            draft.bytes = {begin, turn.end()};
            draft.note = "the turn ends before the arguments";
            draft.tolerant = false;
            turn.add(std::move(draft), CallStatus::Unclosed);
            return;
        }
        const std::size_t body = turn.blanks(body_mark + content.size());
        const std::size_t limit = std::min({turn.find(from, body), turn.find(recipient, body), turn.end()});
        at = add_open_ended(turn, std::move(draft), begin, body, limit);
    }
}

} // namespace

Dialect functionary_v32()
{
    return {.name = "functionary-v3.2",
            .title = "Functionary v3.2: >>>NAME and JSON",
            .markers = {chunk},
            .parsers = {"functionaryv32", "functionary"},
            .read = read_v32};
}

Dialect functionary_v31()
{
    return {.name = "functionary-v3.1",
            .title = "Functionary v3.1: JSON in <function=NAME>",
            .markers = {function_open, function_close},
            .openers = 1,
            .parsers = {"functionaryv31"},
            .read = read_v31};
}

Dialect functionary_v2()
{
    return {.name = "functionary-v2",
            .title = "Functionary v2: <|recipient|> and <|content|>",
            .markers = {recipient, content, from},
            .openers = 1,
            .control = true,
            .parsers = {"functionaryv2"},
            .read = read_v2};
}

} // namespace flipscope::dialect
