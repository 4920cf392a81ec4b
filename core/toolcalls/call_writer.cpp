// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/call_writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace flipscope {

namespace {

constexpr auto npos = std::string_view::npos;

/// "it is so" -> "It is so."
std::string sentence(std::string text)
{
    if (text.empty())
        return text;
    if (text[0] >= 'a' && text[0] <= 'z')
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    if (text.back() != '.')
        text += '.';
    return text;
}

bool same_arguments(const std::vector<Argument>& a, const std::vector<Argument>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Argument& x, const Argument& y) {
        return x.path == y.path && x.value == y.value && x.type == y.type;
    });
}

} // namespace

void CallDraft::wrong(CallStatus fault, std::string what)
{
    if (status != CallStatus::Good)
        return;
    status = fault;
    note = std::move(what);
}

void CallDraft::set_name(std::string_view text, ByteRange range)
{
    name = text;
    name_bytes = range;
    if (!range.empty())
        parts.push_back({range, Inside::Name, {}});
}

void CallDraft::add_argument(std::string_view key, ByteRange key_bytes, std::string value, ByteRange value_bytes,
                             Argument::Type type, bool complete)
{
    const std::string path = member_path("$", key);
    parts.push_back({key_bytes, Inside::Key, path});
    parts.push_back({value_bytes, Inside::Value, path});
    std::erase_if(arguments, [&](const Argument& other) { return other.path == path; });
    arguments.push_back({path, std::move(value), type, key_bytes, value_bytes, complete});
}

CallWriter::CallWriter(const TokenStream& stream, const Dialect& dialect, ByteRange turn, Recognised& out)
    : stream_(stream), dialect_(dialect), turn_(turn), text_(std::string_view(stream.bytes).substr(0, turn.end)),
      out_(out), last_end_(turn.begin)
{
}

std::size_t CallWriter::search(std::string_view marker, std::size_t from) const
{
    const bool one_token = dialect_.control && stream_.markers && stream_.markers->is_one_token(marker);
    for (;;) {
        const std::size_t found = from > end() ? npos : text_.find(marker, from);
        if (found == npos || !one_token || stream_.is_one_token({found, found + marker.size()}))
            return found;
        from = found + 1;
    }
}

std::size_t CallWriter::find(std::string_view marker, std::size_t from) const
{
    for (Search& known : searches_)
        if (known.marker == marker) {
            if (from < known.from || from > known.found)
                known = {marker, from, search(marker, from)};
            return known.found;
        }
    searches_.push_back({marker, from, search(marker, from)});
    return searches_.back().found;
}

std::size_t CallWriter::find_any(std::span<const std::string_view> markers, std::size_t from) const
{
    std::size_t first = npos;
    for (const auto marker : markers)
        first = std::min(first, find(marker, from));
    return first;
}

bool CallWriter::at(std::string_view marker, std::size_t place) const
{
    if (place > end() || text_.substr(place, marker.size()) != marker)
        return false;
    return !dialect_.control || !stream_.markers || !stream_.markers->is_one_token(marker) ||
           stream_.is_one_token({place, place + marker.size()});
}

bool CallWriter::cut_off(std::string_view marker, std::size_t place) const
{
    const std::size_t left = place < end() ? end() - place : 0;
    return left > 0 && left < marker.size() && marker.starts_with(text_.substr(place));
}

bool CallWriter::line_start(std::size_t place) const
{
    while (place > begin() && (text_[place - 1] == ' ' || text_[place - 1] == '\t'))
        --place;
    const auto before = text_.substr(begin(), place - begin());
    return place == begin() || place == last_end_ || before.back() == '\n' || before.ends_with("</think>");
}

void CallWriter::add(CallDraft draft)
{
    const CallStatus status = draft.status;
    add(std::move(draft), status);
}

void CallWriter::add(CallDraft draft, CallStatus status)
{
    Call call;
    call.status = status;
    call.bytes = draft.bytes;
    call.tokens = stream_.tokens_of(call.bytes);
    call.name_bytes = draft.name_bytes;
    call.parts = std::move(draft.parts);
    std::erase_if(call.parts, [&](const CallPart& part) { return part.bytes.begin > call.bytes.end; });
    for (CallPart& part : call.parts) // what a broken string has swallowed is not the call's
        part.bytes.end = std::min(part.bytes.end, call.bytes.end);
    std::stable_sort(call.parts.begin(), call.parts.end(),
                     [](const CallPart& a, const CallPart& b) { return a.bytes.begin < b.bytes.begin; });
    const std::string note = sentence(std::move(draft.note));
    const bool strict = draft.strict && status == CallStatus::Good;
    call.strict = {strict, draft.name, draft.strict_arguments.value_or(draft.arguments), strict ? std::string() : note};
    call.tolerant = {draft.tolerant, std::move(draft.name), std::move(draft.arguments), note};
    call.readings_differ = call.strict.accepted != call.tolerant.accepted ||
                           (strict && !same_arguments(call.strict.arguments, call.tolerant.arguments));
    last_end_ = call.bytes.end;
    (status == CallStatus::Mention ? out_.mentions : out_.calls).push_back(std::move(call));
}

void CallWriter::mention(ByteRange bytes, std::string note)
{
    CallDraft draft;
    draft.bytes = bytes;
    draft.note = std::move(note);
    draft.strict = draft.tolerant = false;
    const std::size_t last = last_end_;
    add(std::move(draft), CallStatus::Mention);
    last_end_ = last;
}

void CallWriter::thinking(ByteRange bytes)
{
    out_.sections.push_back({Section::Kind::Thinking, bytes, stream_.tokens_of(bytes), 0});
}

ObjectCall object_call(std::string_view text, const ParsedValue& parsed, const ObjectKeys& keys)
{
    ObjectCall result;
    result.state = parsed.state;
    result.end = parsed.end;
    result.last_text = parsed.last_text;
    result.problem = parsed.problem;
    result.draft.note = parsed.liberty;
    result.draft.strict = parsed.liberty.empty();
    const ValueNode& node = parsed.node;
    const auto member = [&](const std::vector<std::string_view>& names) {
        const ValueNode* found = nullptr;
        for (const auto name : names)
            found = found ? found : node.member(name);
        return found;
    };
    const ValueNode* name = member(keys.name);
    const bool named = name && name->kind == ValueNode::Kind::Text && !name->content.empty();
    if (named)
        result.draft.set_name(name->text, name->content);
    if (const ValueNode* arguments = member(keys.arguments)) {
        result.has_arguments = true;
        const bool sound = collect_arguments(text, *arguments, result.draft.arguments, result.draft.parts);
        if (!sound && result.state == ParsedValue::State::Whole) {
            result.draft.note = "the arguments are no JSON object";
            result.draft.strict = false;
        }
    }
    result.call = node.kind == ValueNode::Kind::Object && named && name->complete &&
                  (result.has_arguments || !keys.arguments_needed);
    if (result.problem.empty() && !result.call)
        result.problem = node.kind != ValueNode::Kind::Object ? "it is no JSON object"
                         : !named                             ? "it names no tool"
                                                              : "it has no arguments";
    return result;
}

ObjectCall read_object_call(std::string_view text, std::size_t at, std::size_t limit, const ObjectKeys& keys)
{
    auto parsed = parse_value(text, at, limit);
    ObjectCall result = object_call(text, parsed, keys);
    result.node = std::move(parsed.node);
    return result;
}

std::size_t find_end_tag(const CallWriter& turn, std::size_t from, ByteRange last_text, std::string_view end_tag,
                         std::span<const std::string_view> openers)
{
    const auto swallower = turn.slice(last_text.begin, last_text.end);
    for (std::size_t at = swallower.find(end_tag); at != npos; at = swallower.find(end_tag, at + 1)) {
        // Of a call that is complete but for a quote; in a text that merely mentions the tag nothing is closed before
        // it.
        const std::size_t before = swallower.substr(0, at).find_last_not_of(" \t\r\n");
        if (before != npos && (swallower[before] == '}' || swallower[before] == '`'))
            return last_text.begin + at;
    }
    const std::size_t found = turn.find(end_tag, from);
    return found < turn.find_any(openers, from) ? found : npos;
}

std::size_t finish_tagged_call(CallWriter& turn, std::size_t begin, ObjectCall object, std::string_view end_tag,
                               std::span<const std::string_view> openers, std::string liberty)
{
    CallDraft& draft = object.draft;
    if (draft.note.empty() && !liberty.empty()) {
        draft.note = std::move(liberty);
        draft.strict = false;
    }
    const auto close = [&](std::size_t end, CallStatus status, bool tolerant) {
        draft.bytes = {begin, end};
        draft.tolerant = tolerant;
        turn.add(std::move(draft), status);
        return end;
    };
    if (object.state == ParsedValue::State::Whole) {
        const std::size_t after = turn.blanks(object.end);
        if (turn.at(end_tag, after)) {
            const bool good = object.call && draft.strict;
            if (!object.call)
                draft.note = object.problem;
            return close(after + end_tag.size(), good ? CallStatus::Good : CallStatus::Malformed, object.call);
        }
        const std::size_t next = std::min(turn.find_any(openers, after), turn.end());
        const std::size_t tag = turn.find(end_tag, after);
        if (tag < next) {
            draft.note = fmt::format("text stands between the JSON and {}", end_tag);
            return close(tag + end_tag.size(), CallStatus::Malformed, object.call);
        }
        draft.note = fmt::format("{} is missing", end_tag);
        return close(object.end, CallStatus::Unclosed, object.call);
    }
    const std::size_t tag = find_end_tag(turn, object.end, object.last_text, end_tag, openers);
    draft.note = object.problem;
    for (Argument& argument : draft.arguments)
        if (tag < argument.value_bytes.end) { // it has swallowed the end tag
            argument.value_bytes.end = std::max(argument.value_bytes.begin, tag);
            argument.value = turn.slice(argument.value_bytes.begin, argument.value_bytes.end);
            argument.complete = false;
        }
    // A parser that matches the braces of the arguments alone is content when those are whole.
    const bool arguments_whole = object.call && std::all_of(draft.arguments.begin(), draft.arguments.end(),
                                                            [](const Argument& a) { return a.complete; });
    if (tag != npos)
        return close(tag + end_tag.size(), CallStatus::Malformed, arguments_whole);
    if (object.state == ParsedValue::State::Cut)
        return close(turn.end(), CallStatus::Unclosed, arguments_whole);
    draft.note += fmt::format(", and {} is missing", end_tag);
    return close(std::min(turn.find_any(openers, object.end), turn.end()), CallStatus::Unclosed, false);
}

std::size_t opener_without_body(CallWriter& turn, std::size_t begin, std::size_t body, std::string_view opener,
                                std::string_view closer, std::string_view wanted)
{
    CallDraft draft;
    draft.tolerant = false;
    const std::size_t after = begin + opener.size();
    if (turn.line_start(begin)) {
        const std::size_t tag = closer.empty() ? npos : turn.find(closer, after);
        if (tag < std::min(turn.find(opener, after), turn.end())) {
            draft.bytes = {begin, tag + closer.size()};
            draft.note = fmt::format("no {} stands between the tags", wanted);
            turn.add(std::move(draft), CallStatus::Malformed);
            return tag + closer.size();
        }
        if (body == turn.end()) {
            draft.bytes = {begin, turn.end()};
            draft.note = fmt::format("the turn ends where {} should follow", wanted);
            turn.add(std::move(draft), CallStatus::Unclosed);
            return turn.end();
        }
    }
    turn.mention({begin, after}, fmt::format("the marker stands in prose: no {} follows it", wanted));
    return after;
}

} // namespace flipscope
