// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/open.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace fuzzing {

/// Opens `bytes` as a file, with and without `hints`, and reads what it holds. Ends the program with a message where an
/// opening or a reading takes more than 2 seconds, or where a refusal is not one sentence.
void try_to_open(std::span<const std::uint8_t> bytes, const flipscope::OpenHints& hints);

} // namespace fuzzing
