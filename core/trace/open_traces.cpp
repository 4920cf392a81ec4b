// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/memory_limit.h"
#include "core/trace/hdf5.h"
#include "core/trace/open.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

namespace flipscope {

namespace {

/// On a thread of its own nothing may be thrown any further.
Result<TracePtr> open_guarded(const std::filesystem::path& path, const OpenHints& hints, const Job& job)
{
    try {
        return job.cancelled() ? Result<TracePtr>(cancelled()) : open_trace(path, hints, job);
    } catch (const std::bad_alloc&) {
        return fail(ErrorKind::OutOfMemory, "{} needs more memory than there is.", h5::one_line(path.string()));
    } catch (const std::exception& e) {
        return fail(ErrorKind::BadFormat, "{} could not be opened: {}.", h5::one_line(path.string()), e.what());
    }
}

} // namespace

int opening_threads()
{
    constexpr std::int64_t memory_each = 256 << 20; // more than the text and settings of most traces, held twice
    const int most = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 2, 8);
    if (memory_limit() <= 0)
        return most;
    return static_cast<int>(std::clamp<std::int64_t>(memory_limit() / memory_each, 1, most));
}

std::vector<OpenedTrace> open_traces(std::span<const std::filesystem::path> paths, const OpenHints& hints,
                                     const Job& job)
{
    using Clock = std::chrono::steady_clock;
    std::mutex reporting;
    const Job shared{job.stop, [&](const Progress& progress) {
                         const std::scoped_lock lock(reporting);
                         job.progress(progress);
                     }};
    std::vector<OpenedTrace> opened(paths.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < paths.size(); i = next++) {
            const auto start = Clock::now();
            Result<TracePtr> trace = open_guarded(paths[i], hints, shared);
            opened[i] = {std::move(trace), std::chrono::duration<double>(Clock::now() - start).count()};
        }
    };
    {
        std::vector<std::jthread> others;
        try {
            for (std::size_t n = std::min(paths.size(), static_cast<std::size_t>(opening_threads())); n > 1; --n)
                others.emplace_back(work);
        } catch (const std::system_error&) { // the system gives no more threads
        }
        work(); // this one as well
    }
    return opened;
}

} // namespace flipscope
