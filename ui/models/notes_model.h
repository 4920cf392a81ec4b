// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QAbstractTableModel>

namespace flipscope {

/// The session's bookmarks, one row each, by position; the words can be edited.
class NotesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Position, Token, Run, Text, ColumnCount };
    explicit NotesModel(Session* session, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    void refresh();
    Session* m_session;
    std::vector<Bookmark> m_shown; ///< as the views know it
};

/// Position, run and words of all bookmarks as `position,run,text`.
std::string notesCsv(const Session& session);
/// One line each, for the caption of a figure: "41,376: first wrong command".
QStringList noteLines(const Session& session);

} // namespace flipscope
