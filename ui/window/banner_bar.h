// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QFrame>

class QLabel;
class QToolButton;

namespace flipscope {

/// Sentences above the views, one at a time, worst first: why a cell is empty, why two runs cannot be compared, what
/// changed on disk. Gone when there is nothing to say.
class BannerBar : public QFrame {
    Q_OBJECT
public:
    explicit BannerBar(Session* session, QWidget* parent = nullptr);

    QString text() const; ///< of the banner that is shown

signals:
    void hintsRequested(int run, const QString& file, const QString& why); ///< run -1: about a file that is not open

private:
    void act();
    void follow();
    void show(qsizetype index);
    void step(int by);

    Session* m_session;
    qsizetype m_index = 0;
    QLabel *m_icon, *m_text, *m_count;
    QToolButton *m_previous, *m_next, *m_close, *m_action;
};

} // namespace flipscope
