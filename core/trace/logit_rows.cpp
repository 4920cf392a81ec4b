// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/logit_rows.h"

#include "core/trace/logit_encoding.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <unistd.h>

namespace flipscope::h5 {

namespace {

constexpr std::uint64_t max_columns = 1ull << 24; ///< 64 times the largest vocabulary there is
constexpr std::uint64_t max_chunks_across = 4096; ///< pieces that one row may be split into
constexpr std::uint64_t max_chunks = 4'000'000;   ///< pieces of one dataset
constexpr std::uint64_t max_cache = 2ull << 30;   ///< bytes of unpacked chunks kept for one dataset
constexpr std::uint64_t max_look = 256ull << 20;  ///< bytes unpacked at opening, for a look at the first row
constexpr std::uint64_t unwritten = ~std::uint64_t{0};

struct Shape {
    std::filesystem::path file;
    std::string path;
    Encoding encoding;
    std::int64_t rows = 0, columns = 0;
};

class FileRows : public RowSource {
public:
    explicit FileRows(Shape shape) : shape_(std::move(shape)) {}
    LogitType type() const override { return shape_.encoding.type; }
    std::int64_t rows() const override { return shape_.rows; }
    std::int64_t columns() const override { return shape_.columns; }

    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const final
    {
        if (first < 0 || count < 0 || first > rows() - count ||
            out.size() < static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(row_bytes()))
            return fail(ErrorKind::Usage, "{}: rows {} to {} were asked for, of {}.", name(), first, first + count,
                        rows());
        if (count == 0 || columns() == 0)
            return {};
        out = out.first(static_cast<std::size_t>(count * row_bytes()));
        if (auto ok = read_stored(first, count, out); !ok)
            return ok;
        if (shape_.encoding.swap)
            swap_elements(out, size_of(type()));
        return {};
    }

protected:
    virtual Result<void> read_stored(std::int64_t first, std::int64_t count, std::span<std::byte> out) const = 0;
    std::string name() const { return fmt::format("{}: {}", one_line(shape_.file.string()), shape_.path); }

private:
    Shape shape_;
};

/// Rows that lie in the file as they are, whole: read from where they lie, beside the library and its lock.
class PlainRows : public FileRows {
public:
    PlainRows(Shape shape, std::shared_ptr<Descriptor> descriptor, std::vector<std::uint64_t> offsets)
        : FileRows(std::move(shape)), descriptor_(std::move(descriptor)), offsets_(std::move(offsets))
    {
    }

protected:
    Result<void> read_stored(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        const auto bytes = static_cast<std::uint64_t>(row_bytes());
        const auto* at = offsets_.data() + first;
        for (std::int64_t i = 0; i < count;) {
            if (at[i] == unwritten)
                return fail(ErrorKind::BadFormat, "{}: row {} was never written.", name(), first + i);
            std::int64_t n = 1; // rows that follow each other in the file are one piece
            while (i + n < count && at[i + n] == at[i] + static_cast<std::uint64_t>(n) * bytes)
                ++n;
            const auto begin = static_cast<std::size_t>(i * row_bytes());
            if (auto ok = read_piece(at[i], out.subspan(begin, static_cast<std::size_t>(n * row_bytes()))); !ok)
                return ok;
            i += n;
        }
        return {};
    }

private:
    Result<void> read_piece(std::uint64_t offset, std::span<std::byte> out) const
    {
        while (!out.empty()) {
            const ssize_t n = ::pread(descriptor_->fd(), out.data(), out.size(), static_cast<off_t>(offset));
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                return fail(ErrorKind::Unreadable, "{} cannot be read: {}.", name(), std::strerror(errno));
            if (n == 0)
                return fail(ErrorKind::BadFormat, "{}: the file ends in the middle of a row.", name());
            out = out.subspan(static_cast<std::size_t>(n));
            offset += static_cast<std::uint64_t>(n);
        }
        return {};
    }

    std::shared_ptr<Descriptor> descriptor_;
    std::vector<std::uint64_t> offsets_; ///< of each row in the file
};

/// Rows in pieces or compressed: the library puts them together. The stored type is also the type in memory, since its
/// conversion of 16-bit floats runs at a few megabytes a second.
class ChunkedRows : public FileRows {
public:
    ChunkedRows(Shape shape, std::shared_ptr<const File> file, Dataset dataset)
        : FileRows(std::move(shape)), file_(std::move(file)), dataset_(std::move(dataset))
    {
    }

protected:
    Result<void> read_stored(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        const Session session;
        const std::array<hsize_t, 2> start = {static_cast<hsize_t>(first), 0};
        const std::array<hsize_t, 2> size = {static_cast<hsize_t>(count), static_cast<hsize_t>(columns())};
        const Handle stored(H5Screate_simple(2, dataset_.dims.data(), nullptr));
        const Handle memory(H5Screate_simple(2, size.data(), nullptr));
        if (!stored || !memory ||
            H5Sselect_hyperslab(stored.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0 ||
            H5Dread(dataset_.id.id(), dataset_.type.id(), memory.id(), stored.id(), H5P_DEFAULT, out.data()) < 0)
            return fail(ErrorKind::BadFormat, "{}: rows {} to {} cannot be read: {}.", name(), first, first + count - 1,
                        last_error());
        return {};
    }

private:
    std::shared_ptr<const File> file_;
    Dataset dataset_;
};

/// Rows that are there but cannot be unpacked on this machine.
class UnreadableRows : public FileRows {
public:
    UnreadableRows(Shape shape, std::string reason) : FileRows(std::move(shape)), reason_(std::move(reason)) {}

protected:
    Result<void> read_stored(std::int64_t, std::int64_t, std::span<std::byte>) const override
    {
        return fail(ErrorKind::Unsupported, "{}.", reason_);
    }

private:
    std::string reason_;
};

std::uint64_t chunks_across(const Dataset& d)
{
    return (d.dims[1] + d.chunk[1] - 1) / d.chunk[1];
}

std::uint64_t chunk_bytes(const Dataset& d)
{
    return d.chunk[0] * d.chunk[1] * d.type_size;
}

/// Bytes that must be unpacked to read one row.
std::uint64_t unpacked_for_a_row(const Dataset& d)
{
    return d.filters.empty() || d.chunk.empty() ? d.dims[1] * d.type_size : chunk_bytes(d) * chunks_across(d);
}

Result<void> check_shape(const Dataset& d)
{
    if (d.dims.size() != 2)
        return fail(ErrorKind::BadFormat,
                    "{} has {} dimension{} ({}), where two are needed: one row of the whole vocabulary for each "
                    "position",
                    d.path, d.dims.size(), d.dims.size() == 1 ? "" : "s", d.shape());
    if (d.dims[1] == 0 || d.dims[1] > max_columns)
        return fail(ErrorKind::BadFormat, "{} has {} columns, which is no vocabulary", d.path, d.dims[1]);
    if (d.chunk.empty())
        return {};
    if (d.chunks_needed > max_chunks || chunks_across(d) > max_chunks_across)
        return fail(ErrorKind::Unsupported,
                    "{} is stored in {} pieces of {} × {}, too many to read; rewrite it with one row a chunk "
                    "(h5repack -l /probes/logits:CHUNK=1x{} IN OUT)",
                    d.path, d.chunks_needed, d.chunk[0], d.chunk[1], d.dims[1]);
    if (!d.filters.empty() && unpacked_for_a_row(d) > (1ull << 36))
        return fail(ErrorKind::Unsupported, "{}: {} bytes would have to be unpacked to read one row", d.path,
                    unpacked_for_a_row(d));
    return {};
}

/// Where each chunk lies; unwritten for one that does not exist. In row-major order of chunks.
Result<std::vector<std::uint64_t>> chunk_offsets(const Dataset& d)
{
    std::vector<std::uint64_t> out;
    out.reserve(d.chunks_needed);
    for (hsize_t r = 0; r < d.dims[0]; r += d.chunk[0])
        for (hsize_t c = 0; c < d.dims[1]; c += d.chunk[1]) {
            const std::array<hsize_t, 2> at = {r, c};
            unsigned mask = 0;
            haddr_t address = HADDR_UNDEF;
            hsize_t size = 0;
            if (H5Dget_chunk_info_by_coord(d.id.id(), at.data(), &mask, &address, &size) < 0)
                return fail(ErrorKind::BadFormat, "{}: the list of its chunks cannot be read ({})", d.path,
                            last_error());
            out.push_back(address == HADDR_UNDEF ? unwritten : address);
        }
    return out;
}

std::vector<bool> written_rows(const Dataset& d, const std::vector<std::uint64_t>& offsets)
{
    std::vector<bool> out(d.dims[0], true);
    const std::uint64_t across = chunks_across(d);
    for (std::size_t i = 0; i < out.size(); ++i)
        for (std::uint64_t c = 0; c < across; ++c)
            if (offsets[i / d.chunk[0] * across + c] == unwritten)
                out[i] = false;
    return out;
}

/// Offsets of the rows of a dataset that stores them plainly, or nothing where only the library can find them.
std::optional<std::vector<std::uint64_t>> row_offsets(const File& file, const Dataset& d,
                                                      const std::vector<std::uint64_t>& chunks)
{
    const std::uint64_t bytes = d.dims[1] * d.type_size;
    std::vector<std::uint64_t> out(d.dims[0]);
    if (d.layout == H5D_CONTIGUOUS) {
        const std::uint64_t begin = H5Dget_offset(d.id.id());
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = begin + i * bytes;
        return out;
    }
    // With a user block the library's chunk addresses count from its end in some versions, from the start in others.
    if (d.layout != H5D_CHUNKED || !d.filters.empty() || d.chunk[1] != d.dims[1] || file.has_user_block)
        return std::nullopt;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::uint64_t chunk = chunks[i / d.chunk[0]];
        out[i] = chunk == unwritten ? unwritten : chunk + i % d.chunk[0] * bytes;
    }
    return out;
}

void warn_if_slow(const Dataset& d, Findings& findings)
{
    if (d.chunk.empty() || d.dims[0] == 0)
        return;
    const std::uint64_t row = d.dims[1] * d.type_size;
    const bool split = d.chunk[1] < d.dims[1] && d.chunk[0] > 1;
    const bool packed = !d.filters.empty() && d.chunk[0] > 1 && unpacked_for_a_row(d) > 2 * row;
    if (!split && !packed)
        return;
    findings.push_back(
        {Finding::Level::Warning, "slow-chunks",
         fmt::format("{} is stored in {} of {} × {}, so that reading one row {}; repacking it by rows would be faster "
                     "(h5repack -l {}:CHUNK=1x{} IN OUT).",
                     d.path, d.filters.empty() ? "chunks" : "compressed chunks", d.chunk[0], d.chunk[1],
                     packed ? fmt::format("unpacks {:.1f} MB for {:.1f} MB",
                                          1e-6 * static_cast<double>(unpacked_for_a_row(d)),
                                          1e-6 * static_cast<double>(row))
                            : fmt::format("gathers {} pieces", chunks_across(d)),
                     d.path, d.dims[1])});
}

/// Opens the dataset again with a chunk cache that holds what one row needs, so that the rows after it come from there.
/// Without a filter there is no cache at all: pieces go straight where they are wanted.
void size_cache(const Group& group, Dataset& d)
{
    const Handle access(H5Pcopy(group.file->dataset_access.id()));
    const std::uint64_t wanted = d.filters.empty() ? 0 : chunk_bytes(d) * chunks_across(d);
    const std::uint64_t slots = std::max<std::uint64_t>(521, 10 * chunks_across(d) + 1);
    H5Pset_chunk_cache(access.id(), slots, std::min(wanted, max_cache), 1.0);
    const std::string name = d.path.substr(d.path.rfind('/') + 1);
    d.id = Handle(); // closed first, or the library hands out the old cache
    d.id = Handle(H5Dopen2(group.id.id(), name.c_str(), access.id()));
}

} // namespace

Result<LogitRows> open_logits(std::shared_ptr<const File> file, const Group& group, Findings& findings)
{
    auto d = open_dataset(group, "logits");
    if (!d)
        return tl::unexpected(d.error());
    if (auto ok = check_shape(*d); !ok)
        return tl::unexpected(ok.error());
    const auto encoding = encoding_of(*d);
    if (!encoding)
        return tl::unexpected(encoding.error());
    Shape shape{file->path, d->path, *encoding, static_cast<std::int64_t>(d->dims[0]),
                static_cast<std::int64_t>(d->dims[1])};

    LogitRows out;
    out.extendible = d->extendible;
    if (const auto missing = missing_filters(d->filters); !missing.empty()) {
        const std::string reason = explain_missing(d->path, missing);
        findings.push_back({Finding::Level::Warning, "missing-filter", reason + "."});
        out.source = std::make_shared<UnreadableRows>(std::move(shape),
                                                      fmt::format("{}: {}", one_line(file->path.string()), reason));
        return out;
    }
    std::vector<std::uint64_t> chunks;
    if (d->layout == H5D_CHUNKED && d->elements > 0) {
        auto offsets = chunk_offsets(*d);
        if (!offsets)
            return tl::unexpected(offsets.error());
        chunks = std::move(*offsets);
        if (std::find(chunks.begin(), chunks.end(), unwritten) != chunks.end())
            out.written = written_rows(*d, chunks);
    } else if (auto ok = check_readable(*d, *file); !ok)
        return tl::unexpected(ok.error());
    if (auto offsets = row_offsets(*file, *d, chunks)) {
        out.source = std::make_shared<PlainRows>(std::move(shape), file->descriptor, std::move(*offsets));
        return out;
    }
    warn_if_slow(*d, findings);
    out.quick = unpacked_for_a_row(*d) <= max_look;
    if (d->layout == H5D_CHUNKED)
        size_cache(group, *d);
    if (!d->id)
        return fail(ErrorKind::BadFormat, "{} cannot be read: {}", d->path, last_error());
    out.source = std::make_shared<ChunkedRows>(std::move(shape), std::move(file), std::move(*d));
    return out;
}

void check_plausible(const RowSource& rows, const std::string& path, Findings& findings)
{
    if (rows.rows() == 0)
        return;
    std::vector<std::byte> row(static_cast<std::size_t>(rows.row_bytes()));
    if (!rows.read(0, 1, row)) // the reader of the rows will be told
        return;
    std::int64_t beyond = 0;
    double largest = 0;
    std::optional<double> only;
    bool several = false;
    for (std::int64_t i = 0; i < rows.columns(); ++i) {
        const double v = widen(row.data(), rows.type(), static_cast<std::size_t>(i));
        if (!std::isfinite(v) || std::fabs(v) <= 1e4)
            continue;
        ++beyond;
        largest = std::max(largest, std::fabs(v));
        several = several || v > 0 || (only && *only != v);
        only = v;
    }
    if (beyond == 0 || !several) // one large negative constant is how some engines mask ids
        return;
    findings.push_back(
        {Finding::Level::Warning, "implausible-values",
         fmt::format("{}: {} of the {} values of the first row are beyond ±10,000 (up to {:.3g}), which no "
                     "model emits; is its type ({}) stated rightly?",
                     path, beyond, rows.columns(), largest, name_of(rows.type()))});
}

} // namespace flipscope::h5
