// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/drilldown.h"

namespace flipscope {

Place::Depth Place::depth() const
{
    if (run < 0)
        return Depth::Top;
    if (token >= 0)
        return Depth::Token;
    if (probe >= 0)
        return Depth::Probe;
    return windowStart >= 0 ? Depth::Window : Depth::Run;
}

DrilldownPath::DrilldownPath(QObject* parent) : QObject(parent) {}

void DrilldownPath::go(const Place& place)
{
    if (place == this->place())
        return;
    m_history.resize(m_index + 1);
    m_history.append(place);
    m_index = m_history.size() - 1;
    emit changed(this->place());
}

void DrilldownPath::up()
{
    Place next = place();
    switch (next.depth()) {
    case Place::Depth::Top:
        return;
    case Place::Depth::Token:
        next.token = -1;
        break;
    case Place::Depth::Probe:
        next.probe = -1;
        break;
    case Place::Depth::Window:
        next.windowStart = -1;
        break;
    case Place::Depth::Run:
        next = {};
        break;
    }
    go(next);
}

void DrilldownPath::back()
{
    if (!canBack())
        return;
    --m_index;
    emit changed(place());
}

void DrilldownPath::forward()
{
    if (!canForward())
        return;
    ++m_index;
    emit changed(place());
}

void DrilldownPath::forgetRun(int run)
{
    const Place before = place();
    QVector<Place> kept;
    qsizetype index = 0;
    for (qsizetype i = 0; i < m_history.size(); ++i) {
        const Place p = m_history[i].run == run ? Place{} : m_history[i];
        if (kept.isEmpty() || kept.last() != p)
            kept.append(p);
        if (i == m_index)
            index = kept.size() - 1;
    }
    m_history = kept;
    m_index = index;
    if (place() != before)
        emit changed(place());
}

void DrilldownPath::reset()
{
    const bool moved = place() != Place{};
    m_history = {Place{}};
    m_index = 0;
    if (moved)
        emit changed(place());
}

} // namespace flipscope
