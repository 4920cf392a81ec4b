// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/job.h"
#include "core/trace/open_hints.h"
#include "core/trace/trace.h"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace flipscope {

/// A file that is being opened.
struct TraceFile {
    std::filesystem::path path;    ///< as the user named it: for messages and Trace::path
    std::filesystem::path content; ///< what to read: `path`, or the unpacked content of a compressed file, which is
                                   ///< there until the reader returns (descriptors opened meanwhile stay good)
    FileStamp stamp;               ///< of `path`: for Trace::stamp
};

/// One kind of file that can be opened. Adding one is a new .cpp file and a line in readers().
struct TraceReader {
    std::string name; ///< for a person, as "Flipscope trace (HDF5)"
    /// Decides by content, never by name: gets the file to read and its first 4 KiB.
    std::function<bool(const std::filesystem::path& content, std::string_view head)> recognises;
    /// Fills a Trace: run settings from what the file states, a finding for each thing that cannot be known from it.
    std::function<Result<TracePtr>(const TraceFile&, const OpenHints&, const Job&)> open;
};

const std::vector<TraceReader>& readers();

/// Version of the HDF5 library that reads, as "1.10.8".
std::string hdf5_version();

/// Opens a trace of any supported kind. Never changes the file, nor holds a lock on it. Small data (ids, text,
/// settings, positions) is read and checked here; rows stay in the file.
Result<TracePtr> open_trace(const std::filesystem::path& path, const OpenHints& hints, const Job& job = {});
Result<TracePtr> open_trace(const std::filesystem::path& path, const Job& job = {});

/// Files that are opened at once: one for each core, at least two, since one may wait for its disk, and at most eight;
/// fewer within a memory_limit() of less than 256 MiB each.
int opening_threads();

/// A file that was opened beside others.
struct OpenedTrace {
    Result<TracePtr> trace;
    double seconds = 0; ///< what its opening took, from its own beginning on
};

/// open_trace() of each file, several at once; in the order of `paths`. `job` hears from one thread at a time.
std::vector<OpenedTrace> open_traces(std::span<const std::filesystem::path> paths, const OpenHints& hints,
                                     const Job& job = {});

/// Whether some reader would take the file, as far as its beginning shows: for choosing among the files of a folder.
bool looks_like_trace(const std::filesystem::path& path);

} // namespace flipscope
