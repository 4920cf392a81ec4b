// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/formats/bytes.h"
#include "core/trace/rows.h"

#include <optional>

namespace flipscope::formats {

enum class ElementType { BF16, F16, F32, F64, Integer, Unsigned, Raw2, Other };

/// An array in a file: what .npy, .npz and safetensors have in common.
struct Array {
    std::string name;  ///< in its archive; empty for a .npy
    std::string shown; ///< for messages: file and name
    ElementType type = ElementType::Other;
    std::string type_name; ///< as the file states it
    std::uint64_t element_size = 0;
    std::vector<std::uint64_t> shape;
    bool column_major = false;
    bool swap = false; ///< the other byte order
    BytesPtr bytes;    ///< the elements alone, checked to be all there

    std::uint64_t elements() const; ///< checked not to overflow where `bytes` are there
    std::string shape_text() const; ///< "3125 × 151936"
};

/// Product of a shape and an element size, or nothing where it does not fit into 63 bits.
std::optional<std::uint64_t> bytes_of(const std::vector<std::uint64_t>& shape, std::uint64_t element_size);

/// An array of one dimension (others may have one entry each) of integers.
Result<std::vector<std::int64_t>> integers_of(const Array& array, std::uint64_t most);

/// A letter per dimension as in OpenHints::axes; empty = the last one that is not single is the vocabulary, the ones
/// before it are probes. `type` is what raw two-byte elements are. Columns behind `vocabulary` are left out.
/// Rows that do not lie in one piece are put in order in a temporary file at the first read.
Result<std::shared_ptr<const RowSource>> rows_of(const Array& array, const std::string& axes,
                                                 std::optional<LogitType> type, std::optional<std::int64_t> vocabulary);

} // namespace flipscope::formats
