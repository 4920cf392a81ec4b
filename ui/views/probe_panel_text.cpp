// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The probe panel as plain text, for the clipboard.
#include "ui/views/probe_panel.h"

#include <QLabel>

namespace flipscope {

namespace {

QString tableText(const QAbstractItemModel& model)
{
    QStringList lines, cells;
    for (int c = 0; c < model.columnCount(); ++c)
        cells << model.headerData(c, Qt::Horizontal).toString();
    lines << cells.join(QLatin1Char('\t'));
    for (int r = 0; r < model.rowCount(); ++r) {
        cells.clear();
        for (int c = 0; c < model.columnCount(); ++c) {
            const QModelIndex index = model.index(r, c);
            QString text = index.data().toString();
            const QVariant id = index.data(IdRole);
            if (id.isValid() && text != QStringLiteral("#%1").arg(id.toInt()))
                text += QStringLiteral(" #%1").arg(id.toInt());
            cells << text;
        }
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace

QString ProbePanel::copyText() const
{
    QStringList blocks;
    blocks << m_heading->text();
    if (m_position < 0) {
        blocks << m_message->text();
        return blocks.join(QLatin1Char('\n')).trimmed() + QLatin1Char('\n');
    }
    blocks << m_sides->text();
    if (!m_message->text().isEmpty())
        blocks << m_message->text();
    for (const NumberRow& row : m_numberRows)
        blocks << QStringLiteral("%1\t%2\t%3").arg(row.name, row.value, row.unit).trimmed();
    if (m_top->rowCount() > 0)
        blocks << QString() << tr("Most probable next tokens") << tableText(*m_top) << m_next->text();
    if (m_terms->rowCount() > 0)
        blocks << QString() << tr("What makes up KL(P‖Q)") << tableText(*m_terms);
    if (m_runs->rowCount() > 0)
        blocks << QString() << tr("Runs at this position") << tableText(*m_runs);
    return blocks.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

} // namespace flipscope
