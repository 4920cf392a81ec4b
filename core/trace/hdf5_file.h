// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/finding.h"
#include "core/trace/hdf5_text.h"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace flipscope::h5 {

/// A plain file descriptor, closed when the last user lets go.
class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();
    int fd() const { return fd_; }

private:
    int fd_;
};

/// An HDF5 file open for reading: never locked, never written. Kept alive by the row sources that read from it.
struct File {
    Handle id;
    Handle group_access, dataset_access; ///< property lists that refuse to follow links into other files
    std::shared_ptr<Descriptor> descriptor;
    std::filesystem::path path;
    std::uint64_t size = 0;
    bool being_written = false;   ///< marked so by its writer: datasets may differ in length at any instant
    std::uint64_t user_block = 0; ///< bytes before the HDF5 content: what addresses in the file count from
    bool usual_sizes = true;      ///< addresses and lengths have 8 bytes, as in all files written by default
    mutable Heaps heaps;
};

/// Opens read-only and without a lock; where the file is marked as written with readers beside (SWMR), as one of those.
/// Marks and locks that a writer, or a killed one, left become findings. `shown` is what messages call the file. Needs
/// a Session.
Result<std::shared_ptr<const File>> open_file(const std::filesystem::path& path, const std::filesystem::path& shown,
                                              Findings& findings);

} // namespace flipscope::h5
