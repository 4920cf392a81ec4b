// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Runs flipscope-capture in place of this program: terminal, Ctrl-C and exit code are then its own.
#include "app/commands/commands.h"
#include "app/commands/console.h"
#include "app/commands/option_checks.h"
#include "core/capture/capture_command.h"

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <unistd.h>

namespace flipscope {

namespace {

struct CaptureOptions : CaptureRequest {
    std::string python;
};

int run_capture(const CaptureOptions& options)
{
    auto arguments = capture_arguments(options);
    if (!arguments)
        return ended(arguments.error());
    const char* present = std::getenv("PYTHONPATH"); // NOLINT(concurrency-mt-unsafe): there are no threads yet
    const auto path = capture_python_path(present != nullptr ? present : "");
    if (!path)
        return ended(path.error());
    ::setenv("PYTHONPATH", path->c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    std::string interpreter = capture_interpreter(options.python);
    std::vector<char*> argv{interpreter.data()};
    for (std::string& argument : *arguments)
        argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::execvp(interpreter.c_str(), argv.data()); // returns only where it failed
    complain(no_interpreter(interpreter, std::generic_category().message(errno)));
    return exit_failed;
}

} // namespace

void add_capture(CLI::App& app, int& exit_code)
{
    const auto options = std::make_shared<CaptureOptions>();
    CLI::App* command = app.add_subcommand(
        "capture", "Capture a trace from a server or an engine on this machine, by flipscope-capture (Python)");
    const auto text = [&](const char* name, std::string& value, const char* help, const char* type) {
        return command->add_option(name, value, help)->check(not_empty())->type_name(type);
    };
    const auto number = [&](const char* name, std::optional<std::int64_t>& value, std::int64_t least,
                            const char* help) {
        command->add_option(name, value, help)
            ->transform(whole_number(least, std::numeric_limits<std::int64_t>::max()))
            ->type_name("N");
    };
    text("--server", options->url, "Capture from this OpenAI-compatible server", "URL");
    text("--engine", options->engine, "Capture by this engine: llamacpp, transformers, vllm, server", "NAME");
    text("--prompt", options->prompt, "Text, chat messages (.json), token ids (.json, .i32), or a trace (.h5)", "FILE")
        ->required();
    text("-o,--out", options->out, "The trace to write; OUT.partial until it is complete", "OUT.h5")->required();
    text("--model", options->model, "The server's model (default: the first it lists), or the engine's weights",
         "NAME");
    text("--name", options->name, "Name of the run (default: that of the file)", "NAME");
    number("--stride", options->stride, 1, "Distance of the probes in tokens (default 32)");
    text("--top-k", options->top_k, "(server) Ids of each probe, or full: the whole vocabulary (default 20)", "K|full");
    number("--continuations", options->continuations, 0,
           "Let the model run on for up to N tokens before each turn of the assistant (default 0)");
    number("--sampler-top-k", options->sampler_top_k, 0, "Draw continuations among the best N (default 0: all)");
    text("--key-env", options->key_env,
         "(server) Environment variable that holds the key (default FLIPSCOPE_API_KEY); a key is never an option",
         "NAME");
    text("--python", options->python,
         "Python 3.10 or newer with numpy and h5py (default: FLIPSCOPE_PYTHON of the environment, else python3)",
         "FILE");
    // The engines have options of their own, which need not be repeated here.
    command->allow_extras();
    command->footer(
        "All other options go to flipscope-capture as they are: those of the engine (type of the KV cache, "
        "batch ...) and those of a capture (control run, sampling, further settings). capture.md of the manual "
        "has them.");
    command->callback([&app, command, options, &exit_code] {
        options->more = command->remaining();
        if (app.get_option("FILE")->count() > 0) { // what stood after "--"
            complain("capture takes options alone: put the options for flipscope-capture without \"--\" before them.");
            exit_code = exit_usage;
            return;
        }
        exit_code = run_capture(*options);
    });
}

} // namespace flipscope
