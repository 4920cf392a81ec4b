// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Private to core/trace: ownership, locking and errors of the HDF5 C library.

// The 1.10 names, also where the library is newer.
#define H5_USE_110_API
#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace flipscope::h5 {

/// Held around every stretch of HDF5 calls. HDF5 may be built without thread safety, so that one process-wide lock
/// serves all files; it is recursive, since handles are also closed inside such stretches. Also keeps the library from
/// printing its error stack (a setting it keeps per thread).
class Session {
public:
    Session();

private:
    std::unique_lock<std::recursive_mutex> lock_;
};

/// Owns one HDF5 identifier of any kind; negative = none.
class Handle {
public:
    Handle() = default;
    explicit Handle(hid_t id) : id_(id) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
    Handle& operator=(Handle&& other) noexcept
    {
        std::swap(id_, other.id_);
        return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle();

    explicit operator bool() const { return id_ >= 0; }
    hid_t id() const { return id_; }

private:
    hid_t id_ = -1;
};

/// What the library said about the last failed call on this thread: the most specific entry of its error stack,
/// as one line without a full stop. To be asked before any other call, since each one clears the stack.
std::string last_error();

/// Text from a file or a path, fit to stand inside a sentence: one line, no control characters, valid UTF-8, cut with
/// an ellipsis where it is long.
std::string one_line(std::string_view text, std::size_t max_bytes = 400);

/// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

} // namespace flipscope::h5
