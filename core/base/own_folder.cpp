// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/own_folder.h"

#include <system_error>

namespace flipscope {

std::filesystem::path own_folder()
{
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path(); // an empty path where that fails
}

} // namespace flipscope
