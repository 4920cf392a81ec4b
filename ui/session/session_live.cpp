// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are being written while they are looked at.
#include "ui/session/session_private.h"

#include <QFileInfo>

#include <algorithm>

namespace flipscope {

int Session::runAt(const QString& path) const
{
    const QString wanted = QFileInfo(path).absoluteFilePath();
    const auto it = std::ranges::find_if(m_runs, [&](const SessionRun& run) {
        return QFileInfo(QString::fromStdString(run.trace->path.string())).absoluteFilePath() == wanted;
    });
    return it == m_runs.end() ? -1 : it->id;
}

void Session::openLive(const QString& path)
{
    d->enqueueItem({path, -1, true});
}

void Session::setLive(int id, bool live)
{
    SessionRun* run = d->find(id);
    if (run == nullptr || run->live == live)
        return;
    run->live = live;
    emit runsChanged();
    d->updateBanners();
}

void Session::reread(int id, const QString& path)
{
    SessionRun* run = d->find(id);
    if (run == nullptr)
        return;
    if (run->state == SessionRun::State::Failed) {
        run->state = SessionRun::State::Waiting;
        run->problem.clear();
    }
    d->enqueueItem({path, id, run->live, run->hints});
}

} // namespace flipscope
