// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"
#include "ui/window/runs_model.h"

#include <QTreeView>
#include <QWidget>

class QAction;
class QMenu;
class QTreeWidget;
class QTreeWidgetItem;

namespace flipscope {

struct EnvironmentDifference;

/// The list itself. A click on star, colour or eye acts and does not select.
class RunsView : public QTreeView {
    Q_OBJECT
public:
    explicit RunsView(QWidget* parent = nullptr);

signals:
    void cellPressed(const QModelIndex& index); ///< star, colour or eye was clicked

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    static bool isButton(const QModelIndex& index);
    QPersistentModelIndex m_pressed;
};

/// Content of the Runs dock: the runs, and under them the settings in which they differ.
class RunsPanel : public QWidget {
    Q_OBJECT
public:
    explicit RunsPanel(Session* session, QWidget* parent = nullptr);

    RunsView* view() const { return m_view; }
    RunsModel* model() const { return m_model; }
    QTreeWidget* settings() const { return m_settings; }

signals:
    void compareRequested(int a, int b); ///< session ids: set these two side by side
    void hintsRequested(int id);         ///< session id: say how its file is to be read

private:
    void makeActions();
    QAction* addAction(const QString& text, const QKeySequence& shortcut, void (RunsPanel::*slot)());
    int currentRun() const;
    void updateActions();
    void act(const QModelIndex& index);
    void showMenu(const QPoint& pos);
    void addCompareMenu(QMenu& menu);
    void renameCurrent();
    void baselineFromCurrent();
    void floorFromCurrent();
    void toggleCurrent();
    void recolourCurrent();
    void moveUp();
    void moveDown();
    void removeCurrent();
    void copyPath();
    void hintsForCurrent();
    void recolour(int id);
    void selectionChanged(const QModelIndex& current);
    void followPath();
    void updateSettings();
    QTreeWidgetItem* addDifference(QTreeWidgetItem* stage, const std::string& key, const QStringList& names,
                                   const std::vector<std::string>& values);
    void showDifferences(const EnvironmentDifference& difference, const QStringList& names);

    Session* m_session;
    RunsModel* m_model;
    RunsView* m_view;
    QTreeWidget* m_settings;
    QAction *m_rename, *m_baseline, *m_floor, *m_toggle, *m_recolour, *m_up, *m_down, *m_copyPath, *m_hints, *m_remove;
    bool m_following = false; ///< the selection is being set from the path
};

} // namespace flipscope
