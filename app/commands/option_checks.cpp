// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/option_checks.h"

#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <system_error>

namespace flipscope {

CLI::Validator whole_number(std::int64_t least, std::int64_t most)
{
    const std::string range = most == std::numeric_limits<std::int64_t>::max() ? fmt::format(">= {}", least)
                                                                               : fmt::format("{}..{}", least, most);
    const auto check = [least, most, range](std::string& text) -> std::string {
        std::int64_t value = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (error != std::errc() || stop != end || value < least || value > most)
            return fmt::format("a whole number {} is wanted, not \"{}\"", range, text);
        text = fmt::format("{}", value);
        return {};
    };
    return {check, range};
}

CLI::Validator not_empty()
{
    return {[](const std::string& text) { return std::string(text.empty() ? "the text given is empty" : ""); }, ""};
}

void add_trace_output(CLI::App& command, std::string& out, int& compression)
{
    command.add_option("-o,--out", out, "The trace to write")->required()->check(not_empty())->type_name("FILE");
    command.add_option("--compress", compression, "gzip level of the rows; 0 = none")
        ->transform(whole_number(0, 9))
        ->capture_default_str()
        ->type_name("0..9");
}

} // namespace flipscope
