// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace flipscope {

/// Makes any bytes readable on one line: valid UTF-8 stays, control characters become their pictures or names
/// (line feed as "⏎", tab as "⇥"), bytes that are no whole character become "‹E2 9C›", a leading space becomes "␣".
std::string visible(std::string_view bytes);

/// Exact bytes in hex, "E2 9C 93".
std::string hex_bytes(std::string_view bytes);

/// Looks up the bytes of ids. Asks the trace's own vocabulary, then vocabularies of other open traces with equal
/// histories, then the history itself (an id that occurs there has its bytes there). A vocabulary made from the lists
/// of an answer has empty places: they are not known there.
class TokenTexts {
public:
    TokenTexts() = default;
    /// `traces`: the one that matters most first.
    explicit TokenTexts(const std::vector<TracePtr>& traces);

    std::optional<std::string_view> bytes(std::int32_t id) const;
    bool special(std::int32_t id) const;
    /// The vocabulary that is asked first; null where no trace has one.
    std::shared_ptr<const Vocabulary> vocabulary() const
    {
        return vocabularies_.empty() ? nullptr : vocabularies_.front();
    }
    /// visible(bytes), or "#1234" for an id nobody knows.
    std::string label(std::int32_t id) const;

private:
    std::vector<TracePtr> traces_; // keeps the views alive
    std::vector<std::shared_ptr<const Vocabulary>> vocabularies_;
    std::unordered_map<std::int32_t, std::string_view> from_history_;
    std::unordered_set<std::int32_t> special_;
};

} // namespace flipscope
