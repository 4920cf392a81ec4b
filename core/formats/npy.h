// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/formats/array.h"

#include <string_view>

namespace flipscope::formats {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// The array in a .npy file (NEP 1, versions 1 to 3), or in a member of a .npz: header and elements in `bytes`. Python
/// objects and records are refused: they would have to be unpickled, or have no single type.
Result<Array> parse_npy(BytesPtr bytes, std::string name, std::string shown);

} // namespace flipscope::formats
