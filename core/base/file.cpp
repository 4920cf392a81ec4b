// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace flipscope {

Result<FileStamp> stamp_of(const std::filesystem::path& path)
{
    struct stat s = {};
    if (::stat(path.c_str(), &s) != 0) {
        const int e = errno;
        return fail(e == ENOENT || e == ENOTDIR ? ErrorKind::NotFound : ErrorKind::Unreadable, "{}: {}.", path.string(),
                    std::strerror(e));
    }
    FileStamp stamp;
    stamp.size = s.st_size;
    stamp.mtime_ns = static_cast<std::int64_t>(s.st_mtim.tv_sec) * 1'000'000'000 + s.st_mtim.tv_nsec;
    stamp.inode = s.st_ino;
    stamp.device = s.st_dev;
    return stamp;
}

Result<void> write_atomically(const std::filesystem::path& path,
                              const std::function<Result<void>(const std::filesystem::path&)>& write)
{
    // The same folder, so that the rename cannot cross file systems; the suffix stays, since writers choose by it.
    const auto temporary =
        path.parent_path() / fmt::format(".{}.{}.tmp{}", path.stem().string(), ::getpid(), path.extension().string());
    auto written = write(temporary);
    std::error_code error;
    if (written) {
        std::filesystem::rename(temporary, path, error);
        if (!error)
            return {};
        written = fail(ErrorKind::Unreadable, "Cannot write {}: {}.", path.string(), error.message());
    }
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    return written;
}

Result<void> write_text(const std::filesystem::path& path, std::string_view text)
{
    if (path == "-") {
        if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
            return fail(ErrorKind::Unreadable, "Cannot write to the standard output: {}.", std::strerror(errno));
        return {};
    }
    return write_atomically(path, [&](const std::filesystem::path& temporary) -> Result<void> {
        errno = 0;
        std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
        out.write(text.data(), static_cast<std::streamsize>(text.size()));
        out.close();
        if (!out)
            return fail(ErrorKind::Unreadable, "Cannot write {}: {}.", path.string(), std::strerror(errno));
        return {};
    });
}

} // namespace flipscope
