// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/call_writer.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace flipscope {

/// Calls between tokens: a section that holds calls, each with a head, a separator and JSON arguments.
struct SectionedFormat {
    std::span<const std::string_view> section_opens; ///< the first is the format's own, the others are seen as well
    std::span<const std::string_view> section_closes;
    std::string_view call_open, separator, call_close;
    enum class Head : std::uint8_t {
        Own,
        Odd,    ///< not as the format demands
        Foreign ///< another format's: no call of this one
    };
    /// Takes the head (what stands before the separator, at `head.end`) into the draft's name.
    Head (*read_head)(const CallWriter& turn, ByteRange head, CallDraft& draft);
    /// What stands round the arguments ("\n```json\n" and "\n```"); empty = nothing.
    std::string_view before_arguments, after_arguments;
    /// The name stands behind the separator, up to `before_arguments`.
    bool name_behind_separator = false;
};

void read_sectioned_calls(CallWriter& turn, const SectionedFormat& format);

} // namespace flipscope
