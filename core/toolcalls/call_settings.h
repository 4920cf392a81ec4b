// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/compare_calls.h"

namespace flipscope {

/// The settings that decide how calls are written and read, stated by either trace.
std::vector<SettingNote> call_settings(const Trace& baseline, const Trace& run);

} // namespace flipscope
