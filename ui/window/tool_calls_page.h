// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/call_results.h"

#include <QWidget>

class QCheckBox;
class QLabel;
class QModelIndex;
class QStackedWidget;
class QTableView;
class QTextBrowser;
class QToolButton;

namespace flipscope {

class BranchView;
class ToolCallFilter;
class ToolCallModel;

/// What became of the baseline's tool calls: a summary of each run, a row for each call and a column for each run, and
/// the two branches of the call that is looked at. Linked with the session's selection.
class ToolCallsPage : public QWidget {
    Q_OBJECT
public:
    explicit ToolCallsPage(Session* session, QWidget* parent = nullptr);

    ToolCallModel* model() const { return m_model; }
    QTableView* table() const { return m_table; }
    BranchView* branches() const { return m_branches; }

    /// The next broken call of any run after the one that is looked at, round to the first one after the last. False
    /// where no call is broken.
    bool nextBroken(bool backwards = false);
    /// To the call that was looked at last; where there is none, to the first broken one.
    void goToCurrent();

protected:
    void showEvent(QShowEvent* event) override;

private:
    void makeHead();
    void makeTable();
    void refresh();
    void fitColumns();
    void showSummary();
    void firstBrokenOf(int run);             ///< session id
    void showCall(const QModelIndex& shown); ///< of the filtered table
    void goToHistory(const QModelIndex& shown);

    Session* m_session;
    CallResults* m_results;
    ToolCallModel* m_model;
    ToolCallFilter* m_filter;
    QWidget* m_head = nullptr;
    QTextBrowser* m_summary = nullptr;
    QCheckBox* m_brokenOnly = nullptr;
    QToolButton *m_previous = nullptr, *m_next = nullptr;
    QLabel* m_why = nullptr;
    QStackedWidget* m_stack = nullptr;
    QTableView* m_table = nullptr;
    BranchView* m_branches = nullptr;
    bool m_stale = true;
};

} // namespace flipscope
