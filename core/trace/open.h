// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/job.h"
#include "core/trace/trace.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace flipscope {

/// One kind of file that can be opened. Adding one is a new .cpp file and a line in readers().
struct TraceReader {
    std::string name; ///< for a person, as "Flipscope trace (HDF5)"
    /// Decides by content, never by name: gets the path and the file's first 4 KiB.
    std::function<bool(const std::filesystem::path&, std::string_view head)> recognises;
    std::function<Result<TracePtr>(const std::filesystem::path&, const Job&)> open;
};

const std::vector<TraceReader>& readers();

/// Version of the HDF5 library that reads, as "1.10.8".
std::string hdf5_version();

/// Opens a trace of any supported kind. Never changes the file, nor holds a lock on it. Small data (ids, text,
/// settings, positions) is read and checked here; rows stay in the file.
Result<TracePtr> open_trace(const std::filesystem::path& path, const Job& job = {});

} // namespace flipscope
