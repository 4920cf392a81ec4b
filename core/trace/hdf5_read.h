// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/hdf5_file.h"
#include "core/trace/hdf5_filters.h"

#include <cstdint>
#include <string>
#include <vector>

// Groups and small datasets of a file that nobody vouches for. Every size is checked against the file before memory is
// taken for it. Messages start with the object's path and leave the file's name and the full stop to the caller.
// Everything here needs a Session.
namespace flipscope::h5 {

struct Group {
    const File* file = nullptr;
    Handle id;
    std::string path; ///< "/probes"; empty for the root

    std::string path_of(const std::string& name) const { return path + "/" + one_line(name, 80); }
};

Result<Group> open_root(const File& file);
bool has(const Group& group, const std::string& name);
Result<Group> open_group(const Group& parent, const std::string& name);

/// Names of the links in a group, sorted by name; at most `limit`, more is an error.
Result<std::vector<std::string>> children(const Group& group, std::size_t limit);

struct Dataset {
    Handle id;
    Handle type; ///< as stored
    std::string path;
    std::vector<hsize_t> dims;
    bool extendible = false; ///< along the first dimension: written piece by piece
    H5T_class_t type_class = H5T_NO_CLASS;
    std::size_t type_size = 0;
    H5D_layout_t layout = H5D_CONTIGUOUS;
    std::vector<hsize_t> chunk; ///< empty unless chunked
    std::vector<Filter> filters;
    std::uint64_t elements = 0;
    std::uint64_t stored = 0;        ///< bytes in the file
    std::uint64_t chunks_needed = 0; ///< to hold all elements
    std::uint64_t chunks_stored = 0;

    std::uint64_t bytes() const { return elements * type_size; }
    std::string shape() const; ///< "4 × 49152"
};

/// Opens a dataset and checks everything that can be checked without reading it: no data in other files, at most two
/// dimensions, sizes that the file can hold.
Result<Dataset> open_dataset(const Group& group, const std::string& name);

/// Whole datasets of one dimension. `maximum` elements at most. Integers may be of any width and either sign; those
/// that do not fit the result's type are an error.
Result<std::vector<std::int64_t>> read_integers(const Group& group, const std::string& name, std::uint64_t maximum);
Result<std::vector<std::int32_t>> read_int32(const Group& group, const std::string& name, std::uint64_t maximum);
Result<std::string> read_bytes(const Group& group, const std::string& name, std::uint64_t maximum);
Result<std::vector<std::string>> read_strings(const Group& group, const std::string& name, std::uint64_t maximum);

/// An open dataset of integers, whole; of any number of dimensions.
Result<std::vector<std::int64_t>> read_all_integers(const Dataset& dataset, std::uint64_t maximum);

/// Whether all of it can be read: every piece was written, lies inside the file, and can be unpacked here.
Result<void> check_readable(const Dataset& dataset, const File& file);

} // namespace flipscope::h5
