// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/compare_calls.h"
#include "core/toolcalls/forced_calls.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace flipscope {

/// Everything `flipscope toolcalls` says about one run.
struct ToolCallsRun {
    std::string name;
    RunCallsPtr calls;
    std::optional<ForcedCalls> forced; ///< none: the probes could not be read
    std::string forced_problem;        ///< why; one sentence or empty
};

struct ToolCallsReport {
    TraceCallsPtr baseline;
    std::vector<ToolCallsRun> runs;
    std::vector<std::string> notices;
    std::vector<Error> problems; ///< runs that could not be read or compared; each sentence names its file
    TokenTexts texts;            ///< over all traces, the baseline first
};

/// The contract of `flipscope toolcalls --json` (format "flipscope-toolcalls", version 1).
nlohmann::ordered_json toolcalls_json(const ToolCallsReport& report);
/// For a person: the summary of each run, and each broken call.
std::string toolcalls_text(const ToolCallsReport& report);

/// The text of a run's continuation where it makes no call, on one line; long ones are cut.
std::string continuation_text(const ContinuationCalls& continuation, std::size_t columns);

} // namespace flipscope
