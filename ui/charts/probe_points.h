// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/flip_kind.h"
#include "core/analysis/metrics_table.h"
#include "core/analysis/probe_chart.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace flipscope {

/// A probe as the charts over single probes draw it: a tenth of its bytes, its logarithms taken once.
struct ProbePoint {
    std::int64_t position;
    float kl; ///< log10 of KL(P‖Q) in nats; −inf at or below 0, +inf where it is infinite, NaN where there is none
    float margin; ///< log10 of the baseline's margin in nats, likewise
    FlipKind kind;
    bool valid, tied, flip;
};
using ProbePoints = std::vector<ProbePoint>; ///< one for each probe of a table, ascending by position

/// Those of a table, whose baseline stores rows of `type`; made once for all charts and kept as long as the table is.
/// Any thread.
std::shared_ptr<const ProbePoints> probePoints(const TablePtr& table, std::optional<LogitType> type);
/// The same for the distribution of KL(P‖Q).
std::shared_ptr<const SortedKl> sortedKl(const TablePtr& table);

/// Those at first <= position < last.
std::span<const ProbePoint> pointsBetween(const ProbePoints& points, std::int64_t first, std::int64_t last);

} // namespace flipscope
