// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/hdf5_read.h"
#include "core/trace/logit_type.h"

#include <span>

namespace flipscope::h5 {

/// How floating-point numbers stand in a dataset.
struct Encoding {
    LogitType type = LogitType::F32;
    bool swap = false; ///< stored in the other byte order
};

/// Recognises IEEE half, single and double, and bfloat16 in its three guises: a self-describing 16-bit float, and
/// uint16 or 2-byte opaque marked as bfloat16 (an attribute `dtype`, or the opaque tag). Anything else is refused with
/// what to add or change.
Result<Encoding> encoding_of(const Dataset& dataset, const File& file);

/// Reverses the bytes of each element in place.
void swap_elements(std::span<std::byte> data, std::size_t element_size);

/// All elements of a small dataset of floating-point numbers (or integers), widened. Read in the stored type: the
/// library's own conversion of unusual floats is hundreds of times slower than ours.
Result<std::vector<double>> read_reals(const Group& group, const std::string& name, std::uint64_t maximum);

} // namespace flipscope::h5
