// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The way of row_stream.h for engines that compute on the caller's thread: each thread reads some rows and computes
// them itself. What it read is then in its core's cache, and memory sees a row once, on its way out of the file's
// pages.
#include "core/analysis/row_parts.h"
#include "core/base/memory_limit.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <semaphore>
#include <utility>

namespace flipscope::streaming {

namespace {

class WorkerStream {
public:
    WorkerStream(const RowPairs& rows, Engine& engine, const RowUse& use, std::stop_token stop)
        : rows_(rows), sides_(sides_of(rows)), engine_(engine), use_(use), stop_(std::move(stop)),
          computing_(engine.workers())
    {
        for (auto& digests : digests_)
            digests.resize(rows.pairs.size());
    }

    /// What each thread does.
    void work()
    {
        const auto engine = engine_.worker();
        std::unique_ptr<HostBuffer> memory;
        while (const auto piece = claim())
            if (auto done = compute(*piece, *engine, memory); !done)
                return give_up(done.error());
    }

    /// On the calling thread, until all is done.
    Result<StreamTimes> wait(int threads)
    {
        const auto start = Clock::now();
        std::unique_lock lock(mutex_);
        for (std::int64_t told = 0; told < total();) { // the end is told, too, though it may come during a report
            const auto news = [&] { return error_ || done_ > told; };
            if (!changed_.wait(lock, stop_, news))
                return cancelled();
            if (error_)
                return tl::unexpected(*error_);
            told = done_;
            const StreamTimes times = times_after(seconds_since(start), threads);
            if (!use_.progress)
                continue;
            lock.unlock(); // what listens may take its time
            use_.progress(times);
            lock.lock();
        }
        return times_after(seconds_since(start), threads);
    }

    void take_digests(RowHashes& hashes) const
    {
        for (const std::string& digest : digests_[0])
            hashes.baseline.add(digest);
        for (const std::string& digest : digests_[1])
            hashes.run.add(digest);
    }

private:
    struct Piece {
        std::size_t first, count;
    };

    std::int64_t total() const { return static_cast<std::int64_t>(rows_.pairs.size()); }

    std::optional<Piece> claim()
    {
        const std::lock_guard lock(mutex_);
        if (next_ == rows_.pairs.size() || error_ || stop_.stop_requested())
            return std::nullopt;
        // What is unpacked together is taken together, by the same thread.
        const Side& side = sides_[0].source.rows_at_once() >= sides_[1].source.rows_at_once() ? sides_[0] : sides_[1];
        const std::int64_t share =
            piece_bytes * side.source.row_bytes() / std::max<std::int64_t>(1, rows_.pair_bytes());
        const Piece piece{next_, side.piece(rows_.pairs, next_, share)};
        next_ += piece.count;
        return piece;
    }

    Result<void> compute(const Piece& piece, Engine& engine, std::unique_ptr<HostBuffer>& memory)
    {
        const auto count = static_cast<std::int64_t>(piece.count);
        const std::size_t run_offset = aligned(count * rows_.baseline.row_bytes());
        const std::size_t bytes = run_offset + aligned(count * rows_.run.row_bytes());
        if (!memory || memory->bytes().size() < bytes) {
            memory.reset();
            auto larger = engine.allocate(bytes);
            if (!larger)
                return tl::unexpected(larger.error());
            memory = std::move(*larger);
        }
        const auto start = Clock::now();
        for (std::size_t s = 0; s < 2; ++s)
            if (auto read = read_side(piece, s, memory->bytes().subspan(s == 0 ? 0 : run_offset)); !read)
                return read;
        const double reading = seconds_since(start);
        const std::byte* data = memory->bytes().data();
        const RowBlock block{static_cast<std::int64_t>(piece.first),
                             count,
                             {data, rows_.baseline.type(), rows_.baseline.row_bytes()},
                             {data + run_offset, rows_.run.type(), rows_.run.row_bytes()}};
        computing_.acquire();
        const auto begun = Clock::now();
        auto computed = use_.compute(block, engine);
        const double computing = seconds_since(begun);
        computing_.release();
        if (!computed)
            return computed;
        const std::lock_guard lock(mutex_);
        reading_seconds_ += reading;
        computing_seconds_ += computing;
        done_ += count;
        changed_.notify_all();
        return {};
    }

    Result<void> read_side(const Piece& piece, std::size_t s, std::span<std::byte> out)
    {
        const Side& side = sides_[s];
        const auto row_bytes = static_cast<std::size_t>(side.source.row_bytes());
        const std::size_t end = piece.first + piece.count;
        for (std::size_t i = piece.first; i < end;) {
            if (stop_.stop_requested())
                return cancelled();
            const std::size_t n = std::min(side.piece(rows_.pairs, i, piece_bytes), end - i);
            if (auto read = side.read(rows_.pairs, i, n, out.subspan((i - piece.first) * row_bytes, n * row_bytes),
                                      std::span(digests_[s]).subspan(i, n));
                !read)
                return read;
            i += n;
        }
        return {};
    }

    void give_up(const Error& error)
    {
        const std::lock_guard lock(mutex_);
        if (!error_)
            error_ = error;
        changed_.notify_all();
    }

    StreamTimes times_after(double seconds, int threads) const
    {
        const int lanes = std::min(threads, engine_.workers());
        return {done_ * rows_.pair_bytes(), seconds, reading_seconds_ / threads, computing_seconds_ / lanes, threads};
    }

    const RowPairs& rows_;
    std::array<Side, 2> sides_;
    Engine& engine_;
    const RowUse& use_;
    std::stop_token stop_;
    std::counting_semaphore<> computing_; ///< as many compute as the engine has threads; the others read, or wait
    std::array<std::vector<std::string>, 2> digests_; ///< of all rows, by side
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::size_t next_ = 0;
    std::int64_t done_ = 0;
    double reading_seconds_ = 0, computing_seconds_ = 0;
    std::optional<Error> error_;
};

/// As many threads as their buffers have room for: one at least.
int threads_within(std::int64_t limit, const RowPairs& rows, int wanted)
{
    if (limit <= 0)
        return wanted;
    // A piece, or what is unpacked together.
    const std::int64_t together = std::max(rows.baseline.rows_at_once(), rows.run.rows_at_once());
    const std::int64_t buffer = std::max(piece_bytes, together * rows.pair_bytes());
    return static_cast<int>(std::clamp<std::int64_t>(limit / buffer, 1, wanted));
}

} // namespace

Result<StreamTimes> stream_to_workers(const RowPairs& rows, Engine& engine, RowHashes& hashes,
                                      const std::stop_token& stop, const RowUse& use)
{
    std::stop_source halt; // as in stream_blocks()
    const std::stop_callback passed_on(stop, [&] { halt.request_stop(); });
    WorkerStream stream(rows, engine, use, halt.get_token());
    auto threads = start_threads(threads_within(memory_limit(), rows, engine.workers() + reading_threads()),
                                 [&] { stream.work(); });
    if (!threads)
        return tl::unexpected(threads.error());
    auto done = stream.wait(static_cast<int>(threads->size()));
    halt.request_stop();
    threads->clear();
    if (done)
        stream.take_digests(hashes);
    return done;
}

} // namespace flipscope::streaming
