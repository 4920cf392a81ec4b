// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/logit_rows.h"

#include "core/trace/chunk_unpack.h"
#include "core/trace/file_rows.h"
#include "core/trace/hdf5_driver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace flipscope::h5 {

namespace {

constexpr std::uint64_t max_columns = 1ull << 24; ///< 64 times the largest vocabulary there is
constexpr std::uint64_t max_chunks_across = 4096; ///< pieces that one row may be split into
constexpr std::uint64_t max_chunks = 4'000'000;   ///< pieces of one dataset
constexpr std::uint64_t max_cache = 2ull << 30;   ///< bytes of unpacked chunks kept for one dataset
constexpr std::uint64_t max_look = 256ull << 20;  ///< bytes unpacked at opening, for a look at the first row
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

/// Looks up where each chunk lies.
Result<ChunkGrid> find_chunks(const File& file, const Dataset& d)
{
    ChunkGrid grid;
    grid.chunk_rows = d.chunk[0];
    grid.chunk_columns = d.chunk[1];
    grid.across = chunks_across(d);
    grid.filters = d.filters;
    grid.places.reserve(d.chunks_needed);
    std::uint64_t located = 0;
    for (hsize_t r = 0; r < d.dims[0]; r += d.chunk[0])
        for (hsize_t c = 0; c < d.dims[1]; c += d.chunk[1]) {
            const std::array<hsize_t, 2> at = {r, c};
            ChunkPlace& place = grid.places.emplace_back();
            const auto found = locate_chunk(file.id.id(), d.id.id(), at.data());
            if (!found)
                continue;
            ++located;
            place = {found->address, found->size, found->mask};
            const bool outside = place.size > file.size || place.offset > file.size - place.size;
            if (outside || (d.filters.empty() && place.size != chunk_bytes(d)))
                return fail(ErrorKind::BadFormat, "{}: chunk {} ({} bytes at {}) does not lie within the file", d.path,
                            grid.places.size(), place.size, place.offset);
        }
    if (located < d.chunks_stored && !file.being_written)
        return fail(ErrorKind::BadFormat, "{}: the list of its chunks is damaged: {} were written, {} are found",
                    d.path, d.chunks_stored, located);
    return grid;
}

/// Per row whether all of its chunks were written; empty = all were.
std::vector<bool> written_rows(const Dataset& d, const ChunkGrid& grid)
{
    const auto missing = [](const ChunkPlace& p) { return p.offset == unwritten; };
    if (std::none_of(grid.places.begin(), grid.places.end(), missing))
        return {};
    std::vector<bool> out(d.dims[0], true);
    for (std::size_t i = 0; i < out.size(); ++i)
        for (std::uint64_t c = 0; c < grid.across; ++c)
            if (missing(grid.places[i / grid.chunk_rows * grid.across + c]))
                out[i] = false;
    return out;
}

/// Where each row of a dataset begins whose rows lie whole in the file.
std::vector<std::uint64_t> row_offsets(const Dataset& d, const ChunkGrid& grid)
{
    const std::uint64_t bytes = d.dims[1] * d.type_size;
    std::vector<std::uint64_t> out(d.dims[0]);
    const std::uint64_t begin = d.layout == H5D_CONTIGUOUS ? H5Dget_offset(d.id.id()) : 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (d.layout == H5D_CONTIGUOUS) {
            out[i] = begin + i * bytes;
            continue;
        }
        const std::uint64_t chunk = grid.places[i / grid.chunk_rows].offset;
        out[i] = chunk == unwritten ? unwritten : chunk + i % grid.chunk_rows * bytes;
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
void size_cache(const Group& group, Dataset& d)
{
    const Handle access(H5Pcopy(group.file->dataset_access.id()));
    const std::uint64_t slots = std::max<std::uint64_t>(521, 10 * chunks_across(d) + 1);
    H5Pset_chunk_cache(access.id(), slots, std::min(chunk_bytes(d) * chunks_across(d), max_cache), 1.0);
    const std::string name = d.path.substr(d.path.rfind('/') + 1);
    d.id = Handle(); // closed first, or the library hands out the old cache
    d.id = Handle(H5Dopen2(group.id.id(), name.c_str(), access.id()));
}

/// The library is left out wherever possible: rows are then read in parallel, and a broken file cannot make it stumble.
Result<std::shared_ptr<const RowSource>> make_source(const std::shared_ptr<const File>& file, const Group& group,
                                                     Dataset& d, Shape shape, ChunkGrid grid)
{
    const bool in_place = d.layout == H5D_CONTIGUOUS || d.layout == H5D_CHUNKED;
    if (in_place && d.filters.empty() && (d.chunk.empty() || d.chunk[1] == d.dims[1]))
        return plain_rows(std::move(shape), file->descriptor, row_offsets(d, grid));
    if (in_place && can_unpack(d.filters))
        return grid_rows(std::move(shape), file->descriptor, std::move(grid),
                         std::min(chunk_bytes(d) * chunks_across(d), max_cache));
    if (d.layout == H5D_CHUNKED)
        size_cache(group, d);
    if (!d.id)
        return fail(ErrorKind::BadFormat, "{} cannot be read: {}", d.path, last_error());
    const bool quick = unpacked_for_a_row(d) <= max_look;
    return library_rows(std::move(shape), file, std::move(d), quick);
}

} // namespace

Result<LogitRows> open_logits(const std::shared_ptr<const File>& file, const Group& group, Findings& findings)
{
    auto d = open_dataset(group, "logits");
    if (!d)
        return tl::unexpected(d.error());
    if (auto ok = check_shape(*d); !ok)
        return tl::unexpected(ok.error());
    const auto encoding = encoding_of(*d, *file);
    if (!encoding)
        return tl::unexpected(encoding.error());
    Shape shape{file->path, d->path, *encoding, static_cast<std::int64_t>(d->dims[0]),
                static_cast<std::int64_t>(d->dims[1])};

    LogitRows out;
    out.extendible = d->extendible;
    if (const auto missing = missing_filters(d->filters); !missing.empty()) {
        const std::string reason = explain_missing(d->path, missing);
        findings.push_back({Finding::Level::Warning, "missing-filter", reason + "."});
        out.source = unreadable_rows(std::move(shape), fmt::format("{}: {}.", one_line(file->path.string()), reason));
        return out;
    }
    ChunkGrid grid;
    if (d->layout == H5D_CHUNKED) {
        auto found = find_chunks(*file, *d);
        if (!found)
            return tl::unexpected(found.error());
        grid = std::move(*found);
        out.written = written_rows(*d, grid);
    } else if (auto ok = check_readable(*d, *file); !ok)
        return tl::unexpected(ok.error());
    warn_if_slow(*d, findings);
    out.quick = unpacked_for_a_row(*d) <= max_look;
    auto source = make_source(file, group, *d, std::move(shape), std::move(grid));
    if (!source)
        return tl::unexpected(source.error());
    out.source = std::move(*source);
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
                     "model emits: its type may be stated wrongly ({}).",
                     path, beyond, rows.columns(), largest, name_of(rows.type()))});
}

} // namespace flipscope::h5
