// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/trace/hdf5.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Text in attributes, datasets and members of records. Fixed-length text is taken as it stands. For variable-length
// text a file holds references (length, address of a heap, number in the heap) and the library follows them without a
// look at whether they lead anywhere: a single wrong bit lets it read or write beside its buffers. So the library is
// asked for the bare references, and the heaps are read here.
namespace flipscope::h5 {

struct File;

/// The objects of the heaps read so far; part of a File, used under a Session.
class Heaps {
public:
    /// Object `number` of the heap at `address`, which must be at least `length` bytes long; its first `length` bytes.
    Result<std::string> text(const File& file, std::uint64_t address, std::uint32_t number, std::uint32_t length);
    void forget() { heaps_.clear(); }

private:
    struct Heap {
        std::string content;
        std::map<std::uint32_t, std::pair<std::size_t, std::size_t>> objects; ///< number: offset, size
    };
    static Result<Heap> load(const File& file, std::uint64_t address);
    std::map<std::uint64_t, Heap> heaps_;
    std::size_t bytes_ = 0;
};

/// How text of one HDF5 type is read into memory and made a string.
class TextReader {
public:
    /// `stored` is a string type. An error where the file is of a kind whose references cannot be read.
    static Result<TextReader> of(hid_t stored, const File& file);

    hid_t memory_type() const { return memory_.id(); }
    std::size_t size() const { return size_; } ///< of one value in memory

    /// The string in a value of memory_type(), as valid UTF-8.
    Result<std::string> text(const char* value, const File& file) const;

private:
    Handle memory_;
    std::size_t size_ = 0;
    bool variable_ = false;
    bool space_padded_ = false;
};

} // namespace flipscope::h5
