// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A trial in a process of its own, before a file is opened here. HDF5 1.10.8, as Debian 12 has it, reads and writes out
// of bounds on some damaged object headers, and may never come to an end on others: what ends the program is found out
// by a program that may be ended.

#include "core/base/error.h"
#include "core/base/finding.h"
#include "core/base/job.h"

#include <chrono>
#include <filesystem>
#include <string_view>

namespace flipscope {

/// What the program of the trial prints when it has come to its end, whatever it thought of the file. It finds the file
/// as its standard input, and so need not care for names.
inline constexpr std::string_view trial_passed = "tried\n";

struct TrialSetup {
    /// Empty: flipscope-trial beside the running program, or in ../libexec/flipscope.
    std::filesystem::path program = {};
    int processor_seconds = 20; ///< the largest sound files take some seconds
    /// For what waits and computes nothing. Long, since a disk in the network may be slow.
    std::chrono::milliseconds patience = std::chrono::minutes(10);
};

/// Tries the file `content`; `shown` is what messages call it. An error where it must not be opened here, or where the
/// job was cancelled. Where no trial could be made, that is a finding. Thread-safe, and several at once are
/// independent.
Result<void> try_in_own_process(const std::filesystem::path& content, const std::filesystem::path& shown,
                                const Job& job, Findings& findings, const TrialSetup& setup = {});

} // namespace flipscope
