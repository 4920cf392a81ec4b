// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/call_writer.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace flipscope {

/// f(a=1, b='x'): a call written as Python.
struct PythonCall {
    CallDraft draft; ///< `bytes` are those of the call itself
    ParsedValue::State state = ParsedValue::State::Bad;
    std::size_t end = 0; ///< behind ")", or where it goes wrong
    std::string problem;
};

/// Reads the call whose name begins at `at`. Names may have dots; arguments go by keyword only. Bad with an empty name:
/// no call begins here.
PythonCall read_python_call(std::string_view text, std::size_t at, std::size_t limit);

} // namespace flipscope
