// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/formats/bytes.h"

#include "core/base/cache_folder.h"
#include "core/trace/hdf5.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace flipscope::formats {

namespace {

constexpr std::uint64_t room_to_leave = 512u << 20; // what other programs may still need on that disk
constexpr std::uint64_t check_every = 64u << 20;

std::string name_of(const std::filesystem::path& path)
{
    return h5::one_line(path.string());
}

class FileBytes : public ByteSource {
public:
    FileBytes(int fd, std::uint64_t size, std::filesystem::path shown) : fd_(fd), size_(size), shown_(std::move(shown))
    {
    }
    FileBytes(const FileBytes&) = delete;
    FileBytes& operator=(const FileBytes&) = delete;
    ~FileBytes() override { ::close(fd_); }
    std::uint64_t size() const override { return size_; }

    Result<void> read(std::uint64_t offset, std::span<std::byte> out) const override
    {
        while (!out.empty()) {
            const ssize_t n = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                return fail(ErrorKind::Unreadable, "{} cannot be read: {}.", name_of(shown_), std::strerror(errno));
            if (n == 0)
                return fail(ErrorKind::BadFormat, "{} ends at byte {}, before its content does.", name_of(shown_),
                            offset);
            out = out.subspan(static_cast<std::size_t>(n));
            offset += static_cast<std::uint64_t>(n);
        }
        return {};
    }

private:
    int fd_;
    std::uint64_t size_;
    std::filesystem::path shown_;
};

class PartBytes : public ByteSource {
public:
    PartBytes(BytesPtr whole, std::uint64_t offset, std::uint64_t size)
        : whole_(std::move(whole)), offset_(offset), size_(size)
    {
    }
    std::uint64_t size() const override { return size_; }
    Result<void> read(std::uint64_t offset, std::span<std::byte> out) const override
    {
        return whole_->read(offset_ + offset, out);
    }

private:
    BytesPtr whole_;
    std::uint64_t offset_, size_;
};

int open_unnamed(const std::filesystem::path& folder)
{
#ifdef O_TMPFILE
    if (const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); fd >= 0)
        return fd;
#endif
    std::string name = (folder / ".unpacking-XXXXXX").string(); // a file system without nameless files
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0)
        ::unlink(name.c_str());
    return fd;
}

} // namespace

Result<BytesPtr> open_bytes(const std::filesystem::path& path, const std::filesystem::path& shown)
{
    // Not blocking: opening a pipe would wait for its writer.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        const int e = errno;
        return fail(e == ENOENT ? ErrorKind::NotFound : ErrorKind::Unreadable, "{} cannot be opened: {}.",
                    name_of(shown), std::strerror(e));
    }
    struct stat s = {};
    if (::fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) {
        ::close(fd);
        return fail(ErrorKind::Unreadable, "{} is not a plain file.", name_of(shown));
    }
    return std::make_shared<FileBytes>(fd, static_cast<std::uint64_t>(s.st_size), shown);
}

BytesPtr part_of(BytesPtr whole, std::uint64_t offset, std::uint64_t size)
{
    return std::make_shared<PartBytes>(std::move(whole), offset, size);
}

Result<std::string> read_all(const ByteSource& bytes, std::uint64_t most, const std::string& what)
{
    if (bytes.size() > most)
        return fail(ErrorKind::BadFormat, "{} has {} bytes, where at most {} are expected.", what, bytes.size(), most);
    std::string out(static_cast<std::size_t>(bytes.size()), '\0');
    if (auto ok = bytes.read(0, std::as_writable_bytes(std::span(out))); !ok)
        return tl::unexpected(ok.error());
    return out;
}

Result<TemporaryFile> TemporaryFile::create()
{
    std::error_code error;
    std::vector<std::filesystem::path> folders;
    if (auto cache = cache_folder(); cache && (std::filesystem::create_directories(*cache, error), !error))
        folders.push_back(*cache);
    if (auto system = std::filesystem::temp_directory_path(error); !error)
        folders.push_back(system);
    int e = ENOENT;
    for (const auto& folder : folders) {
        const int fd = open_unnamed(folder);
        if (fd >= 0)
            return TemporaryFile(fd, folder);
        e = errno;
    }
    return fail(ErrorKind::Unreadable, "No temporary file can be made, neither in the cache folder nor in {}: {}.",
                folders.empty() ? "/tmp" : name_of(folders.back()), std::strerror(e));
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), folder_(std::move(other.folder_)), size_(other.size_),
      unchecked_(other.unchecked_)
{
}

TemporaryFile::~TemporaryFile()
{
    if (fd_ >= 0)
        ::close(fd_);
}

Result<void> TemporaryFile::check_room(std::uint64_t bytes)
{
    if (bytes <= unchecked_) {
        unchecked_ -= bytes;
        return {};
    }
    struct statvfs s = {};
    if (::fstatvfs(fd_, &s) == 0 && std::uint64_t{s.f_bavail} * s.f_frsize < room_to_leave + check_every + bytes)
        return fail(
            ErrorKind::Unreadable,
            "There is not enough room in {} to unpack the file ({} bytes so far); make room, set XDG_CACHE_HOME "
            "to a larger disk, or unpack it yourself.",
            name_of(folder_), size_);
    unchecked_ = check_every;
    return {};
}

Result<void> TemporaryFile::write(std::uint64_t offset, std::span<const std::byte> bytes)
{
    if (auto ok = check_room(bytes.size()); !ok)
        return ok;
    while (!bytes.empty()) {
        const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(ErrorKind::Unreadable, "A temporary file in {} cannot be written: {}.", name_of(folder_),
                        std::strerror(n < 0 ? errno : ENOSPC));
        bytes = bytes.subspan(static_cast<std::size_t>(n));
        offset += static_cast<std::uint64_t>(n);
        size_ = std::max(size_, offset);
    }
    return {};
}

std::filesystem::path TemporaryFile::path() const
{
    return fmt::format("/proc/self/fd/{}", fd_);
}

BytesPtr TemporaryFile::into_bytes(const std::filesystem::path& shown) &&
{
    return std::make_shared<FileBytes>(std::exchange(fd_, -1), size_, shown);
}

} // namespace flipscope::formats
