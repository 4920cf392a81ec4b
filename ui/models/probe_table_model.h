// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"
#include "ui/models/history_text.h"
#include "ui/models/probe_filter.h"

#include <QAbstractTableModel>
#include <QString>
#include <QVector>

#include <optional>
#include <utility>
#include <vector>

namespace flipscope {

/// The probes of one run as rows: position, tokens as text, then every column of probe_columns(). Sorts and filters
/// itself over plain numbers, so that 100,000 rows stay smooth. Probes without a value come last in either order;
/// equal values stay in the order of position.
class ProbeTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role {
        SortRole = Qt::UserRole + 1, ///< the raw number (or text), invalid where the probe has none
        PositionRole,                ///< qint64, position of the row's probe
    };
    enum class Text { None, Fed, Next, TopP, TopQ };
    struct Column {
        QString name;  ///< stable: "kl_pq", "token_fed"
        QString title; ///< without the unit
        QString unit, description;
        const ProbeColumn* metric = nullptr; ///< null for a text column
        Text text = Text::None;
        bool shownByDefault = false;
    };
    static const QVector<Column>& columns();
    static int columnNamed(const QString& name); ///< -1 = none

    explicit ProbeTableModel(QObject* parent = nullptr);

    /// Shows another table (null = none). Filter, window and order stay.
    void setTable(TablePtr table, HistoryText history);
    /// The texts behind the history may know other ids now: the rows stay, what they show is asked for again.
    void refreshTexts();
    void setFilter(ProbeFilter filter);
    /// Only positions in [first, second); nullopt = all.
    void setWindow(std::optional<std::pair<qint64, qint64>> window);
    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;
    int sortColumn() const { return m_sortColumn; }
    Qt::SortOrder sortOrder() const { return m_sortOrder; }

    int probeCount() const; ///< before filter and window
    const ProbeMetrics& probe(int row) const;
    int rowOf(qint64 position) const; ///< -1 = not shown
    /// The table cut down to the rows shown, in the order shown; null without a table.
    TablePtr shownTable() const;
    /// Rows as tab-separated text under a line of column names; every digit.
    QString tsv(const QVector<int>& rows, const QVector<int>& columns) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString tokenText(Text which, const ProbeMetrics& probe) const;
    QString displayText(const Column& column, const ProbeMetrics& probe) const;
    QString accessibleText(const Column& column, const ProbeMetrics& probe) const;
    std::vector<int> filteredRows() const;
    void sortRows(std::vector<int>& rows) const;
    void rebuild();

    TablePtr m_table;
    HistoryText m_history;
    ProbeFilter m_filter;
    std::optional<std::pair<qint64, qint64>> m_window;
    std::vector<int> m_rows; ///< shown row -> index into m_table->probes
    int m_sortColumn;
    Qt::SortOrder m_sortOrder = Qt::DescendingOrder;
};

} // namespace flipscope
