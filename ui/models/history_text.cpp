// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/history_text.h"

#include <QStringDecoder>

#include <string>
#include <utility>

namespace flipscope {

namespace {

bool isWholeUtf8(std::string_view bytes)
{
    QStringDecoder decoder(QStringDecoder::Utf8, QStringDecoder::Flag::Stateless);
    const QString text = decoder.decode(QByteArrayView(bytes.data(), static_cast<qsizetype>(bytes.size())));
    return !decoder.hasError() && !text.isNull();
}

} // namespace

HistoryText::HistoryText(TracePtr trace, const TokenTexts* texts) : m_trace(std::move(trace)), m_texts(texts) {}

qint64 HistoryText::size() const
{
    return m_trace ? static_cast<qint64>(m_trace->tokens.ids.size()) : 0;
}

std::int32_t HistoryText::id(qint64 position) const
{
    return position >= 0 && position < size() ? m_trace->tokens.ids[static_cast<std::size_t>(position)] : -1;
}

std::optional<std::string_view> HistoryText::bytes(qint64 position) const
{
    if (position < 0 || position >= size())
        return std::nullopt;
    const auto i = static_cast<std::size_t>(position);
    if (i < m_trace->tokens.text.size())
        return m_trace->tokens.text[i];
    return m_texts ? m_texts->bytes(m_trace->tokens.ids[i]) : std::nullopt;
}

bool HistoryText::special(qint64 position) const
{
    return m_texts && position >= 0 && position < size() && m_texts->special(id(position));
}

QString HistoryText::label(qint64 position) const
{
    if (position < 0 || position >= size())
        return {};
    if (const auto known = bytes(position))
        return QString::fromStdString(visible(*known));
    return QStringLiteral("#%1").arg(id(position));
}

std::optional<HistoryText::Joined> HistoryText::joined(qint64 position) const
{
    const auto own = bytes(position);
    if (!own || own->empty() || isWholeUtf8(*own))
        return std::nullopt;
    // The fewest tokens first; a character has at most four bytes, so three more tokens are enough.
    for (qint64 more = 1; more <= 3; ++more) {
        for (qint64 first = position - more; first <= position; ++first) {
            std::string all;
            bool known = first >= 0 && first + more < size();
            for (qint64 t = first; known && t <= first + more; ++t) {
                const auto part = bytes(t);
                known = part.has_value();
                all += part.value_or(std::string_view());
            }
            if (known && isWholeUtf8(all))
                return Joined{first, first + more, QString::fromStdString(visible(all))};
        }
    }
    return std::nullopt;
}

QString HistoryText::idLabel(std::int32_t id) const
{
    if (id < 0)
        return {};
    return m_texts ? QString::fromStdString(m_texts->label(id)) : QStringLiteral("#%1").arg(id);
}

} // namespace flipscope
