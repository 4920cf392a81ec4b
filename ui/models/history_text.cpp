// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/history_text.h"

#include <utility>

namespace flipscope {

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

QString HistoryText::idLabel(std::int32_t id) const
{
    if (id < 0)
        return {};
    return m_texts ? QString::fromStdString(m_texts->label(id)) : QStringLiteral("#%1").arg(id);
}

} // namespace flipscope
