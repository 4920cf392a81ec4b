// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/text/token_text.h"
#include "core/trace/trace.h"

#include <QString>

#include <optional>
#include <string_view>

namespace flipscope {

/// The forced history as text: the bytes of the token at a position, from the trace itself where it stores them, else
/// from whatever open trace knows the id. A cheap value; `texts` must outlive it.
class HistoryText {
public:
    HistoryText() = default;
    HistoryText(TracePtr trace, const TokenTexts* texts);

    qint64 size() const;
    std::int32_t id(qint64 position) const; ///< -1 outside of the history
    std::optional<std::string_view> bytes(qint64 position) const;
    bool special(qint64 position) const;
    /// Readable on one line; "#1234" where nobody knows the id, "" outside of the history.
    QString label(qint64 position) const;
    /// The same for any id.
    QString idLabel(std::int32_t id) const;
    /// A token that holds part of a character, together with the neighbours (up to three on either side) that hold the
    /// rest of it; nullopt where it is whole by itself, or never gets whole.
    struct Joined {
        qint64 first, last; ///< positions, both included
        QString text;
    };
    std::optional<Joined> joined(qint64 position) const;
    const TracePtr& trace() const { return m_trace; }

private:
    TracePtr m_trace;
    const TokenTexts* m_texts = nullptr;
};

} // namespace flipscope
