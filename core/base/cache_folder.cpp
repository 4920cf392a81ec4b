// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/cache_folder.h"

#include <cstdlib>
#include <mutex>
#include <string>

namespace flipscope {

namespace {

std::mutex mutex;
std::filesystem::path chosen;

} // namespace

void set_cache_folder(const std::filesystem::path& folder)
{
    const std::lock_guard lock(mutex);
    chosen = folder.is_absolute() ? folder : std::filesystem::path();
}

std::optional<std::filesystem::path> cache_folder()
{
    {
        const std::lock_guard lock(mutex);
        if (!chosen.empty())
            return chosen;
    }
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::filesystem::path(value ? value : "");
    };
    // The XDG rules: a relative path is to be ignored.
    if (const auto own = variable("FLIPSCOPE_CACHE"); own.is_absolute())
        return own;
    if (const auto xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute())
        return xdg / "flipscope";
    if (const auto home = variable("HOME"); home.is_absolute())
        return home / ".cache" / "flipscope";
    return std::nullopt;
}

} // namespace flipscope
