// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/branch_tokens_model.h"

#include "ui/models/number_text.h"
#include "ui/models/token_shares_model.h"

#include <QFont>

#include <algorithm>
#include <cmath>
#include <limits>

namespace flipscope {

namespace {

double probabilityOf(const BranchSide& side, std::int32_t id)
{
    for (std::size_t i = 0; i < side.top_ids.size(); ++i)
        if (side.top_ids[i] == id)
            return std::exp(side.top_logprobs[i]);
    return std::numeric_limits<double>::quiet_NaN();
}

} // namespace

void BranchTokensModel::setDivergence(const Divergence* divergence, const TokenTexts* texts)
{
    beginResetModel();
    m_entries.clear();
    if (divergence != nullptr) {
        const BranchSide &base = divergence->baseline, &run = divergence->run;
        const auto add = [&](std::int32_t id) {
            const bool known =
                std::any_of(m_entries.begin(), m_entries.end(), [id](const Entry& e) { return e.id == id; });
            if (id < 0 || known)
                return;
            QString text = QString::fromStdString(texts != nullptr ? texts->label(id) : std::string());
            if (id == base.id && !base.text.empty())
                text = QString::fromStdString(visible(base.text));
            if (id == run.id && !run.text.empty())
                text = QString::fromStdString(visible(run.text));
            m_entries.push_back(
                {id, probabilityOf(base, id), probabilityOf(run, id), text, id == base.id, id == run.id});
        };
        for (const auto& side : {base.top_ids, run.top_ids})
            for (const std::int32_t id : side)
                add(id);
        if (!m_entries.empty()) { // without lists there is nothing to set beside each other
            add(base.id);
            add(run.id);
        }
        const auto best = [](const Entry& e) { return std::max(std::isnan(e.p) ? 0 : e.p, std::isnan(e.q) ? 0 : e.q); };
        std::stable_sort(m_entries.begin(), m_entries.end(),
                         [&](const Entry& a, const Entry& b) { return best(a) > best(b); });
    }
    endResetModel();
}

int BranchTokensModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}

int BranchTokensModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant BranchTokensModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Entry& entry = m_entries[static_cast<std::size_t>(index.row())];
    const double p = index.column() == Baseline ? entry.p : entry.q;
    switch (role) {
    case Qt::DisplayRole:
        if (index.column() == Token)
            return entry.text;
        if (index.column() == Baseline ? entry.takenByBaseline : entry.takenByRun)
            return QString(probabilityText(p) + QStringLiteral(" ◄"));
        return probabilityText(p);
    case Qt::ToolTipRole:
        if (index.column() == Token)
            return entry.takenByBaseline ? tr("What the baseline wrote here")
                   : entry.takenByRun    ? tr("What the run wrote here")
                                         : QString();
        return std::isnan(p) ? tr("Not among the tokens that were stored") : exactText(p);
    case BarRole:
        return index.column() == Token || std::isnan(p) ? QVariant() : QVariant(std::clamp(p, 0.0, 1.0));
    case IdRole:
        return index.column() == Token ? QVariant(entry.id) : QVariant();
    case Qt::FontRole: {
        QFont font;
        font.setBold(entry.takenByBaseline || entry.takenByRun);
        return font;
    }
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((index.column() == Token ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    default:
        return {};
    }
}

QVariant BranchTokensModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    const QString titles[ColumnCount] = {tr("Token"), tr("Baseline"), tr("Run")};
    const QString tips[ColumnCount] = {tr("The likeliest tokens of both sides where they part"),
                                       tr("Probability in the baseline; ◄ is what it wrote"),
                                       tr("Probability in the run; ◄ is what it wrote")};
    return role == Qt::DisplayRole   ? QVariant(titles[section])
           : role == Qt::ToolTipRole ? QVariant(tips[section])
                                     : QVariant();
}

} // namespace flipscope
