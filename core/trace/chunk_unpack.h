// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/trace/hdf5_filters.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace flipscope::h5 {

/// Whether unpack_chunk() knows all of these: gzip, shuffle and Fletcher-32.
bool can_unpack(const std::vector<Filter>& filters);

/// Undoes the filters of one stored chunk. The library would do so too, but under its one lock, and it takes a chunk
/// that unpacks to less than it should for a whole one and hands out what lies behind it in memory.
/// `mask`: bit i = filter i was skipped. The message lacks its subject ("chunk 3 …").
Result<std::vector<std::byte>> unpack_chunk(std::vector<std::byte> stored, const std::vector<Filter>& filters,
                                            unsigned mask, std::size_t element_size, std::uint64_t chunk_bytes);

} // namespace flipscope::h5
