// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/history_search.h"

#include <QByteArrayMatcher>

#include <algorithm>

namespace flipscope {

HistorySearch::HistorySearch(const HistoryText& history) : m_history(history)
{
    m_starts.reserve(static_cast<std::size_t>(history.size()));
    for (qint64 t = 0; t < history.size(); ++t) {
        m_starts.push_back(m_bytes.size());
        if (const auto bytes = history.bytes(t))
            m_bytes.append(bytes->data(), static_cast<qsizetype>(bytes->size()));
    }
    m_bytes = m_bytes.toLower(); // letters A-Z alone: other bytes may be part of a character
}

qint64 HistorySearch::tokenAt(qsizetype byte) const
{
    // Of several tokens that start at one byte, all but the last are empty.
    return static_cast<qint64>(std::upper_bound(m_starts.begin(), m_starts.end(), byte) - m_starts.begin()) - 1;
}

std::vector<HistorySearch::Match> HistorySearch::find(const QString& text) const
{
    std::vector<Match> matches;
    const QByteArray needle = text.toUtf8().toLower();
    if (needle.isEmpty())
        return matches;
    const QByteArrayMatcher matcher(needle);
    for (qsizetype at = matcher.indexIn(m_bytes); at >= 0; at = matcher.indexIn(m_bytes, at + needle.size()))
        matches.push_back({tokenAt(at), tokenAt(at + needle.size() - 1)});
    bool isId = false;
    const int id = needle.startsWith('#') ? needle.mid(1).toInt(&isId) : 0;
    if (!matches.empty() || !isId)
        return matches;
    for (qint64 t = 0; t < m_history.size(); ++t) {
        if (m_history.id(t) == id)
            matches.push_back({t, t});
    }
    return matches;
}

} // namespace flipscope
