// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QLabel;
class QListWidget;
class QPushButton;

namespace flipscope {

class SessionOpener;

/// Asks where the traces of a session are that are not where they were: offers a folder to look in.
class LocateDialog : public QDialog {
    Q_OBJECT
public:
    explicit LocateDialog(SessionOpener* opener, QWidget* parent = nullptr);
    void lookIn(const QString& folder); ///< opens the session where nothing is missing any more

public slots:
    void reject() override;

private:
    void chooseFolder();
    void goOn();
    void refresh();

    SessionOpener* m_opener;
    QLabel* m_words;
    QListWidget* m_list;
    QPushButton* m_without;
};

} // namespace flipscope
