// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/python_call.h"

#include <fmt/format.h>

namespace flipscope {

namespace {

using State = ParsedValue::State;

bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/// The word at `at`; dots and hyphens between its parts where it is a tool's name.
std::size_t word_end(std::string_view text, std::size_t at, std::size_t limit, bool name)
{
    if (at >= limit || !letter(text[at]))
        return at;
    while (at < limit && (letter(text[at]) || digit(text[at]) || (name && (text[at] == '.' || text[at] == '-'))))
        ++at;
    return at;
}

class Reader {
public:
    Reader(std::string_view text, std::size_t limit) : text_(text), limit_(limit) {}

    PythonCall read(std::size_t at)
    {
        call_.draft.bytes = {at, at};
        const std::size_t name = word_end(text_, at, limit_, true);
        if (name == at || (name < limit_ && text_[name] != '('))
            return stop(at, State::Bad, "no call begins here");
        call_.draft.set_name(text_.substr(at, name - at), {at, name});
        if (name == limit_)
            return stop(name, State::Cut, "the turn ends inside the tool's name");
        return arguments(name + 1);
    }

private:
    PythonCall stop(std::size_t at, State state, std::string problem)
    {
        call_.state = state;
        call_.end = call_.draft.bytes.end = at;
        call_.problem = std::move(problem);
        return std::move(call_);
    }

    PythonCall arguments(std::size_t at)
    {
        for (;;) {
            at = skip_blanks(text_, at, limit_);
            if (at >= limit_)
                return stop(at, State::Cut, "the arguments are not closed");
            if (text_[at] == ')')
                return stop(at + 1, State::Whole, {});
            const std::size_t key_end = word_end(text_, at, limit_, false);
            const ByteRange key{at, key_end};
            at = skip_blanks(text_, key_end, limit_);
            if (at >= limit_) {
                call_.draft.parts.push_back({key, Inside::Key, {}});
                return stop(at, State::Cut, "the arguments are not closed");
            }
            if (key.empty() || text_[at] != '=')
                return stop(key.begin, State::Bad, "an argument has no keyword");
            const auto value = parse_value(text_, at + 1, limit_, {.python = true});
            add(key, value);
            if (value.state != State::Whole)
                return stop(value.end, value.state, value.problem);
            if (!value.liberty.empty() && call_.draft.note.empty()) {
                // JSON's words in a Python call: some parsers take them.
                call_.draft.note = value.liberty;
                call_.draft.strict = false;
            }
            at = skip_blanks(text_, value.end, limit_);
            if (at < limit_ && text_[at] != ',' && text_[at] != ')')
                return stop(at, State::Bad, "')' or a comma is missing");
            at += at < limit_ && text_[at] == ',' ? 1 : 0;
        }
    }

    void add(ByteRange key, const ParsedValue& value)
    {
        const std::string path = member_path("$", text_.substr(key.begin, key.end - key.begin));
        call_.draft.parts.push_back({key, Inside::Key, path});
        const std::size_t before = call_.draft.arguments.size();
        collect_leaves(value.node, path, call_.draft.arguments, call_.draft.parts);
        if (call_.draft.arguments.size() == before + 1)
            call_.draft.arguments.back().key_bytes = key;
    }

    std::string_view text_;
    std::size_t limit_;
    PythonCall call_;
};

} // namespace

PythonCall read_python_call(std::string_view text, std::size_t at, std::size_t limit)
{
    return Reader(text, limit).read(at);
}

} // namespace flipscope
