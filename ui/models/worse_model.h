// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/compare.h"
#include "core/text/token_text.h"
#include "ui/models/history_text.h"

#include <QAbstractTableModel>

#include <memory>
#include <vector>

namespace flipscope {

/// What got worse from A to B, in what_got_worse()'s order: one row a probe.
class WorseModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Position, History, Flips, Baseline, TopA, TopB, KlA, KlB, Difference, Margin, ColumnCount };
    /// Numbers to sort by, of every column; texts sort by themselves.
    static constexpr int SortRole = Qt::UserRole;
    static constexpr int PositionRole = Qt::UserRole + 1;

    explicit WorseModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
    /// `texts` must outlive the model's use of it.
    void setComparison(std::shared_ptr<const RunComparison> comparison, const TokenTexts* texts);
    const std::vector<PairedProbe>& probes() const { return m_probes; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString textOf(const PairedProbe& probe, int column, bool brief) const;

    std::shared_ptr<const RunComparison> m_comparison; ///< keeps what the probes point at
    std::vector<PairedProbe> m_probes;
    HistoryText m_history;
};

} // namespace flipscope
