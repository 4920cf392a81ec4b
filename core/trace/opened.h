// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/trace/open_hints.h"
#include "core/trace/trace.h"

namespace flipscope {

/// What holds for files of all kinds once their reader is done: hints about padding and about the first token are
/// followed, and what a single file shows to be odd is said (a doubled first token, columns that no token has).
Result<TracePtr> opened(Result<TracePtr> trace, const OpenHints& hints);

} // namespace flipscope
