// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/command_palette.h"

#include <QAction>
#include <QCoreApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace flipscope {

namespace {

constexpr int commandRole = Qt::UserRole;

/// As it reads without a menu around it: no accelerator, no "…".
QString plain(QString text)
{
    const QString ampersand = QStringLiteral("\x01");
    text.replace(QStringLiteral("&&"), ampersand);
    text.remove(QLatin1Char('&'));
    text.replace(ampersand, QStringLiteral("&"));
    return text.remove(QStringLiteral("…")).trimmed();
}

} // namespace

CommandPalette::CommandPalette(QMainWindow* window) : QDialog(window)
{
    setObjectName(QStringLiteral("commandPalette"));
    setWindowTitle(tr("Commands"));
    m_input = new QLineEdit(this);
    m_input->setPlaceholderText(tr("Type what you want to do"));
    m_input->setAccessibleName(tr("Filter of the commands"));
    m_input->setToolTip(tr("Any words of a menu's entry, in any order; Enter does the chosen one"));
    m_input->setClearButtonEnabled(true);
    m_list = new QListWidget(this);
    m_list->setAccessibleName(tr("Commands"));
    m_list->setUniformItemSizes(true);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_input);
    layout->addWidget(m_list, 1);
    resize(560, 420);
    for (QAction* top : window->menuBar()->actions())
        if (top->menu() != nullptr) {
            emit top->menu()->aboutToShow(); // menus that are filled when they open
            collect(top->menu()->actions(), plain(top->text()));
        }
    m_input->installEventFilter(this);
    connect(m_input, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_input, &QLineEdit::returnPressed, this, &CommandPalette::run);
    connect(m_list, &QListWidget::itemActivated, this, &CommandPalette::run);
    filter({});
    m_input->setFocus();
}

void CommandPalette::collect(const QList<QAction*>& actions, const QString& path)
{
    for (QAction* action : actions) {
        if (action->isSeparator() || !action->isVisible())
            continue;
        const QString title = path + QStringLiteral(" › ") + plain(action->text());
        if (action->menu() != nullptr)
            collect(action->menu()->actions(), title);
        else if (action->objectName() != QLatin1String("commandPalette"))
            m_commands.append({action, title});
    }
}

void CommandPalette::filter(const QString& text)
{
    const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    m_list->clear();
    for (qsizetype i = 0; i < m_commands.size(); ++i) {
        const Command& command = m_commands[i];
        const bool fits = command.action && std::all_of(words.begin(), words.end(), [&](const QString& word) {
                              return command.title.contains(word, Qt::CaseInsensitive);
                          });
        if (!fits)
            continue;
        const QString keys = command.action->shortcut().toString(QKeySequence::NativeText);
        const QString mark = command.action->isChecked() ? QStringLiteral("✓ ") : QString();
        auto* item = new QListWidgetItem(
            mark + command.title + (keys.isEmpty() ? QString() : QStringLiteral("   (%1)").arg(keys)), m_list);
        item->setData(commandRole, static_cast<int>(i));
        item->setToolTip(command.action->toolTip());
        if (!command.action->isEnabled())
            item->setFlags(Qt::NoItemFlags); // seen, but not done
    }
    for (int row = 0; row < m_list->count(); ++row)
        if (m_list->item(row)->flags().testFlag(Qt::ItemIsEnabled)) {
            m_list->setCurrentRow(row);
            break;
        }
}

void CommandPalette::run()
{
    const QListWidgetItem* item = m_list->currentItem();
    if (item == nullptr || !item->flags().testFlag(Qt::ItemIsEnabled))
        return;
    const QPointer<QAction> action = m_commands[item->data(commandRole).toInt()].action;
    accept();
    // After the dialog is gone: what the command opens gets the focus.
    QTimer::singleShot(0, parent(), [action] {
        if (action)
            action->trigger();
    });
}

/// The arrow keys move in the list while one types above it.
bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_input && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Up || key == Qt::Key_Down || key == Qt::Key_PageUp || key == Qt::Key_PageDown) {
            QCoreApplication::sendEvent(m_list, event);
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace flipscope
