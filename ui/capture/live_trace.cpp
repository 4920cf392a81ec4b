// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/capture/live_trace.h"

#include <QFileInfo>

#include <algorithm>

namespace flipscope {

LiveTrace::LiveTrace(Session* session, QObject* parent) : QObject(parent), m_session(session)
{
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &LiveTrace::look);
    connect(session, &Session::busyChanged, this, [this](bool busy) {
        if (!busy)
            settle();
    });
}

void LiveTrace::begin(const QString& partial, const QString& out)
{
    m_partial = partial;
    m_out = out;
    m_state = State::Following;
    m_run = -1;
    m_asked = m_news = m_last = false;
    m_since.invalidate();
    m_timer.stop();
}

void LiveTrace::grown()
{
    m_news = true;
    if (m_state == State::Following && !m_timer.isActive() && !m_asked)
        m_timer.start(leastPause);
}

void LiveTrace::end()
{
    if (m_state != State::Following)
        return;
    m_state = State::Ended;
    m_timer.stop();
    m_news = m_news || QFileInfo::exists(m_out); // one without probes is a trace too
    if (!m_asked)
        look();
}

QString LiveTrace::file() const
{
    for (const QString& path : {m_out, m_partial})
        if (QFileInfo::exists(path))
            return path;
    return {};
}

/// Has the session read the file as it is now.
void LiveTrace::look()
{
    const QString path = file();
    if (path.isEmpty() || (m_run < 0 && !m_news)) {
        if (m_state == State::Ended) // it was never there, or somebody took it away: nothing grows any more
            rest();
        return;
    }
    m_asked = true;
    if (m_session->busy()) // with this, or with what somebody else asked for: settle() comes back
        return;
    if (m_run >= 0 && m_session->run(m_run) == nullptr) { // closed by a person
        m_state = State::Idle;
        return;
    }
    m_news = false;
    m_last = m_state == State::Ended;
    m_since.start();
    if (m_run < 0)
        m_run = m_session->runAt(m_partial); // open from an earlier capture, which this one goes on with
    if (m_run < 0) {
        m_session->openLive(path);
        return;
    }
    m_session->setLive(m_run, true);
    m_session->reread(m_run, path);
}

/// The session has read and computed what there was.
void LiveTrace::settle()
{
    if (!m_asked || m_state == State::Idle)
        return;
    m_asked = false;
    if (m_run < 0 && m_since.isValid()) {
        m_run = std::max(m_session->runAt(m_partial), m_session->runAt(m_out));
        m_news = m_news || m_run < 0; // it could not be read yet
    }
    if (m_state == State::Following) {
        if (m_news)
            m_timer.start(
                std::clamp(m_since.isValid() ? static_cast<int>(4 * m_since.elapsed()) : 0, leastPause, mostPause));
        return;
    }
    if (!m_last) { // the last rows came after this look, and the name is another now
        m_timer.start(0);
        return;
    }
    rest();
    if (m_run < 0 && !file().isEmpty())
        m_session->open({file()}); // with a word, should it not open
}

void LiveTrace::rest()
{
    m_state = State::Idle;
    if (m_run >= 0)
        m_session->setLive(m_run, false);
}

} // namespace flipscope
