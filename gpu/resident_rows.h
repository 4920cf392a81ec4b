// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/device_memory.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace flipscope::gpu {

/// What names a row that may stay in device memory: a row of another width or type is another row.
struct RowName {
    std::uint64_t source;
    std::int64_t key;
    std::int32_t type, vocab;
    bool operator==(const RowName& o) const
    {
        return source == o.source && key == o.key && type == o.type && vocab == o.vocab;
    }
};

/// Rows that stay in device memory between blocks, as many as fit; the one unused for longest makes room. Memory is
/// taken in slabs and only given back when rows of another size come or memory is short. One thread at a time.
class ResidentRows {
public:
    /// `limit` bytes at most; 0 keeps nothing.
    void set_limit(std::size_t limit) { limit_ = limit; }
    std::size_t limit() const { return limit_; }
    std::size_t taken() const { return taken_; }

    /// Where the row is, or null. It counts as used by batch `now`.
    unsigned char* find(const RowName& name, std::int64_t now);
    bool holds(const RowName& name) const { return rows_.count(name) != 0; }
    /// Room for a row that is not there yet, which the caller fills, or null: no row gives way that was used by batch
    /// `busy` or later. `size` bytes, a multiple of row_alignment.
    unsigned char* add(const RowName& name, std::size_t size, std::int64_t now, std::int64_t busy,
                       PlannedFailure& planned);
    /// Forgets all rows and gives the memory back. Nothing may be using them.
    void clear();

private:
    struct Hash {
        std::size_t operator()(const RowName& n) const;
    };
    struct Row {
        RowName name;
        unsigned char* data;
        std::int64_t used; ///< the last batch that did
    };
    bool grow(PlannedFailure& planned);

    std::size_t limit_ = 0, taken_ = 0, size_ = 0;
    std::vector<DeviceMemory> slabs_;
    std::vector<unsigned char*> free_;
    std::list<Row> order_; ///< used last comes first
    std::unordered_map<RowName, std::list<Row>::iterator, Hash> rows_;
};

} // namespace flipscope::gpu
