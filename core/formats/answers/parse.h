// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/job.h"
#include "core/formats/answers/tape.h"

#include <functional>
#include <istream>
#include <string_view>

namespace flipscope::answers {

/// How much of one JSON value is read: far above any real answer, far below what would exhaust the memory.
struct Limits {
    int depth = 64;
    std::size_t nodes = 40'000'000;  ///< 640 MB
    std::size_t text = 512'000'000;  ///< bytes of all strings together
    std::size_t records = 1'000'000; ///< values in one file
    std::size_t line = 256'000'000;  ///< bytes of one line of an event stream
};

/// What came with a record besides its value.
struct RecordInfo {
    std::size_t number = 0;   ///< from 1
    bool from_stream = false; ///< an event of a stream (`data: …`)
};

/// What is to be said about reading all records.
struct ParseNotes {
    std::size_t records = 0;
    bool from_stream = false;
    bool cut_off = false; ///< the last value ends in the middle and was left out
    std::size_t bad_surrogates = 0;
};

/// Reads the JSON values of `in` one after the other: one document, values a line each (JSONL), or an event stream
/// (SSE). Each is handed on and forgotten. NaN, Infinity and inf, which are no JSON, become the strings "NaN",
/// "Infinity", "-Infinity"; half surrogate pairs become U+FFFD. Messages are without the file's name and the full
/// stop.
Result<ParseNotes> for_each_record(std::istream& in, const std::function<Result<void>(Json, const RecordInfo&)>& handle,
                                   const Job& job = {}, const Limits& limits = {});

/// Whether the beginning of a file looks like such values (by content alone).
bool looks_like_records(std::string_view head);

} // namespace flipscope::answers
