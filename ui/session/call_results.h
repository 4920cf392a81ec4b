// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/call_marks.h"
#include "core/toolcalls/compare_calls.h"
#include "core/toolcalls/forced_calls.h"
#include "ui/session/session.h"

#include <QObject>

#include <vector>

namespace flipscope {

/// What became of the baseline's tool calls in one open run.
struct RunCallResults {
    int id = -1; ///< session id of the run
    QString name;
    RunCallsPtr calls; ///< null where they cannot be compared
    QString problem;   ///< why; one sentence
};

/// The tool calls of all visible runs of a session, from the same functions as `flipscope toolcalls`. Read when first
/// asked for (no logits are touched), and again only for files that are new. Lives on the GUI thread.
class CallResults : public QObject {
    Q_OBJECT
public:
    /// The one of this session; made when first asked for.
    static CallResults* of(Session* session);

    const TraceCallsPtr& baseline();           ///< null when nothing is open
    const std::vector<RunCallResults>& runs(); ///< visible runs, in order
    const RunCallResults* run(int id);
    /// The probes inside calls of the forced history, for a run whose numbers are there; else empty.
    ForcedCalls forced(int id);
    /// For the strip under the heatmap: the calls of the history whose continuation broke in a visible run.
    const std::vector<CallMark>& marks();
    /// The same for two runs alone.
    std::vector<CallMark> marks(int runA, int runB);

signals:
    void changed();

private:
    explicit CallResults(Session* session);
    void refresh();
    TraceCallsPtr callsOf(const TracePtr& trace, const Dialect* dialect);

    struct Known {
        TracePtr trace; ///< kept, so that its address is not used by another
        const Dialect* dialect;
        TraceCallsPtr calls;
    };
    Session* m_session;
    bool m_stale = true;
    TraceCallsPtr m_baseline;
    std::vector<RunCallResults> m_runs;
    std::vector<CallMark> m_marks; ///< asked for at every change of the view, so kept
    std::vector<Known> m_known;
    std::vector<TracePtr> m_open; ///< what was open when m_known was read
};

} // namespace flipscope
