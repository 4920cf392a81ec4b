// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fmt/format.h>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace flipscope {

/// What went wrong, coarsely: decides exit codes and whether a fallback makes sense, never the text shown.
enum class ErrorKind {
    NotFound,      ///< there is no such file or object
    Unreadable,    ///< it is there, but the system would not let us read or write it
    BadFormat,     ///< the content is broken, or not what it claims to be
    Unsupported,   ///< well-formed, but of a kind this version cannot handle
    NotComparable, ///< two traces that must not be compared (other token ids, say)
    OutOfMemory,   ///< host or device memory ran out
    Device,        ///< the GPU, its driver or the CUDA module failed
    Cancelled,     ///< the user stopped the job
    Usage,         ///< a request that makes no sense (unknown metric name, say)
};

/// An error is a value: one sentence for a person that says what, where, and what to do about it.
struct Error {
    ErrorKind kind;
    std::string message;
};

/// Functions that can fail return this; no exception crosses an interface of core.
template <class T>
using Result = tl::expected<T, Error>;

template <class... Args>
tl::unexpected<Error> fail(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args)
{
    return tl::unexpected(Error{kind, fmt::format(text, std::forward<Args>(args)...)});
}

inline tl::unexpected<Error> cancelled()
{
    return tl::unexpected(Error{ErrorKind::Cancelled, "Stopped."});
}

} // namespace flipscope
