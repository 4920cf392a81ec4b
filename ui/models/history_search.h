// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/history_text.h"

#include <QByteArray>
#include <QString>

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

private:
    qint64 tokenAt(qsizetype byte) const;

    HistoryText m_history;
    QByteArray m_bytes;              ///< of all tokens, lower case
    std::vector<qsizetype> m_starts; ///< first byte of each token
};

} // namespace flipscope
