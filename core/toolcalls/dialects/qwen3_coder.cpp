// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Qwen3-Coder, Qwen3.5, Nemotron, Step, Seed-OSS: <tool_call>\n<function=N>\n<parameter=K>\nVALUE\n</parameter>\n
// </function>\n</tool_call>. Values are raw text without types.
#include "core/toolcalls/dialects/dialects.h"
#include "core/toolcalls/tagged_value.h"

#include <array>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace flipscope::dialect {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view function_open = "<function=", function_close = "</function>";
constexpr std::string_view parameter_open = "<parameter=", parameter_close = "</parameter>";
constexpr std::array<std::string_view, 2> followers = {parameter_open, function_close};

struct OuterTag {
    std::string_view open, close;
};
constexpr std::array<OuterTag, 2> outer_tags = {
    {{"<tool_call>", "</tool_call>"}, {"<seed:tool_call>", "</seed:tool_call>"}}};

/// One <function=…>.
class Function {
public:
    explicit Function(CallWriter& turn) : turn_(turn) {}

    /// `begin`: where the call's first delimiter stands; `at`: <function=. Returns the place behind </function>.
    std::size_t read(std::size_t at)
    {
        at = tag_name(at + function_open.size(), name_);
        draft_.set_name(turn_.slice(name_.begin, name_.end), name_);
        while (!cut_) {
            at = turn_.blanks(at);
            if (turn_.at(parameter_open, at)) {
                at = parameter(at);
            } else if (turn_.at(function_close, at)) {
                closed_ = true;
                return at + function_close.size();
            } else {
                return without_end(at);
            }
        }
        return at;
    }

    /// `outer`: whether the outer tags are as they should be.
    void add(ByteRange bytes)
    {
        draft_.bytes = bytes;
        draft_.tolerant = closed_ && !name_.empty();
        if (plain_differs_)
            draft_.strict_arguments = std::move(plain_);
        turn_.add(std::move(draft_));
    }

    bool closed() const { return closed_; }
    void wrong(CallStatus fault, std::string what) { draft_.wrong(fault, std::move(what)); }

private:
    /// The rest of an opening tag: what stands up to ">".
    std::size_t tag_name(std::size_t at, ByteRange& name)
    {
        const std::size_t end = turn_.text().find_first_of(">\n", at);
        name = {at, std::min(end, turn_.end())};
        if (end == npos) {
            cut_ = true;
            draft_.wrong(CallStatus::Unclosed, "the turn ends inside a tag");
            return turn_.end();
        }
        if (turn_.text()[end] != '>')
            draft_.wrong(CallStatus::Malformed, "a tag is not closed by >");
        return end + 1;
    }

    std::size_t parameter(std::size_t at)
    {
        ByteRange key;
        const std::size_t begin = tag_name(at + parameter_open.size(), key);
        if (cut_) {
            draft_.parts.push_back({key, Inside::Key, {}});
            return begin;
        }
        const auto value = read_tagged_value(turn_, begin, {parameter_close, followers, function_open, function_close});
        using End = TaggedValue::End;
        if (value.state == End::Cut) {
            cut_ = true;
            draft_.wrong(CallStatus::Unclosed,
                         fmt::format("{} is missing: the turn ends inside a parameter", parameter_close));
        } else if (value.state == End::Missing) {
            draft_.wrong(CallStatus::Unclosed, fmt::format("{} is missing", parameter_close));
        } else if (value.state == End::Doubled) {
            draft_.wrong(CallStatus::Malformed, fmt::format("{} is doubled", parameter_close));
        } else if (value.state == End::Junk) {
            draft_.wrong(CallStatus::Malformed, fmt::format("something stands behind {}", parameter_close));
        }
        add_value(key, value);
        return value.after;
    }

    void add_value(ByteRange key, const TaggedValue& value)
    {
        const auto name = turn_.slice(key.begin, key.end);
        const ByteRange content = without_line_feeds(turn_.text(), value.content);
        draft_.add_argument(name, key, std::string(turn_.slice(content.begin, content.end)), content,
                            Argument::Type::Untyped, value.state != TaggedValue::End::Cut);
        plain_.push_back(draft_.arguments.back());
        if (value.first_close < value.content.end) {
            const ByteRange first = without_line_feeds(turn_.text(), {value.content.begin, value.first_close});
            plain_.back().value = turn_.slice(first.begin, first.end);
            plain_.back().value_bytes = first;
            plain_differs_ = true;
        }
    }

    std::size_t without_end(std::size_t at)
    {
        if (at == turn_.end()) {
            cut_ = true;
            draft_.wrong(CallStatus::Unclosed, fmt::format("{} is missing: the turn ends", function_close));
            return at;
        }
        const std::size_t end = turn_.find(function_close, at);
        const std::size_t next = std::min(turn_.find(function_open, at), turn_.find("<tool_call>", at));
        if (end < next) {
            draft_.wrong(CallStatus::Malformed, "something stands between the parameters");
            closed_ = true;
            return end + function_close.size();
        }
        draft_.wrong(CallStatus::Unclosed, fmt::format("{} is missing", function_close));
        return at;
    }

    CallWriter& turn_;
    CallDraft draft_;
    ByteRange name_;
    std::vector<Argument> plain_; ///< as a reader takes it that stops at the first end tag
    bool plain_differs_ = false, closed_ = false, cut_ = false;
};

class Reader {
public:
    explicit Reader(CallWriter& turn) : turn_(turn) {}

    void read()
    {
        std::size_t at = turn_.begin();
        while (at < turn_.end()) {
            std::size_t outer = npos, tag = 0;
            for (std::size_t i = 0; i < outer_tags.size(); ++i)
                if (const std::size_t found = turn_.find(outer_tags[i].open, at); found < outer) {
                    outer = found;
                    tag = i;
                }
            const std::size_t bare = turn_.find(function_open, at);
            if (outer == npos && bare == npos)
                return;
            at = bare < outer ? without_outer(bare) : with_outer(outer, outer_tags[tag]);
        }
    }

private:
    std::size_t without_outer(std::size_t begin)
    {
        if (!turn_.line_start(begin)) {
            turn_.mention({begin, begin + function_open.size()}, "the tag stands in prose");
            return begin + function_open.size();
        }
        Function function(turn_);
        std::size_t end = function.read(begin);
        if (function.closed()) {
            function.wrong(CallStatus::Malformed, "the outer tag is missing");
            if (const std::size_t after = turn_.blanks(end); turn_.at(outer_tags[0].close, after))
                end = after + outer_tags[0].close.size();
        }
        function.add({begin, end});
        return end;
    }

    std::size_t with_outer(std::size_t begin, const OuterTag& outer)
    {
        std::size_t body = turn_.blanks(begin + outer.open.size());
        bool doubled = false;
        for (; turn_.at(outer.open, body); doubled = true)
            body = turn_.blanks(body + outer.open.size());
        if (!turn_.at(function_open, body)) {
            // JSON or another dialect's name behind the shared tag is no affair of this one.
            const bool others = body < turn_.end() && turn_.slice(body, turn_.end()).find('<') != 0 &&
                                (turn_.text()[body] == '{' || turn_.text()[body] == '[' || turn_.line_start(begin));
            return others ? begin + outer.open.size()
                          : opener_without_body(turn_, begin, body, outer.open, outer.close, "<function=");
        }
        Function first(turn_);
        std::size_t end = first.read(body);
        if (doubled)
            first.wrong(CallStatus::Malformed, "the opening tag is doubled");
        std::size_t after = turn_.blanks(end);
        if (turn_.at(outer.close, after)) {
            end = after + outer.close.size();
        } else if (first.closed() && !turn_.at(function_open, after)) {
            first.wrong(CallStatus::Unclosed, fmt::format("{} is missing", outer.close));
        }
        first.add({begin, end});
        // Some models write further functions into one outer tag.
        while (turn_.at(function_open, after)) {
            Function next(turn_);
            const std::size_t next_begin = after;
            end = next.read(after);
            next.wrong(CallStatus::Malformed, "it shares its outer tag with the call before");
            after = turn_.blanks(end);
            if (turn_.at(outer.close, after))
                end = after + outer.close.size();
            next.add({next_begin, end});
        }
        return end;
    }

    CallWriter& turn_;
};

void read(CallWriter& turn)
{
    Reader(turn).read();
}

} // namespace

Dialect qwen3_coder()
{
    return {.name = "qwen3-coder",
            .title = "Qwen3-Coder, Qwen3.5, Nemotron, Seed-OSS: <function=…><parameter=…>",
            .markers = {function_open, "<tool_call>", "</tool_call>", "<seed:tool_call>", "</seed:tool_call>"},
            .openers = 1,
            .parsers = {"qwen3coder", "qwen3xml", "seedoss", "step3p5", "nemotron", "qwen35"},
            .read = read};
}

} // namespace flipscope::dialect
