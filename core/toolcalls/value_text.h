// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

/// A string literal, read.
struct TextLiteral {
    std::string text;    ///< escapes resolved
    std::size_t end = 0; ///< at the closing quote, or where the text ends
    bool closed = false;
    std::string liberty; ///< what JSON (or Python) does not allow in it; empty = nothing
};

/// Reads from behind the opening quote up to `quote`. `source` (may be null) gets, for each byte of the result and for
/// its end, where it comes from.
TextLiteral read_text_literal(std::string_view text, std::size_t begin, std::size_t limit, char quote, bool python,
                              std::vector<std::size_t>* source = nullptr);

} // namespace flipscope
