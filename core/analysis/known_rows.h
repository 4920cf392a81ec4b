// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace flipscope {

/// What is remembered of the full rows of one probe set while its trace is open: the name by which an engine may keep
/// them (RowView::source), and each row's hash from when it was read. A row that an engine has kept is not read again,
/// and still is part of the hash over all rows. Thread-safe.
class KnownRows {
public:
    explicit KnownRows(std::uint64_t name, std::size_t rows) : name_(name), hashes_(rows) {}

    std::uint64_t name() const { return name_; }
    /// `hash` as Hasher::hex() gives it.
    void remember(std::int64_t row, const std::string& hash);
    /// nullopt where the row was not read yet.
    std::optional<std::string> hash_of(std::int64_t row) const;

private:
    using Digits = std::array<char, 32>; ///< the first is 0 where there is none

    const std::uint64_t name_;
    mutable std::mutex mutex_;
    std::vector<Digits> hashes_;
};

/// Of a probe set with full rows. The same for all who ask as long as the set's rows are open; a file that is opened
/// again has rows of another name.
std::shared_ptr<KnownRows> known_rows(const ProbeSet& set);

/// From now on the set's rows have another name: what an engine kept of them is not taken for theirs any more.
void forget_rows(const ProbeSet& set);

} // namespace flipscope
