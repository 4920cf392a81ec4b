// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace flipscope {

/// What an empty window shows: what this is, how to open something, and what was open last.
class StartPage : public QWidget {
    Q_OBJECT
public:
    explicit StartPage(QWidget* parent = nullptr);

    void refresh();             ///< recent files and samples may have changed
    void setBusy(bool opening); ///< says that files are being opened

signals:
    void openRequested();
    void openFolderRequested();
    void sampleRequested();
    void recentRequested(const QStringList& paths);

private:
    QPushButton* m_sample;
    QLabel *m_hint, *m_recentTitle;
    QVBoxLayout* m_recent;
};

} // namespace flipscope
