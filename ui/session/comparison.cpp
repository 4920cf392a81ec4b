// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/comparison.h"

#include <algorithm>

namespace flipscope {

namespace {

bool comparable(const SessionRun* run)
{
    return run->state != SessionRun::State::Failed;
}

} // namespace

std::pair<const SessionRun*, const SessionRun*> Session::comparedRuns() const
{
    const auto usable = [this](int id) {
        const SessionRun* found = run(id);
        return found != nullptr && found->state != SessionRun::State::Baseline ? found : nullptr;
    };
    const SessionRun* a = usable(m_comparedA);
    const SessionRun* b = usable(m_comparedB);
    // Runs that could not be compared are the last choice.
    std::vector<const SessionRun*> runs = visibleRuns();
    std::stable_partition(runs.begin(), runs.end(), comparable);
    const auto firstBut = [&](const SessionRun* other) -> const SessionRun* {
        const auto it = std::ranges::find_if(runs, [other](const SessionRun* r) { return r != other; });
        return it == runs.end() ? nullptr : *it;
    };
    if (a == nullptr)
        a = firstBut(b);
    if (b == nullptr)
        b = firstBut(a);
    return {a, b};
}

void Session::setComparedRuns(int a, int b)
{
    m_comparedAt = a < 0 ? -1 : m_path.place().run;
    if (a == m_comparedA && b == m_comparedB)
        return;
    m_comparedA = a;
    m_comparedB = b;
    emit comparedRunsChanged();
}

void Session::compareSelected()
{
    const SessionRun* selected = run(m_path.place().run);
    if (selected == nullptr || selected->state == SessionRun::State::Baseline || selected->id == m_comparedAt)
        return;
    const bool chosen = run(m_comparedA) != nullptr && run(m_comparedB) != nullptr;
    if (chosen && (selected->id == m_comparedA || selected->id == m_comparedB))
        return;
    // Those behind it come first, then those before it.
    std::vector<const SessionRun*> others = visibleRuns();
    if (const auto at = std::ranges::find(others, selected); at != others.end()) {
        std::rotate(others.begin(), at + 1, others.end());
        others.pop_back();
    }
    std::stable_partition(others.begin(), others.end(), comparable);
    if (!others.empty())
        setComparedRuns(selected->id, others.front()->id);
}

ComparisonPtr comparisonOf(const Session& session)
{
    const SessionRun* base = session.baseline();
    const auto [a, b] = session.comparedRuns();
    if (base == nullptr || a == nullptr || b == nullptr || !a->table || !b->table)
        return nullptr;
    const std::string nameA = a->name.toStdString();
    const std::vector<std::string> taken{nameA};
    return std::make_shared<const RunComparison>(compare_sides(
        base->trace, {nameA, a->trace, a->table}, {distinct_name(b->name.toStdString(), taken), b->trace, b->table}));
}

QString whyNoComparison(const Session& session)
{
    const auto [a, b] = session.comparedRuns();
    if (session.baseline() == nullptr || a == nullptr || b == nullptr)
        return Session::tr("Two runs and a baseline are needed: open another trace to compare.");
    for (const SessionRun* run : {a, b}) {
        if (run->state == SessionRun::State::Failed)
            return Session::tr("%1 cannot be compared: %2").arg(run->name, run->problem);
        if (!run->table)
            return Session::tr("%1 is still being computed.").arg(run->name);
    }
    return {};
}

ComparisonReport reportOf(const Session& session, const RunComparison& comparison)
{
    std::vector<std::string> notices = comparison.a.table->notices;
    const auto& more = comparison.b.table->notices;
    notices.insert(notices.end(), more.begin(), more.end());
    return {.comparison = comparison,
            .window_tokens = session.windowTokens(),
            .engine = comparison.a.table->engine,
            .engine_detail = comparison.a.table->engine_detail,
            .notices = std::move(notices)};
}

} // namespace flipscope
