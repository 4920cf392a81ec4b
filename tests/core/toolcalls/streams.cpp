// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "streams.h"

#include <algorithm>
#include <fmt/format.h>

namespace streams {

using namespace flipscope;

TokenStream tokenised(std::string_view text, const Dialect& dialect)
{
    std::vector<std::string> pieces;
    std::size_t plain = 0; // where the current run of letters began
    const auto marker_at = [&](std::size_t at) {
        std::string_view longest;
        for (const auto marker : dialect.markers)
            if (text.substr(at).starts_with(marker) && marker.size() > longest.size())
                longest = marker;
        for (std::size_t n = 4; n <= 30 && longest.empty() && at + n <= text.size(); ++n)
            if (ends_turn(text.substr(at, n)))
                longest = text.substr(at, n);
        return longest;
    };
    const auto flush = [&](std::size_t end) {
        for (; plain < end; plain += 3)
            pieces.emplace_back(text.substr(plain, std::min<std::size_t>(3, end - plain)));
    };
    for (std::size_t at = 0; at < text.size();) {
        const auto marker = marker_at(at);
        if (marker.empty()) {
            ++at;
            continue;
        }
        flush(at);
        pieces.emplace_back(marker);
        at += marker.size();
        plain = at;
    }
    flush(text.size());
    return make_stream(pieces);
}

namespace {

std::string arguments_of(const Reading& reading)
{
    std::string text;
    for (const auto& a : reading.arguments)
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", a.path, a.value);
    return text;
}

} // namespace

std::string shown(const Recognised& found)
{
    std::string text;
    for (const auto& call : found.calls)
        text += fmt::format("{}{} {}({}){}{}", text.empty() ? "" : "; ", status_word(call.status), call.name(),
                            arguments_of(call.tolerant), call.tolerant.accepted ? "" : "?",
                            call.readings_differ ? "~" : "");
    for (std::size_t i = 0; i < found.mentions.size(); ++i)
        text += text.empty() ? "mention" : "; mention";
    return text;
}

std::string broken_invariant(const TokenStream& stream, const Recognised& found)
{
    std::size_t at = 0;
    for (const auto& section : found.sections) {
        if (section.bytes.begin != at || section.bytes.end <= at)
            return fmt::format("a section begins at {}, the one before ended at {}", section.bytes.begin, at);
        at = section.bytes.end;
    }
    if (at != stream.bytes.size())
        return "the sections do not cover the stream";
    std::size_t last = 0;
    for (const auto& call : found.calls) {
        if (call.bytes.begin < last || call.bytes.empty() || call.bytes.end > stream.bytes.size())
            return fmt::format("a call at {}..{} overlaps or is empty", call.bytes.begin, call.bytes.end);
        last = call.bytes.end;
        if (call.tokens != stream.tokens_of(call.bytes))
            return "tokens and bytes of a call disagree";
        std::size_t part_end = call.bytes.begin;
        for (const auto& part : call.parts) {
            if (part.bytes.begin < part_end || part.bytes.end < part.bytes.begin || part.bytes.end > call.bytes.end)
                return fmt::format("part {}..{} ({}) overlaps or lies outside", part.bytes.begin, part.bytes.end,
                                   part.path);
            part_end = part.bytes.end;
        }
        if (!call.name_bytes.empty() && stream.text(call.name_bytes) != call.name() &&
            stream.text(call.name_bytes).find('\\') == std::string_view::npos)
            return fmt::format("the name's bytes are {}", stream.text(call.name_bytes));
        for (const auto& a : call.arguments())
            if (a.type == Argument::Type::Untyped && stream.text(a.value_bytes) != a.value)
                return fmt::format("the bytes of {} are {}", a.path, stream.text(a.value_bytes));
        for (const std::size_t token : {call.tokens.begin, call.tokens.end - 1})
            if (place_of_token(call, stream, token).inside == Inside::Prose)
                return "a token of a call counts as prose";
        if ((call.status == CallStatus::Good) != call.strict.accepted)
            return "a call is good exactly where strict readers accept it";
    }
    return {};
}

} // namespace streams
