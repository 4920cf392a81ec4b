// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

namespace flipscope {

/// Where the time of a stream of rows went. Reading and computing go on at the same time, so that the two together may
/// be more than `seconds`; the one that was busy longer set the pace.
struct StreamTimes {
    std::int64_t bytes = 0; ///< of rows, all sides, also those that the engine still had
    double seconds = 0;     ///< from the first request to the last number
    double reading = 0;     ///< of reading, unpacking and hashing; on the average of the threads that do it
    double computing = 0;   ///< of the engine; on the average of the threads that feed it
    int readers = 0;        ///< threads that read
    int runs = 1;           ///< that were computed together; all of them have these times
    std::int64_t kept = 0;  ///< of `bytes`: not read, because the engine still had the rows

    const char* bound() const { return reading > computing ? "reading" : "computing"; }
    double gigabytes_per_second() const { return seconds > 0 ? 1e-9 * static_cast<double>(bytes) / seconds : 0; }

    void add(const StreamTimes& other)
    {
        bytes += other.bytes;
        seconds += other.seconds;
        reading += other.reading;
        computing += other.computing;
        readers = std::max(readers, other.readers);
        runs = std::max(runs, other.runs);
        kept += other.kept;
    }
};

} // namespace flipscope
