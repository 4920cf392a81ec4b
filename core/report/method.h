// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"
#include "core/trace/trace.h"

#include <string>
#include <vector>

namespace flipscope {

/// One line of what a divergence number means nothing without.
struct MethodLine {
    std::string label; ///< "reference checkpoint", "sampling positions", ...
    std::string value; ///< "not stated" where the traces do not say
    bool stated = false;
};

/// Reference checkpoint, environment, evaluation text, calibration data, context length, sampling positions, direction,
/// vocabulary truncation, aggregation: printed with every number and under every exported figure.
std::vector<MethodLine> method_of(const Trace& baseline, const std::vector<TracePtr>& runs,
                                  std::string_view aggregation);

/// A /run setting that is not the same in all traces.
struct SettingDifference {
    std::string key;
    std::vector<std::string> values; ///< per trace; "not stated" where missing
};
std::vector<SettingDifference> differing_settings(const std::vector<TracePtr>& traces);

} // namespace flipscope
