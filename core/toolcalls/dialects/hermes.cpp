// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Hermes, Qwen 2.5 and 3, Granite 4: <tool_call>\n{"name": N, "arguments": {…}}\n</tool_call>, repeated.
#include "core/toolcalls/call_writer.h"
#include "core/toolcalls/dialects/dialects.h"

#include <array>

namespace flipscope::dialect {

namespace {

constexpr std::string_view opener = "<tool_call>", closer = "</tool_call>";
constexpr std::array<std::string_view, 1> openers = {opener};

/// Other dialects share the tag.
bool is_others(const CallWriter& turn, std::size_t body)
{
    if (turn.at("<function=", body) || turn.at("[", body))
        return true;
    const std::size_t key = turn.find("<arg_key>", body);
    return key < turn.end() && key < turn.find(closer, body) && key < turn.find(opener, body);
}

void read(CallWriter& turn)
{
    std::size_t at = turn.begin();
    for (std::size_t begin = turn.find(opener, at); begin < turn.end(); begin = turn.find(opener, at)) {
        std::size_t body = turn.blanks(begin + opener.size());
        std::string liberty;
        while (turn.at(opener, body)) {
            liberty = "the opening tag is doubled";
            body = turn.blanks(body + opener.size());
        }
        if (body == turn.end() || turn.text()[body] != '{') {
            at = is_others(turn, body) ? begin + opener.size()
                                       : opener_without_body(turn, begin, body, opener, closer, "JSON object");
            continue;
        }
        at = finish_tagged_call(turn, begin, read_object_call(turn.text(), body, turn.end()), closer, openers, liberty);
    }
}

} // namespace

Dialect hermes()
{
    return {.name = "hermes",
            .title = "Hermes, Qwen 2.5 and 3, Granite 4: JSON in <tool_call>",
            .markers = {opener, closer},
            .openers = 1,
            .parsers = {"hermes", "qwen", "qwen25", "qwen3", "granite4", "mimo"},
            .read = read};
}

} // namespace flipscope::dialect
