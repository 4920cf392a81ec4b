// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/token_stream.h"

#include "core/toolcalls/dialect.h"

#include <algorithm>

namespace flipscope {

MarkerTokens::MarkerTokens(const Vocabulary& vocabulary)
{
    std::unordered_set<std::string_view> wanted;
    for (const Dialect& dialect : dialects())
        if (dialect.control)
            wanted.insert(dialect.markers.begin(), dialect.markers.end());
    for (std::size_t id = 0; id < vocabulary.text.size(); ++id)
        if (const auto text = vocabulary.text[id]; text.size() > 2 && wanted.contains(text))
            found_.emplace(text);
}

std::size_t TokenStream::token_at(std::size_t byte) const
{
    if (starts.empty() || byte >= bytes.size())
        return size();
    // Tokens without bytes share their start with the next one: the last that starts here holds the byte.
    return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), byte) - starts.begin()) - 1;
}

TokenRange TokenStream::tokens_of(ByteRange range) const
{
    const std::size_t first = token_at(range.begin);
    return {first, range.empty() ? first : token_at(range.end - 1) + 1};
}

bool TokenStream::is_one_token(ByteRange range) const
{
    const std::size_t token = token_at(range.begin);
    return token < size() && starts[token] == range.begin && starts[token + 1] == range.end;
}

TokenStream make_stream(std::span<const std::int32_t> ids, const ByteStrings& text, const TokenTexts& texts,
                        std::shared_ptr<const MarkerTokens> markers)
{
    TokenStream stream;
    stream.ids.assign(ids.begin(), ids.end());
    stream.markers = std::move(markers);
    stream.starts.reserve(ids.size() + 1);
    stream.starts.push_back(0);
    const bool stored = text.size() == ids.size();
    for (std::size_t i = 0; i < ids.size(); ++i) {
        stream.bytes += stored ? text[i] : texts.bytes(ids[i]).value_or(std::string_view());
        stream.starts.push_back(stream.bytes.size());
    }
    return stream;
}

TokenStream make_stream(const std::vector<std::string>& pieces, std::shared_ptr<const MarkerTokens> markers)
{
    TokenStream stream;
    stream.markers = std::move(markers);
    stream.starts.push_back(0);
    for (const auto& piece : pieces) {
        stream.bytes += piece;
        stream.starts.push_back(stream.bytes.size());
    }
    return stream;
}

} // namespace flipscope
