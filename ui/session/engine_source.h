// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/engine.h"

#include <functional>

namespace flipscope {

using EngineSource = std::function<Result<EngineSelection>()>;

/// Where sessions that have no engine yet take theirs from; empty: make_engine(), as usual. For tests, which so have a
/// session compute on an engine of their own. The source is called on the session's computing thread.
void setEngineSource(EngineSource source);

} // namespace flipscope
