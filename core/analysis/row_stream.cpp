// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/row_stream.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace flipscope {

namespace {

constexpr std::int64_t block_bytes = 64 << 20;
constexpr std::int64_t piece_bytes = 4 << 20; // read at once: what a cancel may have to wait for
constexpr std::size_t alignment = 64;         // of the run's rows behind the baseline's

std::size_t aligned(std::int64_t bytes)
{
    return (static_cast<std::size_t>(bytes) + alignment - 1) / alignment * alignment;
}

/// Rows `row_of(pair)` of one source, packed into `out`; neighbours in the file are read together.
Result<void> read_side(const RowSource& source, std::span<const MatchedProbe> pairs, std::int64_t MatchedProbe::*row_of,
                       std::span<std::byte> out, Hasher& hash, const std::stop_token& stop)
{
    const std::int64_t row_bytes = source.row_bytes();
    const std::int64_t at_once = std::max<std::int64_t>(1, piece_bytes / std::max<std::int64_t>(1, row_bytes));
    for (std::size_t i = 0; i < pairs.size();) {
        if (stop.stop_requested())
            return cancelled();
        const std::int64_t first = pairs[i].*row_of;
        std::int64_t count = 1;
        while (count < at_once && i + static_cast<std::size_t>(count) < pairs.size() &&
               pairs[i + static_cast<std::size_t>(count)].*row_of == first + count)
            ++count;
        const auto part =
            out.subspan(i * static_cast<std::size_t>(row_bytes), static_cast<std::size_t>(count * row_bytes));
        if (auto read = source.read(first, count, part); !read)
            return read;
        hash.add(part);
        i += static_cast<std::size_t>(count);
    }
    return {};
}

/// Two buffers that travel between the reading and the computing thread.
class Stream {
public:
    Stream(const RowPairs& rows, RowHashes& hashes, std::stop_token stop)
        : rows_(rows), hashes_(hashes), stop_(std::move(stop))
    {
    }

    Result<void> allocate(Engine& engine)
    {
        const auto total = static_cast<std::int64_t>(rows_.pairs.size());
        const std::int64_t fit = std::max<std::int64_t>(1, block_bytes / std::max<std::int64_t>(1, rows_.pair_bytes()));
        // Small traces in a few blocks too, so that reading and computing overlap.
        block_rows_ = std::min(fit, std::max<std::int64_t>(8, (total + 3) / 4));
        for (;; block_rows_ = (block_rows_ + 1) / 2) {
            const auto first = buffer(engine), second = first ? buffer(engine) : first;
            if (first && second)
                return {};
            slots_ = {};
            if (block_rows_ == 1)
                return first ? tl::unexpected(second.error()) : tl::unexpected(first.error());
        }
    }

    /// The reading thread.
    void fill()
    {
        const auto total = static_cast<std::int64_t>(rows_.pairs.size());
        for (std::int64_t first = 0, b = 0; first < total; first += block_rows_, ++b) {
            Slot& slot = slots_[static_cast<std::size_t>(b % 2)];
            {
                std::unique_lock lock(mutex_);
                if (!changed_.wait(lock, stop_, [&] { return !slot.full; }))
                    return;
            }
            auto read = read_block(slot, first, std::min(block_rows_, total - first));
            const std::lock_guard lock(mutex_);
            slot.full = read.has_value();
            if (!read)
                error_ = read.error();
            changed_.notify_all();
            if (!read)
                return;
        }
    }

    Result<void> drain(const std::function<Result<void>(const RowBlock&)>& use)
    {
        const auto total = static_cast<std::int64_t>(rows_.pairs.size());
        for (std::int64_t done = 0, b = 0; done < total; ++b) {
            Slot& slot = slots_[static_cast<std::size_t>(b % 2)];
            {
                std::unique_lock lock(mutex_);
                if (!changed_.wait(lock, stop_, [&] { return slot.full || error_; }))
                    return cancelled();
                if (!slot.full)
                    return tl::unexpected(*error_);
            }
            if (auto used = use(slot.block); !used)
                return used;
            done += slot.block.rows;
            const std::lock_guard lock(mutex_);
            slot.full = false;
            changed_.notify_all();
        }
        return {};
    }

private:
    struct Slot {
        std::unique_ptr<HostBuffer> memory;
        RowBlock block;
        bool full = false;
    };

    Result<void> buffer(Engine& engine)
    {
        Slot& slot = slots_[slots_[0].memory ? 1 : 0];
        const std::size_t bytes =
            aligned(block_rows_ * rows_.baseline.row_bytes()) + aligned(block_rows_ * rows_.run.row_bytes());
        auto memory = engine.allocate(bytes);
        if (!memory) // page-locked memory is scarce; plain memory only costs speed
            memory = engine.Engine::allocate(bytes);
        if (!memory)
            return tl::unexpected(memory.error());
        slot.memory = std::move(*memory);
        return {};
    }

    Result<void> read_block(Slot& slot, std::int64_t first, std::int64_t count)
    {
        const auto pairs = rows_.pairs.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
        const std::size_t run_offset = aligned(block_rows_ * rows_.baseline.row_bytes());
        const auto bytes = slot.memory->bytes();
        slot.block = {first,
                      count,
                      {bytes.data(), rows_.baseline.type(), rows_.baseline.row_bytes()},
                      {bytes.data() + run_offset, rows_.run.type(), rows_.run.row_bytes()}};
        auto read = read_side(rows_.baseline, pairs, &MatchedProbe::baseline_row, bytes.first(run_offset),
                              hashes_.baseline, stop_);
        if (read)
            read = read_side(rows_.run, pairs, &MatchedProbe::run_row, bytes.subspan(run_offset), hashes_.run, stop_);
        return read;
    }

    const RowPairs& rows_;
    RowHashes& hashes_;
    std::stop_token stop_;
    std::int64_t block_rows_ = 1;
    std::array<Slot, 2> slots_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::optional<Error> error_;
};

} // namespace

std::string RowHashes::hex() const
{
    Hasher both;
    both.add(baseline.hex());
    both.add(run.hex());
    return both.hex();
}

Result<void> stream_rows(const RowPairs& rows, Engine& engine, RowHashes& hashes, const std::stop_token& stop,
                         const std::function<Result<void>(const RowBlock&)>& use)
{
    // Ours to stop: the user's request is passed on, and an error on either side ends the other one.
    std::stop_source halt;
    const std::stop_callback passed_on(stop, [&] { halt.request_stop(); });
    Stream stream(rows, hashes, halt.get_token());
    if (auto allocated = stream.allocate(engine); !allocated)
        return allocated;
    Result<void> done;
    {
        const std::jthread reader([&] { stream.fill(); });
        done = stream.drain(use);
        if (!done)
            halt.request_stop();
    }
    if (stop.stop_requested())
        return cancelled();
    return done;
}

} // namespace flipscope
