// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/trace/trace.h"

#include <filesystem>
#include <functional>
#include <memory>

namespace flipscope {

struct WriteOptions {
    int compression = 0;     ///< gzip level for the rows; 0 = none (the fast way)
    bool contiguous = false; ///< one block instead of chunks of one row
    bool with_vocabulary = true;
    bool with_dense = true;
};

/// Writes trace format version 1: everything `trace` holds, rows copied from its sources in their stored type.
/// Written to a temporary name and renamed, so that a killed process leaves no half file under `path`.
Result<void> write_trace(const std::filesystem::path& path, const Trace& trace, const WriteOptions& options = {});

/// A source over rows in memory, for writers and tests. `data` is packed, columns * size_of(type) bytes a row.
std::shared_ptr<const RowSource> rows_in_memory(LogitType type, std::int64_t columns, std::vector<std::byte> data);

/// The subset of `trace` whose probe rows are the given row numbers (in increasing order); rows stay in the file.
Trace select_probes(const Trace& trace, std::span<const std::int64_t> row_numbers);

} // namespace flipscope
