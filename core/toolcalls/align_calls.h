// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/call.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace flipscope {

/// One step of two call sequences side by side: a pair, or a call that only one side has.
struct CallPair {
    std::optional<std::size_t> baseline, run;
};

/// Aligns two sequences of calls with the least differences: equal calls first of all, then calls of the same tool,
/// then calls at the same place. Of equally good alignments the one that pairs earlier calls. Sequences of more than
/// some thousand calls are aligned piece by piece.
std::vector<CallPair> align_calls(const std::vector<Call>& baseline, const std::vector<Call>& run);

/// Same tool, same arguments, in any order.
bool equal_calls(const Call& a, const Call& b);

} // namespace flipscope
