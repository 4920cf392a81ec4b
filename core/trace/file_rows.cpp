// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/file_rows.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace flipscope::h5 {

namespace {

class PlainRows : public FileRows {
public:
    PlainRows(Shape shape, std::shared_ptr<Descriptor> file, std::vector<std::uint64_t> offsets)
        : FileRows(std::move(shape)), file_(std::move(file)), offsets_(std::move(offsets))
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
            const auto piece =
                out.subspan(static_cast<std::size_t>(i * row_bytes()), static_cast<std::size_t>(n * row_bytes()));
            if (auto ok = read_piece(*file_, at[i], piece); !ok)
                return ok;
            i += n;
        }
        return {};
    }

private:
    std::shared_ptr<Descriptor> file_;
    std::vector<std::uint64_t> offsets_;
};

/// The stored type is also the type in memory: the library converts 16-bit floats at a few megabytes a second.
class LibraryRows : public FileRows {
public:
    LibraryRows(Shape shape, std::shared_ptr<const File> file, Dataset dataset, bool quick)
        : FileRows(std::move(shape)), file_(std::move(file)), dataset_(std::move(dataset)), quick_(quick)
    {
    }
    bool worth_trying() const override { return quick_; }

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
    bool quick_;
};

class UnreadableRows : public FileRows {
public:
    UnreadableRows(Shape shape, std::string sentence) : FileRows(std::move(shape)), sentence_(std::move(sentence)) {}

protected:
    Result<void> read_stored(std::int64_t, std::int64_t, std::span<std::byte>) const override
    {
        return fail(ErrorKind::Unsupported, "{}", sentence_);
    }

private:
    std::string sentence_;
};

} // namespace

Result<void> FileRows::read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const
{
    if (first < 0 || count < 0 || first > rows() - count ||
        out.size() < static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(row_bytes()))
        return fail(ErrorKind::Usage, "{}: rows {} to {} were asked for, of {}.", name(), first, first + count, rows());
    if (count == 0)
        return {};
    out = out.first(static_cast<std::size_t>(count * row_bytes()));
    if (auto ok = read_stored(first, count, out); !ok)
        return ok;
    if (shape_.encoding.swap)
        swap_elements(out, size_of(type()));
    return {};
}

std::string FileRows::name() const
{
    return fmt::format("{}: {}", one_line(shape_.file.string()), shape_.path);
}

Result<void> FileRows::read_piece(const Descriptor& file, std::uint64_t offset, std::span<std::byte> out) const
{
    while (!out.empty()) {
        const ssize_t n = ::pread(file.fd(), out.data(), out.size(), static_cast<off_t>(offset));
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

std::shared_ptr<const RowSource> plain_rows(Shape shape, std::shared_ptr<Descriptor> file,
                                            std::vector<std::uint64_t> offsets)
{
    return std::make_shared<PlainRows>(std::move(shape), std::move(file), std::move(offsets));
}

std::shared_ptr<const RowSource> library_rows(Shape shape, std::shared_ptr<const File> file, Dataset dataset,
                                              bool quick)
{
    return std::make_shared<LibraryRows>(std::move(shape), std::move(file), std::move(dataset), quick);
}

std::shared_ptr<const RowSource> unreadable_rows(Shape shape, std::string sentence)
{
    return std::make_shared<UnreadableRows>(std::move(shape), std::move(sentence));
}

} // namespace flipscope::h5
