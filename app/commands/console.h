// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/job.h"

#include <atomic>
#include <csignal>
#include <string_view>
#include <thread>

namespace flipscope {

/// Writes "flipscope: SENTENCE" to stderr as one line, above a progress line that may stand there.
void complain(std::string_view sentence);

/// Exit code for an error that ends a command.
int exit_code_of(const Error& error);

/// Complains of an error that ends a command; its exit code.
int ended(const Error& error);

/// A job for as long as this lives: Ctrl-C (or SIGTERM) cancels it, a second Ctrl-C ends the program as usual.
/// Progress goes to stderr when that is a terminal. One at a time, made before other threads start.
class ConsoleJob {
public:
    ConsoleJob();
    ~ConsoleJob();
    ConsoleJob(const ConsoleJob&) = delete;
    ConsoleJob& operator=(const ConsoleJob&) = delete;

    const Job& job() const { return job_; }

private:
    std::stop_source stop_;
    Job job_;
    std::jthread watcher_;
    struct sigaction before_int_ = {}, before_term_ = {};
};

} // namespace flipscope
