// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/text/token_text.h"
#include "core/trace/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace flipscope {

/// Half-open range of bytes of one TokenStream.
struct ByteRange {
    std::size_t begin = 0, end = 0;

    bool empty() const { return end <= begin; }
    bool contains(std::size_t byte) const { return byte >= begin && byte < end; }
    bool operator==(const ByteRange&) const = default;
};

/// Half-open range of tokens of one TokenStream, counted from its first token.
struct TokenRange {
    std::size_t begin = 0, end = 0;

    bool empty() const { return end <= begin; }
    bool operator==(const TokenRange&) const = default;
};

/// The markers of all dialects (as "<tool_call>") that are one token in a vocabulary. The same letters typed as prose
/// are another stream there, which matters to dialects whose markers are control tokens.
class MarkerTokens {
public:
    MarkerTokens() = default; ///< no vocabulary is known: text is all there is
    explicit MarkerTokens(const Vocabulary& vocabulary);

    bool is_one_token(std::string_view marker) const { return found_.contains(std::string(marker)); }

private:
    std::unordered_set<std::string> found_;
};

/// What was written, as one byte string with the borders of its tokens. Immutable once made.
struct TokenStream {
    std::string bytes;
    std::vector<std::int32_t> ids;   ///< may be empty: text without ids
    std::vector<std::size_t> starts; ///< [tokens + 1]: token i is bytes[starts[i], starts[i + 1])
    std::shared_ptr<const MarkerTokens> markers;
    bool thinking = false; ///< the prompt already opened a thinking section
    /// What the model itself wrote, in order, without overlap (the rest was fed or forced); empty = everything.
    std::vector<ByteRange> written;

    std::size_t size() const { return starts.empty() ? 0 : starts.size() - 1; }
    std::string_view token(std::size_t i) const
    {
        return std::string_view(bytes).substr(starts[i], starts[i + 1] - starts[i]);
    }
    std::string_view text(ByteRange range) const
    {
        return std::string_view(bytes).substr(range.begin, range.end - range.begin);
    }
    /// The token that holds a byte; size() for the end of the text.
    std::size_t token_at(std::size_t byte) const;
    /// All tokens of which a byte lies in `range`.
    TokenRange tokens_of(ByteRange range) const;
    /// Whether `range` is exactly one token.
    bool is_one_token(ByteRange range) const;
};

/// `text`: the bytes of each id as stored, or empty: then `texts` is asked. Ids nobody knows have no bytes.
TokenStream make_stream(std::span<const std::int32_t> ids, const ByteStrings& text, const TokenTexts& texts,
                        std::shared_ptr<const MarkerTokens> markers = nullptr);

/// A stream of given pieces, one token each; for text that came without ids, a single piece.
TokenStream make_stream(const std::vector<std::string>& pieces, std::shared_ptr<const MarkerTokens> markers = nullptr);

} // namespace flipscope
