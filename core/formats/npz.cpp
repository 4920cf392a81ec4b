// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/npz.h"

#include "core/formats/npy.h"
#include "core/trace/hdf5.h"

#include <algorithm>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>
#include <zip.h>

namespace flipscope::formats {

namespace {

constexpr zip_int64_t most_members = 1 << 16;
constexpr std::size_t piece = 1 << 20;

/// An open archive. libzip is not made for several threads at once: each use takes the lock.
class Archive {
public:
    static Result<std::shared_ptr<Archive>> open(const std::filesystem::path& content, std::string shown)
    {
        const int fd = ::open(content.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            return fail(ErrorKind::Unreadable, "{} cannot be opened.", shown);
        int code = 0;
        zip_t* zip = zip_fdopen(fd, ZIP_CHECKCONS, &code);
        if (zip == nullptr) {
            ::close(fd);
            zip_error_t error;
            zip_error_init_with_code(&error, code);
            const std::string reason = zip_error_strerror(&error);
            zip_error_fini(&error);
            return fail(ErrorKind::BadFormat, "{} is a damaged ZIP archive ({}): copy or save it again.", shown,
                        h5::one_line(reason));
        }
        return std::make_shared<Archive>(zip, std::move(shown));
    }
    Archive(zip_t* zip, std::string shown) : zip_(zip), shown_(std::move(shown)) {}
    Archive(const Archive&) = delete;
    Archive& operator=(const Archive&) = delete;
    ~Archive() { zip_discard(zip_); }

    zip_t* zip() const { return zip_; }
    const std::string& shown() const { return shown_; }
    std::mutex& mutex() const { return mutex_; }

private:
    zip_t* zip_;
    std::string shown_;
    mutable std::mutex mutex_;
};

struct Member {
    zip_uint64_t index = 0, size = 0;
    bool stored = false;
    std::string shown;
};

/// A member while it is read; closed before its archive.
class OpenMember {
public:
    OpenMember(const Archive& archive, zip_uint64_t index) : file_(zip_fopen_index(archive.zip(), index, 0)) {}
    OpenMember(const OpenMember&) = delete;
    OpenMember& operator=(const OpenMember&) = delete;
    ~OpenMember()
    {
        if (file_ != nullptr)
            zip_fclose(file_);
    }
    zip_file_t* get() const { return file_; }

private:
    zip_file_t* file_;
};

/// Fills as much of `out` as there is; false at an error.
bool read_some(zip_file_t* file, std::span<std::byte> out, std::size_t& done)
{
    done = 0;
    while (done < out.size()) {
        const zip_int64_t n = zip_fread(file, out.data() + done, out.size() - done);
        if (n < 0)
            return false;
        if (n == 0)
            break;
        done += static_cast<std::size_t>(n);
    }
    return true;
}

class MemberBytes : public ByteSource {
public:
    MemberBytes(std::shared_ptr<Archive> archive, Member member)
        : archive_(std::move(archive)), member_(std::move(member))
    {
    }
    ~MemberBytes() override
    {
        const std::lock_guard lock(archive_->mutex());
        open_.reset();
    }
    std::uint64_t size() const override { return member_.size; }

    Result<void> read(std::uint64_t offset, std::span<std::byte> out) const override
    {
        const std::lock_guard lock(archive_->mutex());
        if (unpacked_)
            return unpacked_->read(offset, out);
        if (!open_ && !reopen())
            return damaged();
        // A packed member is read from its start as far as its header goes; whoever wants its elements has it unpacked.
        if (member_.stored ? zip_fseek(open_->get(), static_cast<zip_int64_t>(offset), SEEK_SET) == 0
                           : skip_to(offset)) {
            std::size_t done = 0;
            if (read_some(open_->get(), out, done)) {
                at_ = offset + done;
                if (done == out.size())
                    return {};
            }
            open_.reset();
            return damaged();
        }
        open_.reset();
        if (auto ok = unpack(); !ok)
            return ok;
        return unpacked_->read(offset, out);
    }

private:
    static constexpr std::uint64_t longest_skip = 1 << 17; ///< a header

    bool reopen() const
    {
        open_ = std::make_unique<OpenMember>(*archive_, member_.index);
        at_ = 0;
        return open_->get() != nullptr;
    }
    tl::unexpected<Error> damaged() const
    {
        return fail(ErrorKind::BadFormat,
                    "{} cannot be unpacked: the archive is damaged or packed in a way this program does not know.",
                    member_.shown);
    }
    bool skip_to(std::uint64_t offset) const
    {
        if (offset > longest_skip || (offset < at_ && !reopen()))
            return false;
        std::vector<std::byte> skipped(static_cast<std::size_t>(offset - at_));
        std::size_t done = 0;
        return read_some(open_->get(), skipped, done) && done == skipped.size();
    }
    Result<void> unpack() const
    {
        auto temporary = TemporaryFile::create();
        if (!temporary)
            return tl::unexpected(temporary.error());
        if (!reopen())
            return damaged();
        std::vector<std::byte> buffer(piece);
        for (std::size_t n = buffer.size(); n == buffer.size();) {
            if (!read_some(open_->get(), buffer, n) || temporary->size() + n > member_.size)
                return damaged();
            if (auto ok = temporary->write(temporary->size(), std::span(buffer).first(n)); !ok)
                return ok;
        }
        open_.reset();
        if (temporary->size() != member_.size)
            return damaged();
        unpacked_ = std::move(*temporary).into_bytes(member_.shown);
        return {};
    }

    std::shared_ptr<Archive> archive_;
    Member member_;
    mutable std::unique_ptr<OpenMember> open_;
    mutable std::uint64_t at_ = 0;
    mutable BytesPtr unpacked_;
};

/// Whether so many bytes can be in there: nothing is taken on trust that is not in the file.
bool plausible(const zip_stat_t& stat, std::uint64_t file_size)
{
    constexpr zip_uint64_t best_ratio = 1032; // of deflate
    if (stat.comp_size > file_size)
        return false;
    if (stat.comp_method == ZIP_CM_STORE)
        return stat.size == stat.comp_size;
    return stat.comp_method == ZIP_CM_DEFLATE && stat.size <= (stat.comp_size + 64) * best_ratio;
}

std::string array_name(std::string name)
{
    if (name.ends_with(".npy"))
        name.resize(name.size() - 4);
    return name;
}

} // namespace

Result<std::vector<Array>> read_npz(const std::filesystem::path& content, const std::filesystem::path& shown,
                                    const Job& job)
{
    auto archive = Archive::open(content, h5::one_line(shown.string()));
    if (!archive)
        return tl::unexpected(archive.error());
    const zip_int64_t n = zip_get_num_entries((*archive)->zip(), 0);
    if (n > most_members)
        return fail(ErrorKind::BadFormat, "{} has {} members, where a handful is usual.", (*archive)->shown(), n);
    std::error_code error;
    const std::uint64_t file_size = std::filesystem::file_size(content, error);
    constexpr auto needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    std::vector<Array> arrays;
    std::optional<Error> first_error;
    for (zip_int64_t i = 0; i < n; ++i) {
        if (job.cancelled())
            return cancelled();
        zip_stat_t stat;
        if (zip_stat_index((*archive)->zip(), static_cast<zip_uint64_t>(i), 0, &stat) != 0 ||
            (stat.valid & needed) != needed)
            continue;
        const std::string name = h5::valid_utf8(stat.name);
        if (!name.ends_with(".npy"))
            continue;
        Member member{static_cast<zip_uint64_t>(i), stat.size, stat.comp_method == ZIP_CM_STORE,
                      fmt::format("{}: {}", (*archive)->shown(), h5::one_line(name, 80))};
        if (!plausible(stat, file_size)) {
            first_error =
                Error{ErrorKind::BadFormat,
                      fmt::format("{} claims to hold {} bytes, which its {} bytes in the archive cannot, or is "
                                  "packed in a way that NumPy does not use.",
                                  member.shown, stat.size, stat.comp_size)};
            continue;
        }
        auto array = parse_npy(std::make_shared<MemberBytes>(*archive, member), array_name(name), member.shown);
        if (array)
            arrays.push_back(std::move(*array));
        else if (!first_error)
            first_error = array.error();
    }
    if (arrays.empty())
        return first_error ? Result<std::vector<Array>>(tl::unexpected(*first_error))
                           : fail(ErrorKind::BadFormat, "{} is a ZIP archive without NumPy arrays (members *.npy).",
                                  (*archive)->shown());
    return arrays;
}

} // namespace flipscope::formats
