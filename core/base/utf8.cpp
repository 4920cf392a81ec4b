// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/utf8.h"

namespace flipscope {

Utf8Char utf8_at(std::string_view text, std::size_t i)
{
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80)
        return {1, lead};
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || i + length > text.size())
        return {};
    char32_t code = lead & (0x7Fu >> length);
    for (std::size_t k = 1; k < length; ++k) {
        const auto byte = static_cast<unsigned char>(text[i + k]);
        if ((byte & 0xC0u) != 0x80u)
            return {};
        code = (code << 6) | (byte & 0x3Fu);
    }
    constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < smallest[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return {};
    return {length, code};
}

std::size_t display_width(std::string_view text)
{
    std::size_t width = 0;
    for (std::size_t i = 0; i < text.size();) {
        const Utf8Char c = utf8_at(text, i);
        const bool combining = c.code >= 0x300 && c.code < 0x370;
        // East Asian wide characters and emoji take two columns.
        const bool wide = (c.code >= 0x1100 && c.code < 0x1160) || (c.code >= 0x2E80 && c.code < 0xA4D0) ||
                          (c.code >= 0xAC00 && c.code < 0xD7A4) || (c.code >= 0xF900 && c.code < 0xFB00) ||
                          (c.code >= 0xFE30 && c.code < 0xFE70) || (c.code >= 0xFF00 && c.code < 0xFF61) ||
                          (c.code >= 0x1F300 && c.code < 0x1F900) || (c.code >= 0x20000 && c.code < 0x30000);
        width += combining ? 0 : wide ? 2 : 1;
        i += c.length > 0 ? c.length : 1;
    }
    return width;
}

} // namespace flipscope
