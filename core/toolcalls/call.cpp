// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/call.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace flipscope {

namespace {

bool whole_number(const std::string& text)
{
    return text.find_first_of(".eE") == std::string::npos;
}

bool equal_numbers(const std::string& a, const std::string& b)
{
    if (a == b)
        return true;
    if (whole_number(a) && whole_number(b)) // may be beyond what a double tells apart
        return (a == "-0" || a == "0") && (b == "-0" || b == "0");
    return std::strtod(a.c_str(), nullptr) == std::strtod(b.c_str(), nullptr);
}

/// Text without types: Python and JSON spell the same words in two ways.
std::string json_word(const std::string& text)
{
    return text == "True" ? "true" : text == "False" ? "false" : text == "None" ? "null" : text;
}

std::string in_quotes(const std::string& text)
{
    return "\"" + text + "\"";
}

} // namespace

std::string_view inside_word(Inside inside)
{
    switch (inside) {
    case Inside::Prose:
        return "prose";
    case Inside::Name:
        return "name";
    case Inside::Key:
        return "key";
    case Inside::Value:
        return "value";
    case Inside::Delimiter:
        break;
    }
    return "delimiter";
}

std::string_view status_word(CallStatus status)
{
    switch (status) {
    case CallStatus::Good:
        return "good";
    case CallStatus::Unclosed:
        return "unclosed";
    case CallStatus::Malformed:
        return "malformed";
    case CallStatus::Mention:
        break;
    }
    return "mention";
}

bool equal_value(const Argument& a, const Argument& b)
{
    using Type = Argument::Type;
    if (a.type == Type::Untyped || b.type == Type::Untyped)
        return a.value == b.value ||
               (a.type != Type::Text && b.type != Type::Text && json_word(a.value) == json_word(b.value));
    if (a.type != b.type)
        return false;
    return a.type == Type::Number ? equal_numbers(a.value, b.value) : a.value == b.value;
}

std::string shown_value(const Argument& argument, const Argument* other)
{
    const bool same_letters = other && other->type != argument.type && other->value == argument.value;
    return argument.type == Argument::Type::Text && same_letters ? in_quotes(argument.value) : argument.value;
}

const Argument* Reading::find(std::string_view path) const
{
    for (const auto& argument : arguments)
        if (argument.path == path)
            return &argument;
    return nullptr;
}

CallPlace place_of_byte(const Call& call, std::size_t byte)
{
    if (!call.bytes.contains(byte))
        return {};
    const auto after = std::upper_bound(call.parts.begin(), call.parts.end(), byte,
                                        [](std::size_t b, const CallPart& part) { return b < part.bytes.begin; });
    if (after != call.parts.begin()) {
        const CallPart& part = *(after - 1);
        if (part.bytes.contains(byte))
            return {part.inside, part.path};
    }
    return {Inside::Delimiter, {}};
}

CallPlace place_of_token(const Call& call, const TokenStream& stream, std::size_t token)
{
    const std::size_t begin = std::max(stream.starts[token], call.bytes.begin);
    const std::size_t end = std::min(stream.starts[token + 1], call.bytes.end);
    if (begin >= end)
        return {};
    // The first part that reaches into the token.
    const auto part = std::lower_bound(call.parts.begin(), call.parts.end(), begin,
                                       [](const CallPart& p, std::size_t b) { return p.bytes.end <= b; });
    if (part != call.parts.end() && part->bytes.begin < end)
        return {part->inside, part->path};
    return {Inside::Delimiter, {}};
}

} // namespace flipscope
