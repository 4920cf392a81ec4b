// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/history_search.h"

#include <QByteArrayMatcher>
#include <QRegularExpression>

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

/// Characters beside the bytes that they came from. What is no UTF-8 becomes U+FFFD, byte by byte.
void HistorySearch::decode() const
{
    if (!m_text.isEmpty() || m_bytes.isEmpty())
        return;
    QByteArray bytes; // as they are: m_bytes is in lower case
    bytes.reserve(m_bytes.size());
    for (qint64 t = 0; t < m_history.size(); ++t)
        if (const auto token = m_history.bytes(t))
            bytes.append(token->data(), static_cast<qsizetype>(token->size()));
    m_textBytes.reserve(static_cast<std::size_t>(bytes.size()) + 1);
    for (qsizetype at = 0; at < bytes.size();) {
        const auto lead = static_cast<unsigned char>(bytes[at]);
        const qsizetype length = lead < 0x80   ? 1
                                 : lead < 0xc2 ? 0
                                 : lead < 0xe0 ? 2
                                 : lead < 0xf0 ? 3
                                 : lead < 0xf5 ? 4
                                               : 0;
        QString character;
        if (length > 0 && at + length <= bytes.size())
            character = QString::fromUtf8(bytes.constData() + at, length);
        const bool whole = !character.isEmpty() && !character.contains(QChar::ReplacementCharacter);
        if (!whole)
            character = QString(QChar(QChar::ReplacementCharacter));
        for (qsizetype unit = 0; unit < character.size(); ++unit)
            m_textBytes.push_back(at);
        m_text += character;
        at += whole ? length : 1;
    }
    m_textBytes.push_back(bytes.size());
}

tl::expected<std::vector<HistorySearch::Match>, QString> HistorySearch::findRegex(const QString& pattern) const
{
    std::vector<Match> matches;
    if (pattern.isEmpty())
        return matches;
    const QRegularExpression expression(pattern, QRegularExpression::CaseInsensitiveOption |
                                                     QRegularExpression::MultilineOption |
                                                     QRegularExpression::UseUnicodePropertiesOption);
    if (!expression.isValid())
        return tl::unexpected(QStringLiteral("Not a regular expression: %1 (at %2).")
                                  .arg(expression.errorString())
                                  .arg(expression.patternErrorOffset()));
    decode();
    constexpr std::size_t most = 100'000;
    QRegularExpressionMatchIterator it = expression.globalMatch(m_text);
    while (it.hasNext() && matches.size() < most) {
        const QRegularExpressionMatch match = it.next();
        if (match.capturedLength() == 0)
            continue;
        const qsizetype first = m_textBytes[static_cast<std::size_t>(match.capturedStart())];
        const qsizetype last = m_textBytes[static_cast<std::size_t>(match.capturedEnd())] - 1;
        matches.push_back({tokenAt(first), tokenAt(std::max(first, last))});
    }
    return matches;
}

} // namespace flipscope
