// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/window/page.h"

#include <QWidget>

class QAction;
class QStackedWidget;
class QTabBar;

namespace flipscope {

/// The pages of the window's centre under a tab bar, which is not there while there is one page only. A page is made
/// when it is first looked at.
class PageStack : public QWidget {
    Q_OBJECT
public:
    PageStack(const QVector<PageKind>& kinds, Session* session, QWidget* parent = nullptr);

    QTabBar* tabBar() const { return m_tabs; }
    /// One for each page, checkable, with Ctrl+1 … Ctrl+9; for the menus.
    const QVector<QAction*>& actions() const { return m_actions; }
    QString current() const;            ///< name of the page that is looked at
    void showPage(const QString& name); ///< nothing happens where there is no such page
    QWidget* page(const QString& name); ///< made if it was not yet; null where there is no such page

signals:
    void currentChanged(const QString& name);

private:
    int indexOf(const QString& name) const;
    QWidget* pageAt(int index);
    void choose(int index);

    Session* m_session;
    QVector<PageKind> m_kinds;
    QVector<QWidget*> m_pages; ///< null = not made yet
    QVector<QAction*> m_actions;
    QTabBar* m_tabs;
    QStackedWidget* m_stack;
};

} // namespace flipscope
