// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/compare_calls.h"
#include "core/toolcalls/forced_calls.h"

#include <QString>

namespace flipscope {

/// What a person should know about one row, as HTML: tool, path and both values, where they part and how sure each
/// side was, whether it was a tie, whether later calls recover, what the server made of it, which settings may explain
/// it, and the call under the forced history. The same facts as `flipscope toolcalls`.
QString branchFacts(const QString& runName, const RunCalls& calls, std::size_t row, const ForcedCalls& forced);

} // namespace flipscope
