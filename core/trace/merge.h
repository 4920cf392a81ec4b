// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/trace/trace.h"

#include <span>

namespace flipscope {

/// One trace of several that are parts of one run along one history (one part is taken as it is). Each history must be
/// the beginning of the longest one; rows must have one type and width, or all be lists, and stand at different
/// positions. Settings, dense probes and continuations of all parts are kept; where two parts state different values of
/// one setting, the first counts, and a finding says so.
Result<Trace> merge_traces(std::span<const TracePtr> parts);

} // namespace flipscope
