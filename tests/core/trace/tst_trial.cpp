// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The trial in a process of its own: what HDF5 crashes on, or does not come to an end on, is refused in one sentence.
#include "core/trace/trial.h"

#include "core/trace/writer.h"
#include "trace_files.h"

#include <QProcess>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

using namespace flipscope;
using namespace trace_files;

namespace {

struct Tried {
    Result<void> result;
    Findings findings;
    double seconds = 0;

    bool has(const std::string& part) const
    {
        return !result && is_one_sentence(result.error().message) && contains(result.error().message, part);
    }
};

Tried attempt(const TrialSetup& setup, const Job& job = {}, const std::filesystem::path& file = data("f16.h5"))
{
    QElapsedTimer timer;
    timer.start();
    Tried tried;
    tried.result = try_in_own_process(file, file, job, tried.findings, setup);
    tried.seconds = 1e-9 * static_cast<double>(timer.nsecsElapsed());
    return tried;
}

constexpr int many_rows = 20'000;

} // namespace

class TestTrial : public QObject {
    Q_OBJECT
private slots:
    void a_crash_is_one_sentence();
    void sound_files_pass();
    void odd_names();
    void packed_files_are_tried_too();
    void what_never_ends_is_ended();
    void cancelled();
    void ended_from_outside_is_no_damage();
    void without_the_program();
    void inherits_nothing();
    void with_children_ignored();
    void several_at_once();
    void several_files_in_their_order();
    void many_chunks_are_found_quickly();

private:
    std::filesystem::path path(const std::string& name) const
    {
        return std::filesystem::path(folder_.path().toStdString()) / name;
    }
    /// A program that stands in for the trial.
    TrialSetup script(const std::string& name, const std::string& lines) const
    {
        std::ofstream(path(name)) << "#!/bin/sh\n" << lines << "\n";
        std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
        TrialSetup setup;
        setup.program = path(name);
        return setup;
    }
    QTemporaryDir folder_;
};

void TestTrial::a_crash_is_one_sentence()
{
    const auto trace = open_trace(data("crashing.h5"));
    if (hdf5_version() != "1.10.8")
        QSKIP("made for HDF5 1.10.8, which crashes on it");
    QVERIFY(!trace);
    QVERIFY(is_one_sentence(trace.error().message));
    QVERIFY(contains(trace.error().message, "crashing.h5 is damaged inside: in a trial, HDF5 1.10.8 "));
    QVERIFY(contains(trace.error().message, "h5repack"));
    QCOMPARE(trace.error().kind, ErrorKind::BadFormat);
}

void TestTrial::sound_files_pass()
{
    for (const char* name : {"f16.h5", "f16-user-block.h5", "topk.h5", "everything.h5", "killed-swmr.h5", "text.h5"}) {
        const auto tried = attempt({}, {}, data(name));
        QVERIFY2(tried.result && tried.findings.empty(), name);
    }
    const auto trace = open_trace(data("f16.h5"));
    QVERIFY(trace && finding(**trace, "no-trial") == nullptr);
}

void TestTrial::odd_names()
{
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(path(""));
    for (const char* name : {"-o", "--help", "two\nlines.h5", " ", "$(exit 1).h5", "a'b\"c"}) {
        std::filesystem::copy_file(data("f16.h5"), name);
        const auto trace = open_trace(name);
        QVERIFY2(trace && finding(**trace, "no-trial") == nullptr, name);
        if (hdf5_version() == "1.10.8") {
            std::filesystem::copy_file(data("crashing.h5"), name, std::filesystem::copy_options::overwrite_existing);
            const auto refused = open_trace(name);
            QVERIFY2(!refused && is_one_sentence(refused.error().message), name);
        }
    }
    std::filesystem::current_path(before);
}

void TestTrial::packed_files_are_tried_too()
{
    for (const char* name : {"f16.h5", "crashing.h5"}) {
        std::filesystem::copy_file(data(name), path(name));
        QCOMPARE(QProcess::execute("gzip", {QString::fromStdString(path(name).string())}), 0);
    }
    const auto sound = open_trace(path("f16.h5.gz"));
    QVERIFY(sound && finding(**sound, "no-trial") == nullptr);
    QVERIFY(rows_are(*(*sound)->probes.rows, "float16"));
    const auto crashes = open_trace(path("crashing.h5.gz"));
    if (hdf5_version() == "1.10.8")
        QVERIFY(!crashes && contains(crashes.error().message, "crashing.h5.gz is damaged inside"));
}

void TestTrial::what_never_ends_is_ended()
{
    auto computes = script("computes", "while :; do :; done");
    computes.processor_seconds = 1;
    const auto computed = attempt(computes);
    QVERIFY(computed.has("did not come to an end within 1 s of computing"));
    QVERIFY(computed.seconds < 20);
    for (const char* lines : {"exec sleep 60", "kill -STOP $$"}) {
        auto waits = script("waits", lines);
        waits.patience = std::chrono::milliseconds(200);
        const auto waited = attempt(waits);
        QVERIFY2(waited.has("did not come to an end"), lines);
        QVERIFY(waited.seconds < 20);
    }
    auto chatters = script("chatters", "exec yes");
    chatters.patience = std::chrono::milliseconds(200);
    QVERIFY(attempt(chatters).has("did not come to an end"));
}

void TestTrial::cancelled()
{
    const auto waits = script("sleeps", "exec sleep 60");
    std::stop_source stop;
    std::jthread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        stop.request_stop();
    });
    const auto tried = attempt(waits, {stop.get_token(), {}});
    QVERIFY(!tried.result);
    QCOMPARE(tried.result.error().kind, ErrorKind::Cancelled);
    QVERIFY(tried.seconds < 20);
}

void TestTrial::ended_from_outside_is_no_damage()
{
    for (const char* lines : {"kill -TERM $$", "kill -KILL $$"}) {
        const auto tried = attempt(script("killed", lines));
        QVERIFY2(tried.has("ended from outside"), lines);
        QCOMPARE(tried.result.error().kind, ErrorKind::Unreadable);
    }
    for (const char* lines : {"kill -SEGV $$", "kill -ABRT $$", "exit 1", "echo tried and failed", "echo; exit 0"})
        QVERIFY2(attempt(script("crashed", lines)).has("is damaged inside"), lines);
    // What a plug-in of the library prints is not its word.
    QVERIFY(
        attempt(script("talks", "echo something long that nobody asked for, over and over again; echo tried")).result);
}

void TestTrial::without_the_program()
{
    TrialSetup missing;
    missing.program = path("none");
    for (const TrialSetup& setup : {missing, script("loader", "exit 127")}) {
        const auto tried = attempt(setup);
        QVERIFY(tried.result);
        QCOMPARE(tried.findings.size(), std::size_t{1});
        QCOMPARE(tried.findings.front().code, std::string("no-trial"));
        QVERIFY(is_one_sentence(tried.findings.front().text));
    }
}

void TestTrial::inherits_nothing()
{
    // Descriptors that others let be inherited, and signals that are ignored or held back here.
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int open_here = ::fcntl(null, F_DUPFD, 50); // no O_CLOEXEC
    QVERIFY(null > 2 && open_here >= 50);
    sigset_t held, before;
    sigemptyset(&held);
    sigaddset(&held, SIGUSR1);
    ::pthread_sigmask(SIG_BLOCK, &held, &before);
    const auto ignored = ::signal(SIGUSR2, SIG_IGN);
    // SIGUSR1 and SIGUSR2 are the bits 9 and 11, of the last three digits.
    const auto looks = script("looks", fmt::format("[ -e /proc/$$/fd/0 ] && [ ! -e /proc/$$/fd/{} ] || exit 1\n"
                                                   "grep -q '^SigBlk:.*000$' /proc/self/status || exit 1\n"
                                                   "grep -q '^SigIgn:.*000$' /proc/self/status || exit 1\n"
                                                   "echo tried",
                                                   open_here));
    const auto tried = attempt(looks);
    ::signal(SIGUSR2, ignored);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(open_here);
    ::close(null);
    QVERIFY2(tried.result, tried.result ? "" : tried.result.error().message.c_str());
}

void TestTrial::with_children_ignored()
{
    const auto before = ::signal(SIGCHLD, SIG_IGN); // as a program may be started; then no status is to be had
    const auto sound = attempt({});
    const auto crashed = attempt(script("crashes", "kill -SEGV $$"));
    ::signal(SIGCHLD, before);
    QVERIFY(sound.result);
    QVERIFY(crashed.has("is damaged inside"));
}

void TestTrial::several_at_once()
{
    std::array<bool, 12> right = {};
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < right.size(); ++i)
            threads.emplace_back([&, i] {
                const bool crashes = i % 3 == 0 && hdf5_version() == "1.10.8";
                const auto trace = open_trace(data(crashes ? "crashing.h5" : "f16.h5"));
                right[i] = trace.has_value() != crashes && (crashes || rows_are(*(*trace)->probes.rows, "float16"));
            });
    }
    for (const bool r : right)
        QVERIFY(r);
}

void TestTrial::several_files_in_their_order()
{
    std::vector<std::filesystem::path> files;
    for (int i = 0; i < 4; ++i)
        for (const char* name : {"topk.h5", "missing.h5", "crashing.h5", "f16.h5"})
            files.push_back(data(name));
    const auto opened = open_traces(files, {});
    QCOMPARE(opened.size(), files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
        const auto& trace = opened[i].trace;
        if (i % 4 == 0 || i % 4 == 3)
            QVERIFY(trace && (*trace)->path == files[i] && opened[i].seconds > 0);
        else if (i % 4 == 1)
            QVERIFY(!trace && trace.error().kind == ErrorKind::NotFound);
        else
            QVERIFY(hdf5_version() != "1.10.8" || (!trace && contains(trace.error().message, "crashing.h5")));
    }
    QVERIFY(open_traces({}, {}).empty());
    std::stop_source stop;
    stop.request_stop();
    for (const OpenedTrace& one : open_traces(files, {}, {stop.get_token(), {}}))
        QVERIFY(!one.trace && one.trace.error().kind == ErrorKind::Cancelled);
}

void TestTrial::many_chunks_are_found_quickly()
{
    Trace many;
    many.tokens.ids.assign(many_rows, 1);
    many.probes.n_vocab = 4;
    std::vector<std::byte> rows(4 * sizeof(float) * many_rows);
    for (int i = 0; i < many_rows; ++i) {
        many.probes.positions.push_back(i);
        const std::array<float, 4> row = {static_cast<float>(i), 1, 2, 3};
        std::memcpy(&rows[static_cast<std::size_t>(i) * sizeof row], row.data(), sizeof row);
    }
    many.probes.rows = rows_in_memory(LogitType::F32, 4, rows);
    QVERIFY(write_trace(path("many.h5"), many));
    QElapsedTimer timer;
    timer.start();
    const auto trace = open_trace(path("many.h5"));
    QVERIFY(trace);
    QVERIFY2(timer.elapsed() < 2000,
             qPrintable(QString("%1 ms").arg(timer.elapsed()))); // 4 s where each is counted up to
    std::vector<std::byte> read(rows.size());
    QVERIFY((*trace)->probes.rows->read(0, many_rows, read));
    QVERIFY(read == rows);
}

QTEST_GUILESS_MAIN(TestTrial)
#include "tst_trial.moc"
