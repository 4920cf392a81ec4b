// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/token_shares_model.h"

#include "ui/models/number_text.h"

#include <algorithm>
#include <cmath>

namespace flipscope {

namespace {

QVariant bar(double p)
{
    return std::isfinite(p) ? QVariant(std::clamp(p, 0.0, 1.0)) : QVariant();
}

QString rankText(std::int64_t rank)
{
    return rank > 0 ? groupedText(rank) : QStringLiteral("–");
}

QVariant right()
{
    return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
}

QVariant left()
{
    return QVariant::fromValue(Qt::AlignLeft | Qt::AlignVCenter);
}

QString tokenToolTip(const HistoryText& history, std::int32_t id, bool next)
{
    const QString text = QStringLiteral("%1 · id %2").arg(history.idLabel(id)).arg(id);
    return next ? text + QStringLiteral("\nthe history's own next token") : text;
}

} // namespace

// --- top tokens ---

void TopTokensModel::setDetail(const ProbeDetail& detail, const HistoryText& history, const QString& baseline,
                               const QString& run)
{
    beginResetModel();
    m_detail = detail;
    m_history = history;
    m_baseline = baseline;
    m_run = run;
    endResetModel();
    emit headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
}

void TopTokensModel::clear()
{
    beginResetModel();
    m_detail = {};
    endResetModel();
}

int TopTokensModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(std::max(m_detail.top_p.size(), m_detail.top_q.size()));
}

int TopTokensModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

const TokenShare* TopTokensModel::share(int row, int column) const
{
    const auto& side = column < TokenQ ? m_detail.top_p : m_detail.top_q;
    const auto i = static_cast<std::size_t>(row);
    return i < side.size() && side[i].id >= 0 ? &side[i] : nullptr;
}

QVariant TopTokensModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const TokenShare* s = share(index.row(), index.column());
    if (!s)
        return {};
    const bool ofP = index.column() < TokenQ;
    const bool isToken = index.column() == TokenP || index.column() == TokenQ;
    const bool isProbability = index.column() == ProbabilityP || index.column() == ProbabilityQ;
    const double p = ofP ? s->p : s->q;
    const std::int64_t otherRank = ofP ? s->rank_q : s->rank_p;
    const bool next = s->id == m_detail.next.id;
    switch (role) {
    case Qt::DisplayRole:
        return isToken ? m_history.idLabel(s->id) : isProbability ? probabilityText(p) : rankText(otherRank);
    case BarRole:
        return isProbability ? bar(p) : QVariant();
    case IdRole:
        return isToken ? QVariant(s->id) : QVariant();
    case NextRole:
        return next;
    case Qt::TextAlignmentRole:
        return isToken ? left() : right();
    case Qt::ToolTipRole:
        if (isToken)
            return tokenToolTip(m_history, s->id, next);
        if (isProbability)
            return QStringLiteral("%1 (stored value %2)").arg(exactText(p), exactText(ofP ? s->logit_p : s->logit_q));
        return ofP ? QStringLiteral("rank of this token in the run")
                   : QStringLiteral("rank of this token in the baseline");
    case Qt::AccessibleTextRole:
        if (isToken)
            return QStringLiteral("%1 token %2, %3%4")
                .arg(ofP ? m_baseline : m_run)
                .arg(index.row() + 1)
                .arg(m_history.idLabel(s->id), next ? QStringLiteral(", the history's next token") : QString());
        return isProbability ? QStringLiteral("probability %1").arg(probabilityText(p))
                             : QStringLiteral("rank on the other side %1").arg(rankText(otherRank));
    default:
        return {};
    }
}

QVariant TopTokensModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    const bool ofP = section < TokenQ;
    if (role == Qt::TextAlignmentRole)
        return section == TokenP || section == TokenQ ? left() : right();
    if (role == Qt::ToolTipRole) {
        switch (section) {
        case TokenP:
            return QStringLiteral("Most probable next tokens of the baseline P = %1").arg(m_baseline);
        case TokenQ:
            return QStringLiteral("Most probable next tokens of the run Q = %1").arg(m_run);
        case ProbabilityP:
        case ProbabilityQ:
            return QStringLiteral("Probability at temperature 1");
        default:
            return ofP ? QStringLiteral("Rank of the token in the run")
                       : QStringLiteral("Rank of the token in the baseline");
        }
    }
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case TokenP:
        return m_baseline;
    case TokenQ:
        return m_run;
    case ProbabilityP:
        return QStringLiteral("p");
    case ProbabilityQ:
        return QStringLiteral("q");
    default:
        return ofP ? QStringLiteral("in Q") : QStringLiteral("in P");
    }
}

// --- terms of the KL ---

void KlTermsModel::setDetail(const ProbeDetail& detail, const HistoryText& history)
{
    beginResetModel();
    m_detail = detail;
    m_history = history;
    endResetModel();
}

void KlTermsModel::clear()
{
    beginResetModel();
    m_detail = {};
    endResetModel();
}

int KlTermsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_detail.largest_terms.size());
}

int KlTermsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

double KlTermsModel::shareOf(const TokenShare& term) const
{
    return m_detail.kl_pq > 0 && std::isfinite(m_detail.kl_pq) ? term.kl_term / m_detail.kl_pq : std::nan("");
}

QVariant KlTermsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const TokenShare& s = m_detail.largest_terms[static_cast<std::size_t>(index.row())];
    const bool next = s.id == m_detail.next.id;
    const double share = shareOf(s);
    const QString shareText =
        std::isnan(share) ? QStringLiteral("–") : QStringLiteral("%1 %").arg(QString::number(100 * share, 'f', 1));
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Token:
            return m_history.idLabel(s.id);
        case P:
            return probabilityText(s.p);
        case Q:
            return probabilityText(s.q);
        case Term:
            return realText(s.kl_term);
        default:
            return shareText;
        }
    case BarRole:
        return index.column() == Share ? bar(share) : QVariant();
    case IdRole:
        return index.column() == Token ? QVariant(s.id) : QVariant();
    case NextRole:
        return next;
    case Qt::TextAlignmentRole:
        return index.column() == Token ? left() : right();
    case Qt::ToolTipRole:
        if (index.column() == Token)
            return tokenToolTip(m_history, s.id, next);
        return exactText(index.column() == P      ? s.p
                         : index.column() == Q    ? s.q
                         : index.column() == Term ? s.kl_term
                                                  : share);
    case Qt::AccessibleTextRole:
        if (index.column() == Share)
            return QStringLiteral("%1 of KL(P‖Q)").arg(shareText);
        return {};
    default:
        return {};
    }
}

QVariant KlTermsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return section == Token ? left() : right();
    if (role == Qt::ToolTipRole && section == Term)
        return QStringLiteral("p (ln p − ln q) − p + q in nats: never negative, and all of them sum to KL(P‖Q)");
    if (role == Qt::ToolTipRole && section == Share)
        return QStringLiteral("Share of KL(P‖Q)");
    if (role != Qt::DisplayRole)
        return {};
    static const QString names[] = {QStringLiteral("Token"), QStringLiteral("p"), QStringLiteral("q"),
                                    QStringLiteral("nats"), QStringLiteral("share")};
    return names[section];
}

// --- runs ---

void RunsAtPositionModel::setRuns(std::vector<RunAtPosition> runs, const HistoryText& history)
{
    beginResetModel();
    m_runs = std::move(runs);
    m_history = history;
    endResetModel();
}

void RunsAtPositionModel::setTopProbability(int run, double p)
{
    for (std::size_t row = 0; row < m_runs.size(); ++row) {
        if (m_runs[row].run != run)
            continue;
        m_runs[row].pTop = p;
        const QModelIndex cell = index(static_cast<int>(row), ProbabilityTop);
        emit dataChanged(cell, cell);
    }
}

int RunsAtPositionModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_runs.size());
}

int RunsAtPositionModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RunsAtPositionModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const RunAtPosition& r = m_runs[static_cast<std::size_t>(index.row())];
    const double number = index.column() == ProbabilityTop  ? r.pTop
                          : index.column() == OfBaselineTop ? r.pOfBaselineTop
                                                            : r.kl;
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Run:
            return r.isBaseline ? QStringLiteral("★ ") + r.name : r.name;
        case Top:
            return r.top >= 0 ? m_history.idLabel(r.top) : QStringLiteral("–");
        case ProbabilityTop:
        case OfBaselineTop:
            return probabilityText(number);
        case Kl:
            return realText(number);
        default:
            return r.flip ? (r.tied ? QStringLiteral("flip, tied") : QStringLiteral("flip"))
                          : (r.tied ? QStringLiteral("tied") : QString());
        }
    case BarRole:
        return index.column() == ProbabilityTop || index.column() == OfBaselineTop ? bar(number) : QVariant();
    case IdRole:
        return index.column() == Top && r.top >= 0 ? QVariant(r.top) : QVariant();
    case Qt::TextAlignmentRole:
        return index.column() >= ProbabilityTop && index.column() <= Kl ? right() : left();
    case Qt::ToolTipRole:
        if (index.column() >= ProbabilityTop && index.column() <= Kl && !std::isnan(number))
            return exactText(number);
        return index.column() == Top && r.top >= 0 ? tokenToolTip(m_history, r.top, false) : QVariant(r.name);
    default:
        return {};
    }
}

QVariant RunsAtPositionModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return section >= ProbabilityTop && section <= Kl ? right() : left();
    static const QString names[] = {QStringLiteral("Run"),        QStringLiteral("Top token"), QStringLiteral("its p"),
                                    QStringLiteral("p of ★ top"), QStringLiteral("KL, nats"),  QStringLiteral("Flip")};
    static const QString tips[] = {QString(),
                                   QStringLiteral("The run's most probable next token"),
                                   QStringLiteral("The run's own probability of it"),
                                   QStringLiteral("The run's probability of the baseline's top token"),
                                   QStringLiteral("KL(P‖Q) in nats, P = baseline, Q = the run"),
                                   QStringLiteral("Whether the top token is another than the baseline's")};
    if (role == Qt::DisplayRole)
        return names[section];
    return role == Qt::ToolTipRole ? QVariant(tips[section]) : QVariant();
}

} // namespace flipscope
