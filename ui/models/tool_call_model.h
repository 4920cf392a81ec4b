// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/compare_calls.h"

#include <QAbstractTableModel>
#include <QString>
#include <QVector>

#include <optional>

namespace flipscope {

/// A row for each call of the baseline and each extra one, a column for each run. Cells say the outcome by symbol and
/// word; colour only repeats it.
class ToolCallModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Number, Position, Tool, Arguments, FirstRun };
    enum Role {
        BrokenRole = Qt::UserRole + 1, ///< bool: the outcome is not "same"
        RowRole,                       ///< int: row of the run's RunCalls::rows; invalid where it has none
    };
    struct Run {
        QString name;
        RunCallsPtr calls; ///< null: not comparable
        QString problem;
    };

    using QAbstractTableModel::QAbstractTableModel;
    void setCalls(const TraceCallsPtr& baseline, QVector<Run> runs);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    const QVector<Run>& runs() const { return m_runs; }
    /// What a cell is about; null in the first columns and where the run has no such call.
    const CallRow* callAt(const QModelIndex& index) const;
    /// The next cell with a broken call after `from` (before it where `backwards`), row by row and run by run; from the
    /// first or last where `from` is invalid. Invalid where there is none.
    QModelIndex nextBroken(const QModelIndex& from, bool backwards = false) const;
    /// Any run broke this call.
    bool brokenLine(int line) const;

private:
    /// A row of the table: rows of each run's RunCalls::rows, -1 = none.
    struct Line {
        QVector<int> rows;
        int number = -1; ///< of the baseline's call; -1: an extra one
    };
    const CallRow* anyCall(const Line& line) const;
    const Call* shownCall(const Line& line) const; ///< the baseline's; of an extra one, the run's
    QString cellText(const CallRow& row) const;
    QString cellTip(const CallRow& row) const;
    QVariant callData(const QModelIndex& index, int role) const;

    TraceCallsPtr m_baseline;
    QVector<Run> m_runs;
    QVector<Line> m_lines;
};

} // namespace flipscope
