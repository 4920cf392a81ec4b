// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job.h"
#include "core/formats/bytes.h"

#include <string>
#include <string_view>

namespace flipscope::formats {

enum class Packing { None, Gzip, Zstd };

/// By the first bytes of a file.
Packing packing_of(std::string_view head);

/// The first bytes of what is packed, at most `most`; empty where nothing can be unpacked.
std::string unpacked_head(const std::filesystem::path& path, Packing packing, std::size_t most);

/// Unpacks a whole file, of one or several members or frames, into a temporary one. Memory: some megabytes, and for
/// zstd the window that the file asks for, up to 128 MiB. `shown` is what messages call the file.
Result<TemporaryFile> unpack(const std::filesystem::path& path, const std::filesystem::path& shown, Packing packing,
                             const Job& job);

} // namespace flipscope::formats
