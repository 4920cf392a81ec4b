// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/outcome.h"
#include "core/toolcalls/trace_calls.h"

#include <cstdint>
#include <optional>

namespace flipscope {

/// Where two continuations from one prefix part: the first token that differs, or the end of the shorter one. None:
/// they never part, as far as both go (one was cut at its length limit, or lacks only the end-of-turn token).
std::optional<Divergence> find_divergence(const TraceCalls& baseline, const ContinuationCalls& a, const TraceCalls& run,
                                          const ContinuationCalls& b);

/// What a token of a continuation is part of.
CallPlace place_in(const ContinuationCalls& continuation, std::size_t token);

} // namespace flipscope
