// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"
#include "core/toolcalls/compare_calls.h"

#include <span>
#include <string>
#include <vector>

namespace flipscope {

/// A run's calls under the name that it is shown by.
struct NamedRunCalls {
    std::string name;
    RunCallsPtr calls;
};

/// Marks for the calls of the baseline's history. A continuation belongs to the call if it started in the same turn: no
/// other call and no other continuation's start lies between. Calls without one have no mark. Pure; linear.
std::vector<CallMark> mark_calls(const TraceCalls& baseline, std::span<const NamedRunCalls> runs);

/// A run under the name that it is shown by.
struct NamedTrace {
    std::string name;
    TracePtr trace;
};

/// The same for traces whose calls are not read yet. Runs whose calls cannot be compared have no say.
std::vector<CallMark> call_marks(const TracePtr& baseline, std::span<const NamedTrace> runs);

} // namespace flipscope
