// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QTableWidget;
class QToolButton;

namespace flipscope {

class Session;

/// Printouts of `llama-perplexity --kl-divergence` beside the visible runs: a line for each statistic, a column for
/// each printout and each run. Read-only; a printout is opened like a trace, or pasted.
class PrintoutsPanel : public QWidget {
    Q_OBJECT
public:
    explicit PrintoutsPanel(Session* session, QWidget* parent = nullptr);

    QTableWidget* table() const { return m_table; }

private:
    void paste();
    void removeCurrent();
    int chosen() const;
    void updateButtons();
    void refresh();

    Session* m_session;
    QTableWidget* m_table;
    QToolButton* m_remove;
    QLabel* m_note;
    int m_pasted = 0; ///< so far
};

} // namespace flipscope
