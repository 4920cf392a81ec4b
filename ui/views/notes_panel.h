// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QWidget>

class QTableView;
class QToolButton;

namespace flipscope {

class NotesModel;

/// The Notes dock: bookmarks at positions of the history with what a person wrote about them. Enter or a double click
/// on a position goes there, Del removes a bookmark, F2 edits its words.
class NotesPanel : public QWidget {
    Q_OBJECT
public:
    explicit NotesPanel(Session* session, QWidget* parent = nullptr);

    QTableView* view() const { return m_view; }
    NotesModel* model() const { return m_model; }

public slots:
    void bookmarkHere(); ///< where the session is, with the words ready to be typed; a position has one for each run
    void removeCurrent();

signals:
    void added(); ///< by a person: show the dock

private:
    void goTo(int row);
    void updateButtons();

    Session* m_session;
    NotesModel* m_model;
    QTableView* m_view;
    QToolButton *m_add, *m_remove;
};

} // namespace flipscope
