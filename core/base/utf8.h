// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace flipscope {

struct Utf8Char {
    std::size_t length = 0; ///< bytes; 0 = no whole character starts here
    char32_t code = 0;
};

/// The character that starts at byte `i`; overlong forms, surrogates and values above U+10FFFF are none.
Utf8Char utf8_at(std::string_view text, std::size_t i);

/// Columns that a text takes in a terminal, near enough for aligning tables: characters but no combining marks.
std::size_t display_width(std::string_view text);

} // namespace flipscope
