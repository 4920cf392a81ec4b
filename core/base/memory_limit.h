// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstdint>

namespace flipscope {

/// Bytes that the buffers of an analysis may take: those that rows are read into and computed from. The metrics, the
/// text and what the operating system keeps of files are not among them. At first what FLIPSCOPE_MEMORY says in MiB;
/// 0 = no limit, as where that is not set. Any thread.
/// At least one pair of rows has to fit, or one packed chunk of each trace, and is read whatever the limit.
std::int64_t memory_limit();
void set_memory_limit(std::int64_t bytes); ///< from the next analysis on

/// Refuses a FLIPSCOPE_MEMORY that is no whole number of MiB: who sets it counts on a limit.
Result<void> check_memory_setting();

} // namespace flipscope
