// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

namespace flipscope {

/// A trace that is being captured, in the session: opened with its first probes, read again as it grows, at most as
/// often as that takes a fifth of the time, and at the end under its final name. One that a person closes stays closed.
class LiveTrace : public QObject {
    Q_OBJECT
public:
    explicit LiveTrace(Session* session, QObject* parent = nullptr);

    void begin(const QString& partial, const QString& out);
    void grown();                     ///< there are more probes in the file
    void end();                       ///< the writer is gone
    int run() const { return m_run; } ///< id in the session; -1 = not open yet

    static constexpr int leastPause = 500, mostPause = 60'000; ///< ms between two looks

private:
    enum class State { Idle, Following, Ended };
    QString file() const; ///< the name under which it is there now; empty = it is not
    void look();
    void settle();
    void rest(); ///< nobody writes any more

    Session* m_session;
    QString m_partial, m_out;
    State m_state = State::Idle;
    int m_run = -1;
    bool m_asked = false; ///< it was opened, and the session has not answered yet
    bool m_news = false;
    bool m_last = false; ///< this look came after the end
    QTimer m_timer;
    QElapsedTimer m_since; ///< the last look
};

} // namespace flipscope
