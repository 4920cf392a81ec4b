// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/call_writer.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace flipscope {

/// How raw values stand between tags: nothing in them is escaped, so an end tag may be part of a value.
struct ValueTags {
    std::string_view close;                      ///< "</parameter>"
    std::span<const std::string_view> followers; ///< what may follow behind the end tag: "<parameter=", "</function>"
    std::string_view call_open, call_close;      ///< a whole call inside the value is skipped; empty = not looked for
};

/// A raw value and how it ends.
struct TaggedValue {
    enum class End : std::uint8_t {
        Closed,
        Doubled, ///< the end tag comes twice
        Missing, ///< no end tag, but what may follow one
        Junk,    ///< an end tag, but something else behind it
        Cut,     ///< the turn ends inside
    };
    End state = End::Cut;
    ByteRange content;
    std::size_t after = 0;       ///< where to go on
    std::size_t first_close = 0; ///< the first end tag, where a plain reader would stop; content.end if it is the one
};

/// Reads from behind the opening tag. An end tag counts where something of `followers` or the turn's end is behind it.
TaggedValue read_tagged_value(const CallWriter& turn, std::size_t begin, const ValueTags& tags);

/// A value without one line feed at its beginning and one at its end.
ByteRange without_line_feeds(std::string_view text, ByteRange value);

} // namespace flipscope
