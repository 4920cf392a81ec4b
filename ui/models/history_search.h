// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/history_text.h"

#include <QByteArray>
#include <QString>

#include <tl/expected.hpp>
#include <vector>

namespace flipscope {

/// Finds text in a history, also across the borders of tokens. Bytes are compared; letters A–Z match either case.
/// A history without text is searched by id: "#1234".
class HistorySearch {
public:
    struct Match {
        qint64 first, last; ///< tokens, both included
        bool operator==(const Match&) const = default;
    };

    HistorySearch() = default;
    explicit HistorySearch(const HistoryText& history);
    /// All matches that do not overlap, in order.
    std::vector<Match> find(const QString& text) const;
    /// Matches of a regular expression (Perl's; either case matches, ^ and $ are ends of lines), a hundred thousand at
    /// most; empty ones do not count. The error is one sentence.
    tl::expected<std::vector<Match>, QString> findRegex(const QString& pattern) const;

private:
    qint64 tokenAt(qsizetype byte) const;

    HistoryText m_history;
    void decode() const;

    QByteArray m_bytes;                         ///< of all tokens, lower case
    mutable QString m_text;                     ///< the same as characters; made when it is first needed
    mutable std::vector<qsizetype> m_textBytes; ///< first byte of each of its UTF-16 units
    std::vector<qsizetype> m_starts;            ///< first byte of each token
};

} // namespace flipscope
