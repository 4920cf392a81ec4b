// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/worse_model.h"

#include "ui/models/number_text.h"

#include <cmath>
#include <limits>

namespace flipscope {

void WorseModel::setComparison(std::shared_ptr<const RunComparison> comparison, const TokenTexts* texts)
{
    beginResetModel();
    m_comparison = std::move(comparison);
    m_probes.clear();
    m_history = {};
    if (m_comparison) {
        m_probes = what_got_worse(*m_comparison);
        m_history = HistoryText(m_comparison->baseline, texts);
    }
    endResetModel();
}

int WorseModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_probes.size());
}

int WorseModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

namespace {

/// As short as a narrow column wants it, or with four digits.
QString natsText(double value, bool brief)
{
    return brief && !std::isnan(value) ? shortNatsText(value) : realText(value);
}

} // namespace

QString WorseModel::textOf(const PairedProbe& probe, int column, bool brief) const
{
    switch (column) {
    case Position:
        return groupedText(probe.position);
    case History:
        return m_history.label(probe.position + 1);
    case Flips:
        return probe.only_b() ? tr("only B") : probe.only_a() ? tr("only A") : probe.both() ? tr("both") : QString();
    case Baseline:
        return m_history.idLabel(probe.a->argmax_p);
    case TopA:
        return m_history.idLabel(probe.a->argmax_q);
    case TopB:
        return m_history.idLabel(probe.b->argmax_q);
    case KlA:
        return natsText(probe.a->kl_pq, brief);
    case KlB:
        return natsText(probe.b->kl_pq, brief);
    case Difference:
        return natsText(probe.kl_difference(), brief);
    case Margin:
        return natsText(probe.a->margin, brief);
    default:
        return {};
    }
}

QVariant WorseModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const PairedProbe& probe = m_probes[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return textOf(probe, index.column(), true);
    case Qt::ToolTipRole:
        return textOf(probe, index.column(), false);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(index.column() == Position || index.column() >= KlA
                                       ? Qt::AlignRight | Qt::AlignVCenter
                                       : Qt::AlignLeft | Qt::AlignVCenter);
    case PositionRole:
        return static_cast<qint64>(probe.position);
    case SortRole:
        break;
    default:
        return {};
    }
    switch (index.column()) {
    case Position:
        return static_cast<qint64>(probe.position);
    case KlA:
        return probe.a->kl_pq;
    case KlB:
        return probe.b->kl_pq;
    case Difference: // no difference between two infinities: below all others
        return std::isnan(probe.kl_difference()) ? -std::numeric_limits<double>::infinity() : probe.kl_difference();
    case Margin:
        return probe.a->margin;
    default:
        return textOf(probe, index.column(), false);
    }
}

QVariant WorseModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    struct Heading {
        QString title, tip;
    };
    const Heading headings[ColumnCount] = {
        {tr("Position"), tr("Position of the last token fed")},
        {tr("History"), tr("The token that follows in the history")},
        {tr("Flips"), tr("Which run's most likely token is not the baseline's")},
        {tr("Baseline"), tr("The baseline's most likely next token")},
        {tr("A"), tr("A's most likely next token")},
        {tr("B"), tr("B's most likely next token")},
        {tr("KL of A"), tr("KL(P‖Q) from the baseline to A, in nats")},
        {tr("KL of B"), tr("KL(P‖Q) from the baseline to B, in nats")},
        {tr("B − A"), tr("How much larger KL(P‖Q) is in B, in nats")},
        {tr("Margin"), tr("How far the baseline's best two logits lie apart, in nats")}};
    if (role == Qt::DisplayRole)
        return headings[section].title;
    if (role == Qt::ToolTipRole)
        return headings[section].tip;
    return {};
}

} // namespace flipscope
