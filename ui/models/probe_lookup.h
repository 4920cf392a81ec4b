// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"

#include <QtGlobal>

#include <vector>

namespace flipscope {

/// The numbers of the probe at a position: of the even grid, else of a dense probe; null = no matched probe there.
const ProbeMetrics* probeAt(const MetricsTable& table, qint64 position);

/// Finds the numbers of a probe by its position: in the even grid first, then among the dense probes.
class ProbeLookup {
public:
    ProbeLookup() = default;
    explicit ProbeLookup(TablePtr table);

    const ProbeMetrics* at(qint64 position) const; ///< null = no matched probe there
    bool isDense(qint64 position) const;           ///< only a dense probe stands there
    /// Positions of all flips, dense ones included, ascending.
    const std::vector<qint64>& flips() const { return m_flips; }
    /// Positions of all probes, dense ones included, ascending.
    const std::vector<qint64>& positions() const { return m_positions; }
    const TablePtr& table() const { return m_table; }

private:
    TablePtr m_table;
    std::vector<qint64> m_flips, m_positions;
};

} // namespace flipscope
