// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/console.h"

#include "app/commands/commands.h"
#include "core/text/token_text.h"

#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace flipscope {

namespace {

volatile std::sig_atomic_t interrupted = 0;
bool line_is_drawn = false; // a progress line stands on the terminal; touched by the working thread alone

extern "C" void note_signal(int)
{
    interrupted = 1;
}

void clear_line()
{
    if (line_is_drawn)
        std::fputs("\r\x1b[K", stderr);
    line_is_drawn = false;
}

std::string amount(const Progress& p)
{
    if (p.total <= 0)
        return fmt::format("{}", p.done);
    const double percent = 100.0 * static_cast<double>(p.done) / static_cast<double>(p.total);
    if (p.bytes)
        return fmt::format("{:.0f} % of {:.2f} GB", percent, static_cast<double>(p.total) / 1e9);
    return fmt::format("{} of {}", p.done, p.total);
}

} // namespace

void complain(std::string_view sentence)
{
    clear_line();
    // Names of files and texts of libraries may hold line breaks and commands to the terminal. Nothing is thrown where
    // stderr is closed: there is nobody to tell.
    const std::string line = fmt::format("flipscope: {}\n", visible(sentence));
    std::fwrite(line.data(), 1, line.size(), stderr);
}

int exit_code_of(const Error& error)
{
    return error.kind == ErrorKind::Cancelled ? exit_cancelled
           : error.kind == ErrorKind::Usage   ? exit_usage
                                              : exit_failed;
}

int ended(const Error& error)
{
    complain(error.message);
    return exit_code_of(error);
}

ConsoleJob::ConsoleJob()
{
    interrupted = 0;
    struct sigaction action = {};
    action.sa_handler = note_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND); // the second one ends the program
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &before_int_);
    sigaction(SIGTERM, &action, &before_term_);
    job_.stop = stop_.get_token();
    if (::isatty(STDERR_FILENO))
        job_.report = [last = std::chrono::steady_clock::time_point()](const Progress& p) mutable {
            const auto now = std::chrono::steady_clock::now();
            if (now - last < std::chrono::milliseconds(100))
                return;
            last = now;
            fmt::print(stderr, "\r\x1b[K{}: {}{}{}", p.stage, amount(p), p.pace.empty() ? "" : ", ", p.pace);
            std::fflush(stderr);
            line_is_drawn = true;
        };
    // A handler may do next to nothing, so the flag is looked at from outside.
    watcher_ = std::jthread([this](const std::stop_token& ended) {
        while (!ended.stop_requested() && !interrupted)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (interrupted)
            stop_.request_stop();
    });
}

ConsoleJob::~ConsoleJob()
{
    watcher_ = {};
    clear_line();
    sigaction(SIGINT, &before_int_, nullptr);
    sigaction(SIGTERM, &before_term_, nullptr);
}

} // namespace flipscope
