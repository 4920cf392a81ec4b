// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/call_writer.h"

#include <cstddef>

namespace flipscope {

/// Calls written as a JSON array of objects whose "[" stands at `at`, behind a delimiter at `begin`: each becomes a
/// call of its own; the first reaches back to `begin`, the last to behind "]" or, where it follows, `closer`. Returns
/// where to go on.
std::size_t read_call_array(CallWriter& turn, std::size_t begin, std::size_t at, std::string_view closer = {});

} // namespace flipscope
