// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/page_stack.h"

#include <QAction>
#include <QActionGroup>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

namespace flipscope {

PageStack::PageStack(const QVector<PageKind>& kinds, Session* session, QWidget* parent)
    : QWidget(parent), m_session(session), m_kinds(kinds), m_pages(kinds.size(), nullptr)
{
    m_tabs = new QTabBar(this);
    m_tabs->setObjectName(QStringLiteral("pageTabs"));
    m_tabs->setAccessibleName(tr("Pages"));
    m_tabs->setDocumentMode(true);
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_stack = new QStackedWidget(this);
    auto* group = new QActionGroup(this);
    for (qsizetype i = 0; i < m_kinds.size(); ++i) {
        const PageKind& kind = m_kinds[i];
        auto* action = new QAction(kind.icon, kind.title, group);
        action->setObjectName(kind.name + QLatin1String("Action"));
        action->setCheckable(true);
        if (i < 9)
            action->setShortcut(QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + i)));
        connect(action, &QAction::triggered, this, [this, name = kind.name] { showPage(name); });
        m_actions.append(action);
        action->setToolTip(kind.help);
        const QString keys = action->shortcut().toString(QKeySequence::NativeText);
        const int tab = m_tabs->addTab(kind.icon, kind.title);
        m_tabs->setTabToolTip(tab, keys.isEmpty() ? kind.help : QStringLiteral("%1 (%2)").arg(kind.help, keys));
    }
    m_tabs->setVisible(m_kinds.size() > 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_tabs);
    layout->addWidget(m_stack, 1);
    connect(m_tabs, &QTabBar::currentChanged, this, &PageStack::choose);
    choose(0);
}

int PageStack::indexOf(const QString& name) const
{
    for (qsizetype i = 0; i < m_kinds.size(); ++i)
        if (m_kinds[i].name == name)
            return static_cast<int>(i);
    return -1;
}

QWidget* PageStack::pageAt(int index)
{
    QWidget*& page = m_pages[index];
    if (page == nullptr) {
        page = m_kinds[index].make(m_session, m_stack);
        page->setObjectName(m_kinds[index].name);
        m_stack->addWidget(page);
    }
    return page;
}

QWidget* PageStack::page(const QString& name)
{
    const int index = indexOf(name);
    return index < 0 ? nullptr : pageAt(index);
}

QString PageStack::current() const
{
    const int index = m_tabs->currentIndex();
    return index < 0 ? QString() : m_kinds[index].name;
}

void PageStack::showPage(const QString& name)
{
    if (const int index = indexOf(name); index >= 0)
        m_tabs->setCurrentIndex(index);
}

void PageStack::choose(int index)
{
    if (index < 0 || index >= m_kinds.size())
        return;
    m_stack->setCurrentWidget(pageAt(index));
    m_actions[index]->setChecked(true);
    emit currentChanged(m_kinds[index].name);
}

} // namespace flipscope
