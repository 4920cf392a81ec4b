// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/text/token_text.h"

#include "core/base/utf8.h"

#include <algorithm>
#include <fmt/format.h>

namespace flipscope {

namespace {

/// What is shown for a character nobody would see, or empty for one that shows itself. Direction marks are among them:
/// they would turn the text around them.
std::string picture(std::string_view character)
{
    if (character.size() == 1) {
        const auto c = static_cast<unsigned char>(character[0]);
        switch (c) {
        case '\n':
            return "⏎";
        case '\t':
            return "⇥";
        case '\r':
            return "␍";
        case 0x7F:
            return "␡";
        default:
            break;
        }
        if (c < 0x20) // the block "control pictures" starts at U+2400
            return {'\xE2', '\x90', static_cast<char>(0x80 + c)};
        return {};
    }
    static constexpr std::pair<std::string_view, std::string_view> named[] = {
        {"\xC2\xA0", "‹NBSP›"},       {"\xC2\xAD", "‹SHY›"},        {"\xE2\x80\x8B", "‹ZWSP›"},
        {"\xE2\x80\x8C", "‹ZWNJ›"},   {"\xE2\x80\x8E", "‹LRM›"},    {"\xE2\x80\x8F", "‹RLM›"},
        {"\xE2\x80\xA8", "‹LS›"},     {"\xE2\x80\xA9", "‹PS›"},     {"\xE2\x80\xAA", "‹LRE›"},
        {"\xE2\x80\xAB", "‹RLE›"},    {"\xE2\x80\xAC", "‹PDF›"},    {"\xE2\x80\xAD", "‹LRO›"},
        {"\xE2\x80\xAE", "‹RLO›"},    {"\xE2\x81\xA6", "‹LRI›"},    {"\xE2\x81\xA7", "‹RLI›"},
        {"\xE2\x81\xA8", "‹FSI›"},    {"\xE2\x81\xA9", "‹PDI›"},    {"\xEF\xBB\xBF", "‹BOM›"},
        {"\xEF\xBF\xBE", "‹U+FFFE›"}, {"\xEF\xBF\xBF", "‹U+FFFF›"},
    };
    for (const auto& [bytes, name] : named)
        if (character == bytes)
            return std::string(name);
    if (character.size() == 2 && static_cast<unsigned char>(character[0]) == 0xC2 &&
        static_cast<unsigned char>(character[1]) < 0xA0) // C1 controls
        return fmt::format("‹U+{:04X}›", static_cast<unsigned char>(character[1]));
    return {};
}

} // namespace

std::string hex_bytes(std::string_view bytes)
{
    std::string text;
    for (const char c : bytes)
        text += fmt::format("{}{:02X}", text.empty() ? "" : " ", static_cast<unsigned char>(c));
    return text;
}

std::string visible(std::string_view bytes)
{
    std::string text;
    const std::size_t first = std::min(bytes.find_first_not_of(' '), bytes.size());
    std::size_t broken = 0; // bytes before `at` that are no character
    std::size_t at = 0;
    const auto flush = [&] {
        if (broken)
            text += "‹" + hex_bytes(bytes.substr(at - broken, broken)) + "›";
        broken = 0;
    };
    while (at < bytes.size()) {
        const std::size_t length = utf8_at(bytes, at).length;
        if (length == 0) {
            ++broken;
            ++at;
            continue;
        }
        flush();
        const auto character = bytes.substr(at, length);
        if (at < first && character == " ")
            text += "␣";
        else if (const auto shown = picture(character); !shown.empty())
            text += shown;
        else
            text += character;
        at += length;
    }
    flush();
    return text;
}

TokenTexts::TokenTexts(const std::vector<TracePtr>& traces)
{
    if (traces.empty())
        return;
    // Ids of another history may belong to another tokenizer, so only traces that begin as the first one does count.
    const auto& ids = traces.front()->tokens.ids;
    for (const auto& trace : traces) {
        const auto& other = trace->tokens.ids;
        const auto common = std::min(ids.size(), other.size());
        if (!std::equal(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(common), other.begin()))
            continue;
        traces_.push_back(trace);
        if (trace->vocabulary && vocabularies_.size() < 4 &&
            std::find(vocabularies_.begin(), vocabularies_.end(), trace->vocabulary) == vocabularies_.end()) {
            vocabularies_.push_back(trace->vocabulary);
            if (special_.empty())
                special_.insert(trace->vocabulary->special.begin(), trace->vocabulary->special.end());
        }
        const auto learn = [&](const std::vector<std::int32_t>& some_ids, const ByteStrings& text) {
            for (std::size_t i = 0; i < std::min(some_ids.size(), text.size()); ++i)
                from_history_.try_emplace(some_ids[i], text[i]);
        };
        learn(other, trace->tokens.text);
        for (const auto& generation : trace->generations)
            learn(generation.ids, generation.text);
    }
}

std::optional<std::string_view> TokenTexts::bytes(std::int32_t id) const
{
    std::optional<std::string_view> known;
    for (const auto& vocabulary : vocabularies_)
        if (id >= 0 && static_cast<std::size_t>(id) < vocabulary->text.size()) {
            known = vocabulary->text[static_cast<std::size_t>(id)];
            if (!known->empty())
                return known;
        }
    if (const auto found = from_history_.find(id); found != from_history_.end())
        return found->second;
    return known;
}

bool TokenTexts::special(std::int32_t id) const
{
    return special_.contains(id);
}

std::string TokenTexts::label(std::int32_t id) const
{
    const auto known = bytes(id);
    return known && !known->empty() ? visible(*known) : fmt::format("#{}", id);
}

} // namespace flipscope
