// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <fmt/format.h>
#include <string>

/// How every CSV file of the program writes its fields.
namespace flipscope::csv {

/// A field as RFC 4180 wants it: quoted where it must be.
inline std::string field(const std::string& text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

/// 17 significant digits.
inline std::string number(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value > 0 ? "inf" : "-inf";
    return fmt::format("{:.17g}", value);
}

/// The same where a table may have no such value: nothing.
inline std::string optional_number(double value)
{
    return std::isnan(value) ? "" : number(value);
}

} // namespace flipscope::csv
