// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QAbstractTableModel>
#include <QHash>

namespace flipscope {

/// The open runs as a table: what the Runs dock shows. Edits go to the session, which answers with runsChanged().
class RunsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Star, Colour, Name, Flips, Kl, Above, Shown, ColumnCount };
    enum Role {
        IdRole = Qt::UserRole, ///< Session run id
        BadgeRole,             ///< the line under the name: "bit-identical", "2 settings differ", "failed: …"
        StateRole,             ///< int of SessionRun::State
        HiddenRole,
    };

    explicit RunsModel(Session* session, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    Qt::DropActions supportedDropActions() const override { return Qt::MoveAction; }
    QStringList mimeTypes() const override;
    QMimeData* mimeData(const QModelIndexList& indexes) const override;
    bool canDropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                         const QModelIndex& parent) const override;
    bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                      const QModelIndex& parent) override;

    int rowOf(int id) const; ///< -1 = not open

private:
    /// What a row says that takes work to find out; kept as long as table and baseline are the same.
    struct Facts {
        TablePtr table;
        TracePtr trace, baseline;
        WindowStats overall; ///< over all matched probes
        bool bitIdentical = false;
        qsizetype settingsDiffer = 0;
    };

    void refresh();
    const Facts& factsOf(const SessionRun& run) const;
    QString badgeOf(const SessionRun& run) const;
    QString toolTipOf(const SessionRun& run, int column) const;
    QVariant displayOf(const SessionRun& run, int column) const;
    QString aboveText(const SessionRun& run) const;
    QString accessibleTextOf(const SessionRun& run, int column) const;

    Session* m_session;
    std::vector<int> m_ids;
    mutable QHash<int, Facts> m_facts;
};

} // namespace flipscope
