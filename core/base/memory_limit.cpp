// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/memory_limit.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace flipscope {

namespace {

std::string_view setting()
{
    const char* value = std::getenv("FLIPSCOPE_MEMORY");
    return value != nullptr ? value : "";
}

/// MiB, where the setting is a number of them.
std::optional<std::int64_t> number_in(std::string_view text)
{
    std::int64_t mebibytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mebibytes);
    if (error != std::errc() || end != text.data() + text.size() || mebibytes < 0)
        return std::nullopt;
    return mebibytes;
}

std::int64_t from_environment()
{
    return std::min(number_in(setting()).value_or(0), std::int64_t{1} << 30) << 20;
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

Result<void> check_memory_setting()
{
    const std::string_view text = setting();
    if (text.empty() || number_in(text))
        return {};
    return fail(ErrorKind::Usage,
                "FLIPSCOPE_MEMORY is \"{}\", which is no whole number of MiB; set it to one, as 4096, or unset it.",
                text);
}

} // namespace flipscope
