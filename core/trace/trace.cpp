// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/trace.h"

namespace flipscope {

const std::string* Trace::setting(std::string_view key) const
{
    for (const auto& [name, value] : run)
        if (name == key)
            return &value;
    return nullptr;
}

} // namespace flipscope
