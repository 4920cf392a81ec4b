// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/selection.h"

#include <algorithm>

namespace flipscope {

const SessionRun* shownRun(Session& session)
{
    const SessionRun* run = session.run(session.path().place().run);
    if (run && run->state != SessionRun::State::Baseline)
        return run;
    const auto visible = session.visibleRuns();
    return visible.size() == 1 ? visible.front() : nullptr;
}

QString whyNoTable(Session& session)
{
    if (session.runs().empty())
        return QStringLiteral("Open two traces to compare them.");
    const SessionRun* run = shownRun(session);
    if (!run) {
        return session.visibleRuns().empty() ? QStringLiteral("Open another trace to compare it with %1.")
                                                   .arg(session.baseline() ? session.baseline()->name : QString())
                                             : QStringLiteral("Choose a run, in the heatmap or among the runs.");
    }
    if (run->table)
        return {};
    if (run->state == SessionRun::State::Failed)
        return run->problem;
    return QStringLiteral("%1 is being compared with the baseline.").arg(run->name);
}

std::pair<qint64, qint64> windowRange(Session& session, qint64 start)
{
    const TokenRange tokens = session.columnTokens(start);
    return {tokens.start, tokens.end};
}

Place placeAt(Session& session, int run, qint64 probe, qint64 token)
{
    Place place;
    place.run = run;
    place.probe = probe;
    place.token = token;
    // Segments and turns are about the token that a probe predicts.
    const qint64 anchor = probe >= 0 ? probe : session.pieces().empty() ? token : std::max<qint64>(token - 1, -1);
    if (anchor >= 0 || token == 0)
        place.windowStart = session.columnStart(anchor);
    return place;
}

} // namespace flipscope
