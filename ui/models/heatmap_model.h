// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"

#include <QAbstractTableModel>

namespace flipscope {

/// The heatmap as a table that a screen reader can walk: runs are rows, windows are columns. Same grid as the picture,
/// so cell (row, column) is the same cell.
class HeatmapModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role {
        ValueRole = Qt::UserRole, ///< double; NaN where the cell has none
        CountRole,                ///< qint64: valid probes in the window
    };
    explicit HeatmapModel(QObject* parent = nullptr);

    void setGrid(const HeatmapGrid& grid);
    const HeatmapGrid& grid() const { return m_grid; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString textOf(const HeatmapCell& cell) const;
    QString explain(int row, int column) const;
    QString pieceText(std::size_t column) const;

    HeatmapGrid m_grid;
};

} // namespace flipscope
