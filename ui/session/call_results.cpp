// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/call_results.h"

#include <algorithm>
#include <utility>

namespace flipscope {

CallResults* CallResults::of(Session* session)
{
    auto* found = session->findChild<CallResults*>(QString(), Qt::FindDirectChildrenOnly);
    return found != nullptr ? found : new CallResults(session);
}

CallResults::CallResults(Session* session) : QObject(session), m_session(session)
{
    connect(session, &Session::runsChanged, this, [this] {
        m_stale = true;
        emit changed();
    });
}

TraceCallsPtr CallResults::callsOf(const TracePtr& trace, const Dialect* dialect)
{
    const auto same = [&](const Known& known) { return known.trace == trace && known.dialect == dialect; };
    if (const auto known = std::find_if(m_known.begin(), m_known.end(), same); known != m_known.end())
        return known->calls;
    m_known.push_back({trace, dialect, read_calls(trace, m_session->texts(), dialect)});
    return m_known.back().calls;
}

void CallResults::refresh()
{
    if (!std::exchange(m_stale, false))
        return;
    // Any of the open files may know the bytes of an id: with other files, calls read otherwise.
    std::vector<TracePtr> open;
    for (const SessionRun& run : m_session->runs())
        open.push_back(run.trace);
    if (open != m_open)
        m_known.clear();
    m_open = std::move(open);
    m_marks.clear();
    const std::vector<RunCallResults> before = std::exchange(m_runs, {});
    const SessionRun* base = m_session->baseline();
    m_baseline = base != nullptr && base->trace ? callsOf(base->trace, nullptr) : nullptr;
    if (!m_baseline)
        return;
    for (const SessionRun* run : m_session->visibleRuns()) {
        RunCallResults result{run->id, run->name, nullptr, {}};
        const TraceCallsPtr calls = callsOf(run->trace, m_baseline->dialect);
        const auto old = std::find_if(before.begin(), before.end(), [&](const RunCallResults& r) {
            return r.calls && r.calls->baseline == m_baseline && r.calls->run == calls;
        });
        if (old != before.end()) {
            result.calls = old->calls;
        } else if (auto compared = compare_calls(m_baseline, calls)) {
            result.calls = *compared;
        } else {
            result.problem = QString::fromStdString(compared.error().message);
        }
        m_runs.push_back(std::move(result));
    }
    std::vector<NamedRunCalls> named;
    for (const RunCallResults& run : m_runs)
        if (run.calls)
            named.push_back({run.name.toStdString(), run.calls});
    m_marks = mark_calls(*m_baseline, named);
}

const TraceCallsPtr& CallResults::baseline()
{
    refresh();
    return m_baseline;
}

const std::vector<RunCallResults>& CallResults::runs()
{
    refresh();
    return m_runs;
}

const RunCallResults* CallResults::run(int id)
{
    refresh();
    const auto found = std::find_if(m_runs.begin(), m_runs.end(), [id](const RunCallResults& r) { return r.id == id; });
    return found == m_runs.end() ? nullptr : &*found;
}

ForcedCalls CallResults::forced(int id)
{
    refresh();
    const SessionRun* run = m_session->run(id);
    return m_baseline && run != nullptr && run->table ? forced_calls(*m_baseline, *run->table) : ForcedCalls{};
}

const std::vector<CallMark>& CallResults::marks()
{
    refresh();
    return m_marks;
}

std::vector<CallMark> CallResults::marks(int runA, int runB)
{
    refresh();
    if (!m_baseline)
        return {};
    std::vector<NamedRunCalls> named;
    for (const int id : {runA, runB}) {
        const SessionRun* shown = m_session->run(id); // one that is hidden elsewhere may be compared
        if (shown == nullptr)
            continue;
        if (const RunCallResults* found = run(id); found != nullptr && found->calls)
            named.push_back({shown->name.toStdString(), found->calls});
        else if (auto calls = compare_calls(m_baseline, callsOf(shown->trace, m_baseline->dialect)))
            named.push_back({shown->name.toStdString(), *calls});
    }
    return mark_calls(*m_baseline, named);
}

} // namespace flipscope
