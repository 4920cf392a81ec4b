// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/hdf5_read.h"
#include "core/trace/logit_encoding.h"
#include "core/trace/rows.h"

#include <memory>
#include <vector>

// The ways in which rows lie in a file. Each is a RowSource whose messages are whole sentences with the file's name.
namespace flipscope::h5 {

struct Shape {
    std::filesystem::path file;
    std::string path; ///< of the dataset
    Encoding encoding;
    std::int64_t rows = 0, columns = 0;
};

/// What all of them share: checks of the arguments, and byte order.
class FileRows : public RowSource {
public:
    explicit FileRows(Shape shape) : shape_(std::move(shape)) {}
    LogitType type() const override { return shape_.encoding.type; }
    std::int64_t rows() const override { return shape_.rows; }
    std::int64_t columns() const override { return shape_.columns; }
    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const final;
    /// Whether the library reads the rows, and has one soon: what it makes of the later ones is tried too (trial.h).
    virtual bool worth_trying() const { return false; }

protected:
    /// `out` has exactly the size of the rows asked for; byte order as stored.
    virtual Result<void> read_stored(std::int64_t first, std::int64_t count, std::span<std::byte> out) const = 0;
    std::string name() const;
    /// Fills `out` from the file at `offset`, beside the library and its lock.
    Result<void> read_piece(const Descriptor& file, std::uint64_t offset, std::span<std::byte> out) const;

private:
    Shape shape_;
};

constexpr std::uint64_t unwritten = ~std::uint64_t{0}; ///< place of a chunk or row that was never written

/// Where a chunk lies.
struct ChunkPlace {
    std::uint64_t offset = unwritten;
    std::uint64_t size = 0; ///< in the file
    unsigned mask = 0;      ///< bit i: filter i was skipped for this chunk
};

/// The grid of chunks that a two-dimensional dataset is cut into.
struct ChunkGrid {
    std::uint64_t chunk_rows = 1, chunk_columns = 1;
    std::uint64_t across = 1;       ///< chunks in a row of the grid
    std::vector<ChunkPlace> places; ///< row-major
    std::vector<Filter> filters;
};

/// Rows that lie in the file whole and as they are, at these offsets.
std::shared_ptr<const RowSource> plain_rows(Shape shape, std::shared_ptr<Descriptor> file,
                                            std::vector<std::uint64_t> offsets);

/// Rows in chunks, plain or packed with filters that can_unpack() knows. Holds at most `cache_bytes` of unpacked chunks
/// (but always one), so that neighbouring rows do not unpack the same chunk again.
std::shared_ptr<const RowSource> grid_rows(Shape shape, std::shared_ptr<Descriptor> file, ChunkGrid grid,
                                           std::uint64_t cache_bytes);

/// Rows that only the library can put together; `quick` where one row is had without unpacking very much.
std::shared_ptr<const RowSource> library_rows(Shape shape, std::shared_ptr<const File> file, Dataset dataset,
                                              bool quick);

/// Rows that are there but cannot be unpacked on this machine: every read fails with this sentence.
std::shared_ptr<const RowSource> unreadable_rows(Shape shape, std::string sentence);

} // namespace flipscope::h5
