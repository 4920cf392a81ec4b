// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Shared by the two ways of row_stream.h: reading some rows of one side, and the threads that do it.

#include "core/analysis/row_stream.h"

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace flipscope::streaming {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr std::int64_t piece_bytes = 1 << 20; ///< read at once: still in the cache when it is hashed, soon cancelled

/// Bytes of so many rows, up to where vector loads like the next thing to begin.
std::size_t aligned(std::int64_t bytes);

/// One of the traces: where its rows come from and which are wanted.
struct Side {
    const RowSource& source;
    std::int64_t MatchedProbe::*row;

    /// How many of `pairs` from `from` on one call reads: neighbours in the file, `bytes` at most, packed chunks whole.
    std::size_t piece(std::span<const MatchedProbe> pairs, std::size_t from, std::int64_t bytes) const;

    /// Reads pairs [from, from + count), neighbours in the file, to `out` and their hashes to `digests`.
    Result<void> read(std::span<const MatchedProbe> pairs, std::size_t from, std::size_t count,
                      std::span<std::byte> out, std::span<std::string> digests) const;
};

std::array<Side, 2> sides_of(const RowPairs& rows);

/// Starts `count` threads, fewer where the system gives no more, an error where it gives none.
Result<std::vector<std::jthread>> start_threads(int count, const std::function<void()>& work);

Result<StreamTimes> stream_to_workers(const RowPairs& rows, Engine& engine, RowHashes& hashes,
                                      const std::stop_token& stop, const RowUse& use);

} // namespace flipscope::streaming
