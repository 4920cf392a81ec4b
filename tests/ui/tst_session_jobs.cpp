// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Many files at once: their order, what goes wrong among them, one that is slow, and what is stopped. Many runs at
// once, on an engine that reads the baseline once for all of them.
#include "tests/ui/ui_fixture.h"

#include "core/analysis/compute.h"
#include "core/trace/hdf5.h"
#include "core/trace/open.h"
#include "tests/core/analysis/keeping_engine.h"
#include "ui/session/engine_source.h"

#include <QElapsedTimer>
#include <QSignalSpy>

#include <algorithm>
#include <atomic>
#include <thread>

using namespace flipscope;
using namespace flipscope::test;

namespace {

QStringList names(const Session& session)
{
    QStringList all;
    for (const SessionRun& run : session.runs())
        all << run.name;
    return all;
}

int banners(const Session& session, const QString& part)
{
    return static_cast<int>(
        std::ranges::count_if(session.banners(), [&](const Banner& b) { return b.text.contains(part); }));
}

/// What sessions compute on while this is there, in place of a GPU. Its calls wait while `closed`.
class StandIn {
public:
    explicit StandIn(std::function<void(KeepingEngine&)> prepare = [](KeepingEngine&) {})
    {
        setEngineSource([this, prepare = std::move(prepare)]() -> Result<EngineSelection> {
            auto made = std::make_unique<KeepingEngine>();
            engine = made.get();
            prepare(*made);
            made->on_call = [this] {
                entered = true;
                while (closed)
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
            };
            return EngineSelection{std::move(made), ""};
        });
    }
    ~StandIn()
    {
        closed = false;
        setEngineSource({});
    }
    bool waitUntilEntered()
    {
        return QTest::qWaitFor([this] { return entered.load(); }, 10000);
    }

    std::atomic<bool> closed = false, entered = false;
    KeepingEngine* engine = nullptr; ///< the session's
};

std::vector<SessionRun::State> states(const Session& session)
{
    std::vector<SessionRun::State> all;
    for (const SessionRun& run : session.runs())
        all.push_back(run.state);
    return all;
}

using States = std::vector<SessionRun::State>;
constexpr auto baseline = SessionRun::State::Baseline, waiting = SessionRun::State::Waiting,
               working = SessionRun::State::Working, ready = SessionRun::State::Ready,
               failed = SessionRun::State::Failed;

} // namespace

class SessionJobsTest : public QObject {
    Q_OBJECT
private:
    std::unique_ptr<QTemporaryDir> m_folder;
    QStringList m_files;
    const QString m_other = QStringLiteral(FLIPSCOPE_TEST_DATA "/formats/base-24.kld"); ///< no HDF5, of another history

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_files = writeUsual(m_folder->path());
    }
    void cleanup() { VERIFY_NO_WARNINGS(); }

    void order_is_that_of_the_request()
    {
        QStringList files{m_files[0]}, wanted{QStringLiteral("base")};
        for (int i = 0; i < 12; ++i) { // the first ones take longest
            wanted << QStringLiteral("run %1").arg(11 - i);
            files << write(
                m_folder->path(),
                {.name = wanted.back(), .flipsAt = {}, .nanAt = {}, .settings = {}, .stride = i < 3 ? 1 : 32});
        }
        Session session;
        QSignalSpy changes(&session, &Session::runsChanged);
        QElapsedTimer timer;
        timer.start();
        session.open(files);
        QVERIFY(idle(session));
        QCOMPARE(names(session), wanted);
        for (std::size_t i = 0; i < session.runs().size(); ++i)
            QCOMPARE(session.runs()[i].id, static_cast<int>(i));
        QCOMPARE(session.baseline(), &session.runs()[0]);
        for (const SessionRun* run : session.visibleRuns())
            QCOMPARE(run->state, SessionRun::State::Ready);
        // Views are drawn anew once for the files, and ten times a second at most while numbers come.
        QVERIFY2(changes.count() <= 3 + timer.elapsed() / 100, qPrintable(QString::number(changes.count())));
    }

    void what_goes_wrong_keeps_to_its_place()
    {
        const QString folder = m_folder->filePath(QStringLiteral("two"));
        QVERIFY(QDir().mkpath(folder));
        for (const char* name : {"b", "a"})
            write(folder, {.name = QLatin1String(name), .flipsAt = {}, .nanAt = {}, .settings = {}});
        const QString damaged = m_folder->filePath(QStringLiteral("damaged.h5"));
        QVERIFY(QFile::copy(QStringLiteral(FLIPSCOPE_TEST_DATA "/traces/crashing.h5"), damaged));
        Session session;
        session.open({m_files[0], m_folder->filePath(QStringLiteral("missing.h5")), m_files[1], damaged, m_files[1],
                      folder, m_files[2]});
        QVERIFY(idle(session));
        const QStringList wanted{QStringLiteral("base"), QStringLiteral("early"), QStringLiteral("a"),
                                 QStringLiteral("b"), QStringLiteral("late")};
        QStringList found = names(session);
        if (hdf5_version() == "1.10.8") { // others may read what crashes it
            QCOMPARE(banners(session, QStringLiteral("damaged.h5 is damaged inside")), 1);
            QCOMPARE(found, wanted);
        }
        QCOMPARE(banners(session, QStringLiteral("missing.h5")), 1);
        QCOMPARE(banners(session, QStringLiteral("early.h5 is open already, as early")), 1);
        for (const QString& name : wanted)
            QVERIFY(found.contains(name));
    }

    void cancel_before_anything_is_there()
    {
        Session session;
        session.open(m_files);
        session.cancel();
        QVERIFY(session.runs().empty());
        QVERIFY(idle(session));
        QVERIFY(session.runs().empty()); // late answers were dropped
        session.open(m_files);
        session.closeAll();
        session.open({m_files[2], m_files[1]});
        QVERIFY(idle(session));
        QCOMPARE(names(session), QStringList({QStringLiteral("late"), QStringLiteral("early")}));
        QCOMPARE(session.run(session.runs()[1].id)->state, SessionRun::State::Ready);
    }

    /// A file that does not answer holds up no other, and stands where it belongs once it does.
    void slow_file_holds_up_no_other()
    {
        Session session;
        session.open({m_files[0]});
        QVERIFY(idle(session));
        {
            const h5::Session held; // whoever reads HDF5 waits meanwhile
            session.open({m_files[1], m_other, m_files[2]});
            QVERIFY(QTest::qWaitFor([&] { return session.runs().size() == 2; }, 10000));
            QCOMPARE(session.runs()[1].name, QStringLiteral("base-24"));
            QVERIFY(QTest::qWaitFor([&] { return session.runs()[1].state == SessionRun::State::Failed; }, 10000));
            QVERIFY(session.busy());
        }
        QVERIFY(idle(session));
        QCOMPARE(names(session), QStringList({QStringLiteral("base"), QStringLiteral("early"),
                                              QStringLiteral("base-24"), QStringLiteral("late")}));
        QCOMPARE(session.runs()[3].state, SessionRun::State::Ready);
    }

    /// What all are compared with is the first, however long that takes; stopped, what is there stays.
    void slow_baseline_is_waited_for()
    {
        Session session;
        {
            const h5::Session held;
            session.open({m_files[0], m_other});
            QTest::qWait(1300);
            QVERIFY(session.runs().empty());
            session.cancel();
            QCOMPARE(names(session), QStringList{QStringLiteral("base-24")});
            QCOMPARE(session.baseline(), &session.runs()[0]);
        }
        QVERIFY(idle(session));
        QCOMPARE(session.runs().size(), std::size_t(1));
    }

    /// A later state of a file is not replaced by an earlier one, and only what changed is computed again.
    void reload_of_many()
    {
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        const TablePtr late = session.runs()[2].table;
        write(m_folder->path(),
              {.name = QStringLiteral("early"), .flipsAt = inWindow(3, 7), .nanAt = {}, .settings = {}});
        for (int i = 0; i < 3; ++i)
            session.reload();
        QVERIFY(idle(session));
        QCOMPARE(names(session), QStringList({QStringLiteral("base"), QStringLiteral("early"), QStringLiteral("late"),
                                              QStringLiteral("same")}));
        QCOMPARE(session.heatmap().rows[0].cells[3].flips, std::int64_t(7));
        QCOMPARE(session.runs()[2].table, late);
    }

    // --- many runs at once ---

    void baseline_is_read_once_for_all_runs()
    {
        StandIn gpu;
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        QCOMPARE(states(session), (States{baseline, ready, ready, ready}));
        QCOMPARE(gpu.engine->runs_at_once, std::size_t(3));
        const auto cpu = make_cpu_engine(1);
        ComputeOptions alone;
        alone.use_cache = false;
        for (const SessionRun* run : session.visibleRuns()) {
            QCOMPARE(run->table->times.runs, 3);
            QCOMPARE(run->table->times.bytes, std::int64_t(125 * (1 + 3) * 64 * 4)); // probes, traces, ids, bytes
            const auto pair = compute_table(session.baseline()->trace, run->trace, *cpu, alone);
            QCOMPARE(different_probes(*run->table, **pair), std::int64_t(0));
        }
        QCOMPARE(session.heatmap().rows[0].cells[2].flips, std::int64_t(5));
        session.verify();
        QVERIFY(idle(session));
        QCOMPARE(banners(session, QStringLiteral("Verified: 3 runs computed again")), 1);
        QCOMPARE(session.runs()[1].table->times.runs, 3);
    }

    void what_needs_no_computing_is_there_first()
    {
        const QString other =
            write(m_folder->path(),
                  {.name = QStringLiteral("other"), .flipsAt = {}, .nanAt = {}, .changedToken = 77, .settings = {}});
        StandIn gpu;
        gpu.closed = true;
        Session session;
        session.open({m_files[0], m_files[1], other, m_files[2]});
        QTRY_COMPARE_WITH_TIMEOUT(states(session), (States{baseline, working, failed, working}), 10000);
        QVERIFY(session.runs()[2].problem.contains(QStringLiteral("77")));
        QVERIFY(session.busy());
        gpu.closed = false;
        QVERIFY(idle(session));
        QCOMPARE(states(session), (States{baseline, ready, failed, ready}));
        QCOMPARE(session.runs()[1].table->times.runs, 2);
    }

    void runs_come_and_go_meanwhile()
    {
        const QString more =
            write(m_folder->path(), {.name = QStringLiteral("more"), .flipsAt = {64}, .nanAt = {}, .settings = {}});
        StandIn gpu;
        gpu.closed = true;
        Session session;
        session.open(m_files);
        QVERIFY(gpu.waitUntilEntered());
        QCOMPARE(states(session), (States{baseline, working, working, working}));
        session.remove(session.runs()[3].id);
        session.open({more});
        QTRY_COMPARE_WITH_TIMEOUT(states(session), (States{baseline, working, working, waiting}), 10000);
        gpu.closed = false;
        QVERIFY(idle(session));
        QCOMPARE(states(session), (States{baseline, ready, ready, ready}));
        QCOMPARE(session.runs()[1].table->times.runs, 3); // with the one that is gone: nothing was begun anew
        QCOMPARE(session.runs()[3].table->times.runs, 1);
        QCOMPARE(session.heatmap().rows[2].cells[0].flips, std::int64_t(1));
    }

    void another_baseline_meanwhile()
    {
        StandIn gpu;
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        const TablePtr early = session.runs()[1].table;
        gpu.closed = true;
        gpu.entered = false;
        session.setBaseline(session.runs()[2].id);
        QVERIFY(gpu.waitUntilEntered());
        QCOMPARE(states(session), (States{working, working, baseline, working}));
        session.setBaseline(session.runs()[3].id);
        gpu.closed = false;
        QVERIFY(idle(session));
        QCOMPARE(states(session), (States{ready, ready, ready, baseline}));
        QCOMPARE(session.heatmap().rows[1].cells[2].flips, std::int64_t(5));
        session.setBaseline(session.runs()[0].id);
        QVERIFY(!session.busy());
        QCOMPARE(session.runs()[1].table, early);
    }

    void cancel_stops_all_of_them()
    {
        StandIn gpu;
        gpu.closed = true;
        Session session;
        session.open(m_files);
        QVERIFY(gpu.waitUntilEntered());
        session.cancel();
        gpu.closed = false;
        QVERIFY(idle(session));
        QCOMPARE(states(session), (States{baseline, failed, failed, failed}));
        QVERIFY(session.runs()[3].problem.contains(QStringLiteral("F5")));
        session.reload();
        QVERIFY(idle(session));
        QCOMPARE(states(session), (States{baseline, ready, ready, ready}));
    }

    /// The numbers of all runs go on where the engine was lost, and each says so.
    void lost_engine_goes_on_as_cpu()
    {
        StandIn gpu([](KeepingEngine& engine) { engine.lost_at = 3; });
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        QCOMPARE(states(session), (States{baseline, ready, ready, ready}));
        QCOMPARE(banners(session, QStringLiteral("The rest was computed on the CPU: The GPU was lost.")), 3);
        QCOMPARE(session.heatmap().rows[0].cells[2].flips, std::int64_t(5));
        QCOMPARE(session.heatmap().rows[1].cells[5].flips, std::int64_t(8));
        QCOMPARE(session.heatmap().rows[1].cells[7].flips, std::int64_t(1));
    }
};

FLIPSCOPE_GUI_TEST(SessionJobsTest)
#include "tst_session_jobs.moc"
