// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

/// Identifies one state of a file on disk without reading it.
struct FileStamp {
    std::int64_t size = 0;
    std::int64_t mtime_ns = 0;
    std::uint64_t inode = 0;
    std::uint64_t device = 0;
    bool operator==(const FileStamp&) const = default;
};

Result<FileStamp> stamp_of(const std::filesystem::path& path);

/// Whether two names lead to one file: by what they name, through links too, or, where neither is there yet, by where
/// it would be made.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Whether a file of that name could be written now: asked before long work whose result is meant for it. The folder
/// must be there, and an existing file must not be write-protected.
Result<void> check_writable(const std::filesystem::path& path);

/// Writes a file so that nobody ever sees half of it: `write` gets a temporary name in the same folder, which is
/// renamed to `path` after success and removed after failure. An existing file is replaced only by a complete one,
/// which takes over its permissions; of a symbolic link, the target is replaced. A device or a pipe is written to
/// directly.
Result<void> write_atomically(const std::filesystem::path& path,
                              const std::function<Result<void>(const std::filesystem::path& temporary)>& write);

/// The same for text that is ready. `path` "-" is the standard output.
Result<void> write_text(const std::filesystem::path& path, std::string_view text);

/// Refuses an output that is one of the inputs (by name or by any other path to the same file), or two outputs that
/// are one file or both "-", or one that could not be written. Empty paths are no outputs.
Result<void> check_outputs(const std::vector<std::filesystem::path>& inputs,
                           const std::vector<std::filesystem::path>& outputs);

} // namespace flipscope
