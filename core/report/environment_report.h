// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/environment.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace flipscope {

/// `stages` in order, each with `settings` and `packages`; values are objects by `labels` ("a", "b"), or lists where
/// there are none. null: not stated, or not installed.
nlohmann::ordered_json environment_json(const EnvironmentDifference& difference,
                                        const std::vector<std::string>& labels = {});
/// What one trace states, by stage.
nlohmann::ordered_json environment_json(const Trace& trace);

/// The difference between A and B in lines; it says so where nothing differs.
std::string environment_text(const EnvironmentDifference& difference);
/// Settings and packages of one trace in lines, by stage.
std::string environment_text(const Trace& trace);

/// "3 settings and 1 package"
std::string counted(const EnvironmentDifference& difference);
/// A sentence where packages cannot be compared, since one side or both list none; else empty.
std::string packages_notice(const EnvironmentDifference& difference);

} // namespace flipscope
