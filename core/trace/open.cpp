// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/open.h"

#include "core/base/file.h"
#include "core/session/session_file.h"
#include "core/trace/flipscope_reader.h"
#include "core/trace/hdf5.h"

#include <fstream>

namespace flipscope {

const std::vector<TraceReader>& readers()
{
    static const std::vector<TraceReader> list = {
        flipscope_reader(),
    };
    return list;
}

std::string hdf5_version()
{
    const h5::Session lock;
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return fmt::format("{}.{}.{}", major, minor, release);
}

Result<TracePtr> open_trace(const std::filesystem::path& path, const Job& job)
{
    const std::string name = h5::one_line(path.string());
    if (path.empty())
        return fail(ErrorKind::NotFound, "The name of a trace is empty; name a file.");
    const auto stamp = stamp_of(path);
    if (!stamp)
        return fail(stamp.error().kind, "{}", h5::one_line(stamp.error().message));
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        return fail(ErrorKind::Unreadable, "{} is a folder; choose a trace file in it.", name);
    if (!std::filesystem::is_regular_file(path, error)) // reading a pipe could wait for ever
        return fail(ErrorKind::Unreadable, "{} is not a plain file.", name);
    if (stamp->size == 0) // not read: files of /proc claim to be empty, and some of them answer never
        return fail(ErrorKind::BadFormat, "{} is empty.", name);

    std::ifstream in(path, std::ios::binary);
    if (!in)
        return fail(ErrorKind::Unreadable, "{} cannot be opened: permission denied or unreadable.", name);
    std::string head(4096, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    if (head.empty())
        return fail(ErrorKind::BadFormat, "{} is empty.", name);
    for (const auto& reader : readers())
        if (reader.recognises(path, head))
            return reader.open(path, job);
    if (is_session(path))
        return fail(ErrorKind::BadFormat,
                    "{} is a Flipscope session, not a trace: open it in the window (flipscope {}).", name, name);
    return fail(ErrorKind::BadFormat,
                "{} is not a trace: its content is of no kind that this version knows (a Flipscope trace is an HDF5 "
                "file).",
                name);
}

} // namespace flipscope
