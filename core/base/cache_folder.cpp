// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/cache_folder.h"

#include <cstdlib>
#include <string>

namespace flipscope {

std::optional<std::filesystem::path> cache_folder()
{
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::filesystem::path(value ? value : "");
    };
    // The XDG rules: a relative path is to be ignored.
    if (const auto xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute())
        return xdg / "flipscope";
    if (const auto home = variable("HOME"); home.is_absolute())
        return home / ".cache" / "flipscope";
    return std::nullopt;
}

} // namespace flipscope
