// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/probe_lookup.h"

#include <algorithm>
#include <utility>

namespace flipscope {

namespace {

const ProbeMetrics* find(const std::vector<ProbeMetrics>& probes, qint64 position)
{
    const auto it = std::lower_bound(probes.begin(), probes.end(), position,
                                     [](const ProbeMetrics& m, qint64 p) { return m.position < p; });
    return it != probes.end() && it->position == position ? &*it : nullptr;
}

void sortUnique(std::vector<qint64>& positions)
{
    if (!std::is_sorted(positions.begin(), positions.end())) // as they are without dense ones
        std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

} // namespace

const ProbeMetrics* probeAt(const MetricsTable& table, qint64 position)
{
    const ProbeMetrics* m = find(table.probes, position);
    return m ? m : find(table.dense, position);
}

ProbeLookup::ProbeLookup(TablePtr table) : m_table(std::move(table))
{
    if (!m_table)
        return;
    for (const ProbeMetrics& m : m_table->probes) {
        m_positions.push_back(m.position);
        if (m.flip)
            m_flips.push_back(m.position);
    }
    for (const ProbeMetrics& m : m_table->dense) {
        if (find(m_table->probes, m.position))
            continue; // the even grid speaks for this position
        m_positions.push_back(m.position);
        if (m.flip)
            m_flips.push_back(m.position);
    }
    sortUnique(m_positions);
    sortUnique(m_flips);
}

const ProbeMetrics* ProbeLookup::at(qint64 position) const
{
    return m_table ? probeAt(*m_table, position) : nullptr;
}

bool ProbeLookup::isDense(qint64 position) const
{
    return m_table && !find(m_table->probes, position) && find(m_table->dense, position);
}

} // namespace flipscope
