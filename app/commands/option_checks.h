// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace flipscope {

/// A whole number in decimal digits, for `transform`: nothing is rounded, wrapped around or taken for octal.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

/// Refuses "", which is a variable that a script forgot to set.
CLI::Validator not_empty();

/// Adds -o and --compress, for a command that writes a trace.
void add_trace_output(CLI::App& command, std::string& out, int& compression);

} // namespace flipscope
