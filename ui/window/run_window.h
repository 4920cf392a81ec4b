// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace flipscope {

/// What the command line asked the window to open.
struct WindowRequest {
    std::vector<std::string> files; ///< files and folders; the first trace is the baseline unless `baseline` names one
    std::string baseline;           ///< "" = the first
};

/// Shows the window until it is closed. Makes the QApplication; `argc` and `argv` must outlive the call. Returns the
/// program's exit code: 1 with a sentence on stderr where there is no display to show anything on.
int run_window(int& argc, char** argv, const WindowRequest& request);

} // namespace flipscope
