// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/probe_detail.h"
#include "ui/models/history_text.h"

#include <QAbstractTableModel>
#include <QString>

#include <vector>

namespace flipscope {

/// What a cell of the probe panel's tables carries for its bar.
enum ShareRole {
    BarRole = Qt::UserRole + 1, ///< 0..1, length of the bar; invalid = no bar
    IdRole,                     ///< token id drawn muted behind the text; invalid = none
    NextRole,                   ///< bool: it is the history's own next token
};

/// The top tokens of both sides side by side: row i is the i-th of the baseline and the i-th of the run, each with its
/// probability and its rank on the other side.
class TopTokensModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { TokenP, ProbabilityP, RankInQ, TokenQ, ProbabilityQ, RankInP, ColumnCount };
    explicit TopTokensModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
    void setDetail(const ProbeDetail& detail, const HistoryText& history, const QString& baseline, const QString& run);
    void clear();
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    const TokenShare* share(int row, int column) const;
    ProbeDetail m_detail;
    HistoryText m_history;
    QString m_baseline, m_run;
};

/// The tokens that make up most of KL(P‖Q), with their share of it.
class KlTermsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Token, P, Q, Term, Share, ColumnCount };
    explicit KlTermsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
    void setDetail(const ProbeDetail& detail, const HistoryText& history);
    void clear();
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    double shareOf(const TokenShare& term) const; ///< of the whole KL, NaN where that is 0 or infinite
    ProbeDetail m_detail;
    HistoryText m_history;
};

/// One run at one position.
struct RunAtPosition {
    int run = -1; ///< session run id
    QString name;
    std::int32_t top = -1; ///< its most probable next token
    double pTop;           ///< its own probability of that; NaN = not read yet
    double pOfBaselineTop; ///< its probability of the baseline's top token
    double kl;             ///< KL(P‖Q) in nats; NaN for the baseline
    bool flip = false, tied = false, isBaseline = false;
};

/// One row a run: what each says at this position.
class RunsAtPositionModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Run, Top, ProbabilityTop, OfBaselineTop, Kl, Flip, ColumnCount };
    explicit RunsAtPositionModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
    void setRuns(std::vector<RunAtPosition> runs, const HistoryText& history);
    /// The probability of a run's own top token, read from its row.
    void setTopProbability(int run, double p);
    const std::vector<RunAtPosition>& runs() const { return m_runs; }
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    std::vector<RunAtPosition> m_runs;
    HistoryText m_history;
};

} // namespace flipscope
