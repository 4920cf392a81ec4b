// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace flipscope::answers {

/// An id for a text whose own nobody states: the same for the same text as long as the process runs, so that two such
/// files can be compared with each other, and at least `first_made_up_id`, so that it never meets a real one. None
/// when too many texts were met. Thread-safe.
std::optional<std::int32_t> made_up_id(std::string_view text);

/// For fuzzers, which meet millions of texts. No trace with made-up ids may be in use.
void forget_made_up_ids();

} // namespace flipscope::answers
