// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The way of row_stream.h for engines that want large blocks: buffers travel between reading threads and one that
// computes.
#include "core/analysis/known_rows.h"
#include "core/analysis/row_parts.h"
#include "core/base/memory_limit.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace flipscope {

namespace {

using streaming::aligned;
using streaming::Clock;
using streaming::seconds_since;

/// Of a block of which nothing has to be read: enough to fill a GPU, and not too much to be read after all.
constexpr std::int64_t kept_block_bytes = std::int64_t{256} << 20;

/// Bytes of one of `buffers` that lie in memory at once.
std::int64_t within_limit(std::int64_t bytes, std::int64_t buffers)
{
    return memory_limit() > 0 ? std::min(bytes, memory_limit() / buffers) : bytes;
}

/// Buffers that travel between the reading threads and the computing one.
class BlockStream {
public:
    BlockStream(const RowsOfRuns& rows, Engine& engine, std::span<RowHashes* const> hashes, std::stop_token stop)
        : engine_(engine), vocab_(rows.vocab), hashes_(hashes), stop_(std::move(stop))
    {
        add_lane(rows.baseline, &MatchedProbe::baseline_row);
        for (const RowSide& run : rows.runs)
            add_lane(run, &MatchedProbe::run_row);
        for (const MatchedProbe& pair : rows.baseline.pairs)
            keys_.push_back(pair.position);
    }

    /// Finds out what has to be read, and takes memory for it.
    Result<void> prepare()
    {
        const auto fit = [&](std::int64_t bytes) {
            return std::max<std::int64_t>(1, bytes / std::max<std::int64_t>(1, row_bytes_));
        };
        block_rows_ = fit(within_limit(kept_block_bytes, 1));
        ask_engine();
        if (to_read_ > 0) {
            // Small traces in a few blocks too, so that reading and computing overlap.
            block_rows_ = std::min(fit(within_limit(engine_.block_bytes(), static_cast<std::int64_t>(slots_.size()))),
                                   std::max<std::int64_t>(8, (total() + 7) / 8));
            for (;; block_rows_ = (block_rows_ + 1) / 2) {
                auto allocated = allocate_slots();
                if (allocated)
                    break;
                for (Slot& slot : slots_)
                    slot = {};
                if (block_rows_ == 1)
                    return allocated;
            }
            ask_engine();
        }
        for (std::int64_t b = 0; b < std::min(blocks(), static_cast<std::int64_t>(slots_.size())); ++b)
            begin(b);
        return {};
    }

    bool has_to_read() const { return to_read_ > 0; }

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

    Result<StreamTimes> drain(const RunsUse& use, int readers)
    {
        const auto start = Clock::now();
        StreamTimes times;
        times.readers = readers;
        times.runs = static_cast<int>(lanes_.size()) - 1;
        for (std::int64_t b = 0; b < blocks(); ++b) {
            Slot& slot = slot_of(b);
            {
                std::unique_lock lock(mutex_);
                const auto ready = [&] { return error_ || (slot.index == b && slot.missing == 0); };
                if (!changed_.wait(lock, stop_, ready))
                    return cancelled();
                if (error_)
                    return tl::unexpected(*error_);
                times.reading = reading_ / std::max(readers, 1);
            }
            if (auto read = read_what_went(slot); !read)
                return tl::unexpected(read.error());
            const auto begun = Clock::now();
            if (auto used = use.compute(slot.block); !used)
                return tl::unexpected(used.error());
            times.computing += seconds_since(begun);
            times.bytes += slot.block.rows * row_bytes_;
            for (const Lane& lane : lanes_)
                times.kept += view_of(slot, lane).data ? 0 : slot.block.rows * lane.source().row_bytes();
            times.seconds = seconds_since(start);
            if (use.progress)
                use.progress(times);
            take_hashes(slot);
            const std::lock_guard lock(mutex_);
            begin(b + static_cast<std::int64_t>(slots_.size()));
            changed_.notify_all();
        }
        return times;
    }

private:
    using Hashes = std::vector<std::string>;

    /// A trace on its way: the baseline's comes first, then those of the runs.
    struct Lane {
        std::size_t number;
        streaming::Side side;
        std::span<const MatchedProbe> pairs;
        KnownRows* known;
        std::vector<char> kept; ///< by block: the engine was found to hold all its rows

        const RowSource& source() const { return side.source; }
        std::int64_t row(std::int64_t i) const { return pairs[static_cast<std::size_t>(i)].*side.row; }
    };

    struct Slot {
        std::unique_ptr<HostBuffer> memory;
        std::int64_t index = -1; ///< of the block in it
        std::size_t missing = 0; ///< rows, of all lanes, still to be read
        BlockOfRuns block;
        std::vector<Hashes> hashes; ///< of the rows that were read, by lane
    };

    struct Piece {
        std::int64_t block;
        std::size_t lane, first, count; ///< first: probe within the block
    };

    std::int64_t total() const { return static_cast<std::int64_t>(keys_.size()); }
    std::int64_t blocks() const { return (total() + block_rows_ - 1) / block_rows_; }
    std::int64_t rows_in(std::int64_t block) const { return std::min(block_rows_, total() - block * block_rows_); }
    Slot& slot_of(std::int64_t block) { return slots_[static_cast<std::size_t>(block) % slots_.size()]; }
    static RowView& view_of(Slot& slot, const Lane& lane)
    {
        return lane.number == 0 ? slot.block.baseline : slot.block.runs[lane.number - 1];
    }

    void add_lane(const RowSide& side, std::int64_t MatchedProbe::*row)
    {
        lanes_.push_back({lanes_.size(), {side.source, row}, side.pairs, side.known, {}});
        row_bytes_ += side.source.row_bytes();
    }

    std::span<const std::int64_t> keys_of(std::int64_t block) const
    {
        return std::span(keys_).subspan(static_cast<std::size_t>(block * block_rows_),
                                        static_cast<std::size_t>(rows_in(block)));
    }

    std::span<const MatchedProbe> pairs_of(const Lane& lane, std::int64_t block) const
    {
        return lane.pairs.subspan(static_cast<std::size_t>(block * block_rows_),
                                  static_cast<std::size_t>(rows_in(block)));
    }

    RowView view_without_data(const Lane& lane) const
    {
        return {nullptr, lane.source().type(), lane.source().row_bytes(), lane.known ? lane.known->name() : 0};
    }

    /// Whether a block's rows need not be read: the engine has them, and their hashes are known. Of rows that are wider
    /// than what is compared, the rest is needed here.
    bool is_kept(const Lane& lane, std::int64_t block) const
    {
        if (!lane.known || lane.source().columns() != vocab_)
            return false;
        for (std::int64_t i = 0; i < rows_in(block); ++i)
            if (!lane.known->hash_of(lane.row(block * block_rows_ + i)))
                return false;
        return engine_.holds(view_without_data(lane), vocab_, keys_of(block));
    }

    void ask_engine()
    {
        to_read_ = 0;
        for (Lane& lane : lanes_) {
            lane.kept.assign(static_cast<std::size_t>(blocks()), 0);
            for (std::int64_t b = 0; b < blocks(); ++b) {
                lane.kept[static_cast<std::size_t>(b)] = is_kept(lane, b) ? 1 : 0;
                to_read_ += lane.kept[static_cast<std::size_t>(b)] ? 0 : rows_in(b);
            }
        }
    }

    std::size_t slot_bytes() const
    {
        std::size_t bytes = 0;
        for (const Lane& lane : lanes_)
            bytes += aligned(block_rows_ * lane.source().row_bytes());
        return bytes;
    }

    Result<void> allocate_slots()
    {
        for (Slot& slot : slots_) {
            auto memory = engine_.allocate(slot_bytes());
            if (!memory) // page-locked memory is scarce; plain memory only costs speed
                memory = engine_.Engine::allocate(slot_bytes());
            if (!memory)
                return tl::unexpected(memory.error());
            slot.memory = std::move(*memory);
        }
        return {};
    }

    /// A lane's part of a slot.
    std::span<std::byte> room_of(const Slot& slot, const Lane& lane) const
    {
        std::size_t offset = 0;
        for (std::size_t i = 0; i < lane.number; ++i)
            offset += aligned(block_rows_ * lanes_[i].source().row_bytes());
        return slot.memory->bytes().subspan(offset, aligned(block_rows_ * lane.source().row_bytes()));
    }

    /// Opens a slot for a block; past the end it does nothing. With the lock, or before there are threads.
    void begin(std::int64_t index)
    {
        if (index >= blocks())
            return;
        Slot& slot = slot_of(index);
        const std::int64_t count = rows_in(index);
        slot.block.first = index * block_rows_;
        slot.block.rows = count;
        slot.block.keys = keys_of(index);
        slot.block.runs.resize(lanes_.size() - 1);
        slot.block.read_rest = [this, &slot] { return read_rest(slot); };
        slot.hashes.resize(lanes_.size());
        slot.missing = 0;
        for (const Lane& lane : lanes_) {
            RowView& view = view_of(slot, lane) = view_without_data(lane);
            slot.hashes[lane.number].clear();
            if (lane.kept[static_cast<std::size_t>(index)])
                continue;
            view.data = room_of(slot, lane).data();
            slot.hashes[lane.number].resize(static_cast<std::size_t>(count));
            slot.missing += static_cast<std::size_t>(count);
        }
        slot.index = index;
    }

    /// The next piece to be read, once there is room for it; nothing at the end, after an error, when stopped.
    std::optional<Piece> claim()
    {
        std::unique_lock lock(mutex_);
        const auto room = [&] {
            while (next_block_ < blocks() && lanes_[next_lane_].kept[static_cast<std::size_t>(next_block_)])
                next_lane();
            return error_ || next_block_ >= blocks() || slot_of(next_block_).index == next_block_;
        };
        if (!changed_.wait(lock, stop_, room) || stop_.stop_requested() || error_ || next_block_ >= blocks())
            return std::nullopt;
        const auto pairs = pairs_of(lanes_[next_lane_], next_block_);
        const Piece piece{next_block_, next_lane_, next_pair_,
                          lanes_[next_lane_].side.piece(pairs, next_pair_, streaming::piece_bytes)};
        next_pair_ += piece.count;
        if (next_pair_ == pairs.size())
            next_lane();
        return piece;
    }

    void next_lane()
    {
        next_pair_ = 0;
        if (++next_lane_ == lanes_.size()) {
            next_lane_ = 0;
            ++next_block_;
        }
    }

    /// Reads and hashes; nobody else touches this part of the slot meanwhile.
    Result<void> read_piece(const Piece& piece)
    {
        Slot& slot = slot_of(piece.block);
        const Lane& lane = lanes_[piece.lane];
        const auto row_bytes = static_cast<std::size_t>(lane.source().row_bytes());
        return lane.side.read(pairs_of(lane, piece.block), piece.first, piece.count,
                              room_of(slot, lane).subspan(piece.first * row_bytes, piece.count * row_bytes),
                              std::span(slot.hashes[piece.lane]).subspan(piece.first, piece.count));
    }

    /// Reads rows of this block that the engine had when it was asked, and has no more.
    Result<void> read_what_went(Slot& slot)
    {
        for (const Lane& lane : lanes_)
            if (const RowView& view = view_of(slot, lane); !view.data && !engine_.holds(view, vocab_, slot.block.keys))
                if (auto read = read_lane(slot, lane); !read)
                    return read;
        return {};
    }

    Result<void> read_rest(Slot& slot)
    {
        for (const Lane& lane : lanes_)
            if (!view_of(slot, lane).data)
                if (auto read = read_lane(slot, lane); !read)
                    return read;
        return {};
    }

    Result<void> read_lane(Slot& slot, const Lane& lane)
    {
        if (!slot.memory) {
            auto memory = engine_.Engine::allocate(slot_bytes());
            if (!memory)
                return tl::unexpected(memory.error());
            slot.memory = std::move(*memory);
        }
        const auto count = static_cast<std::size_t>(slot.block.rows);
        const auto pairs = pairs_of(lane, slot.index);
        slot.hashes[lane.number].resize(count);
        for (std::size_t i = 0; i < count;) {
            if (stop_.stop_requested())
                return cancelled();
            const Piece piece{slot.index, lane.number, i, lane.side.piece(pairs, i, streaming::piece_bytes)};
            if (auto read = read_piece(piece); !read)
                return read;
            i += piece.count;
        }
        view_of(slot, lane).data = room_of(slot, lane).data();
        return {};
    }

    void take_hashes(const Slot& slot)
    {
        for (const Lane& lane : lanes_) {
            const Hashes& read = slot.hashes[lane.number];
            for (std::int64_t i = 0; i < slot.block.rows; ++i) {
                const std::int64_t row = lane.row(slot.block.first + i);
                const std::string hash = read.empty() ? *lane.known->hash_of(row) : read[static_cast<std::size_t>(i)];
                if (lane.known && !read.empty())
                    lane.known->remember(row, hash);
                if (lane.number > 0)
                    hashes_[lane.number - 1]->run.add(hash);
                else
                    for (RowHashes* of_run : hashes_)
                        of_run->baseline.add(hash);
            }
        }
    }

    Engine& engine_;
    std::int32_t vocab_;
    std::span<RowHashes* const> hashes_; ///< one for each run
    std::stop_token stop_;
    std::vector<Lane> lanes_;
    std::vector<std::int64_t> keys_; ///< of all probes
    std::int64_t row_bytes_ = 0;     ///< of all lanes
    std::int64_t block_rows_ = 1, to_read_ = 0;
    std::array<Slot, 3> slots_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::int64_t next_block_ = 0; // with the two below: where the next piece begins
    std::size_t next_lane_ = 0, next_pair_ = 0;
    double reading_ = 0;
    std::optional<Error> error_;
};

} // namespace

Result<StreamTimes> stream_runs(const RowsOfRuns& rows, Engine& engine, std::span<RowHashes* const> hashes,
                                const std::stop_token& stop, const RunsUse& use)
{
    if (rows.baseline.pairs.empty())
        return StreamTimes{};
    // Ours to stop: the user's request is passed on, and an error on either side ends the other one.
    std::stop_source halt;
    const std::stop_callback passed_on(stop, [&] { halt.request_stop(); });
    BlockStream stream(rows, engine, hashes, halt.get_token());
    if (auto prepared = stream.prepare(); !prepared)
        return tl::unexpected(prepared.error());
    const int threads = stream.has_to_read() ? reading_threads() : 0;
    auto readers = streaming::start_threads(threads, [&] { stream.read_pieces(); });
    if (!readers)
        return tl::unexpected(readers.error());
    auto done = stream.drain(use, static_cast<int>(readers->size()));
    halt.request_stop(); // at the end there is nothing left to be read
    readers->clear();
    if (stop.stop_requested())
        return cancelled();
    return done;
}

} // namespace flipscope
