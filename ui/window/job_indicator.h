// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QWidget>

class QLabel;
class QProgressBar;
class QToolButton;

namespace flipscope {

/// The right end of the status bar: what computes, how far it is, and a button that stops it.
class JobIndicator : public QWidget {
    Q_OBJECT
public:
    explicit JobIndicator(Session* session, QWidget* parent = nullptr);

private:
    void showEngine();
    void setBusy(bool busy);
    void showProgress(const QString& stage, qint64 done, qint64 total, bool bytes);

    Session* m_session;
    QLabel *m_engine, *m_stage;
    QProgressBar* m_bar;
    QToolButton* m_stop;
};

} // namespace flipscope
