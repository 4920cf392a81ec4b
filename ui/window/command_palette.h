// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QPointer>
#include <QVector>

class QAction;
class QLineEdit;
class QListWidget;
class QMainWindow;

namespace flipscope {

/// Everything that the menus of a window offer, in one list that narrows down while one types: words in any order, of
/// the command or of the menu that it is in. Enter does it.
class CommandPalette : public QDialog {
    Q_OBJECT
public:
    explicit CommandPalette(QMainWindow* window);

    QLineEdit* input() const { return m_input; }
    QListWidget* list() const { return m_list; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Command {
        QPointer<QAction> action;
        QString title; ///< "View › Theme › Dark"
    };
    void collect(const QList<QAction*>& actions, const QString& path);
    void filter(const QString& text);
    void run();

    QVector<Command> m_commands;
    QLineEdit* m_input;
    QListWidget* m_list;
};

} // namespace flipscope
