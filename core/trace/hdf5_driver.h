// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/hdf5.h"

#include <cstdint>
#include <optional>

namespace flipscope::h5 {

/// Makes `access` (a file access property list) open through our own low-level file driver, over a descriptor that is
/// already open (it is duplicated). The stock drivers do three things a viewer must not: they take a lock, which a
/// capture that is running would trip over; they hand out the state of an earlier opening as long as that one lives,
/// so that a file rewritten on disk would not be seen; and they read zeros behind the end of a cut file.
/// Needs a Session. False where the library refuses.
bool use_read_only_driver(hid_t access, int descriptor);

/// Where the library would read one chunk of a dataset.
struct ChunkLocation {
    std::uint64_t address = 0; ///< from the first byte of the file, its user block included
    std::uint64_t size = 0;    ///< in the file
    std::uint32_t mask = 0;    ///< filters that were left out
};

/// Looks up the chunk that begins at the element `at` (one number per dimension) of a chunked dataset of a file opened
/// by use_read_only_driver. The library is asked to read the chunk as it stands, and the driver notes where instead of
/// reading: this goes down the index once, where H5Dget_chunk_info_by_coord of HDF5 1.10 walks through all of it for
/// each chunk. None where the chunk was never written, or the index cannot be read. Needs a Session.
std::optional<ChunkLocation> locate_chunk(hid_t file, hid_t dataset, const hsize_t* at);

} // namespace flipscope::h5
