// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

namespace flipscope {

/// Exit codes of every sub-command: a contract.
enum ExitCode : int {
    exit_done = 0,
    exit_failed = 1,     ///< something cannot be read, compared or written; one sentence on stderr for each
    exit_usage = 2,      ///< the command line makes no sense
    exit_cancelled = 130 ///< Ctrl-C, as shells report it
};

/// Each adds its sub-command to `app`; when that is chosen it runs during parsing and leaves its result in `exit_code`.
void add_info(CLI::App& app, int& exit_code);
void add_analyze(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_toolcalls(CLI::App& app, int& exit_code);
void add_import(CLI::App& app, int& exit_code);
void add_convert(CLI::App& app, int& exit_code);
void add_summarize(CLI::App& app, int& exit_code);
/// In place of this program: it does not return where the capture starts.
void add_capture(CLI::App& app, int& exit_code);
#if FLIPSCOPE_UI
void add_export(CLI::App& app, int& exit_code);
#endif

} // namespace flipscope
