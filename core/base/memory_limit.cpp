// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/memory_limit.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace flipscope {

namespace {

std::int64_t from_environment()
{
    const char* value = std::getenv("FLIPSCOPE_MEMORY");
    const std::string_view text = value != nullptr ? value : "";
    std::int64_t mebibytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mebibytes);
    const bool number = error == std::errc() && end == text.data() + text.size();
    return number ? std::clamp<std::int64_t>(mebibytes, 0, std::int64_t{1} << 30) << 20 : 0;
}

std::atomic<std::int64_t>& limit()
{
    static std::atomic<std::int64_t> bytes = from_environment();
    return bytes;
}

} // namespace

std::int64_t memory_limit()
{
    return limit();
}

void set_memory_limit(std::int64_t bytes)
{
    limit() = std::max<std::int64_t>(bytes, 0);
}

} // namespace flipscope
