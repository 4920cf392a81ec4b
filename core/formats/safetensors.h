// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/formats/array.h"

#include <string_view>
#include <utility>

namespace flipscope::formats {

/// What is in a safetensors file: a length of 8 bytes, a JSON header, then the tensors' elements, little-endian and in
/// C order.
struct Safetensors {
    std::vector<Array> tensors;                                ///< sorted by name
    std::vector<std::pair<std::string, std::string>> metadata; ///< "__metadata__" of the header
};

/// Whether the beginning of a file is that of one.
bool is_safetensors(std::string_view head);

Result<Safetensors> read_safetensors(const BytesPtr& bytes, const std::string& shown);

} // namespace flipscope::formats
