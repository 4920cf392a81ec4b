// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// JSON without markers of its own: in a Markdown fence or bare; {"tool_call": {…}} and {"tool_calls": […]} as
// llama.cpp's generic format and OpenAI's messages have them.
#include "core/toolcalls/call_writer.h"
#include "core/toolcalls/dialects/dialects.h"

#include <array>

namespace flipscope::dialect {

namespace {

constexpr auto npos = std::string_view::npos;
using State = ParsedValue::State;

/// Calls inside one JSON value, whatever it is wrapped in.
class Wrapped {
public:
    Wrapped(CallWriter& turn, const ParsedValue& parsed) : turn_(turn), parsed_(parsed) {}

    /// The calls get the value's bytes, and `around` for the first and the last; false where there is none.
    bool add(ByteRange around)
    {
        collect(parsed_.node, 0);
        for (std::size_t i = 0; i < drafts_.size(); ++i) {
            CallDraft& draft = drafts_[i];
            if (i == 0)
                draft.bytes.begin = around.begin;
            draft.bytes.end = i + 1 == drafts_.size() ? around.end : drafts_[i + 1].bytes.begin;
            draft.tolerant = draft.tolerant && parsed_.state == State::Whole;
            if (parsed_.state != State::Whole)
                draft.note = parsed_.problem;
            const CallStatus status = parsed_.state == State::Cut      ? CallStatus::Unclosed
                                      : parsed_.state == State::Bad    ? CallStatus::Malformed
                                      : draft.strict && draft.tolerant ? CallStatus::Good
                                                                       : CallStatus::Malformed;
            turn_.add(std::move(draft), status);
        }
        return !drafts_.empty();
    }

private:
    void collect(const ValueNode& node, int depth)
    {
        if (depth > 4)
            return;
        if (node.kind == ValueNode::Kind::Array) {
            for (const auto& child : node.children)
                collect(child, depth + 1);
            return;
        }
        if (node.kind != ValueNode::Kind::Object)
            return;
        for (const auto* wrapper : {"tool_calls", "tool_call", "function_call", "function", "message"})
            if (const auto* inner = node.member(wrapper);
                inner && (inner->kind == ValueNode::Kind::Object || inner->kind == ValueNode::Kind::Array))
                return collect(*inner, depth + 1);
        ParsedValue value;
        value.state = node.complete ? State::Whole : State::Cut;
        value.node = node;
        value.liberty = parsed_.liberty;
        ObjectCall object = object_call(turn_.text(), value, {});
        if (object.draft.name.empty() || !object.has_arguments) // data
            return;
        object.draft.bytes = node.bytes;
        object.draft.tolerant = object.call;
        drafts_.push_back(std::move(object.draft));
    }

    CallWriter& turn_;
    const ParsedValue& parsed_;
    std::vector<CallDraft> drafts_;
};

constexpr std::string_view fence = "```";

/// A value at `at`; `around_begin` where its fence begins. Returns where to go on.
std::size_t read_value(CallWriter& turn, std::size_t around_begin, std::size_t at)
{
    const auto parsed = parse_value(turn.text(), at, turn.end());
    std::size_t end = parsed.state == State::Cut ? turn.end() : parsed.end;
    const bool fenced = around_begin != at;
    if (fenced && parsed.state != State::Cut) {
        const std::size_t closing = turn.find(fence, parsed.end);
        if (closing < turn.end() && (parsed.state == State::Bad || turn.blanks(parsed.end) == closing))
            end = closing + fence.size();
    }
    Wrapped(turn, parsed).add({around_begin, end});
    return std::max(end, at + 1);
}

void read_fenced(CallWriter& turn)
{
    std::size_t at = turn.begin();
    while (at < turn.end()) {
        const std::size_t opening = turn.find(fence, at);
        std::size_t bare = turn.text().find_first_of("{[", at);
        while (bare < std::min(opening, turn.end()) && !turn.line_start(bare))
            bare = turn.text().find_first_of("{[", bare + 1);
        if (opening == npos && bare == npos)
            return;
        if (bare < opening) {
            at = read_value(turn, bare, bare);
            continue;
        }
        std::size_t body = opening + fence.size();
        for (const std::string_view word : {"json", "JSON", "tool_call", "tool_calls"})
            if (turn.slice(body, turn.end()).starts_with(word) &&
                turn.blanks(body + word.size()) != body + word.size()) {
                body += word.size();
                break;
            }
        body = turn.blanks(body);
        if (turn.at("{", body) || turn.at("[", body)) {
            at = read_value(turn, opening, body);
        } else { // a fence of something else: what is in it is no call
            const std::size_t closing = turn.find(fence, opening + fence.size());
            at = closing == npos ? turn.end() : closing + fence.size();
        }
    }
}

void read_openai(CallWriter& turn)
{
    const std::size_t at = turn.blanks(turn.begin());
    if (!turn.at("{", at) && !turn.at("[", at))
        return;
    const auto parsed = parse_value(turn.text(), at, turn.end());
    Wrapped(turn, parsed).add({at, parsed.state == State::Cut ? turn.end() : parsed.end});
}

} // namespace

Dialect openai()
{
    return {.name = "openai",
            .title = "OpenAI tool_calls, as a server parsed them",
            .markers = {"\"tool_calls\"", "\"function_call\"", "\"function\""},
            .openers = 3,
            .read = read_openai,
            .last_resort = true};
}

Dialect plain_json()
{
    return {.name = "json",
            .title = "JSON in a Markdown fence, or bare",
            .markers = {fence},
            .parsers = {"json", "generic"},
            .read = read_fenced,
            .last_resort = true};
}

} // namespace flipscope::dialect
