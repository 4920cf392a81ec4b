// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job.h"
#include "core/trace/trace.h"

#include <filesystem>

namespace flipscope::formats {

/// Numbers that a person keeps in a file of their own: a .npy of integers, a JSON list, or text with numbers between
/// spaces, commas or line breaks.
Result<std::vector<std::int64_t>> read_numbers(const std::filesystem::path& path, std::uint64_t most);

/// The history that `path` holds: numbers as above, or another trace, which also lends text and vocabulary.
struct BorrowedHistory {
    TokenHistory tokens;
    std::shared_ptr<const Vocabulary> vocabulary;
    std::vector<Span> spans;
};
Result<BorrowedHistory> read_history(const std::filesystem::path& path, const Job& job);

} // namespace flipscope::formats
