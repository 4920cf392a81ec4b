// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/chunk_unpack.h"
#include "core/trace/file_rows.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>

namespace flipscope::h5 {

namespace {

using Unpacked = std::shared_ptr<const std::vector<std::byte>>;

constexpr std::uint64_t large_chunk = 16ull << 20; ///< from here on, chunks are unpacked one at a time

class GridRows : public FileRows {
public:
    GridRows(Shape shape, std::shared_ptr<Descriptor> file, ChunkGrid grid, std::uint64_t cache_bytes)
        : FileRows(std::move(shape)), file_(std::move(file)), grid_(std::move(grid)), cache_bytes_(cache_bytes)
    {
    }
    std::int64_t rows_at_once() const override
    {
        return grid_.filters.empty() ? 1 : static_cast<std::int64_t>(grid_.chunk_rows);
    }

protected:
    Result<void> read_stored(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        const auto begin = static_cast<std::uint64_t>(first), end = begin + static_cast<std::uint64_t>(count);
        for (std::uint64_t band = begin / grid_.chunk_rows; band * grid_.chunk_rows < end; ++band)
            for (std::uint64_t c = 0; c < grid_.across; ++c) {
                Part part;
                part.index = band * grid_.across + c;
                part.first_row = std::max(begin, band * grid_.chunk_rows);
                part.end_row = std::min(end, (band + 1) * grid_.chunk_rows);
                part.skipped = part.first_row - band * grid_.chunk_rows;
                part.column = c * grid_.chunk_columns;
                part.columns = std::min(grid_.chunk_columns, static_cast<std::uint64_t>(columns()) - part.column);
                if (grid_.places[part.index].offset == unwritten)
                    return fail(ErrorKind::BadFormat, "{}: row {} was never written.", name(), part.first_row);
                const auto rows_out = out.subspan((part.first_row - begin) * static_cast<std::uint64_t>(row_bytes()));
                if (auto ok = grid_.filters.empty() ? copy_plain(part, rows_out) : copy_packed(part, rows_out); !ok)
                    return ok;
            }
        return {};
    }

private:
    /// The part of one chunk that is wanted.
    struct Part {
        std::uint64_t index = 0;
        std::uint64_t first_row = 0, end_row = 0; ///< in the dataset
        std::uint64_t skipped = 0;                ///< rows of the chunk before them
        std::uint64_t column = 0, columns = 0;
    };

    std::uint64_t element() const { return size_of(type()); }
    std::uint64_t chunk_bytes() const { return grid_.chunk_rows * grid_.chunk_columns * element(); }

    Result<void> copy_plain(const Part& part, std::span<std::byte> out) const
    {
        const std::uint64_t stride = grid_.chunk_columns * element();
        for (std::uint64_t r = part.first_row; r < part.end_row; ++r) {
            const std::uint64_t at = grid_.places[part.index].offset + (part.skipped + r - part.first_row) * stride;
            const auto to =
                out.subspan((r - part.first_row) * static_cast<std::uint64_t>(row_bytes()) + part.column * element(),
                            part.columns * element());
            if (auto ok = read_piece(*file_, at, to); !ok)
                return ok;
        }
        return {};
    }

    Result<void> copy_packed(const Part& part, std::span<std::byte> out) const
    {
        const auto chunk = unpacked(part.index);
        if (!chunk)
            return tl::unexpected(chunk.error());
        const std::uint64_t stride = grid_.chunk_columns * element();
        for (std::uint64_t r = part.first_row; r < part.end_row; ++r)
            std::memcpy(&out[(r - part.first_row) * static_cast<std::uint64_t>(row_bytes()) + part.column * element()],
                        (*chunk)->data() + (part.skipped + r - part.first_row) * stride, part.columns * element());
        return {};
    }

    /// A chunk from the cache, or unpacked now. Large ones are unpacked one at a time, so that several readers of the
    /// same chunk neither repeat the work nor fill the memory.
    Result<Unpacked> unpacked(std::uint64_t index) const
    {
        std::unique_lock<std::mutex> one_at_a_time(unpacking_, std::defer_lock);
        if (chunk_bytes() >= large_chunk)
            one_at_a_time.lock();
        if (auto chunk = cached(index))
            return chunk;
        auto chunk = unpack_now(index);
        if (chunk && grid_.chunk_rows > 1)
            keep(index, *chunk);
        return chunk;
    }

    Result<Unpacked> unpack_now(std::uint64_t index) const
    {
        const ChunkPlace& place = grid_.places[index];
        try {
            std::vector<std::byte> stored(place.size);
            if (auto ok = read_piece(*file_, place.offset, stored); !ok)
                return tl::unexpected(ok.error());
            auto plain = unpack_chunk(std::move(stored), grid_.filters, place.mask, element(), chunk_bytes());
            if (!plain)
                return fail(ErrorKind::BadFormat, "{}: chunk {} of {} {}.", name(), index + 1, grid_.places.size(),
                            plain.error().message);
            return std::make_shared<const std::vector<std::byte>>(std::move(*plain));
        } catch (const std::bad_alloc&) {
            return fail(ErrorKind::OutOfMemory, "{}: there is no memory for a chunk of {} bytes.", name(),
                        chunk_bytes());
        }
    }

    Unpacked cached(std::uint64_t index) const
    {
        const std::lock_guard<std::mutex> lock(cache_mutex_);
        for (const auto& [i, chunk] : cache_)
            if (i == index)
                return chunk;
        return nullptr;
    }

    void keep(std::uint64_t index, Unpacked chunk) const
    {
        const std::lock_guard<std::mutex> lock(cache_mutex_);
        while (!cache_.empty() && (cache_.size() + 1) * chunk_bytes() > cache_bytes_)
            cache_.pop_front(); // rows are read in order: the oldest is the least wanted
        cache_.emplace_back(index, std::move(chunk));
    }

    std::shared_ptr<Descriptor> file_;
    ChunkGrid grid_;
    std::uint64_t cache_bytes_;
    mutable std::mutex unpacking_, cache_mutex_;
    mutable std::deque<std::pair<std::uint64_t, Unpacked>> cache_;
};

} // namespace

std::shared_ptr<const RowSource> grid_rows(Shape shape, std::shared_ptr<Descriptor> file, ChunkGrid grid,
                                           std::uint64_t cache_bytes)
{
    return std::make_shared<GridRows>(std::move(shape), std::move(file), std::move(grid), cache_bytes);
}

} // namespace flipscope::h5
