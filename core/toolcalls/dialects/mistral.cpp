// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Mistral. Before tokenizer v11: [TOOL_CALLS] [{"name": N, "arguments": {…}, "id": "…"}, …]; later, repeated per call:
// [TOOL_CALLS]N[ARGS]{…}, with [CALL_ID]id before [ARGS] in some.
#include "core/toolcalls/call_array.h"
#include "core/toolcalls/dialects/dialects.h"

namespace flipscope::dialect {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view opener = "[TOOL_CALLS]", arguments_mark = "[ARGS]", id_mark = "[CALL_ID]";

class NamedCall {
public:
    NamedCall(CallWriter& turn, std::size_t begin) : turn_(turn), begin_(begin) {}

    /// N[ARGS]{…} with the name at `body`.
    std::size_t read(std::size_t body)
    {
        const std::size_t next = std::min(turn_.find(opener, body), turn_.end());
        std::size_t args = turn_.find(arguments_mark, body);
        const bool marked = args < next;
        if (!marked)
            args = std::min(turn_.text().find('{', body), next);
        std::size_t name_end = std::min(args, turn_.find(id_mark, body));
        while (name_end > body && (turn_.text()[name_end - 1] == ' ' || turn_.text()[name_end - 1] == '\n'))
            --name_end;
        draft_.set_name(turn_.slice(body, name_end), {body, name_end});
        if (args == next && !marked)
            return stop(next, next == turn_.end() ? CallStatus::Unclosed : CallStatus::Malformed,
                        "the arguments are missing");
        return arguments(turn_.blanks(marked ? args + arguments_mark.size() : args), next);
    }

private:
    std::size_t stop(std::size_t end, CallStatus status, std::string note, bool tolerant = false)
    {
        draft_.bytes = {begin_, end};
        if (!note.empty())
            draft_.note = std::move(note);
        draft_.tolerant = tolerant;
        turn_.add(std::move(draft_), status);
        return end;
    }

    std::size_t arguments(std::size_t at, std::size_t next)
    {
        using State = ParsedValue::State;
        const auto parsed = parse_value(turn_.text(), at, turn_.end());
        const bool object = collect_arguments(turn_.text(), parsed.node, draft_.arguments, draft_.parts);
        if (parsed.state == State::Cut)
            return stop(turn_.end(), CallStatus::Unclosed, parsed.problem);
        // Some parsers hand on whatever stands there, JSON or not.
        if (parsed.state == State::Bad || !object)
            return stop(std::max(next, parsed.end), CallStatus::Malformed,
                        parsed.state == State::Bad ? parsed.problem : "the arguments are no JSON object");
        if (!parsed.liberty.empty())
            return stop(parsed.end, CallStatus::Malformed, parsed.liberty, true);
        return stop(parsed.end, CallStatus::Good, {}, true);
    }

    CallWriter& turn_;
    std::size_t begin_;
    CallDraft draft_;
};

bool name_begins(const CallWriter& turn, std::size_t at)
{
    if (at >= turn.end())
        return false;
    const char c = turn.text()[at];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

void read(CallWriter& turn)
{
    std::size_t at = turn.begin();
    for (std::size_t begin = turn.find(opener, at); begin < turn.end(); begin = turn.find(opener, at)) {
        const std::size_t body = turn.blanks(begin + opener.size());
        if (turn.at("[", body) && !turn.at(opener, body))
            at = read_call_array(turn, begin, body);
        else if (name_begins(turn, body) && body == begin + opener.size())
            at = NamedCall(turn, begin).read(body);
        else
            at = opener_without_body(turn, begin, body, opener, {}, "call");
    }
    // Typed in several tokens, the letters are prose.
    const std::size_t typed = turn.text().find(opener, turn.begin());
    if (typed != npos && turn.find(opener, turn.begin()) == npos)
        turn.mention({typed, typed + opener.size()}, "the letters of the marker stand in several tokens");
}

} // namespace

Dialect mistral()
{
    return {.name = "mistral",
            .title = "Mistral: [TOOL_CALLS] with a list, or with name and [ARGS]",
            .markers = {opener, arguments_mark, id_mark},
            .openers = 1,
            .control = true,
            .parsers = {"mistral"},
            .read = read};
}

} // namespace flipscope::dialect
