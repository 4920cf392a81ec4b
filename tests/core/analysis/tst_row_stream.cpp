// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Rows on their way from a source to an engine: order, parallel reading, errors, cancelling, no threads to be had.
#include "core/analysis/compute.h"
#include "core/analysis/row_stream.h"
#include "core/base/memory_limit.h"

#include <QTest>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace flipscope;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Row r is filled with the 32-bit number r + seed. Reads may be slow, fail at a row, and come in groups.
class Numbers : public RowSource {
public:
    Numbers(std::int64_t rows, std::int64_t columns, std::uint32_t seed) : rows_(rows), columns_(columns), seed_(seed)
    {
    }
    LogitType type() const override { return LogitType::F32; }
    std::int64_t rows() const override { return rows_; }
    std::int64_t columns() const override { return columns_; }
    std::int64_t rows_at_once() const override { return group; }
    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        if (delay.count() > 0)
            std::this_thread::sleep_for(delay);
        if (first <= bad_row && bad_row < first + count)
            return fail(ErrorKind::Unreadable, "Row {} is on a bad sector.", bad_row);
        auto* words = reinterpret_cast<std::uint32_t*>(out.data());
        for (std::int64_t r = 0; r < count; ++r)
            std::fill_n(words + r * columns_, columns_, static_cast<std::uint32_t>(first + r) + seed_);
        const std::lock_guard lock(mutex_);
        for (std::int64_t g = first / group; g * group < first + count; ++g)
            ++unpacked_[g];
        return {};
    }
    /// Most often that one group was touched.
    int repeats() const
    {
        int most = 0;
        for (const auto& [g, n] : unpacked_)
            most = std::max(most, n);
        return most;
    }

    std::chrono::milliseconds delay{0};
    std::int64_t bad_row = -1, group = 1;

private:
    std::int64_t rows_, columns_;
    std::uint32_t seed_;
    mutable std::mutex mutex_;
    mutable std::map<std::int64_t, int> unpacked_;
};

std::vector<MatchedProbe> every(std::int64_t n, std::int64_t step)
{
    std::vector<MatchedProbe> pairs;
    for (std::int64_t i = 0; i < n; i += step) {
        MatchedProbe pair{};
        pair.position = pair.baseline_row = i;
        pair.run_row = n - 1 - i; // backwards: no two are neighbours
        pairs.push_back(pair);
    }
    return pairs;
}

/// The CPU as an engine that wants large blocks on one thread, as a GPU does.
class BlockEngine final : public Engine {
public:
    std::string_view name() const override { return "cuda"; }
    std::string detail() const override { return "made for a test"; }
    std::int64_t block_bytes() const override { return 8 << 20; }
    Result<std::unique_ptr<HostBuffer>> allocate(std::size_t bytes) override
    {
        allocated += bytes;
        return Engine::allocate(bytes);
    }
    Result<void> compute(const PairBlock& block, std::span<ProbeMetrics> out, std::stop_token stop) override
    {
        return cpu_->compute(block, out, stop);
    }

    std::size_t allocated = 0; ///< bytes, of all buffers

private:
    std::unique_ptr<Engine> cpu_ = make_cpu_engine(2);
};

/// One engine for each way of streaming.
std::unique_ptr<Engine> engine_for(bool blocks)
{
    if (blocks)
        return std::make_unique<BlockEngine>();
    return make_cpu_engine(2);
}

/// Checks the rows of a block against their numbers.
Result<void> check_block(const RowBlock& block, const Numbers& p, const Numbers& q,
                         const std::vector<MatchedProbe>& pairs)
{
    for (std::int64_t i = 0; i < block.rows; ++i) {
        const MatchedProbe& pair = pairs[static_cast<std::size_t>(block.first + i)];
        const auto at = [&](const RowView& v, std::int64_t column) {
            std::uint32_t word = 0;
            std::memcpy(&word, v.data + i * v.stride + 4 * column, 4);
            return std::int64_t{word};
        };
        for (const std::int64_t column : {std::int64_t{0}, p.columns() - 1})
            if (at(block.baseline, column) != pair.baseline_row)
                return fail(ErrorKind::BadFormat, "wrong row of the baseline at pair {}", block.first + i);
        for (const std::int64_t column : {std::int64_t{0}, q.columns() - 1})
            if (at(block.run, column) != pair.run_row + 1000)
                return fail(ErrorKind::BadFormat, "wrong row of the run at pair {}", block.first + i);
    }
    return {};
}

/// Streams and checks that each pair comes once; returns the hash.
std::string checked_stream(bool blocks, const Numbers& p, const Numbers& q, const std::vector<MatchedProbe>& pairs,
                           StreamTimes* times = nullptr)
{
    const auto engine = engine_for(blocks);
    RowHashes hashes;
    std::mutex mutex;
    std::vector<int> seen(pairs.size());
    std::int64_t told = 0;
    RowUse use;
    use.compute = [&](const RowBlock& block, Engine&) -> Result<void> {
        const std::lock_guard lock(mutex);
        for (std::int64_t i = 0; i < block.rows; ++i)
            ++seen[static_cast<std::size_t>(block.first + i)];
        return check_block(block, p, q, pairs);
    };
    const auto caller = std::this_thread::get_id();
    use.progress = [&](const StreamTimes& now) {
        if (now.bytes < told || std::this_thread::get_id() != caller)
            qFatal("progress goes back, or comes from another thread");
        told = now.bytes;
    };
    const auto done = stream_rows({p, q, pairs}, *engine, hashes, {}, use);
    if (!done)
        qFatal("%s", done.error().message.c_str());
    for (const int times_seen : seen)
        if (times_seen != 1)
            qFatal("a pair came %d times", times_seen);
    if (told != done->bytes || told != static_cast<std::int64_t>(pairs.size()) * RowPairs{p, q, pairs}.pair_bytes())
        qFatal("%lld bytes told", static_cast<long long>(told));
    if (times)
        *times = *done;
    return hashes.hex();
}

RowUse use_of(std::function<Result<void>(const RowBlock&, Engine&)> compute)
{
    return {std::move(compute), {}};
}

/// Address space in use, in bytes.
std::uint64_t mapped()
{
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace

class TestRowStream : public QObject {
    Q_OBJECT

    static void ways()
    {
        QTest::addColumn<bool>("blocks");
        QTest::addRow("workers") << false;
        QTest::addRow("blocks") << true;
    }

private slots:
    void every_pair_comes_once_data() { ways(); }
    void every_pair_comes_once()
    {
        QFETCH(bool, blocks);
        const Numbers p(700, 50'000, 0), q(700, 30'000, 1000);
        for (const std::int64_t step : {1, 3}) {
            const auto pairs = every(700, step);
            StreamTimes times;
            const auto first = checked_stream(blocks, p, q, pairs, &times);
            QCOMPARE(times.bytes, static_cast<std::int64_t>(pairs.size()) * 320'000);
            QVERIFY(times.readers >= 1 && times.seconds > 0 && times.reading > 0);
            QCOMPARE(checked_stream(blocks, p, q, pairs), first); // the hash does not depend on who read what
            QCOMPARE(checked_stream(!blocks, p, q, pairs), first);
        }
    }

    void the_end_is_told_data() { ways(); }
    void the_end_is_told()
    {
        QFETCH(bool, blocks);
        const Numbers p(700, 5000, 0), q(700, 5000, 1000);
        const auto pairs = every(700, 1);
        const auto engine = engine_for(blocks);
        RowHashes hashes;
        std::int64_t told = 0;
        auto use = use_of([](const RowBlock&, Engine&) -> Result<void> { return {}; });
        use.progress = [&](const StreamTimes& now) {
            if (told == 0)
                std::this_thread::sleep_for(std::chrono::milliseconds(200)); // all the rest is done meanwhile
            told = now.bytes;
        };
        const auto done = stream_rows({p, q, pairs}, *engine, hashes, {}, use);
        QVERIFY(done.has_value());
        QCOMPARE(told, done->bytes);
        QCOMPARE(told, std::int64_t{700} * 40'000);
    }

    void buffers_stay_within_the_limit()
    {
        const Numbers p(2000, 1000, 0), q(2000, 1000, 1000); // 8,000 bytes a pair
        const auto pairs = every(2000, 1);
        const std::string unlimited = checked_stream(true, p, q, pairs);
        const auto allocated = [&] {
            BlockEngine engine;
            RowHashes hashes;
            const auto done =
                stream_rows({p, q, pairs}, engine, hashes, {},
                            use_of([&](const RowBlock& b, Engine&) { return check_block(b, p, q, pairs); }));
            return done && hashes.hex() == unlimited ? engine.allocated : 0;
        };
        QVERIFY(allocated() > 4 << 20);
        set_memory_limit(3 << 20);
        const std::size_t limited = allocated();
        QVERIFY2(limited > 0 && limited <= 3 << 20, qPrintable(QString::number(limited)));
        StreamTimes times;
        QCOMPARE(checked_stream(false, p, q, pairs, &times), unlimited);
        QVERIFY(times.readers <= 3);
        set_memory_limit(1 << 20);
        QCOMPARE(checked_stream(false, p, q, pairs, &times), unlimited);
        QCOMPARE(times.readers, 1); // a buffer of 1 MiB a thread
        set_memory_limit(1);        // not even a pair: one is read whatever the limit
        QCOMPARE(checked_stream(true, p, q, pairs), unlimited);
        set_memory_limit(0);
    }

    void one_row_and_none_data() { ways(); }
    void one_row_and_none()
    {
        QFETCH(bool, blocks);
        const Numbers p(1, 7, 0), q(1, 7, 1000);
        checked_stream(blocks, p, q, every(1, 1));
        checked_stream(blocks, p, q, {});
    }

    void packed_chunks_are_not_split_data() { ways(); }
    void packed_chunks_are_not_split()
    {
        QFETCH(bool, blocks);
        Numbers p(1000, 20'000, 0), q(1000, 20'000, 1000);
        p.group = 16;
        checked_stream(blocks, p, q, every(1000, 1));
        // A block may end inside a chunk, a piece may not.
        QVERIFY2(p.repeats() <= (blocks ? 2 : 1), qPrintable(QString::number(p.repeats())));
    }

    void times_name_the_slow_stage_data() { ways(); }
    void times_name_the_slow_stage()
    {
        QFETCH(bool, blocks);
        Numbers p(60, 200'000, 0), q(60, 200'000, 1000);
        p.delay = std::chrono::milliseconds(20);
        StreamTimes times;
        checked_stream(blocks, p, q, every(60, 1), &times);
        QCOMPARE(times.bound(), "reading");
        p.delay = {};
        const auto pairs = every(60, 1);
        const auto engine = engine_for(blocks);
        RowHashes hashes;
        const auto slow = use_of([](const RowBlock& block, Engine&) -> Result<void> {
            std::this_thread::sleep_for(std::chrono::milliseconds(10 * block.rows));
            return {};
        });
        const auto done = stream_rows({p, q, pairs}, *engine, hashes, {}, slow);
        QVERIFY(done.has_value());
        QCOMPARE(done->bound(), "computing");
    }

    void the_first_error_ends_it_data() { ways(); }
    void the_first_error_ends_it()
    {
        QFETCH(bool, blocks);
        Numbers p(500, 5000, 0), q(500, 5000, 1000);
        q.bad_row = 123;
        const auto pairs = every(500, 1);
        const auto engine = engine_for(blocks);
        RowHashes hashes;
        const auto ignore = use_of([](const RowBlock&, Engine&) -> Result<void> { return {}; });
        const auto broken = stream_rows({p, q, pairs}, *engine, hashes, {}, ignore);
        QVERIFY(!broken);
        QCOMPARE(broken.error().message, "Row 123 is on a bad sector.");
        q.bad_row = -1;
        const auto refuse =
            use_of([](const RowBlock&, Engine&) -> Result<void> { return fail(ErrorKind::Device, "no more"); });
        const auto refused = stream_rows({p, q, pairs}, *engine, hashes, {}, refuse);
        QVERIFY(!refused);
        QCOMPARE(refused.error().message, "no more");
    }

    void cancel_answers_within_100_ms_data()
    {
        QTest::addColumn<bool>("blocks");
        QTest::addColumn<bool>("slow_source");
        for (const bool blocks : {false, true})
            for (const bool slow_source : {false, true})
                QTest::addRow("%s, %s", blocks ? "blocks" : "workers", slow_source ? "reading" : "computing")
                    << blocks << slow_source;
    }
    void cancel_answers_within_100_ms()
    {
        QFETCH(bool, blocks);
        QFETCH(bool, slow_source);
        Numbers p(100'000, 100'000, 0), q(100'000, 100'000, 1000); // 80 GB
        if (slow_source)
            p.delay = std::chrono::milliseconds(10);
        const auto pairs = every(100'000, 1);
        double best = 1e9;
        for (int attempt = 0; attempt < 5 && best > 100; ++attempt) { // on a busy machine a thread may be late
            const auto engine = engine_for(blocks);
            std::vector<ProbeMetrics> out(pairs.size());
            RowHashes hashes;
            std::stop_source stop;
            Clock::time_point asked;
            const auto use = use_of([&](const RowBlock& block, Engine& on) {
                const auto room =
                    std::span(out).subspan(static_cast<std::size_t>(block.first), static_cast<std::size_t>(block.rows));
                return on.compute({block.baseline, block.run, block.rows, 100'000}, room, stop.get_token());
            });
            std::jthread user([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(200));
                asked = Clock::now();
                stop.request_stop();
            });
            const auto done = stream_rows({p, q, pairs}, *engine, hashes, stop.get_token(), use);
            user.join();
            best = std::min(best, milliseconds_since(asked));
            QVERIFY(!done);
            QCOMPARE(done.error().kind, ErrorKind::Cancelled);
        }
        QVERIFY2(best <= 100, qPrintable(QString::number(best)));
    }

    void no_thread_to_be_had_is_an_error_data() { ways(); }
    void no_thread_to_be_had_is_an_error()
    {
        QFETCH(bool, blocks);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        QSKIP("sanitizers need more address space than this leaves");
#endif
        const pid_t child = ::fork();
        QVERIFY(child >= 0);
        if (child == 0) {
            // A thread's stack has no room any more; stacks of ended threads are too small to be taken again.
            pthread_attr_t large;
            pthread_attr_init(&large);
            pthread_attr_setstacksize(&large, 256U << 20);
            pthread_setattr_default_np(&large);
            const rlimit limit{mapped() + (16U << 20), RLIM_INFINITY};
            ::setrlimit(RLIMIT_AS, &limit);
            const Numbers p(4, 100, 0), q(4, 100, 1000);
            const auto pairs = every(4, 1);
            const auto engine = engine_for(blocks);
            RowHashes hashes;
            const auto done = stream_rows({p, q, pairs}, *engine, hashes, {},
                                          use_of([](const RowBlock&, Engine&) -> Result<void> { return {}; }));
            const bool right = !done && done.error().kind == ErrorKind::OutOfMemory &&
                               done.error().message.find("no thread") != std::string::npos;
            ::_exit(right ? 0 : done ? 1 : 2);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFEXITED(status));
        QCOMPARE(WEXITSTATUS(status), 0);
    }
};

QTEST_GUILESS_MAIN(TestRowStream)
#include "tst_row_stream.moc"
