// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "ui/session/session.h"

#include <QTableView>
#include <QTimer>
#include <QWidget>

class QCheckBox;
class QLabel;
class QLineEdit;
class QMenu;
class QToolButton;

namespace flipscope {

class ProbeTableModel;

/// The probes of the shown run, worst first, with a filter line; linked with the session's selection both ways.
/// Enter or a double click goes down to the token, Backspace up, Ctrl+C copies the selected rows. While it lies behind
/// another tab of a window, it is filled when it is looked at or asked.
class ProbeTable : public QWidget {
    Q_OBJECT
public:
    explicit ProbeTable(Session* session, QWidget* parent = nullptr);

    QTableView* view();
    ProbeTableModel* model();

    /// The rows shown, in the order shown, all columns, as `flipscope analyze --csv-probes` writes them.
    Result<void> writeCsv(const QString& path) const;
    QString copyText() const; ///< selected rows (all without a selection), visible columns, tab-separated

public slots:
    void catchUp(); ///< it comes to be seen
    void copy() const;
    void chooseCsv(); ///< asks for a file name

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void buildControls();
    void buildColumnMenu();
    void sizeColumns();
    void follow();
    bool waits(); ///< nobody sees it now
    void reloadTable();
    void applyFilter();
    void applyPlace();
    void updateCount();
    void goToCurrent(bool token);
    void say(const QString& text, bool isError);

    Session* m_session;
    ProbeTableModel* m_model;
    QLineEdit* m_filter;
    QCheckBox* m_windowOnly;
    QToolButton* m_columns;
    QToolButton* m_csv;
    QLabel* m_count;
    QLabel* m_message;
    QTableView* m_view;
    QTimer m_follow; ///< a held arrow key goes to where it stops, not to every row on the way
    TablePtr m_shown;
    TracePtr m_trace; ///< whose history is shown
    int m_shownRun = -1;
    QString m_filterError;
    bool m_wantWindow = true; ///< a chosen window narrows the table down to it
    bool m_stale = false;     ///< something has changed while nobody saw it
    bool m_following = false; ///< the view is being moved to the session's place
};

} // namespace flipscope
