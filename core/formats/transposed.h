// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/formats/bytes.h"

namespace flipscope::formats {

/// A table of `lines` × `entries` elements of `element_size` bytes, turned over: entry 0 of all lines comes first. The
/// whole is read once, at the first read, and laid down in a temporary file, with some 64 MB of memory: picking the
/// entries one by one would read it all again for each row.
BytesPtr transposed_bytes(BytesPtr bytes, std::string shown, std::uint64_t lines, std::uint64_t entries,
                          std::uint64_t element_size);

} // namespace flipscope::formats
