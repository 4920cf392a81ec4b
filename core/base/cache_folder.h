// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <optional>

namespace flipscope {

/// $XDG_CACHE_HOME/flipscope, else ~/.cache/flipscope; nullopt where neither is known. It need not be there yet.
std::optional<std::filesystem::path> cache_folder();

} // namespace flipscope
