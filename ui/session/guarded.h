// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <exception>
#include <new>

namespace flipscope {

/// Runs `work` and turns what must not cross a thread into a value.
template <class T, class Work>
Result<T> guarded(const Work& work)
{
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return fail(ErrorKind::OutOfMemory, "There is not enough memory for this; close other files and try again.");
    } catch (const std::exception& e) {
        return fail(ErrorKind::BadFormat, "Something unexpected went wrong: {}.", e.what());
    }
}

} // namespace flipscope
