// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/trace/logit_type.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace flipscope {

/// Where the full-vocabulary rows of a probe set come from. Rows are delivered in the stored type, native byte order,
/// packed (row i at i * columns * size_of(type)). Thread-safe; calls may wait for each other.
class RowSource {
public:
    virtual ~RowSource() = default;
    virtual LogitType type() const = 0;
    virtual std::int64_t rows() const = 0;
    virtual std::int64_t columns() const = 0;

    /// Reads rows [first, first + count) into `out`, which holds at least count * row_bytes() bytes.
    virtual Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const = 0;

    /// Rows that are unpacked together: reading them in one call (from a multiple of this on) does the work once.
    virtual std::int64_t rows_at_once() const { return 1; }

    std::int64_t row_bytes() const { return columns() * static_cast<std::int64_t>(size_of(type())); }
};

/// Where the top-k lists of a probe set come from: k entries a row, best first; id -1 = missing entry.
class TopKSource {
public:
    virtual ~TopKSource() = default;
    virtual std::int64_t rows() const = 0;
    virtual std::int64_t k() const = 0;

    /// `ids` and `logprobs` (nats) hold at least count * k() elements.
    virtual Result<void> read(std::int64_t first, std::int64_t count, std::span<std::int32_t> ids,
                              std::span<float> logprobs) const = 0;
};

} // namespace flipscope
