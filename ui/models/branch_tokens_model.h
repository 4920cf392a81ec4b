// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/text/token_text.h"
#include "core/toolcalls/outcome.h"

#include <QAbstractTableModel>

#include <vector>

namespace flipscope {

/// The stored top tokens of both sides where two continuations part, aligned by id, the likeliest of either side first.
/// Drawn by ShareDelegate. The token that a side took is marked.
class BranchTokensModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Token, Baseline, Run, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;
    /// `texts` must outlive the next call.
    void setDivergence(const Divergence* divergence, const TokenTexts* texts);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Entry {
        std::int32_t id;
        double p, q; ///< probability on each side; NaN = not in its list
        QString text;
        bool takenByBaseline, takenByRun;
    };
    std::vector<Entry> m_entries;
};

} // namespace flipscope
