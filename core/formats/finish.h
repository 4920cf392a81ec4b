// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/open.h"

#include <memory>
#include <new>
#include <string_view>

namespace flipscope::formats {

/// The last step of every reader of a foreign format: path and stamp, what hints say about name, settings, scoring and
/// values, sorted settings, the content key. `seen` is what the reader saw and did not put into the trace.
Result<TracePtr> finish(std::shared_ptr<Trace> trace, const TraceFile& from, const OpenHints& hints,
                        std::string_view seen = {});

/// Runs `open`: sizes are checked before memory is taken, but a machine may still have less than a sound file needs.
template <class Open>
Result<TracePtr> guarded(const TraceFile& from, Open open)
{
    try {
        return open();
    } catch (const std::bad_alloc&) {
        return fail(ErrorKind::OutOfMemory, "{} needs more memory than there is.", from.path.string());
    } catch (const std::length_error&) {
        return fail(ErrorKind::OutOfMemory, "{} needs more memory than there is.", from.path.string());
    }
}

} // namespace flipscope::formats
