// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// One program: sub-commands never touch Qt's window system, everything else opens the window.
#include "app/commands/commands.h"
#include "app/commands/console.h"
#include "core/base/memory_limit.h"

#if FLIPSCOPE_UI
#include "ui/window/run_window.h"
#endif

#include <exception>
#include <fcntl.h>
#include <iostream>
#include <new>
#include <string>
#include <unistd.h>
#include <vector>

namespace flipscope {

namespace {

#if FLIPSCOPE_UI
int open_window(int& argc, char** argv, const std::vector<std::string>& files, const std::string& baseline)
{
    return run_window(argc, argv, {files, baseline});
}
#else
int open_window(int&, char**, const std::vector<std::string>&, const std::string&)
{
    complain(
        "This flipscope was built without the window: use \"flipscope info\" or \"flipscope analyze\", or build it "
        "with FLIPSCOPE_UI=ON.");
    return exit_failed;
}
#endif

/// "flipscope analyze", as far as the command line got.
std::string command_of(const CLI::App& app)
{
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app.get_name() : app.get_name() + " " + chosen.front()->get_name();
}

/// A file opened where a standard stream was closed would get that stream's number, and its messages.
void hold_standard_streams()
{
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) == -1) // read-only on purpose: writing still fails, as it should
            (void)::open("/dev/null", O_RDONLY);
}

int run_program(int argc, char** argv)
{
    if (const auto good = check_memory_setting(); !good)
        return ended(good.error());
    CLI::App app("Shows where two copies of a language model part ways: divergence of runs from a baseline along one "
                 "token history.\nWithout a sub-command the window is opened.",
                 "flipscope");
    app.set_version_flag("--version", "flipscope " FLIPSCOPE_VERSION);
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.require_subcommand(0, 1);
    std::vector<std::string> files;
    std::string baseline;
    app.add_option("FILE", files,
                   "Traces or folders to open in the window (the first trace is the baseline), or a saved session")
        ->type_name("");
    app.add_option("--baseline", baseline, "The trace that the others are compared with")->type_name("FILE");
    int exit_code = exit_done;
    add_info(app, exit_code);
    add_analyze(app, exit_code);
    add_compare(app, exit_code);
    add_toolcalls(app, exit_code);
    add_import(app, exit_code);
    add_convert(app, exit_code);
    add_summarize(app, exit_code);
    add_capture(app, exit_code);
#if FLIPSCOPE_UI
    add_export(app, exit_code);
#endif
    for (CLI::App* command : app.get_subcommands({}))
        command->set_version_flag("--version", "flipscope " FLIPSCOPE_VERSION);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
            app.exit(e); // prints the help or the version
            std::cout.flush();
            if (!std::cout) {
                complain("Cannot write to the standard output.");
                return exit_failed;
            }
            return exit_done;
        }
        complain(fmt::format("{}. See {} --help.", e.what(), command_of(app)));
        return exit_usage;
    }
    if (app.get_subcommands().empty())
        return open_window(argc, argv, files, baseline);
    return exit_code;
}

} // namespace

} // namespace flipscope

int main(int argc, char** argv)
{
    // Core's interfaces do not throw; what a library throws all the same must not end in a core dump.
    flipscope::hold_standard_streams();
    try {
        return flipscope::run_program(argc, argv);
    } catch (const std::bad_alloc&) {
        flipscope::complain("There is not enough memory for this.");
    } catch (const std::exception& e) {
        flipscope::complain(e.what());
    }
    return flipscope::exit_failed;
}
