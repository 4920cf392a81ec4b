// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/values.h"

#include "core/base/utf8.h"
#include "core/toolcalls/value_text.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <unordered_map>

namespace flipscope {

namespace {

constexpr int deepest = 200; // the parser calls itself for each level

bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool word_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

class ValueParser {
public:
    ValueParser(std::string_view text, std::size_t begin, std::size_t limit, const ValueStyle& style)
        : text_(text), at_(begin), limit_(limit), style_(style)
    {
    }

    ParsedValue parse()
    {
        result_.state = ParsedValue::State::Whole;
        value(result_.node, 0);
        result_.end = at_;
        return std::move(result_);
    }

private:
    using State = ParsedValue::State;

    bool bad(std::string problem)
    {
        result_.state = State::Bad;
        result_.problem = std::move(problem);
        return false;
    }

    bool cut(std::string problem)
    {
        result_.state = State::Cut;
        result_.problem = std::move(problem);
        at_ = limit_;
        return false;
    }

    void liberty(const std::string& what)
    {
        if (result_.liberty.empty())
            result_.liberty = what;
    }

    bool starts_with(std::string_view what) const
    {
        return text_.substr(0, limit_).substr(std::min(at_, limit_), what.size()) == what;
    }

    void blanks() { at_ = skip_blanks(text_, at_, limit_); }

    /// False: cut or bad, and `node` is filled as far as it goes.
    bool value(ValueNode& node, int depth)
    {
        blanks();
        node.bytes = node.content = {at_, at_};
        node.complete = false;
        if (at_ >= limit_)
            return cut("a value is missing");
        if (depth > deepest)
            return bad(fmt::format("values are nested more than {} deep", deepest));
        const char c = text_[at_];
        bool good = false;
        if (c == '{')
            good = container(node, ValueNode::Kind::Object, '}', depth);
        else if (c == '[' || (c == '(' && style_.python))
            good = container(node, ValueNode::Kind::Array, c == '[' ? ']' : ')', depth);
        else if (!style_.text_mark.empty() && starts_with(style_.text_mark))
            good = marked_text(node);
        else if (c == '"' || c == '\'')
            good = quoted(node);
        else if (c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9'))
            good = number(node);
        else
            good = word(node);
        node.bytes.end = at_;
        if (node.kind != ValueNode::Kind::Text)
            node.content = node.bytes;
        node.complete = good;
        return good;
    }

    bool container(ValueNode& node, ValueNode::Kind kind, char closing, int depth)
    {
        node.kind = kind;
        const bool object = kind == ValueNode::Kind::Object;
        ++at_;
        for (;;) {
            blanks();
            if (at_ >= limit_)
                return cut(object ? "an object is not closed" : "an array is not closed");
            if (text_[at_] == closing) {
                if (!node.children.empty() && !style_.python)
                    liberty("a comma stands before a closing bracket");
                ++at_;
                return true;
            }
            node.children.emplace_back();
            ValueNode& child = node.children.back();
            if (object && !key(child)) {
                if (child.key_bytes.empty())
                    node.children.pop_back();
                return false;
            }
            if (!value(child, depth + 1))
                return false;
            blanks();
            if (at_ >= limit_)
                return cut(object ? "an object is not closed" : "an array is not closed");
            if (text_[at_] == closing) {
                ++at_;
                return true;
            }
            if (text_[at_] != ',')
                return bad(fmt::format("'{}' or a comma is missing", closing));
            ++at_;
        }
    }

    bool key(ValueNode& child)
    {
        child.complete = false;
        ValueNode key;
        if (!style_.text_mark.empty() && starts_with(style_.text_mark)) {
            if (!marked_text(key))
                return false;
        } else if (text_[at_] == '"' || text_[at_] == '\'') {
            const bool closed = quoted(key);
            child.key = key.text;
            child.key_bytes = key.content;
            child.bytes = child.content = {at_, at_};
            if (!closed)
                return false;
        } else if (style_.bare_keys) {
            const std::size_t begin = at_;
            while (at_ < limit_ && (word_letter(text_[at_]) || text_[at_] == '-' || text_[at_] == '.'))
                ++at_;
            key.content = {begin, at_};
            key.text = text_.substr(begin, at_ - begin);
            if (key.text.empty())
                return bad("a key is missing");
        } else {
            return bad("a key in quotes is missing");
        }
        child.key = key.text;
        child.key_bytes = key.content;
        blanks();
        child.bytes = child.content = {at_, at_};
        if (at_ >= limit_)
            return cut("a value is missing");
        if (text_[at_] != ':')
            return bad("a colon is missing");
        ++at_;
        return true;
    }

    bool quoted(ValueNode& node)
    {
        node.kind = ValueNode::Kind::Text;
        const char quote = text_[at_];
        if (quote == '\'' && !style_.python)
            liberty("a string stands in single quotes");
        const auto literal = read_text_literal(text_, at_ + 1, limit_, quote, style_.python);
        node.content = {at_ + 1, literal.end};
        node.text = literal.text;
        result_.last_text = node.content;
        if (!literal.liberty.empty())
            liberty(literal.liberty);
        if (!literal.closed)
            return cut("a string is not closed");
        at_ = literal.end + 1;
        return true;
    }

    bool marked_text(ValueNode& node)
    {
        node.kind = ValueNode::Kind::Text;
        const std::size_t begin = at_ + style_.text_mark.size();
        const std::size_t found = text_.substr(0, limit_).find(style_.text_mark, begin);
        const std::size_t end = std::min(found, limit_);
        node.content = {begin, end};
        node.text = text_.substr(begin, end - begin);
        result_.last_text = node.content;
        if (found == std::string_view::npos)
            return cut("a string is not closed");
        at_ = end + style_.text_mark.size();
        return true;
    }

    bool number(ValueNode& node)
    {
        node.kind = ValueNode::Kind::Number;
        const std::size_t begin = at_;
        while (at_ < limit_ && (word_letter(text_[at_]) || text_[at_] == '.' || text_[at_] == '+' || text_[at_] == '-'))
            ++at_;
        node.text = text_.substr(begin, at_ - begin);
        if (at_ >= limit_)
            return cut("a number may go on");
        if (const auto problem = number_problem(node.text); !problem.empty()) {
            at_ = begin;
            return bad(problem);
        }
        return true;
    }

    std::string number_problem(std::string& number) const
    {
        std::string digits = number;
        if (style_.python)
            std::erase(digits, '_');
        std::size_t i = digits[0] == '-' || (digits[0] == '+' && style_.python) ? 1 : 0;
        const auto run = [&] {
            const std::size_t from = i;
            while (i < digits.size() && digits[i] >= '0' && digits[i] <= '9')
                ++i;
            return i - from;
        };
        const std::size_t first = i, whole = run();
        bool good = whole > 0 && (whole == 1 || digits[first] != '0');
        if (i < digits.size() && digits[i] == '.') {
            ++i;
            good = (run() > 0 && good) || (style_.python && digits.size() > 1);
        }
        if (i < digits.size() && (digits[i] == 'e' || digits[i] == 'E')) {
            ++i;
            i += i < digits.size() && (digits[i] == '+' || digits[i] == '-') ? 1 : 0;
            good = run() > 0 && good;
        }
        if (!good || i != digits.size())
            return fmt::format("{}{} is no number", number.substr(0, 40), number.size() > 40 ? "..." : "");
        if (std::isinf(std::strtod(digits.c_str(), nullptr)))
            return "a number is too large";
        number = digits[0] == '+' ? digits.substr(1) : digits;
        return {};
    }

    bool word(ValueNode& node)
    {
        const std::size_t begin = at_;
        while (at_ < limit_ && word_letter(text_[at_]))
            ++at_;
        const auto written = text_.substr(begin, at_ - begin);
        node.text = written;
        if (written.empty())
            return bad("a value is missing");
        struct Word {
            std::string_view json, python;
        };
        for (const auto& [json, python] : {Word{"true", "True"}, Word{"false", "False"}, Word{"null", "None"}}) {
            if (written == (style_.python ? python : json) || written == (style_.python ? json : python)) {
                if (written != (style_.python ? python : json))
                    liberty(fmt::format("{} stands for {}", written, style_.python ? python : json));
                node.text = json;
                return true;
            }
            if (at_ >= limit_ && (json.starts_with(written) || python.starts_with(written)))
                return cut("a value is not complete");
        }
        at_ = begin;
        return bad(fmt::format("{} is no value", written.substr(0, 40)));
    }

    std::string_view text_;
    std::size_t at_, limit_;
    const ValueStyle& style_;
    ParsedValue result_;
};

bool plain_key(std::string_view key)
{
    if (key.empty() || (key[0] >= '0' && key[0] <= '9'))
        return false;
    for (std::size_t i = 0; i < key.size();) {
        const std::size_t length = utf8_at(key, i).length;
        if (length == 0 || !word_letter(key[i]))
            return false;
        i += length;
    }
    return true;
}

Argument::Type type_of(const ValueNode& node)
{
    switch (node.kind) {
    case ValueNode::Kind::Text:
        return Argument::Type::Text;
    case ValueNode::Kind::Number:
        return Argument::Type::Number;
    case ValueNode::Kind::Word:
        return Argument::Type::Word;
    default:
        return Argument::Type::Empty;
    }
}

/// Decoded positions back to where they were read from.
ByteRange original(ByteRange range, const std::vector<std::size_t>& source)
{
    if (source.empty())
        return range;
    const std::size_t last = source.size() - 1;
    return {source[std::min(range.begin, last)], source[std::min(range.end, last)]};
}

void collect_children(const ValueNode& node, const std::string& path, std::vector<Argument>& arguments,
                      std::vector<CallPart>& parts, const std::vector<std::size_t>& source)
{
    if (node.kind == ValueNode::Kind::Array) {
        for (std::size_t i = 0; i < node.children.size(); ++i)
            collect_leaves(node.children[i], fmt::format("{}[{}]", path, i), arguments, parts, source);
        return;
    }
    std::unordered_map<std::string_view, std::size_t> last;
    for (std::size_t i = 0; i < node.children.size(); ++i)
        last[node.children[i].key] = i;
    std::vector<Argument> overwritten; // by a later member of the same name
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        const ValueNode& child = node.children[i];
        auto& into = last[child.key] == i ? arguments : overwritten;
        collect_leaves(child, member_path(path, child.key), into, parts, source);
    }
}

} // namespace

const ValueNode* ValueNode::member(std::string_view name) const
{
    for (auto child = children.rbegin(); child != children.rend(); ++child)
        if (child->key == name)
            return &*child;
    return nullptr;
}

std::size_t skip_blanks(std::string_view text, std::size_t at, std::size_t limit)
{
    while (at < limit && blank(text[at]))
        ++at;
    return at;
}

ParsedValue parse_value(std::string_view text, std::size_t begin, std::size_t limit, const ValueStyle& style)
{
    return ValueParser(text, begin, limit, style).parse();
}

std::string member_path(const std::string& path, std::string_view key)
{
    if (plain_key(key))
        return fmt::format("{}.{}", path, key);
    std::string escaped;
    for (const char c : key) {
        if (c == '\'' || c == '\\')
            escaped += '\\';
        escaped += c;
    }
    return fmt::format("{}['{}']", path, escaped);
}

void collect_leaves(const ValueNode& node, const std::string& path, std::vector<Argument>& arguments,
                    std::vector<CallPart>& parts, const std::vector<std::size_t>& source)
{
    if (!node.key_bytes.empty())
        parts.push_back({original(node.key_bytes, source), Inside::Key, path});
    if (!node.complete && node.bytes.empty()) // the value itself is not there
        return;
    if (node.children.empty()) {
        const bool container = node.kind == ValueNode::Kind::Object || node.kind == ValueNode::Kind::Array;
        Argument leaf{path,
                      container ? (node.kind == ValueNode::Kind::Object ? "{}" : "[]") : node.text,
                      type_of(node),
                      original(node.key_bytes, source),
                      original(node.content, source),
                      node.complete};
        if (!container)
            parts.push_back({leaf.value_bytes, Inside::Value, path});
        arguments.push_back(std::move(leaf));
    } else {
        collect_children(node, path, arguments, parts, source);
    }
}

bool collect_arguments(std::string_view text, const ValueNode& node, std::vector<Argument>& arguments,
                       std::vector<CallPart>& parts)
{
    if (node.kind == ValueNode::Kind::Object) {
        collect_children(node, "$", arguments, parts, {});
        return true;
    }
    if (node.kind == ValueNode::Kind::Text && node.complete && !node.content.empty()) {
        const char quote = text[node.content.begin - 1];
        std::vector<std::size_t> source;
        const auto literal = read_text_literal(text, node.content.begin, node.content.end, quote, false, &source);
        const auto inner = parse_value(literal.text, 0, literal.text.size());
        if (inner.node.kind == ValueNode::Kind::Object && literal.text.find('{') != std::string::npos) {
            collect_children(inner.node, "$", arguments, parts, source);
            return inner.state == ParsedValue::State::Whole &&
                   skip_blanks(literal.text, inner.end, literal.text.size()) == literal.text.size();
        }
    }
    ValueNode leaf = node;
    leaf.key_bytes = {};
    collect_leaves(leaf, "$", arguments, parts);
    return false;
}

} // namespace flipscope
