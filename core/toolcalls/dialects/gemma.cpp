// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Gemma. FunctionGemma: <start_function_call>call:N{k:<escape>text<escape>,n:5}<end_function_call>. Gemma 4:
// <|tool_call>call:N{k:<|"|>text<|"|>}<tool_call|>. Gemma 3 has no tokens for it: Python in a tool_code fence.
#include "core/toolcalls/call_writer.h"
#include "core/toolcalls/dialects/dialects.h"
#include "core/toolcalls/python_call.h"

#include <array>
#include <fmt/format.h>

namespace flipscope::dialect {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view prefix = "call:";

struct GemmaFormat {
    std::string_view open, close, text_mark;
};
constexpr GemmaFormat function_gemma_format = {"<start_function_call>", "<end_function_call>", "<escape>"};
constexpr GemmaFormat gemma4_format = {"<|tool_call>", "<tool_call|>", "<|\"|>"};

/// call:N{…} at `body`, behind the opening marker at `begin` (which may be missing: then begin == body).
std::size_t read_call(CallWriter& turn, std::size_t begin, std::size_t body, const GemmaFormat& format)
{
    const std::size_t name_begin = body + prefix.size();
    const std::size_t brace = std::min({turn.text().find('{', name_begin), turn.find(format.open, name_begin),
                                        turn.find(format.close, name_begin), turn.end()});
    ObjectCall object;
    object.call = true;
    CallDraft& draft = object.draft;
    draft.set_name(turn.slice(name_begin, brace), {name_begin, brace});
    const std::string liberty = begin == body ? fmt::format("{} is missing", format.open) : std::string();
    if (brace == turn.end() || turn.text()[brace] != '{') {
        draft.bytes = {begin, brace};
        draft.note = "the arguments are missing";
        draft.tolerant = false;
        turn.add(std::move(draft), brace == turn.end() ? CallStatus::Unclosed : CallStatus::Malformed);
        return brace;
    }
    auto parsed = parse_value(turn.text(), brace, turn.end(), {.bare_keys = true, .text_mark = format.text_mark});
    collect_arguments(turn.text(), parsed.node, draft.arguments, draft.parts);
    object.state = parsed.state;
    object.end = parsed.end;
    object.problem = parsed.problem;
    object.last_text = parsed.last_text;
    draft.note = parsed.liberty;
    draft.strict = parsed.liberty.empty();
    return finish_tagged_call(turn, begin, std::move(object), format.close, std::span(&format.open, 1), liberty);
}

void read_format(CallWriter& turn, const GemmaFormat& format)
{
    std::size_t at = turn.begin();
    // The opener gets lost right behind the thinking, or at the start.
    const std::size_t thought = turn.text().rfind("<channel|>");
    for (const std::size_t place :
         {turn.begin(), thought == npos || thought < turn.begin() ? turn.begin() : thought + 10}) {
        const std::size_t body = turn.blanks(place);
        if (body >= at && turn.at(prefix, body) && turn.slice(body, turn.end()).find('{') != npos)
            at = read_call(turn, body, body, format);
    }
    for (std::size_t begin = turn.find(format.open, at); begin < turn.end(); begin = turn.find(format.open, at)) {
        const std::size_t body = turn.blanks(begin + format.open.size());
        at = turn.at(prefix, body) ? read_call(turn, begin, body, format)
                                   : opener_without_body(turn, begin, turn.cut_off(prefix, body) ? turn.end() : body,
                                                         format.open, format.close, "call:NAME");
    }
}

void read_function_gemma(CallWriter& turn)
{
    read_format(turn, function_gemma_format);
}

void read_gemma4(CallWriter& turn)
{
    read_format(turn, gemma4_format);
}

constexpr std::string_view fence = "```tool_code", fence_end = "```", print = "print(";

/// Calls of one fence, each on a line of its own, perhaps inside print().
std::size_t read_fence(CallWriter& turn, std::size_t begin)
{
    std::size_t at = turn.blanks(begin + fence.size());
    if (at == turn.end())
        return opener_without_body(turn, begin, at, fence, {}, "a call");
    for (;;) {
        const bool printed = turn.at(print, at);
        PythonCall call = read_python_call(turn.text(), at + (printed ? print.size() : 0), turn.end());
        CallDraft& draft = call.draft;
        const bool whole = call.state == ParsedValue::State::Whole;
        std::size_t end = whole ? call.end : std::min(turn.find(fence_end, call.end), turn.end());
        draft.note = whole ? draft.note : call.problem;
        draft.tolerant = whole;
        CallStatus status = !whole         ? (end == turn.end() ? CallStatus::Unclosed : CallStatus::Malformed)
                            : draft.strict ? CallStatus::Good
                                           : CallStatus::Malformed;
        if (printed && turn.at(")", turn.blanks(end)))
            end = turn.blanks(end) + 1;
        else if (printed && whole) {
            status = end == turn.end() ? CallStatus::Unclosed : CallStatus::Malformed;
            draft.note = "print( is not closed";
        }
        const std::size_t next = turn.blanks(end);
        const bool closed = turn.at(fence_end, next);
        if (closed) {
            end = next + fence_end.size();
        } else if (next == turn.end() && status == CallStatus::Good) {
            status = CallStatus::Unclosed;
            draft.note = "the fence is not closed";
        }
        draft.bytes = {begin, end};
        turn.add(std::move(draft), status);
        if (closed || !whole || next == turn.end())
            return end;
        if (next == call.end) // something else on the same line
            return std::min(turn.find(fence_end, end), turn.end());
        begin = at = next;
    }
}

void read_gemma3(CallWriter& turn)
{
    std::size_t at = turn.begin();
    for (std::size_t begin = turn.find(fence, at); begin < turn.end(); begin = turn.find(fence, at))
        at = read_fence(turn, begin);
}

} // namespace

Dialect gemma3()
{
    return {.name = "gemma3",
            .title = "Gemma 3: Python in a tool_code fence",
            .markers = {fence},
            .openers = 1,
            .parsers = {"gemma3"},
            .read = read_gemma3};
}

Dialect function_gemma()
{
    return {.name = "functiongemma",
            .title = "FunctionGemma: call:NAME{…} with <escape>",
            .markers = {"<start_function_call>", "call:", "<end_function_call>", "<escape>"},
            .openers = 2,
            .parsers = {"functiongemma"},
            .read = read_function_gemma};
}

Dialect gemma4()
{
    return {.name = "gemma4",
            .title = "Gemma 4: call:NAME{…} between <|tool_call> and <tool_call|>",
            .markers = {"<|tool_call>", "call:", "<tool_call|>", "<|\"|>"},
            .openers = 2,
            .control = true,
            .parsers = {"gemma4"},
            .read = read_gemma4};
}

} // namespace flipscope::dialect
