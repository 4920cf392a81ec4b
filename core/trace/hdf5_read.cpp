// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/hdf5_read.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/ranges.h>
#include <limits>
#include <new>

namespace flipscope::h5 {

namespace {

constexpr std::uint64_t max_small_bytes = 1ull << 30; ///< of one small dataset in memory
constexpr std::uint64_t max_extent = 1ull << 40;      ///< of one dimension: far beyond any trace, safe to multiply

Result<void> check_link(const Group& group, const std::string& name)
{
    H5L_info_t info = {};
    if (H5Lget_info(group.id.id(), name.c_str(), &info, H5P_DEFAULT) < 0)
        return fail(ErrorKind::NotFound, "{} is missing", group.path_of(name));
    if (info.type != H5L_TYPE_HARD && info.type != H5L_TYPE_SOFT)
        return fail(ErrorKind::Unsupported,
                    "{} is a link into another file, which is not followed; copy the data into this one",
                    group.path_of(name));
    return {};
}

Result<void> read_extent(Dataset& d)
{
    const Handle space(H5Dget_space(d.id.id()));
    const int rank = H5Sget_simple_extent_ndims(space.id());
    if (!space || rank < 0 || H5Sget_simple_extent_type(space.id()) == H5S_NULL)
        return fail(ErrorKind::BadFormat, "{} has no shape", d.path);
    if (rank > 2)
        return fail(ErrorKind::BadFormat, "{} has {} dimensions, where one or two are expected", d.path, rank);
    std::array<hsize_t, 2> dims = {}, most = {};
    H5Sget_simple_extent_dims(space.id(), dims.data(), most.data());
    d.elements = 1;
    for (int i = 0; i < rank; ++i) {
        const auto extent = dims[static_cast<std::size_t>(i)];
        if (extent > max_extent || (extent != 0 && d.elements > (1ull << 56) / extent))
            return fail(ErrorKind::BadFormat, "{} claims an impossible size ({} in dimension {})", d.path, extent,
                        i + 1);
        d.dims.push_back(extent);
        d.elements *= extent;
    }
    d.extendible = rank > 0 && most[0] != dims[0];
    return {};
}

Result<void> read_chunking(Dataset& d, hid_t creation)
{
    d.chunk.resize(d.dims.size());
    if (d.chunk.empty() ||
        H5Pget_chunk(creation, static_cast<int>(d.chunk.size()), d.chunk.data()) != static_cast<int>(d.chunk.size()))
        return fail(ErrorKind::BadFormat, "{} is stored in chunks of another number of dimensions", d.path);
    std::uint64_t chunk_bytes = d.type_size;
    d.chunks_needed = 1;
    for (std::size_t i = 0; i < d.chunk.size(); ++i) {
        if (d.chunk[i] == 0 || chunk_bytes > (1ull << 32) / d.chunk[i])
            return fail(ErrorKind::BadFormat, "{} is stored in chunks of an impossible size", d.path);
        chunk_bytes *= d.chunk[i];
        d.chunks_needed *= (d.dims[i] + d.chunk[i] - 1) / d.chunk[i];
    }
    if (d.elements == 0)
        return {};
    const Handle space(H5Dget_space(d.id.id()));
    hsize_t count = 0;
    if (H5Dget_num_chunks(d.id.id(), space.id(), &count) < 0)
        return fail(ErrorKind::BadFormat, "{}: the list of its chunks cannot be read ({})", d.path, last_error());
    d.chunks_stored = count;
    return {};
}

/// A deflate stream grows at most 1,032 times: a dataset that claims more lies.
bool can_hold(const Dataset& d)
{
    const bool packed = std::any_of(d.filters.begin(), d.filters.end(), [](const Filter& f) {
        return f.id != H5Z_FILTER_SHUFFLE && f.id != H5Z_FILTER_FLETCHER32;
    });
    const bool only_gzip = std::all_of(d.filters.begin(), d.filters.end(), [](const Filter& f) {
        return f.id == H5Z_FILTER_SHUFFLE || f.id == H5Z_FILTER_FLETCHER32 || f.id == H5Z_FILTER_DEFLATE;
    });
    if (!packed)
        return d.stored >= d.bytes();
    return !only_gzip || d.stored >= d.bytes() / 1100;
}

Result<Dataset> open_small(const Group& group, const std::string& name, std::uint64_t maximum)
{
    auto d = open_dataset(group, name);
    if (!d)
        return d;
    if (d->dims.size() != 1)
        return fail(ErrorKind::BadFormat, "{} has {} dimensions, where one is expected", d->path, d->dims.size());
    if (d->elements > maximum || d->bytes() > max_small_bytes)
        return fail(ErrorKind::Unsupported, "{} has {} elements, more than this version reads ({})", d->path,
                    d->elements, std::min<std::uint64_t>(maximum, max_small_bytes / d->type_size));
    if (auto ok = check_readable(*d, *group.file); !ok)
        return tl::unexpected(ok.error());
    return d;
}

tl::unexpected<Error> read_failed(const Dataset& d)
{
    return fail(ErrorKind::BadFormat, "{} cannot be read: {}", d.path, last_error());
}

} // namespace

std::string Dataset::shape() const
{
    return dims.empty() ? "one value" : fmt::format("{}", fmt::join(dims, " × "));
}

Result<Group> open_root(const File& file)
{
    Group root{&file, Handle(H5Gopen2(file.id.id(), "/", file.group_access.id())), ""};
    if (!root.id)
        return fail(ErrorKind::BadFormat, "the root group cannot be read: {}", last_error());
    return root;
}

bool has(const Group& group, const std::string& name)
{
    return H5Lexists(group.id.id(), name.c_str(), H5P_DEFAULT) > 0;
}

Result<Group> open_group(const Group& parent, const std::string& name)
{
    if (auto ok = check_link(parent, name); !ok)
        return tl::unexpected(ok.error());
    Group group{parent.file, Handle(H5Gopen2(parent.id.id(), name.c_str(), parent.file->group_access.id())),
                parent.path_of(name)};
    if (!group.id)
        return fail(ErrorKind::BadFormat, "{} cannot be read as a group: {}", group.path, last_error());
    return group;
}

Result<std::vector<std::string>> children(const Group& group, std::size_t limit)
{
    H5G_info_t info = {};
    if (H5Gget_info(group.id.id(), &info) < 0)
        return fail(ErrorKind::BadFormat, "{} cannot be listed: {}", group.path, last_error());
    if (info.nlinks > limit)
        return fail(ErrorKind::Unsupported, "{} holds {} entries, more than this version reads ({})", group.path,
                    info.nlinks, limit);
    struct Names {
        std::vector<std::string> list;
        std::size_t limit;
    } names{{}, limit};
    const auto add = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
        auto& n = *static_cast<Names*>(out);
        if (n.list.size() >= n.limit)
            return -1;
        n.list.emplace_back(name);
        return 0;
    };
    hsize_t index = 0;
    if (H5Literate(group.id.id(), H5_INDEX_NAME, H5_ITER_INC, &index, add, &names) < 0)
        return fail(ErrorKind::BadFormat, "{} cannot be listed: {}", group.path, last_error());
    return std::move(names.list);
}

Result<Dataset> open_dataset(const Group& group, const std::string& name)
{
    if (auto ok = check_link(group, name); !ok)
        return tl::unexpected(ok.error());
    Dataset d;
    d.path = group.path_of(name);
    d.id = Handle(H5Dopen2(group.id.id(), name.c_str(), group.file->dataset_access.id()));
    if (!d.id)
        return fail(ErrorKind::BadFormat, "{} cannot be read as a dataset: {}", d.path, last_error());
    const Handle creation(H5Dget_create_plist(d.id.id()));
    d.layout = H5Pget_layout(creation.id());
    if (d.layout == H5D_VIRTUAL || H5Pget_external_count(creation.id()) != 0)
        return fail(ErrorKind::Unsupported,
                    "{} has its values in other files, which are not followed; copy them into this one (h5repack)",
                    d.path);
    d.type = Handle(H5Dget_type(d.id.id()));
    d.type_class = H5Tget_class(d.type.id());
    d.type_size = H5Tget_size(d.type.id());
    if (d.type_class == H5T_NO_CLASS || d.type_size == 0 || d.type_size > (1u << 24))
        return fail(ErrorKind::BadFormat, "{} has an impossible element size ({} bytes)", d.path, d.type_size);
    if (auto ok = read_extent(d); !ok)
        return tl::unexpected(ok.error());
    if (d.elements > (1ull << 62) / d.type_size)
        return fail(ErrorKind::BadFormat, "{} claims an impossible size", d.path);
    d.filters = filters_of(creation.id());
    if (d.layout == H5D_CHUNKED)
        if (auto ok = read_chunking(d, creation.id()); !ok)
            return tl::unexpected(ok.error());
    d.stored = H5Dget_storage_size(d.id.id());
    return d;
}

Result<void> check_readable(const Dataset& d, const File& file)
{
    if (d.elements == 0)
        return {};
    if (d.layout == H5D_CONTIGUOUS) {
        const haddr_t offset = H5Dget_offset(d.id.id());
        if (offset == HADDR_UNDEF || d.stored == 0)
            return fail(ErrorKind::BadFormat, "{} was never written", d.path);
        if (d.stored < d.bytes() || offset > file.size || d.bytes() > file.size - offset)
            return fail(ErrorKind::BadFormat, "{} reaches beyond the end of the file ({} bytes)", d.path, file.size);
        return {};
    }
    if (d.layout == H5D_CHUNKED && d.chunks_stored < d.chunks_needed)
        return fail(ErrorKind::BadFormat, "{} was not written completely: {} of {} pieces are there", d.path,
                    d.chunks_stored, d.chunks_needed);
    if (const auto missing = missing_filters(d.filters); !missing.empty())
        return tl::unexpected(Error{ErrorKind::Unsupported, explain_missing(d.path, missing)});
    if (d.stored > file.size || !can_hold(d))
        return fail(ErrorKind::BadFormat, "{} claims more data ({} bytes) than the file holds", d.path, d.bytes());
    return {};
}

Result<std::vector<std::int64_t>> read_all_integers(const Dataset& d, std::uint64_t maximum)
{
    if ((d.type_class != H5T_INTEGER && d.type_class != H5T_ENUM) || d.type_size > 8)
        return fail(ErrorKind::BadFormat, "{} does not hold integers", d.path);
    if (d.elements > maximum)
        return fail(ErrorKind::Unsupported, "{} has {} elements, more than this version reads ({})", d.path, d.elements,
                    maximum);
    std::vector<std::int64_t> out(d.elements);
    if (out.empty())
        return out;
    // An unsigned value above 2^63 becomes the largest signed one here, which no check lets pass.
    if (H5Dread(d.id.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0)
        return read_failed(d);
    return out;
}

Result<std::vector<std::int64_t>> read_integers(const Group& group, const std::string& name, std::uint64_t maximum)
{
    const auto d = open_small(group, name, maximum);
    return d ? read_all_integers(*d, maximum) : tl::unexpected(d.error());
}

Result<std::vector<std::int32_t>> read_int32(const Group& group, const std::string& name, std::uint64_t maximum)
{
    const auto wide = read_integers(group, name, maximum);
    if (!wide)
        return tl::unexpected(wide.error());
    std::vector<std::int32_t> out(wide->size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (!std::in_range<std::int32_t>((*wide)[i]))
            return fail(ErrorKind::BadFormat, "{} holds {} at index {}, which is no 32-bit number", group.path_of(name),
                        (*wide)[i], i);
        out[i] = static_cast<std::int32_t>((*wide)[i]);
    }
    return out;
}

Result<std::string> read_bytes(const Group& group, const std::string& name, std::uint64_t maximum)
{
    const auto d = open_small(group, name, maximum);
    if (!d)
        return tl::unexpected(d.error());
    if (d->type_size != 1 || (d->type_class != H5T_INTEGER && d->type_class != H5T_OPAQUE))
        return fail(ErrorKind::BadFormat, "{} does not hold bytes", d->path);
    std::string out(d->elements, '\0');
    if (!out.empty() && H5Dread(d->id.id(), d->type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0)
        return read_failed(*d);
    return out;
}

Result<std::vector<std::string>> read_strings(const Group& group, const std::string& name, std::uint64_t maximum)
{
    const auto d = open_dataset(group, name);
    if (!d)
        return tl::unexpected(d.error());
    if (d->type_class != H5T_STRING)
        return fail(ErrorKind::BadFormat, "{} does not hold text", d->path);
    if (d->elements > maximum || d->bytes() > max_small_bytes)
        return fail(ErrorKind::Unsupported, "{} has {} entries, more than this version reads ({})", d->path,
                    d->elements, maximum);
    if (auto ok = check_readable(*d, *group.file); !ok)
        return tl::unexpected(ok.error());
    const auto reader = TextReader::of(d->type.id(), *group.file);
    if (!reader)
        return fail(reader.error().kind, "{}: {}", d->path, reader.error().message);
    std::string values(d->elements * reader->size(), '\0');
    if (d->elements > 0 && H5Dread(d->id.id(), reader->memory_type(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
        return read_failed(*d);
    std::vector<std::string> out;
    for (std::uint64_t i = 0; i < d->elements; ++i) {
        auto text = reader->text(values.data() + i * reader->size(), *group.file);
        if (!text)
            return fail(text.error().kind, "{}: {}", d->path, text.error().message);
        out.push_back(std::move(*text));
    }
    return out;
}

} // namespace flipscope::h5
