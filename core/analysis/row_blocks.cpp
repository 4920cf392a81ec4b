// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The way of row_stream.h for engines that want large blocks: buffers travel between reading threads and one that
// computes.
#include "core/analysis/row_parts.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace flipscope::streaming {

namespace {

/// Buffers that travel between the reading threads and the computing one.
class BlockStream {
public:
    BlockStream(const RowPairs& rows, RowHashes& hashes, std::stop_token stop)
        : rows_(rows), sides_(sides_of(rows)), hashes_(hashes), stop_(std::move(stop))
    {
    }

    Result<void> allocate(Engine& engine)
    {
        const std::int64_t pair = std::max<std::int64_t>(1, rows_.pair_bytes());
        const std::int64_t fit = std::max<std::int64_t>(1, engine.block_bytes() / pair);
        // Small traces in a few blocks too, so that reading and computing overlap.
        block_rows_ = std::min(fit, std::max<std::int64_t>(8, (total() + 7) / 8));
        for (;; block_rows_ = (block_rows_ + 1) / 2) {
            auto allocated = allocate_slots(engine);
            if (allocated)
                return {};
            for (Slot& slot : slots_)
                slot = {};
            if (block_rows_ == 1)
                return allocated;
        }
    }

    /// What each reading thread does.
    void read_pieces()
    {
        while (const auto piece = claim()) {
            const auto start = Clock::now();
            auto read = read_piece(*piece);
            const double took = seconds_since(start);
            const std::lock_guard lock(mutex_);
            reading_ += took;
            Slot& slot = slot_of(piece->block);
            slot.missing -= piece->count;
            if (!read && !error_)
                error_ = read.error();
            if (slot.missing == 0 || error_)
                changed_.notify_all();
        }
    }

    Result<StreamTimes> drain(Engine& engine, const RowUse& use, int readers)
    {
        const auto start = Clock::now();
        StreamTimes times;
        times.readers = readers;
        for (std::int64_t b = 0; b * block_rows_ < total(); ++b) {
            Slot& slot = slot_of(b);
            {
                std::unique_lock lock(mutex_);
                const auto ready = [&] { return error_ || (slot.block_index == b && slot.missing == 0); };
                if (!changed_.wait(lock, stop_, ready))
                    return cancelled();
                if (error_)
                    return tl::unexpected(*error_);
                times.reading = reading_ / readers;
            }
            const auto begun = Clock::now();
            if (auto used = use.compute(slot.block, engine); !used)
                return tl::unexpected(used.error());
            times.computing += seconds_since(begun);
            times.bytes += slot.block.rows * rows_.pair_bytes();
            times.seconds = seconds_since(start);
            if (use.progress)
                use.progress(times);
            take_digests(slot);
            const std::lock_guard lock(mutex_);
            slot.block_index = -1;
            changed_.notify_all();
        }
        return times;
    }

private:
    using Digests = std::vector<std::string>;

    struct Slot {
        std::unique_ptr<HostBuffer> memory;
        std::int64_t block_index = -1; ///< of the block in it; -1 = free
        std::size_t missing = 0;       ///< rows, of both sides, still to be read
        RowBlock block;
        std::array<Digests, 2> digests; ///< of its rows, by side
    };

    struct Piece {
        std::int64_t block;
        std::size_t side, first, count; ///< first: pair within the block
    };

    std::int64_t total() const { return static_cast<std::int64_t>(rows_.pairs.size()); }
    Slot& slot_of(std::int64_t block) { return slots_[static_cast<std::size_t>(block) % slots_.size()]; }

    Result<void> allocate_slots(Engine& engine)
    {
        const std::size_t bytes =
            aligned(block_rows_ * rows_.baseline.row_bytes()) + aligned(block_rows_ * rows_.run.row_bytes());
        for (Slot& slot : slots_) {
            auto memory = engine.allocate(bytes);
            if (!memory) // page-locked memory is scarce; plain memory only costs speed
                memory = engine.Engine::allocate(bytes);
            if (!memory)
                return tl::unexpected(memory.error());
            slot.memory = std::move(*memory);
        }
        return {};
    }

    /// The next piece to be read, once there is room for it; nothing at the end, after an error, when stopped.
    std::optional<Piece> claim()
    {
        std::unique_lock lock(mutex_);
        const auto room = [&] {
            return error_ || next_block_ * block_rows_ >= total() || slot_of(next_block_).block_index == next_block_ ||
                   slot_of(next_block_).block_index < 0;
        };
        if (!changed_.wait(lock, stop_, room) || stop_.stop_requested() || error_ ||
            next_block_ * block_rows_ >= total())
            return std::nullopt;
        Slot& slot = slot_of(next_block_);
        if (slot.block_index < 0)
            begin(slot, next_block_);
        const auto pairs = pairs_of(slot.block);
        Piece piece{next_block_, next_side_, next_pair_, sides_[next_side_].piece(pairs, next_pair_, piece_bytes)};
        next_pair_ += piece.count;
        if (next_pair_ == pairs.size()) {
            next_pair_ = 0;
            if (++next_side_ == sides_.size()) {
                next_side_ = 0;
                ++next_block_;
            }
        }
        return piece;
    }

    std::span<const MatchedProbe> pairs_of(const RowBlock& block) const
    {
        return rows_.pairs.subspan(static_cast<std::size_t>(block.first), static_cast<std::size_t>(block.rows));
    }

    void begin(Slot& slot, std::int64_t index)
    {
        const std::int64_t first = index * block_rows_, count = std::min(block_rows_, total() - first);
        std::byte* data = slot.memory->bytes().data();
        slot.block = {
            first,
            count,
            {data, rows_.baseline.type(), rows_.baseline.row_bytes()},
            {data + aligned(block_rows_ * rows_.baseline.row_bytes()), rows_.run.type(), rows_.run.row_bytes()}};
        for (Digests& digests : slot.digests)
            digests.assign(static_cast<std::size_t>(count), {});
        slot.missing = 2 * static_cast<std::size_t>(count);
        slot.block_index = index;
    }

    /// Reads and hashes; nobody else touches this part of the slot meanwhile.
    Result<void> read_piece(const Piece& piece)
    {
        Slot& slot = slot_of(piece.block);
        const Side& side = sides_[piece.side];
        const auto row_bytes = static_cast<std::size_t>(side.source.row_bytes());
        const std::size_t begin = piece.side == 0 ? 0 : aligned(block_rows_ * rows_.baseline.row_bytes());
        return side.read(pairs_of(slot.block), piece.first, piece.count,
                         slot.memory->bytes().subspan(begin + piece.first * row_bytes, piece.count * row_bytes),
                         std::span(slot.digests[piece.side]).subspan(piece.first, piece.count));
    }

    void take_digests(const Slot& slot)
    {
        for (const std::string& digest : slot.digests[0])
            hashes_.baseline.add(digest);
        for (const std::string& digest : slot.digests[1])
            hashes_.run.add(digest);
    }

    const RowPairs& rows_;
    std::array<Side, 2> sides_;
    RowHashes& hashes_;
    std::stop_token stop_;
    std::int64_t block_rows_ = 1;
    std::array<Slot, 3> slots_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::int64_t next_block_ = 0; // with the two below: where the next piece begins
    std::size_t next_side_ = 0, next_pair_ = 0;
    double reading_ = 0;
    std::optional<Error> error_;
};

} // namespace

Result<StreamTimes> stream_blocks(const RowPairs& rows, Engine& engine, RowHashes& hashes, const std::stop_token& stop,
                                  const RowUse& use)
{
    // Ours to stop: the user's request is passed on, and an error on either side ends the other one.
    std::stop_source halt;
    const std::stop_callback passed_on(stop, [&] { halt.request_stop(); });
    BlockStream stream(rows, hashes, halt.get_token());
    if (auto allocated = stream.allocate(engine); !allocated)
        return tl::unexpected(allocated.error());
    auto readers = start_threads(reading_threads(), [&] { stream.read_pieces(); });
    if (!readers)
        return tl::unexpected(readers.error());
    auto done = stream.drain(engine, use, static_cast<int>(readers->size()));
    halt.request_stop(); // at the end there is nothing left to be read
    readers->clear();
    return done;
}

} // namespace flipscope::streaming
