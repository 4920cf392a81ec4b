// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <optional>

namespace flipscope {

/// The folder that was set, else $FLIPSCOPE_CACHE, else $XDG_CACHE_HOME/flipscope, else ~/.cache/flipscope; nullopt
/// where none of them is known. It need not be there yet. Any thread.
std::optional<std::filesystem::path> cache_folder();
/// Another folder from now on; an empty path, or one that is not absolute: none is set. What lies in the one before
/// stays there.
void set_cache_folder(const std::filesystem::path& folder);

} // namespace flipscope
