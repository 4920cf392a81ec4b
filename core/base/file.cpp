// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/file.h"

#include <algorithm>
#include <atomic>
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

namespace {

/// A name in the same folder, so that the rename cannot cross file systems; the suffix stays, since writers choose by
/// it. The stem is cut, so that the name stays within what file systems allow.
std::filesystem::path temporary_beside(const std::filesystem::path& path)
{
    static std::atomic<unsigned> counter = 0;
    return path.parent_path() / fmt::format(".{}.{}-{}.tmp{}", path.stem().string().substr(0, 100), ::getpid(),
                                            counter++, path.extension().string().substr(0, 20));
}

/// Where a write to `path` ends up: a link stays one, the file it points to (which may not be there yet) is written.
std::filesystem::path target_of(std::filesystem::path path)
{
    std::error_code error;
    for (int links = 0; links < 40 && std::filesystem::is_symlink(path, error); ++links) {
        const auto next = std::filesystem::read_symlink(path, error);
        if (error)
            break;
        path = path.parent_path() / next; // an absolute `next` stands for itself
    }
    return path;
}

} // namespace

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b)
{
    std::error_code error;
    if (std::filesystem::equivalent(a, b, error) && !error)
        return true;
    const auto place = [](const std::filesystem::path& p) {
        std::error_code failed;
        const auto whole = std::filesystem::absolute(target_of(p), failed);
        return failed ? std::filesystem::path() : std::filesystem::weakly_canonical(whole, failed);
    };
    const auto x = place(a), y = place(b);
    return !x.empty() && x == y;
}

Result<void> check_writable(const std::filesystem::path& path)
{
    const auto problem = [&](const std::string& what) {
        return fail(ErrorKind::Unreadable, "Cannot write {}: {}.", path.string(), what);
    };
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::is_directory(status))
        return problem("it is a folder");
    if (std::filesystem::exists(status)) {
        // Replacing it would be allowed to whoever may write to the folder, but is not what its protection asks for.
        if (::access(path.c_str(), W_OK) != 0)
            return problem(std::strerror(errno));
        if (!std::filesystem::is_regular_file(status))
            return {};
    }
    const auto target = target_of(path);
    const auto folder = target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
    if (!std::filesystem::is_directory(folder, error))
        return problem(fmt::format("there is no folder {}", folder.string()));
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return problem(fmt::format("{} (folder {})", std::strerror(errno), folder.string()));
    return {};
}

Result<void> write_atomically(const std::filesystem::path& path,
                              const std::function<Result<void>(const std::filesystem::path&)>& write)
{
    if (auto ok = check_writable(path); !ok)
        return ok;
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        return write(path); // a device or a pipe must not be replaced by a file

    const auto target = target_of(path);
    const auto temporary = temporary_beside(target);
    auto written = write(temporary);
    if (written) {
        if (std::filesystem::is_regular_file(status)) // whoever may read the old file may read the new one
            std::filesystem::permissions(temporary, status.permissions(), error);
        std::filesystem::rename(temporary, target, error);
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

Result<void> check_outputs(const std::vector<std::filesystem::path>& inputs,
                           const std::vector<std::filesystem::path>& outputs)
{
    const auto is_file = [](const std::filesystem::path& p) { return !p.empty() && p != "-"; };
    if (std::count(outputs.begin(), outputs.end(), std::filesystem::path("-")) > 1)
        return fail(ErrorKind::Usage,
                    "Two outputs on the standard output would be mixed: name a file for one of them.");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!is_file(outputs[i]))
            continue;
        for (const std::filesystem::path& input : inputs)
            if (same_file(outputs[i], input))
                return fail(ErrorKind::Usage, "{} is an input and would be overwritten: choose another name.",
                            outputs[i].string());
        for (std::size_t k = 0; k < i; ++k)
            if (is_file(outputs[k]) && same_file(outputs[i], outputs[k]))
                return fail(ErrorKind::Usage, "{} is named for two outputs: choose another name for one of them.",
                            outputs[i].string());
    }
    // Told now, not after minutes of computing.
    for (const std::filesystem::path& output : outputs)
        if (is_file(output))
            if (auto ok = check_writable(output); !ok)
                return ok;
    return {};
}

} // namespace flipscope
