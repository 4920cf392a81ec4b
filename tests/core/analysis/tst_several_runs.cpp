// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Several runs against one baseline, and rows that stay with the engine: the numbers are those of each pair by itself,
// and what is read from the files is no more than it has to be.
#include "core/analysis/compute.h"
#include "core/analysis/known_rows.h"
#include "core/trace/open.h"
#include "tests/core/analysis/keeping_engine.h"
#include "tests/core/analysis/made_traces.h"

#include <QTemporaryDir>
#include <QtTest>

#include <chrono>
#include <filesystem>
#include <mutex>
#include <random>
#include <thread>

using namespace flipscope;

namespace {

constexpr std::size_t n_rows = 120;

/// Counts how often each row is read; one row may be unreadable.
class CountedRows final : public RowSource {
public:
    explicit CountedRows(std::shared_ptr<const RowSource> rows)
        : rows_(std::move(rows)), reads_(static_cast<std::size_t>(rows_->rows()))
    {
    }
    LogitType type() const override { return rows_->type(); }
    std::int64_t rows() const override { return rows_->rows(); }
    std::int64_t columns() const override { return rows_->columns(); }
    Result<void> read(std::int64_t first, std::int64_t count, std::span<std::byte> out) const override
    {
        if (first <= bad_row && bad_row < first + count)
            return fail(ErrorKind::Unreadable, "Row {} is on a bad sector.", bad_row);
        const std::lock_guard lock(mutex_);
        for (std::int64_t i = 0; i < count; ++i)
            ++reads_[static_cast<std::size_t>(first + i)];
        return rows_->read(first, count, out);
    }
    /// Reads of all rows together since the last call.
    int take_reads() const
    {
        const std::lock_guard lock(mutex_);
        int all = 0;
        for (int& n : reads_)
            all += std::exchange(n, 0);
        return all;
    }

    std::int64_t bad_row = -1;

private:
    std::shared_ptr<const RowSource> rows_;
    mutable std::mutex mutex_;
    mutable std::vector<int> reads_;
};

struct Made {
    std::shared_ptr<Trace> trace;
    std::shared_ptr<CountedRows> rows;
};

std::vector<std::vector<float>> noise(unsigned seed, std::size_t rows, std::size_t columns)
{
    std::mt19937 random(seed);
    std::vector<std::vector<float>> all(rows, std::vector<float>(columns));
    for (auto& row : all)
        for (float& logit : row)
            logit = static_cast<float>(random() % 2001) / 100 - 10;
    return all;
}

/// Probes at every `step`-th of n_rows positions that are 3 tokens apart.
Made made_trace(const std::string& name, unsigned seed, std::size_t columns = 50, std::size_t step = 1)
{
    std::vector<std::int64_t> positions;
    for (std::size_t i = 0; i < n_rows; i += step)
        positions.push_back(static_cast<std::int64_t>(3 * i));
    Made m;
    m.trace = std::make_shared<Trace>(made::trace(name, made::ids(3 * n_rows + 1), positions));
    m.trace->probes.values = "raw"; // else a few rows are looked at before anything is computed
    for (std::int32_t& id : m.trace->tokens.ids)
        id %= 50;
    made::set_rows(m.trace->probes, noise(seed, positions.size(), columns));
    m.rows = std::make_shared<CountedRows>(m.trace->probes.rows);
    m.trace->probes.rows = m.rows;
    return m;
}

void add_dense(Made& m, const std::string& name, std::int64_t first, unsigned seed)
{
    ProbeSet set;
    set.name = name;
    for (std::int64_t i = 0; i < 9; ++i)
        set.positions.push_back(first + i);
    made::set_rows(set, noise(seed, 9, 50));
    m.trace->dense.push_back(std::move(set));
}

/// Rows of a type of its own: 64 bits.
void widen_rows(Made& m)
{
    std::vector<std::byte> floats(n_rows * 50 * sizeof(float));
    if (!m.trace->probes.rows->read(0, n_rows, floats))
        qFatal("rows cannot be read");
    std::vector<double> wide(n_rows * 50);
    for (std::size_t i = 0; i < wide.size(); ++i)
        wide[i] = 1.1 * widen(floats.data(), LogitType::F32, i);
    const auto* bytes = reinterpret_cast<const std::byte*>(wide.data());
    m.rows = std::make_shared<CountedRows>(
        rows_in_memory(LogitType::F64, 50, std::vector<std::byte>(bytes, bytes + wide.size() * sizeof(double))));
    m.trace->probes.rows = m.rows;
}

ComputeOptions no_cache()
{
    ComputeOptions options;
    options.use_cache = false;
    options.threads = 2;
    return options;
}

std::vector<Result<TablePtr>> tables_of(Engine& engine, const Made& base, const std::vector<Made>& runs,
                                        const Job& job = {})
{
    std::vector<TracePtr> traces;
    traces.reserve(runs.size());
    for (const Made& run : runs)
        traces.push_back(run.trace);
    return compute_tables(base.trace, traces, engine, no_cache(), job);
}

/// Whether these are the numbers and the hash that the CPU gives for the pair by itself.
bool as_by_itself(const Result<TablePtr>& table, const Made& base, const Made& run)
{
    const auto cpu = make_cpu_engine(1);
    const auto alone = compute_table(base.trace, run.trace, *cpu, no_cache());
    if (!alone || !table)
        return false;
    return different_probes(**table, **alone) == 0 && (*table)->rows_hash == (*alone)->rows_hash &&
           (*table)->probes.size() == (*alone)->probes.size() && (*table)->dense.size() == (*alone)->dense.size();
}

void forget_reads(const Made& base, const std::vector<Made>& runs)
{
    base.rows->take_reads();
    for (const Made& run : runs)
        run.rows->take_reads();
}

} // namespace

class TestSeveralRuns : public QObject {
    Q_OBJECT

private slots:
    void numbers_are_those_of_each_pair()
    {
        Made base = made_trace("base", 1);
        std::vector<Made> runs{made_trace("a", 2), made_trace("half", 3, 50, 2), made_trace("wide", 4, 64),
                               made_trace("b", 5), made_trace("type", 6),        made_trace("same", 1)};
        widen_rows(runs[4]);
        add_dense(base, "x", 40, 20);
        add_dense(base, "y", 200, 21);
        add_dense(runs[0], "y", 200, 22);
        add_dense(runs[3], "x", 40, 23);
        add_dense(runs[3], "z", 203, 24);
        KeepingEngine engine;
        const auto tables = tables_of(engine, base, runs);
        QCOMPARE(tables.size(), runs.size());
        for (std::size_t r = 0; r < runs.size(); ++r) {
            QVERIFY2(as_by_itself(tables[r], base, runs[r]), runs[r].trace->run_name.c_str());
            QVERIFY((*tables[r])->notices.empty());
            QCOMPARE((*tables[r])->engine_detail, engine.detail());
        }
        QCOMPARE((*tables[3])->dense.size(), std::size_t{15});
        QCOMPARE(engine.runs_at_once, std::size_t{5}); // all but half
        QCOMPARE((*tables[0])->times.runs, 5);
        QVERIFY(bit_identical(**tables.back()));
    }

    void the_baseline_is_read_once()
    {
        const Made base = made_trace("base", 1);
        const std::vector<Made> runs{made_trace("a", 2), made_trace("b", 3), made_trace("c", 4)};
        KeepingEngine engine;
        engine.most_kept = 0;
        std::int64_t told = 0, total = 0;
        Job job;
        job.report = [&](const Progress& p) {
            QVERIFY(p.done >= told && p.stage == "Reading 3 runs against base");
            told = p.done;
            total = p.total;
        };
        const auto tables = tables_of(engine, base, runs, job);
        QCOMPARE(base.rows->take_reads(), int{n_rows});
        for (const Made& run : runs)
            QCOMPARE(run.rows->take_reads(), int{n_rows});
        QVERIFY(engine.calls > 3); // in blocks
        QCOMPARE(told, std::int64_t{n_rows} * 4 * 50 * 4);
        QCOMPARE(total, told);
        for (std::size_t r = 0; r < runs.size(); ++r)
            QVERIFY(as_by_itself(tables[r], base, runs[r]));
    }

    void rows_that_stay_are_not_read_again()
    {
        const Made base = made_trace("base", 1), a = made_trace("a", 2), b = made_trace("b", 3);
        KeepingEngine engine;
        const auto pair = [&](const Made& p, const Made& q, const ComputeOptions& options = no_cache()) {
            return compute_table(p.trace, q.trace, engine, options);
        };
        const auto reads = [&] {
            return std::vector{base.rows->take_reads(), a.rows->take_reads(), b.rows->take_reads()};
        };
        const int all = int{n_rows};
        const auto first = pair(base, a);
        QCOMPARE(reads(), (std::vector{all, all, 0}));
        const auto other_pair = pair(base, b);
        QCOMPARE(reads(), (std::vector{0, 0, all}));
        const auto direction = pair(a, base), other_baseline = pair(b, a);
        QCOMPARE(reads(), (std::vector{0, 0, 0}));
        QCOMPARE((*other_baseline)->times.kept, (*other_baseline)->times.bytes);
        QVERIFY(as_by_itself(first, base, a) && as_by_itself(other_pair, base, b));
        QVERIFY(as_by_itself(direction, a, base) && as_by_itself(other_baseline, b, a));
        reads();
        auto verify = no_cache();
        verify.refresh = true;
        const auto anew = pair(base, a, verify);
        QCOMPARE(reads(), (std::vector{all, all, 0}));
        QVERIFY(as_by_itself(anew, base, a));
        reads();
        const auto after = pair(b, a); // of these, a's rows are those that were read anew
        QCOMPARE(reads(), (std::vector{0, 0, 0}));
        QVERIFY(as_by_itself(after, b, a));
        QVERIFY(base.rows->take_reads() == 0 && a.rows->take_reads() > 0);
        auto once = no_cache();
        once.keep_rows = false;
        KeepingEngine other;
        reads();
        QVERIFY(compute_table(base.trace, a.trace, other, once) && compute_table(base.trace, a.trace, other, once));
        QCOMPARE(reads(), (std::vector{2 * all, 2 * all, 0}));
    }

    void rows_that_went_are_read()
    {
        const Made base = made_trace("base", 1), a = made_trace("a", 2), b = made_trace("b", 3);
        KeepingEngine small;
        small.most_kept = n_rows + 30;
        for (const auto& [p, q] : {std::pair{&base, &a}, std::pair{&base, &b}, std::pair{&b, &a}, std::pair{&a, &base}})
            QVERIFY(as_by_itself(compute_table(p->trace, q->trace, small, no_cache()), *p, *q));
        // Gone between the question and the block.
        KeepingEngine engine;
        QVERIFY(compute_table(base.trace, a.trace, engine, no_cache()));
        forget_reads(base, {a});
        engine.forget_at_question(3);
        const auto again = compute_table(base.trace, a.trace, engine, no_cache());
        QCOMPARE(base.rows->take_reads(), int{n_rows});
        QCOMPARE(a.rows->take_reads(), int{n_rows});
        QVERIFY(as_by_itself(again, base, a));
    }

    void wider_rows_are_read_for_the_mass_outside()
    {
        const Made base = made_trace("base", 1), wide = made_trace("wide", 2, 64);
        KeepingEngine engine;
        QVERIFY(compute_table(base.trace, wide.trace, engine, no_cache()));
        forget_reads(base, {wide});
        const auto again = compute_table(base.trace, wide.trace, engine, no_cache());
        QCOMPARE(base.rows->take_reads(), 0);
        QCOMPARE(wide.rows->take_reads(), int{n_rows});
        QVERIFY(as_by_itself(again, base, wide));
        QVERIFY((*again)->probes[7].outside_q > 0);
    }

    void a_lost_gpu_leaves_the_rest_to_the_cpu()
    {
        const Made base = made_trace("base", 1);
        const std::vector<Made> runs{made_trace("a", 2), made_trace("b", 3), made_trace("half", 4, 50, 2)};
        for (const bool kept : {false, true}) {
            KeepingEngine engine;
            if (kept)
                tables_of(engine, base, runs);
            engine.lost_at = engine.calls + (kept ? 1 : 3);
            const auto tables = tables_of(engine, base, runs);
            for (std::size_t r = 0; r < runs.size(); ++r) {
                QVERIFY(as_by_itself(tables[r], base, runs[r]));
                QCOMPARE((*tables[r])->notices,
                         std::vector<std::string>{"The rest was computed on the CPU: The GPU was lost."});
                QVERIFY((*tables[r])->engine_detail.find(", then the CPU (") != std::string::npos);
            }
        }
    }

    void short_memory_means_fewer_runs_then_the_cpu()
    {
        const Made base = made_trace("base", 1);
        const std::vector<Made> runs{made_trace("a", 2), made_trace("b", 3), made_trace("c", 4), made_trace("d", 5),
                                     made_trace("e", 6)};
        for (const std::size_t most : {2, 1, 0}) {
            KeepingEngine engine;
            tables_of(engine, base, runs); // some rows are null then
            engine.most_runs = most;
            engine.notices = {"The GPU is short of memory."};
            engine.runs_at_once = 0;
            const auto tables = tables_of(engine, base, runs);
            QCOMPARE(engine.runs_at_once, most);
            for (std::size_t r = 0; r < runs.size(); ++r) {
                QVERIFY(as_by_itself(tables[r], base, runs[r]));
                const auto& notices = (*tables[r])->notices;
                QCOMPARE(notices.size(), std::size_t{most == 0 ? 2U : 1U});
                QCOMPARE(notices[0], "The GPU is short of memory.");
                if (most == 0)
                    QCOMPARE(notices[1], "The rest was computed on the CPU: The GPU has no memory for 1 runs.");
            }
        }
    }

    void an_unreadable_run_leaves_the_others_their_numbers()
    {
        const Made base = made_trace("base", 1);
        const std::vector<Made> runs{made_trace("a", 2), made_trace("bad", 3), made_trace("c", 4)};
        runs[1].rows->bad_row = 77;
        KeepingEngine engine;
        const auto tables = tables_of(engine, base, runs);
        QVERIFY(as_by_itself(tables[0], base, runs[0]) && as_by_itself(tables[2], base, runs[2]));
        QVERIFY(!tables[1]);
        QCOMPARE(tables[1].error().message, "Row 77 is on a bad sector.");
        // A run of another text is no hindrance either.
        const Made stranger = made_trace("stranger", 5);
        stranger.trace->tokens.ids.assign(3 * n_rows + 1, 49);
        const auto with_it = tables_of(engine, base, {stranger, runs[2]});
        QVERIFY(!with_it[0] && with_it[0].error().kind == ErrorKind::NotComparable);
        QVERIFY(as_by_itself(with_it[1], base, runs[2]));
    }

    void stopped_at_any_block()
    {
        const Made base = made_trace("base", 1);
        const std::vector<Made> runs{made_trace("a", 2), made_trace("b", 3)};
        for (const int at : {1, 2, 4}) {
            KeepingEngine engine;
            std::stop_source stop;
            Job job;
            job.stop = stop.get_token();
            std::chrono::steady_clock::time_point asked;
            engine.on_call = [&] {
                if (engine.calls == at) {
                    asked = std::chrono::steady_clock::now();
                    stop.request_stop();
                }
            };
            const auto tables = tables_of(engine, base, runs, job);
            QVERIFY(std::chrono::steady_clock::now() - asked < std::chrono::milliseconds(100));
            for (const auto& table : tables)
                QVERIFY(!table && table.error().kind == ErrorKind::Cancelled);
            // What was kept by then is right.
            engine.on_call = {};
            const auto again = tables_of(engine, base, runs);
            QVERIFY(as_by_itself(again[0], base, runs[0]) && as_by_itself(again[1], base, runs[1]));
        }
    }

    void names_last_as_long_as_the_rows()
    {
        Made a = made_trace("a", 1), b = made_trace("b", 1);
        const auto name = known_rows(a.trace->probes)->name();
        QVERIFY(name != 0 && known_rows(b.trace->probes)->name() != name);
        QCOMPARE(known_rows(a.trace->probes)->name(), name);
        ProbeSet elsewhere = a.trace->probes; // the same rows as answers of other positions
        elsewhere.positions[0] = 1;
        QVERIFY(known_rows(elsewhere)->name() != name);
        a = made_trace("a", 1); // opened again
        QVERIFY(known_rows(a.trace->probes)->name() != name);
    }
};

QTEST_GUILESS_MAIN(TestSeveralRuns)
#include "tst_several_runs.moc"
