// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/hdf5_read.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope::h5 {

struct Attribute {
    std::string name;
    std::string
        text; ///< valid UTF-8; numbers in their shortest exact form, booleans as true/false, lists joined by ", "
    std::optional<std::int64_t> integer; ///< of a single integer
    std::optional<double> real;          ///< of a single number
};

/// The attributes of one object as a person would write them down. Kinds that have no such form (references, compound
/// values) and empty ones are left out: they state nothing.
class Attributes {
public:
    const Attribute* find(std::string_view name) const;
    /// Text of an attribute, empty where it is not stated.
    std::string text(std::string_view name) const;
    const std::vector<Attribute>& all() const { return list_; }
    std::vector<Attribute>& all() { return list_; }

private:
    std::vector<Attribute> list_; ///< sorted by name
};

/// `object` is a group or a dataset, `path` its name for messages.
Result<Attributes> read_attributes(const File& file, hid_t object, const std::string& path);

} // namespace flipscope::h5
