// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/trace/hdf5.h"
#include "core/trace/logit_type.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

// Writing small things. Each function takes the lock itself; messages are without the file's name and the full stop.
namespace flipscope::h5 {

Result<Handle> create_group(hid_t parent, const std::string& name);

/// A variable-length UTF-8 string attribute; nothing where `text` is empty, since a missing one means "not stated".
Result<void> write_text_attribute(hid_t object, const char* name, std::string_view text);
Result<void> write_integer_attribute(hid_t object, const char* name, std::int64_t value);
Result<void> write_real_attribute(hid_t object, const char* name, double value);

/// Contiguous dataset of shape `dims` from packed `data` of the machine's type `type`.
Result<void> write_dataset(hid_t group, const char* name, hid_t type, const std::vector<hsize_t>& dims,
                           const void* data);
/// One variable-length string (`scalar`) or a list of them.
Result<void> write_text_dataset(hid_t group, const char* name, const std::vector<std::string>& texts, bool scalar);

Handle utf8_type();

/// The type that logits of `type` are stored in; bfloat16 and float16 as self-describing 16-bit floats.
Handle stored_type(LogitType type);

} // namespace flipscope::h5
