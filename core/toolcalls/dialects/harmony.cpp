// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// gpt-oss, harmony: messages <|start|>header<|message|>body ended by <|end|>, <|call|> or <|return|>. A call is a
// message with a recipient: <|channel|>commentary to=functions.N <|constrain|>json<|message|>{…}<|call|>.
#include "core/toolcalls/call_writer.h"
#include "core/toolcalls/dialects/dialects.h"

#include <algorithm>
#include <array>

namespace flipscope::dialect {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view start = "<|start|>", channel = "<|channel|>", message = "<|message|>";
constexpr std::string_view constrain = "<|constrain|>", end_mark = "<|end|>", call_mark = "<|call|>";
constexpr std::string_view return_mark = "<|return|>", functions = "functions.";
constexpr std::array<std::string_view, 4> body_ends = {end_mark, call_mark, return_mark, start};

/// What the header of a message says.
struct Header {
    ByteRange recipient; ///< empty: none
    std::string_view channel_word, type;
    int channels = 0;
};

Header read_header(const CallWriter& turn, ByteRange range)
{
    Header header;
    const auto text = turn.slice(range.begin, range.end);
    for (std::size_t at = text.find(channel); at != npos; at = text.find(channel, at + channel.size())) {
        ++header.channels;
        const std::size_t begin = at + channel.size();
        header.channel_word = text.substr(begin, text.find_first_of(" <", begin) - begin);
    }
    // A doubled header names "assistant" first: the last recipient that is a tool counts.
    for (std::size_t at = text.find("to="); at != npos; at = text.find("to=", at + 3)) {
        const std::size_t begin = at + 3, end = std::min(text.find_first_of(" <\n", begin), text.size());
        const auto name = text.substr(begin, end - begin);
        if (name != "assistant" && name != "user" && !name.empty())
            header.recipient = {range.begin + begin, range.begin + end};
    }
    if (const std::size_t at = text.find(constrain); at != npos) {
        const auto rest = text.substr(at + constrain.size());
        header.type = rest.substr(0, rest.find_first_of(" <\n"));
    }
    return header;
}

class Message {
public:
    Message(CallWriter& turn, ByteRange head, std::size_t body) : turn_(turn), head_(head), body_(body) {}

    /// Returns where the next message begins.
    std::size_t read()
    {
        const Header header = read_header(turn_, head_);
        const std::size_t body_end = std::min(turn_.find_any(body_ends, body_), turn_.end());
        if (header.recipient.empty()) {
            const std::size_t after = behind(body_end);
            if (header.channel_word == "analysis")
                turn_.thinking({head_.begin, after});
            return after;
        }
        return call(header, body_end);
    }

private:
    /// Behind the mark that ends a body, if there is one; <|start|> begins the next message.
    std::size_t behind(std::size_t at)
    {
        for (const auto mark : {end_mark, call_mark, return_mark})
            if (turn_.at(mark, at))
                return at + mark.size();
        return at;
    }

    std::size_t call(const Header& header, std::size_t body_end)
    {
        ByteRange name = header.recipient;
        if (turn_.slice(name.begin, name.end).starts_with(functions) && name.end > name.begin + functions.size())
            name.begin += functions.size();
        draft_.set_name(turn_.slice(name.begin, name.end), name);
        if (header.channels > 1)
            draft_.wrong(CallStatus::Malformed, "the header names more than one channel");
        else if (header.channels == 1 && header.channel_word != "commentary" && header.channel_word != "analysis")
            draft_.wrong(CallStatus::Malformed, "the call stands on a channel that carries none");
        const bool raw =
            header.type == "code" || (header.type.empty() && turn_.blanks(body_) < body_end &&
                                      turn_.text()[turn_.blanks(body_)] != '{' && name == header.recipient);
        bool readable = true;
        if (raw)
            raw_body(body_end);
        else
            readable = json_body(body_end);
        const std::size_t after = behind(body_end);
        if (after == body_end)
            draft_.wrong(CallStatus::Unclosed, "<|call|> is missing");
        draft_.bytes = {head_.begin, after};
        draft_.tolerant = readable;
        turn_.add(std::move(draft_));
        return after;
    }

    /// Built-in tools take text that is no JSON.
    void raw_body(std::size_t body_end)
    {
        const ByteRange text{body_, body_end};
        draft_.parts.push_back({text, Inside::Value, "$"});
        draft_.arguments.push_back({"$",
                                    std::string(turn_.slice(body_, body_end)),
                                    Argument::Type::Text,
                                    {},
                                    text,
                                    behind(body_end) > body_end});
    }

    bool json_body(std::size_t body_end)
    {
        using State = ParsedValue::State;
        const std::size_t at = turn_.blanks(body_);
        if (at >= body_end) {
            draft_.wrong(behind(body_end) == body_end ? CallStatus::Unclosed : CallStatus::Malformed,
                         "the message is empty: some parsers take that for no arguments");
            return behind(body_end) > body_end;
        }
        const auto parsed = parse_value(turn_.text(), at, body_end);
        const bool object = collect_arguments(turn_.text(), parsed.node, draft_.arguments, draft_.parts);
        const bool closed = behind(body_end) > body_end;
        if (parsed.state != State::Whole) {
            draft_.wrong(parsed.state == State::Cut && !closed ? CallStatus::Unclosed : CallStatus::Malformed,
                         parsed.problem);
            return false;
        }
        if (!object || !parsed.liberty.empty())
            draft_.wrong(CallStatus::Malformed, object ? parsed.liberty : "the arguments are no JSON object");
        else if (const std::size_t rest = turn_.blanks(parsed.end); rest < body_end && !turn_.cut_off(call_mark, rest))
            draft_.wrong(CallStatus::Malformed, "text follows the arguments");
        return object;
    }

    CallWriter& turn_;
    ByteRange head_;
    std::size_t body_;
    CallDraft draft_;
};

/// A header that the turn's end cuts off: a call once its recipient is begun.
void cut_header(CallWriter& turn, std::size_t begin)
{
    const Header header = read_header(turn, {begin, turn.end()});
    if (header.recipient.empty())
        return;
    CallDraft draft;
    ByteRange name = header.recipient;
    if (const auto text = turn.slice(name.begin, name.end); text.starts_with(functions) || functions.starts_with(text))
        name.begin += std::min(functions.size(), text.size());
    draft.set_name(turn.slice(name.begin, name.end), name);
    draft.bytes = {begin, turn.end()};
    draft.note = "the turn ends inside the header";
    draft.tolerant = false;
    turn.add(std::move(draft), CallStatus::Unclosed);
}

void read(CallWriter& turn)
{
    std::size_t at = turn.begin();
    while (at < turn.end()) {
        // The prompt ends in <|start|>assistant, so the first header lacks it.
        std::size_t head = at;
        const bool first = at == turn.begin() && turn.slice(turn.blanks(at), turn.end()).starts_with("to=");
        if (!first)
            head = std::min(turn.find(start, at), turn.find(channel, at));
        if (head == npos)
            return;
        const std::size_t body = turn.find(message, head);
        if (body == npos)
            return cut_header(turn, head);
        // A header without a body before the next one is none.
        const std::size_t again = turn.find(start, head + 1);
        if (again < body) {
            at = again;
            continue;
        }
        at = Message(turn, {head, body}, body + message.size()).read();
    }
}

} // namespace

Dialect harmony()
{
    return {.name = "harmony",
            .title = "gpt-oss: harmony messages with a recipient",
            .markers = {channel, message, start, constrain, end_mark, call_mark, return_mark},
            .openers = 2,
            .control = true,
            .parsers = {"openai", "gptoss", "harmony"},
            .read = read};
}

} // namespace flipscope::dialect
