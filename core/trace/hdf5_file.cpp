// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/hdf5_file.h"

#include "core/trace/hdf5_driver.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace flipscope::h5 {

namespace {

herr_t refuse_external_link(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*)
{
    return -1;
}

Handle access_list(hid_t kind)
{
    Handle list(H5Pcreate(kind));
    H5Pset_elink_cb(list.id(), refuse_external_link, nullptr);
    return list;
}

Handle try_open(int descriptor, unsigned flags)
{
    const Handle access(H5Pcreate(H5P_FILE_ACCESS));
    if (!access || !use_read_only_driver(access.id(), descriptor))
        return {};
    // Beside a writer, a piece that is half written is read again, after waits that double from a nanosecond on: 20
    // attempts are 2 ms. The library's 100 would never end where the piece is simply broken.
    if ((flags & H5F_ACC_SWMR_READ) != 0)
        H5Pset_metadata_read_attempts(access.id(), 20);
    return Handle(H5Fopen("trace", flags, access.id()));
}

/// Whether the file says of itself that somebody writes to it, and whether readers may look on (SWMR).
enum class Mark { None, Writing, WritingWithReaders };

/// The mark is a byte of the superblock from its version 3 on (HDF5 file format specification, III.A). The stock
/// drivers refuse a file that bears one; ours are not asked to, since they can do no harm.
Mark read_mark(int descriptor, std::uint64_t size)
{
    constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
    for (std::uint64_t at = 0; at + 12 <= size; at = at == 0 ? 512 : 2 * at) {
        std::array<char, 12> head = {};
        if (::pread(descriptor, head.data(), head.size(), static_cast<off_t>(at)) != 12)
            return Mark::None;
        if (std::string_view(head.data(), 8) != signature)
            continue;
        if (head[8] < 3 || (head[11] & 1) == 0)
            return Mark::None;
        return (head[11] & 4) != 0 ? Mark::WritingWithReaders : Mark::Writing;
    }
    return Mark::None;
}

/// Whether somebody holds an exclusive lock on the file, as an HDF5 writer does. A shared lock is tried and given back
/// at once; where locks do not work (network disks) nobody can hold one.
bool locked_by_writer(int descriptor)
{
    if (::flock(descriptor, LOCK_SH | LOCK_NB) == 0) {
        ::flock(descriptor, LOCK_UN);
        return false;
    }
    return errno == EWOULDBLOCK;
}

std::string since_last_change(const struct stat& s)
{
    const auto seconds = static_cast<long long>(std::time(nullptr) - s.st_mtim.tv_sec);
    if (seconds < 120)
        return "a moment";
    if (seconds < 7200)
        return fmt::format("{} minutes", seconds / 60);
    return seconds < 172800 ? fmt::format("{} hours", seconds / 3600) : fmt::format("{} days", seconds / 86400);
}

void tell_about_mark(const std::filesystem::path& path, const struct stat& s, bool with_readers, Findings& findings)
{
    const bool quiet = std::time(nullptr) - s.st_mtim.tv_sec > 600;
    const std::string name = one_line(path.string());
    if (with_readers && !quiet)
        findings.push_back({Finding::Level::Note, "being-written",
                            fmt::format("This trace is being captured: it shows what had been written when it was "
                                        "opened, and reloading shows more; should its writer have been killed, "
                                        "\"h5clear -s {}\" takes the mark off.",
                                        name)});
    else
        findings.push_back({Finding::Level::Warning, "writer-gone",
                            fmt::format("The file is marked as open for writing and was last changed {} ago: its "
                                        "writer was probably killed, and what can be read is shown; \"h5clear -s {}\" "
                                        "takes the mark off.",
                                        since_last_change(s), name)});
}

tl::unexpected<Error> explain_refusal(const std::string& reason, std::uint64_t size)
{
    if (reason.find("truncated file") != std::string::npos)
        return fail(ErrorKind::BadFormat,
                    "is cut short: only {} bytes of it are there (the HDF5 library says: {}); copy or capture it again",
                    size, reason);
    if (reason.find("h5clear") != std::string::npos || reason.find("already open") != std::string::npos ||
        reason.find("SWMR") != std::string::npos)
        return fail(ErrorKind::Unreadable,
                    "is marked as open for writing; wait for its writer, or, if that was killed, run \"h5clear -s\" "
                    "on it (the HDF5 library says: {})",
                    reason);
    return fail(ErrorKind::BadFormat, "cannot be opened as an HDF5 file: {}", reason);
}

Result<Handle> open_in_order(File& file, const struct stat& s, Findings& findings)
{
    const int fd = file.descriptor->fd();
    const Mark mark = read_mark(fd, file.size);
    const unsigned beside_writer = H5F_ACC_RDONLY | H5F_ACC_SWMR_READ;
    Handle id = try_open(fd, mark == Mark::WritingWithReaders ? beside_writer : H5F_ACC_RDONLY);
    if (!id) {
        const std::string reason = last_error();
        if (mark != Mark::None)
            id = try_open(fd, mark == Mark::WritingWithReaders ? H5F_ACC_RDONLY : beside_writer);
        if (!id)
            return explain_refusal(reason, file.size);
    }
    const bool locked = locked_by_writer(fd);
    file.being_written = mark != Mark::None || locked;
    if (mark != Mark::None)
        tell_about_mark(file.path, s, mark == Mark::WritingWithReaders || locked, findings);
    else if (locked)
        findings.push_back({Finding::Level::Note, "locked",
                            "Another program has this file open for writing and holds a lock on it; it was opened "
                            "without one, and may still grow or change."});
    return id;
}

} // namespace

Descriptor::~Descriptor()
{
    ::close(fd_);
}

Result<std::shared_ptr<const File>> open_file(const std::filesystem::path& path, const std::filesystem::path& shown,
                                              Findings& findings)
{
    // Not blocking: opening a pipe would wait for its writer.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        const int e = errno;
        return fail(e == ENOENT ? ErrorKind::NotFound : ErrorKind::Unreadable, "cannot be opened: {}",
                    std::strerror(e));
    }
    auto file = std::make_shared<File>();
    file->descriptor = std::make_shared<Descriptor>(fd);
    file->path = shown;
    struct stat s = {};
    if (::fstat(fd, &s) != 0 || !S_ISREG(s.st_mode))
        return fail(ErrorKind::Unreadable, "is not a plain file");
    file->size = static_cast<std::uint64_t>(s.st_size);

    auto id = open_in_order(*file, s, findings);
    if (!id)
        return tl::unexpected(id.error());
    file->id = std::move(*id);
    file->group_access = access_list(H5P_GROUP_ACCESS);
    file->dataset_access = access_list(H5P_DATASET_ACCESS);
    const Handle creation(H5Fget_create_plist(file->id.id()));
    hsize_t user_block = 0;
    std::size_t address_size = 0, length_size = 0;
    if (H5Pget_userblock(creation.id(), &user_block) < 0 ||
        H5Pget_sizes(creation.id(), &address_size, &length_size) < 0)
        return fail(ErrorKind::BadFormat, "cannot be opened as an HDF5 file: {}", last_error());
    file->user_block = user_block;
    file->usual_sizes = address_size == 8 && length_size == 8;
    return file;
}

} // namespace flipscope::h5
