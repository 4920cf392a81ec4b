// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/compare.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace flipscope {

/// What `flipscope compare` says.
struct ComparisonReport {
    const RunComparison& comparison;
    std::int64_t window_tokens = default_window_tokens;
    std::string engine, engine_detail;
    std::vector<std::string> notices;
};

/// The contract of `flipscope compare --json` (format "flipscope-compare", version 1).
nlohmann::ordered_json comparison_json(const ComparisonReport& report);
/// The readable answer.
std::string comparison_text(const ComparisonReport& report);
/// A row per paired probe; numbers as in probes_csv().
std::string comparison_csv(const RunComparison& comparison);

} // namespace flipscope
