// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/alignment.h"
#include "core/analysis/stream_times.h"
#include "core/base/finding.h"
#include "core/engine/probe_metrics.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

/// Raised whenever a metric's definition or accuracy changes: old cached tables are then not used.
inline constexpr int metrics_version = 2;

/// The pivot: the numbers of every matched probe of one (baseline, run) pair. Computed once, cached; every window,
/// chart, panel and export comes from here. Immutable and freely shared between threads.
struct MetricsTable {
    Alignment alignment;
    std::vector<ProbeMetrics> probes; ///< parallel to alignment.probes
    std::vector<ProbeMetrics> dense;  ///< parallel to alignment.dense; never counted in windows
    std::string engine, engine_detail;
    std::string rows_hash; ///< hex; over the bytes of all rows read, both sides
    bool from_cache = false;
    std::vector<std::string> notices; ///< trouble overcome while computing
    StreamTimes times;                ///< where the time went; empty where the table is from the cache
};

using TablePtr = std::shared_ptr<const MetricsTable>;

/// Matched probes of which at least one logit differs; invalid rows count like any other.
std::int64_t differing_rows(const MetricsTable& table);

/// Full rows of equal types without one differing bit, over at least one matched probe: the repeat control.
bool bit_identical(const MetricsTable& table);

/// Probes, dense ones too, whose numbers are not the same in both tables, bit for bit.
std::int64_t different_probes(const MetricsTable& a, const MetricsTable& b);

/// One column of the table, as CSV files, the probe table and tooltips show it.
struct ProbeColumn {
    enum class Kind { Real, Integer, Boolean };
    std::string_view name;        ///< as in the metrics manual: "kl_pq"
    std::string_view title;       ///< for a person: "KL(P‖Q)"
    std::string_view unit;        ///< "nats", "ids", "" ...
    std::string_view description; ///< one line
    Kind kind;
    /// nullopt = the probe has no such value (CSV: nothing). Booleans are 0/1.
    std::optional<double> (*value)(const ProbeMetrics&);
};

/// All columns in their usual order; the first is `position`.
const std::vector<ProbeColumn>& probe_columns();
const ProbeColumn* find_probe_column(std::string_view name);

} // namespace flipscope
