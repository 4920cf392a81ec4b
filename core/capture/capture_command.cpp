// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/capture_command.h"

#include "core/base/own_folder.h"

#include <cstdlib>
#include <string_view>

namespace flipscope {

namespace {

Result<void> check(const CaptureRequest& request, const std::string& engine)
{
    if (engine.empty())
        return fail(ErrorKind::Usage, "Say what to capture from: a server by its address, or an engine by its name.");
    if (engine != "server" && !request.url.empty())
        return fail(ErrorKind::Usage, "A server's address goes with the engine server, not with {}.", engine);
    if (engine == "server" && request.url.empty())
        return fail(ErrorKind::Usage, "The engine server needs the address of the server: http://HOST:PORT.");
    if (engine != "server" && !(request.top_k.empty() && request.key_env.empty()))
        return fail(ErrorKind::Usage,
                    "Only servers are asked for the best k ids with a key; the engine {} gives whole rows.", engine);
    for (const std::string& argument : request.more)
        if (const auto name = std::string_view(argument).substr(0, argument.find('='));
            name == "--key" || name == "--api-key" || name == "--password" || name == "--token")
            return fail(ErrorKind::Usage,
                        "A key on a command line is seen by everybody on the machine: put it into an environment "
                        "variable, FLIPSCOPE_API_KEY or the one that --key-env names.");
    if (request.prompt.empty())
        return fail(ErrorKind::Usage, "A capture needs a prompt: text, chat messages, token ids or a trace.");
    if (request.out.empty())
        return fail(ErrorKind::Usage, "A capture needs a name for the trace that it writes.");
    return {};
}

} // namespace

Result<std::vector<std::string>> capture_arguments(const CaptureRequest& request, bool json_progress)
{
    const std::string engine = request.engine.empty() && !request.url.empty() ? "server" : request.engine;
    if (const auto ok = check(request, engine); !ok)
        return tl::unexpected(ok.error());
    std::vector<std::string> arguments{"-m", "flipscope_capture", "run", engine};
    // With "=", so that a value that begins with a dash is a value.
    const auto add = [&](const char* option, const std::string& value) {
        if (!value.empty())
            arguments.push_back(std::string(option) + "=" + value);
    };
    const auto add_number = [&](const char* option, const std::optional<std::int64_t>& value) {
        if (value)
            add(option, std::to_string(*value));
    };
    add("--url", request.url);
    add("--model", request.model);
    add("--k", request.top_k);
    add("--key-env", request.key_env);
    add("--prompt", request.prompt);
    add("--out", request.out);
    add("--name", request.name);
    add_number("--stride", request.stride);
    add_number("--continue", request.continuations);
    add_number("--top-k", request.sampler_top_k);
    if (json_progress)
        add("--progress", "json");
    arguments.insert(arguments.end(), request.more.begin(), request.more.end());
    return arguments;
}

std::string capture_interpreter(const std::string& chosen)
{
    if (!chosen.empty())
        return chosen;
    const char* named = std::getenv("FLIPSCOPE_PYTHON"); // NOLINT(concurrency-mt-unsafe): nothing here sets it
    return named != nullptr && *named != '\0' ? named : "python3";
}

Result<std::filesystem::path> capture_package_folder()
{
    std::error_code error;
    std::vector<std::filesystem::path> folders;
    if (const auto own = own_folder(); !own.empty())
        folders.push_back((own / "../share/flipscope/capture").lexically_normal());
    folders.emplace_back(FLIPSCOPE_CAPTURE_DIR);
    for (const auto& folder : folders)
        if (std::filesystem::is_regular_file(folder / "flipscope_capture" / "__main__.py", error))
            return folder;
    return fail(ErrorKind::NotFound, "The package flipscope-capture is not in {}: install Flipscope anew.",
                folders.front().string());
}

Result<std::string> capture_python_path(const std::string& present)
{
    const auto folder = capture_package_folder();
    if (!folder)
        return tl::unexpected(folder.error());
    return present.empty() ? folder->string() : folder->string() + ":" + present;
}

std::string no_interpreter(const std::string& interpreter, const std::string& reason)
{
    return fmt::format("The Python interpreter {} cannot be started ({}): install Python 3.10 or newer with numpy and "
                       "h5py (Debian: python3-h5py), or name another one by --python or FLIPSCOPE_PYTHON.",
                       interpreter, reason);
}

} // namespace flipscope
