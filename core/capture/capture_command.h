// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace flipscope {

/// One capture by the Python package flipscope-capture (resources/capture, resources/manual/capture.md). What is left
/// empty is left to the package's own defaults.
struct CaptureRequest {
    std::string engine; ///< "server", "llamacpp", "transformers", "vllm", "simulated"; empty = server where url is set
    std::string url;    ///< engine server: its address
    std::string model;  ///< a server's model, or the weights of a local engine
    std::string prompt, out, name;
    std::string top_k;   ///< engine server: ids of each probe, or "full"
    std::string key_env; ///< engine server: environment variable with the key. The key itself is never an argument.
    std::optional<std::int64_t> stride, continuations, sampler_top_k;
    std::vector<std::string> more; ///< further arguments of `flipscope-capture run ENGINE`, passed on as they are
};

/// The arguments for the interpreter: `-m flipscope_capture run ENGINE …`. Fails with a sentence (ErrorKind::Usage)
/// where the request does not hang together; what the package checks itself is left to it.
Result<std::vector<std::string>> capture_arguments(const CaptureRequest& request, bool json_progress = false);

/// `chosen`, else FLIPSCOPE_PYTHON of the environment, else python3.
std::string capture_interpreter(const std::string& chosen);

/// The folder with the package: of the installed program (../share/flipscope/capture), or of the sources it was built
/// from.
Result<std::filesystem::path> capture_package_folder();

/// PYTHONPATH for the interpreter: the package's folder before what `present` (the caller's own) holds.
Result<std::string> capture_python_path(const std::string& present);

/// Why an interpreter did not start, for a person. `reason`: what the system says.
std::string no_interpreter(const std::string& interpreter, const std::string& reason);

} // namespace flipscope
