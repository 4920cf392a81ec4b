// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_open.h"

#include "core/analysis/alignment.h"
#include "core/report/report.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fuzzing {

namespace {

using namespace flipscope;

/// The input as a file, always the same one; it stays where the program crashes.
const std::filesystem::path& put_into_file(std::span<const std::uint8_t> bytes)
{
    static const std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("flipscope-fuzz-{}", ::getpid());
    static const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    static const int registered = std::atexit([] { ::unlink(path.c_str()); });
    if (fd < 0 || registered != 0 || ::ftruncate(fd, 0) != 0 ||
        ::pwrite(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        std::abort();
    return path;
}

[[noreturn]] void give_up(const std::string& why)
{
    std::fprintf(stderr, "%s\n", why.c_str());
    std::abort();
}

void check_sentence(const std::string& text)
{
    if (text.size() <= 10 || text.back() != '.' || text.find('\n') != std::string::npos)
        give_up("not one sentence: " + text);
}

template <class Call>
auto timed(Call call)
{
    const std::clock_t start = std::clock(); // of this process: a busy machine is no fault
    auto result = call();
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (seconds > 2)
        give_up(fmt::format("a call took {:.1f} s", seconds));
    return result;
}

void read_set(const ProbeSet& set)
{
    constexpr std::int64_t most = 64; // rows looked at
    if (set.rows && set.rows->row_bytes() < (64 << 20)) {
        std::vector<std::byte> row(static_cast<std::size_t>(set.rows->row_bytes()));
        for (std::int64_t i = 0; i < std::min(most, set.rows->rows()); ++i)
            if (const auto read = timed([&] { return set.rows->read(i, 1, row); }); !read)
                check_sentence(read.error().message);
        if (set.rows->rows() > 0)
            (void)set.rows->read(set.rows->rows() - 1, 1, row);
    }
    if (set.lists && set.lists->k() < (1 << 20)) {
        std::vector<std::int32_t> ids(static_cast<std::size_t>(set.lists->k()));
        std::vector<float> logprobs(ids.size());
        for (std::int64_t i = 0; i < std::min(most, set.lists->rows()); ++i)
            if (const auto read = timed([&] { return set.lists->read(i, 1, ids, logprobs); }); !read)
                check_sentence(read.error().message);
    }
}

void open_once(const std::filesystem::path& path, const OpenHints& hints)
{
    const auto trace = timed([&] { return open_trace(path, hints); });
    if (!trace)
        return check_sentence(trace.error().message);
    for (const Finding& finding : (*trace)->findings)
        check_sentence(finding.text);
    read_set((*trace)->probes);
    for (const ProbeSet& set : (*trace)->dense)
        read_set(set);
    (void)info_text(**trace);
    (void)json_text(info_json(**trace));
    (void)align(**trace, **trace);
}

} // namespace

void try_to_open(std::span<const std::uint8_t> bytes, const OpenHints& hints)
{
    const auto& path = put_into_file(bytes);
    open_once(path, {});
    if (hints != OpenHints{})
        open_once(path, hints);
}

} // namespace fuzzing
