// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// GLM 4.5 to 4.7: <tool_call>N\n<arg_key>K</arg_key>\n<arg_value>V</arg_value>\n…</tool_call>, in 4.7 without line
// feeds. Values carry no types.
#include "core/toolcalls/dialects/dialects.h"
#include "core/toolcalls/tagged_value.h"

#include <array>
#include <fmt/format.h>

namespace flipscope::dialect {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view opener = "<tool_call>", closer = "</tool_call>";
constexpr std::string_view key_open = "<arg_key>", key_close = "</arg_key>";
constexpr std::string_view value_open = "<arg_value>", value_close = "</arg_value>";
constexpr std::array<std::string_view, 2> followers = {key_open, closer};

bool name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
}

class GlmCall {
public:
    GlmCall(CallWriter& turn, std::size_t begin) : turn_(turn), begin_(begin) {}

    /// Where to go on, or npos where it is no call of this dialect.
    std::size_t read(std::size_t body)
    {
        std::size_t at = body;
        while (at < turn_.end() && name_letter(turn_.text()[at]))
            ++at;
        draft_.set_name(turn_.slice(body, at), {body, at});
        const std::size_t after = turn_.blanks(at);
        if (at == body || !(after == turn_.end() || turn_.at(key_open, after) || turn_.at(closer, after)))
            return npos;
        at = after;
        while (at < turn_.end() && turn_.at(key_open, at) && !cut_)
            at = turn_.blanks(argument(at));
        return finish(at);
    }

private:
    std::size_t argument(std::size_t at)
    {
        const std::size_t key_begin = at + key_open.size(), key_end = turn_.find(key_close, key_begin);
        const ByteRange key{key_begin, std::min(key_end, turn_.end())};
        const std::size_t value_at = key_end == npos ? turn_.end() : turn_.blanks(key_end + key_close.size());
        if (!turn_.at(value_open, value_at)) {
            cut_ = value_at == turn_.end();
            draft_.parts.push_back({key, Inside::Key, member_path("$", turn_.slice(key.begin, key.end))});
            draft_.wrong(cut_ ? CallStatus::Unclosed : CallStatus::Malformed, "a value is missing");
            return value_at;
        }
        const auto value = read_tagged_value(turn_, value_at + value_open.size(), {value_close, followers, {}, {}});
        const ByteRange content = value.content;
        using End = TaggedValue::End;
        cut_ = value.state == End::Cut;
        draft_.add_argument(turn_.slice(key.begin, key.end), key, std::string(turn_.slice(content.begin, content.end)),
                            content, Argument::Type::Untyped, !cut_);
        if (cut_ || value.state == End::Missing)
            draft_.wrong(CallStatus::Unclosed, fmt::format("{} is missing", value_close));
        else if (value.state != End::Closed)
            draft_.wrong(CallStatus::Malformed, value.state == End::Doubled
                                                    ? fmt::format("{} is doubled", value_close)
                                                    : fmt::format("something stands behind {}", value_close));
        if (value.first_close < content.end) {
            plain_ = draft_.arguments;
            plain_.back().value = turn_.slice(content.begin, value.first_close);
            plain_.back().value_bytes.end = value.first_close;
        }
        return value.after;
    }

    std::size_t finish(std::size_t at)
    {
        bool closed = turn_.at(closer, at);
        std::size_t end = at;
        if (closed) {
            end = at + closer.size();
        } else if (at < turn_.end()) {
            const std::size_t tag = turn_.find(closer, at);
            closed = tag < turn_.find(opener, at);
            end = closed ? tag + closer.size() : at;
        }
        if (closed && end != at + closer.size())
            draft_.wrong(CallStatus::Malformed, "something stands between the arguments");
        if (!closed)
            draft_.wrong(CallStatus::Unclosed, fmt::format("{} is missing", closer));
        draft_.bytes = {begin_, end};
        draft_.tolerant = !cut_;
        if (!plain_.empty() && plain_.size() == draft_.arguments.size())
            draft_.strict_arguments = std::move(plain_);
        turn_.add(std::move(draft_));
        return end;
    }

    CallWriter& turn_;
    std::size_t begin_;
    CallDraft draft_;
    std::vector<Argument> plain_;
    bool cut_ = false;
};

void read(CallWriter& turn)
{
    std::size_t at = turn.begin();
    for (std::size_t begin = turn.find(opener, at); begin < turn.end(); begin = turn.find(opener, at)) {
        const std::size_t body = turn.blanks(begin + opener.size());
        const std::size_t end = GlmCall(turn, begin).read(body);
        const bool others = body < turn.end() && (turn.text()[body] == '{' || turn.text()[body] == '<');
        at = end != npos ? end
             : others    ? begin + opener.size()
                         : opener_without_body(turn, begin, body, opener, closer, "tool's name");
    }
}

} // namespace

Dialect glm()
{
    return {.name = "glm",
            .title = "GLM 4.5 to 4.7: <arg_key> and <arg_value> in <tool_call>",
            .markers = {opener, closer, key_open, key_close, value_open, value_close},
            .openers = 1,
            .parsers = {"glm45", "glm46", "glm47", "glm", "glm4moe", "glm47moe"},
            .read = read};
}

} // namespace flipscope::dialect
