// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/compare_calls.h"

namespace flipscope {

/// Counts the rows and says it in words. Continuations that one side lacks are not known here.
CallSummary summarize(const RunCalls& calls);

} // namespace flipscope
