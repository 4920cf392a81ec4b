// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/trace_calls.h"

#include <string>
#include <vector>

namespace flipscope {

/// For each call of a continuation what is wrong with the server's reading of it, one sentence; empty = it agrees, or
/// the trace does not state what the server parsed. Broken calls are not judged.
std::vector<std::string> check_server(const ContinuationCalls& continuation);

} // namespace flipscope
