// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <span>

namespace flipscope {

/// Keeps only the given rows (increasing numbers, each below size()) of a probe set: positions, stored extras and the
/// sources, which go on reading from where they did.
void keep_rows(ProbeSet& set, std::span<const std::int64_t> row_numbers);

} // namespace flipscope
