// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QToolButton>

class QMenu;

namespace flipscope {

/// The button that arranges the runs: sorted by a number or a setting, grouped by a setting, and only those shown that
/// have certain values of it. Acts on the session's list of runs, so that all views agree.
class RowsMenu : public QToolButton {
    Q_OBJECT
public:
    explicit RowsMenu(Session* session, QWidget* parent = nullptr);

    // What the entries do; for tests and for a menu bar.
    void sortAsOpened();
    void sortByName();
    void sortByFlipRate();
    void sortByKl();
    void sortBySetting(const QString& key);
    void groupBy(const QString& key); ///< empty = not grouped
    /// Hides the runs whose value of `key` is not among `values`.
    void showOnly(const QString& key, const QStringList& values);
    void showAll();
    /// Keys of /run in which the open runs differ.
    QStringList settings() const;

protected:
    void initStyleOption(QStyleOptionToolButton* option) const override;

private:
    void follow();
    void fill();
    void addSort(QMenu* menu);
    void addGroups(QMenu* menu);
    void addFilters(QMenu* menu);
    QStringList valuesOf(const QString& key) const;
    QString valueOf(const SessionRun& run, const QString& key) const;
    template <class Key>
    void sortBy(const Key& key);

    Session* m_session;
    QMenu* m_menu;
};

} // namespace flipscope
