// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/formats/array.h"
#include "core/trace/open.h"

namespace flipscope::formats {

/// The arrays that a file holds, and what else it states.
struct ArrayFile {
    std::string format; ///< for a person: Trace::format
    std::vector<Array> arrays;
    std::vector<std::pair<std::string, std::string>> settings;
};

/// Makes a trace of them: finds the rows, the ids and the positions, by names and by hints.
Result<TracePtr> trace_of(ArrayFile file, const TraceFile& from, const OpenHints& hints, const Job& job);

} // namespace flipscope::formats
