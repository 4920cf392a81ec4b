// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/trial.h"

#include "core/base/own_folder.h"
#include "core/trace/hdf5_file.h"
#include "core/trace/open.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace flipscope {

namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* program_name = "flipscope-trial";

/// Where the program may be, in the order of looking.
std::vector<std::filesystem::path> places(const TrialSetup& setup)
{
    if (!setup.program.empty())
        return {setup.program};
    const auto folder = own_folder();
    if (folder.empty())
        return {};
    return {folder / program_name, folder.parent_path() / "libexec" / "flipscope" / program_name};
}

Finding not_tried(const std::string& why)
{
    return {Finding::Level::Warning, "no-trial",
            fmt::format("The file was opened without a trial in a process of its own ({}), so that a damaged one could "
                        "have ended the program; install Flipscope whole.",
                        why)};
}

/// A child, and the pipe that ends when it does.
struct Child {
    pid_t id = -1;
    h5::Descriptor output;
};

class SpawnSettings {
public:
    SpawnSettings()
    {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;
    ~SpawnSettings()
    {
        ::posix_spawnattr_destroy(&attributes);
        ::posix_spawn_file_actions_destroy(&actions);
    }

    posix_spawn_file_actions_t actions = {};
    posix_spawnattr_t attributes = {};
};

/// Starts the program with `file` as standard input and `output` as standard output, nothing else open, no signal
/// ignored or held back, and out of reach of the terminal's keys: who cancels is this process. 0 or an errno.
int spawn(const std::filesystem::path& program, int file, int output, pid_t& id)
{
    SpawnSettings s;
    ::posix_spawn_file_actions_adddup2(&s.actions, file, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&s.actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&s.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&s.actions, STDERR_FILENO + 1);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&s.attributes, &signals);
    sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&s.attributes, &signals);
    ::posix_spawnattr_setpgroup(&s.attributes, 0);
    ::posix_spawnattr_setflags(&s.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::string name = program_name;
    const std::array<char*, 2> arguments = {name.data(), nullptr};
    return ::posix_spawn(&id, program.c_str(), &s.actions, &s.attributes, arguments.data(), environ);
}

/// No core is dumped, and a computation without an end ends. (The memory is not limited: a sound file may need any
/// amount, and what a damaged size asks for is refused here as there.)
void limit(pid_t id, int processor_seconds)
{
    const rlimit no_core = {0, 0};
    ::prlimit(id, RLIMIT_CORE, &no_core, nullptr);
    const auto seconds = static_cast<rlim_t>(processor_seconds);
    const rlimit processor = {seconds, seconds + 1};
    ::prlimit(id, RLIMIT_CPU, &processor, nullptr);
}

/// What came of a trial. The status is not always to be had: somebody may have let SIGCHLD be ignored.
struct Outcome {
    bool passed = false, cancelled = false, waited_too_long = false;
    std::optional<int> status;
};

Outcome watch(const Child& child, const Job& job, std::chrono::milliseconds patience)
{
    constexpr int look = 20; // milliseconds between two looks at the job
    Outcome out;
    std::string said;
    const auto end = Clock::now() + patience;
    for (bool ended = false; !ended;) {
        pollfd waiting = {child.output.fd(), POLLIN, 0};
        const int ready = ::poll(&waiting, 1, look);
        out.cancelled = job.cancelled();
        out.waited_too_long = Clock::now() > end;
        if (out.cancelled || out.waited_too_long)
            break;
        if (ready <= 0) // nothing yet, or a signal came
            continue;
        std::array<char, 64> piece = {};
        const ssize_t n = ::read(child.output.fd(), piece.data(), piece.size());
        ended = n == 0 || (n < 0 && errno != EINTR);
        said.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
        if (said.size() > trial_passed.size()) // a plug-in of HDF5 may print, and is not listened to
            said.erase(0, said.size() - trial_passed.size());
    }
    if (out.cancelled || out.waited_too_long)
        ::kill(child.id, SIGKILL);
    int status = 0;
    pid_t waited = 0;
    while ((waited = ::waitpid(child.id, &status, 0)) < 0 && errno == EINTR) {
    }
    if (waited == child.id)
        out.status = status;
    out.passed = said == trial_passed && !out.cancelled && !out.waited_too_long;
    return out;
}

/// For what is not mended by another try.
tl::unexpected<Error> damaged(const std::string& name, const std::string& what)
{
    return fail(ErrorKind::BadFormat,
                "{} is damaged inside: in a trial, HDF5 {} {}, so it was not opened; copy or capture it again, or "
                "rewrite it with a newer HDF5 (h5repack IN OUT).",
                name, hdf5_version(), what);
}

Result<void> judge(const Outcome& outcome, const std::string& name, const TrialSetup& setup)
{
    if (outcome.cancelled)
        return cancelled();
    if (outcome.passed)
        return {};
    if (outcome.waited_too_long)
        return damaged(name, fmt::format("did not come to an end within {:.0f} s",
                                         std::chrono::duration<double>(setup.patience).count()));
    const int signal = outcome.status && WIFSIGNALED(*outcome.status) ? WTERMSIG(*outcome.status) : 0;
    switch (signal) {
    case SIGXCPU:
        return damaged(name, fmt::format("did not come to an end within {} s of computing", setup.processor_seconds));
    case SIGKILL:
    case SIGTERM:
    case SIGINT:
    case SIGHUP: // not by the file's doing, at least not by itself
        return fail(ErrorKind::Unreadable,
                    "{} was not opened: its trial in a process of its own was ended from outside (signal {}), perhaps "
                    "since memory ran out; close other programs and open it again.",
                    name, signal);
    default:
        return damaged(name, signal != 0 ? fmt::format("crashed (signal {})", signal) : "failed");
    }
}

} // namespace

Result<void> try_in_own_process(const std::filesystem::path& content, const std::filesystem::path& shown,
                                const Job& job, Findings& findings, const TrialSetup& setup)
{
    const h5::Descriptor file(::open(content.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.fd() < 0)
        return {}; // the opening itself says why
    std::array<int, 2> ends = {-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        findings.push_back(not_tried(std::strerror(errno)));
        return {};
    }
    Child child{-1, h5::Descriptor(ends[0])};
    std::string why;
    {
        const h5::Descriptor output(ends[1]); // closed here, so that the pipe ends with the child
        for (const auto& program : places(setup)) {
            const int error = spawn(program, file.fd(), output.fd(), child.id);
            if (error == 0)
                break;
            child.id = -1;
            why +=
                fmt::format("{}{}: {}", why.empty() ? "" : ", ", h5::one_line(program.string()), std::strerror(error));
        }
    }
    if (child.id > 0) {
        limit(child.id, setup.processor_seconds);
        const Outcome outcome = watch(child, job, setup.patience);
        constexpr int not_started = 127; // by the loader, where a library is missing
        if (!outcome.status || !WIFEXITED(*outcome.status) || WEXITSTATUS(*outcome.status) != not_started)
            return judge(outcome, h5::one_line(shown.string()), setup);
        why = fmt::format("{} does not start", program_name);
    }
    findings.push_back(not_tried(why.empty() ? "the program was not found" : why));
    return {};
}

} // namespace flipscope
