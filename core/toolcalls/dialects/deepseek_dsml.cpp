// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// DeepSeek V3.2 and V4: <｜DSML｜function_calls>\n<｜DSML｜invoke name="N">\n<｜DSML｜parameter name="K"
// string="true|false">V
// </｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>; V4 calls the block tool_calls. string="true": raw
// text, "false": JSON.
#include "core/toolcalls/dialects/dialects.h"
#include "core/toolcalls/tagged_value.h"

#include <array>
#include <fmt/format.h>

namespace flipscope::dialect {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::array<std::string_view, 2> block_opens = {"<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"};
constexpr std::array<std::string_view, 2> block_closes = {"</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"};
constexpr std::string_view invoke_open = "<｜DSML｜invoke", invoke_close = "</｜DSML｜invoke>";
constexpr std::string_view parameter_open = "<｜DSML｜parameter", parameter_close = "</｜DSML｜parameter>";
constexpr std::array<std::string_view, 2> followers = {parameter_open, invoke_close};

/// The value of attribute `name` inside a tag, empty where it is not there.
ByteRange attribute(const CallWriter& turn, ByteRange tag, std::string_view name)
{
    const std::string start = fmt::format(" {}=\"", name);
    const auto text = turn.slice(tag.begin, tag.end);
    const std::size_t at = text.find(start);
    if (at == npos)
        return {tag.begin, tag.begin};
    const std::size_t begin = at + start.size(), end = text.find('"', begin);
    return {tag.begin + begin, tag.begin + std::min(end, text.size())};
}

class Invoke {
public:
    Invoke(CallWriter& turn, std::size_t begin) : turn_(turn), begin_(begin) {}

    std::size_t read(std::size_t at)
    {
        const ByteRange tag = rest_of_tag(at + invoke_open.size());
        const ByteRange name = attribute(turn_, tag, "name");
        draft_.set_name(turn_.slice(name.begin, name.end), name);
        if (name.empty())
            draft_.wrong(CallStatus::Malformed, "the call names no tool");
        at = turn_.blanks(std::min(tag.end + 1, turn_.end()));
        while (!cut_ && turn_.at(parameter_open, at))
            at = turn_.blanks(parameter(at));
        return finish(at);
    }

private:
    ByteRange rest_of_tag(std::size_t at)
    {
        const std::size_t end = turn_.text().find('>', at);
        if (end == npos) {
            cut_ = true;
            draft_.wrong(CallStatus::Unclosed, "the turn ends inside a tag");
        }
        return {at, std::min(end, turn_.end())};
    }

    std::size_t parameter(std::size_t at)
    {
        const ByteRange tag = rest_of_tag(at + parameter_open.size());
        const ByteRange key = attribute(turn_, tag, "name");
        if (cut_) {
            draft_.parts.push_back({key, Inside::Key, {}});
            return turn_.end();
        }
        const auto value =
            read_tagged_value(turn_, tag.end + 1, {parameter_close, followers, invoke_open, invoke_close});
        using End = TaggedValue::End;
        cut_ = value.state == End::Cut;
        if (cut_ || value.state == End::Missing)
            draft_.wrong(CallStatus::Unclosed, fmt::format("{} is missing", parameter_close));
        else if (value.state == End::Doubled)
            draft_.wrong(CallStatus::Malformed, fmt::format("{} is doubled", parameter_close));
        else if (value.state == End::Junk)
            draft_.wrong(CallStatus::Malformed, fmt::format("something stands behind {}", parameter_close));
        const ByteRange is_text = attribute(turn_, tag, "string");
        add(key, value.content, turn_.slice(is_text.begin, is_text.end));
        return value.after;
    }

    void add(ByteRange key, ByteRange content, std::string_view is_text)
    {
        const auto name = turn_.slice(key.begin, key.end);
        if (is_text == "false") {
            const auto parsed = parse_value(turn_.text().substr(0, content.end), content.begin, content.end);
            const bool cut_number =
                parsed.state == ParsedValue::State::Cut && parsed.node.kind == ValueNode::Kind::Number;
            if (parsed.state == ParsedValue::State::Whole || cut_number) {
                const std::string path = member_path("$", name);
                draft_.parts.push_back({key, Inside::Key, path});
                collect_leaves(parsed.node, path, draft_.arguments, draft_.parts);
                if (cut_number && !cut_)
                    draft_.arguments.back().complete = true; // it ends where the tag begins
                return;
            }
            draft_.wrong(CallStatus::Malformed, "a value that should be JSON is none");
        }
        draft_.add_argument(name, key, std::string(turn_.slice(content.begin, content.end)), content,
                            is_text == "true" ? Argument::Type::Text : Argument::Type::Untyped, !cut_);
    }

    std::size_t finish(std::size_t at)
    {
        std::size_t end = at;
        if (turn_.at(invoke_close, at)) {
            end = at + invoke_close.size();
            const std::size_t after = turn_.blanks(end);
            for (const auto close : block_closes)
                if (turn_.at(close, after))
                    end = after + close.size();
        } else if (const std::size_t tag = turn_.find(invoke_close, at);
                   !cut_ && tag < std::min(turn_.find(invoke_open, at), turn_.end())) {
            draft_.wrong(CallStatus::Malformed, "something stands between the parameters");
            end = tag + invoke_close.size();
        } else {
            draft_.wrong(CallStatus::Unclosed, fmt::format("{} is missing", invoke_close));
        }
        draft_.bytes = {begin_, end};
        draft_.tolerant = !cut_ && end != at;
        turn_.add(std::move(draft_));
        return end;
    }

    CallWriter& turn_;
    std::size_t begin_;
    CallDraft draft_;
    bool cut_ = false;
};

void read(CallWriter& turn)
{
    std::size_t at = turn.begin();
    while (at < turn.end()) {
        const std::size_t block = turn.find_any(block_opens, at), invoke = turn.find(invoke_open, at);
        if (block == npos && invoke == npos)
            return;
        if (invoke < block) {
            at = Invoke(turn, invoke).read(invoke);
            continue;
        }
        const auto opener = turn.at(block_opens[0], block) ? block_opens[0] : block_opens[1];
        const std::size_t body = turn.blanks(block + opener.size());
        at = turn.at(invoke_open, body) ? Invoke(turn, block).read(body)
                                        : opener_without_body(turn, block, body, opener, {}, "call");
    }
}

} // namespace

Dialect deepseek_v32()
{
    return {.name = "deepseek-v3.2",
            .title = "DeepSeek V3.2 and V4: DSML",
            .markers = {block_opens[0], block_opens[1], invoke_open, block_closes[0], block_closes[1], invoke_close},
            .openers = 3,
            .parsers = {"deepseekv32", "deepseekv4"},
            .read = read};
}

} // namespace flipscope::dialect
