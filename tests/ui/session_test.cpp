// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The session over real files: opening, baseline, tables, reload, cancel, selection.
#include "tests/ui/ui_fixture.h"
#include "ui/session/navigation.h"

#include <QSignalSpy>

using namespace flipscope;
using namespace flipscope::test;

namespace {

const SessionRun* named(const Session& session, const char* name)
{
    for (const SessionRun& run : session.runs())
        if (run.name == QLatin1String(name))
            return &run;
    return nullptr;
}

bool banner(const Session& session, const QString& part)
{
    return std::ranges::any_of(session.banners(), [&](const Banner& b) { return b.text.contains(part); });
}

} // namespace

class SessionTest : public QObject {
    Q_OBJECT
private:
    std::unique_ptr<QTemporaryDir> m_folder;
    QStringList m_files;

private slots:
    void init()
    {
        qunsetenv("FLIPSCOPE_ENGINE");
        m_folder = std::make_unique<QTemporaryDir>();
        m_files = writeUsual(m_folder->path());
    }
    void cleanup() { VERIFY_NO_WARNINGS(); }

    void opens_and_computes()
    {
        Session session;
        QSignalSpy busy(&session, &Session::busyChanged);
        session.open(m_files);
        QVERIFY(session.busy());
        QVERIFY(idle(session));
        QCOMPARE(session.runs().size(), std::size_t(4));
        QCOMPARE(session.baseline()->name, QStringLiteral("base"));
        for (const char* name : {"early", "late", "same"}) {
            QVERIFY(named(session, name) != nullptr);
            QCOMPARE(named(session, name)->state, SessionRun::State::Ready);
        }
        QCOMPARE(busy.first().first().toBool(), true);
        QCOMPARE(busy.last().first().toBool(), false);
        QCOMPARE(session.extent(), (HistoryExtent{3968, 4000}));
        QVERIFY(!session.engineText().isEmpty());
    }

    /// Every flip was planted, so the grid is known: 5 of 16 in window 2, 8 of 16 in window 5, 1 of 13 in window 7.
    void grid_holds_the_planted_flips()
    {
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        QCOMPARE(session.windowTokens(), qint64(512));
        QVERIFY(session.windowChosen());
        QVERIFY(banner(session, QStringLiteral("512 tokens")));
        const HeatmapGrid grid = session.heatmap();
        QCOMPARE(grid.rows.size(), std::size_t(3));
        QCOMPARE(grid.starts.size(), std::size_t(8));
        const std::int64_t flips[3][8] = {{0, 0, 5, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 8, 0, 1}, {0, 0, 0, 0, 0, 0, 0, 0}};
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t c = 0; c < 8; ++c) {
                const HeatmapCell& cell = grid.rows[r].cells[c];
                const std::int64_t n = (c == 7 ? 13 : 16) - (r == 1 && c == 0 ? 1 : 0);
                QCOMPARE(cell.flips, flips[r][c]);
                QCOMPARE(cell.n, n);
                QCOMPARE(cell.value, static_cast<double>(flips[r][c]) / static_cast<double>(n));
            }
        QCOMPARE(grid.rows[1].cells[0].n_invalid, std::int64_t(1));
    }

    void same_file_is_not_opened_twice()
    {
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        const QString link = m_folder->filePath(QStringLiteral("link.h5"));
        QVERIFY(QFile::link(m_files[1], link));
        session.open({m_files[2], link});
        QVERIFY(idle(session));
        QCOMPARE(session.runs().size(), std::size_t(4));
        QVERIFY(banner(session, QStringLiteral("late.h5 is open already")));
        QVERIFY(banner(session, QStringLiteral("link.h5 is open already, as early")));
    }

    void inode_of_a_replaced_file_is_another_file()
    {
        Session session;
        session.open({m_files[0], m_files[1]});
        QVERIFY(idle(session));
        // early.h5 is replaced, and what was early.h5 lives on elsewhere with another content.
        const QString moved = m_folder->filePath(QStringLiteral("moved.h5"));
        QVERIFY(QFile::rename(m_files[1], moved));
        QFile late(m_files[2]), in(moved);
        QVERIFY(late.open(QIODevice::ReadOnly) && in.open(QIODevice::WriteOnly | QIODevice::Truncate));
        in.write(late.readAll());
        in.close();
        write(m_folder->path(), {.name = QStringLiteral("early"), .flipsAt = {}, .nanAt = {}, .settings = {}});
        session.open({moved});
        QVERIFY(idle(session));
        QCOMPARE(session.runs().size(), std::size_t(3));
        QCOMPARE(named(session, "late")->state, SessionRun::State::Ready);
    }

    void runs_of_one_name_are_told_apart()
    {
        const QTemporaryDir other;
        const QString second =
            write(other.path(), {.name = QStringLiteral("early"), .flipsAt = {}, .nanAt = {}, .settings = {}});
        Session session;
        session.open({m_files[0], m_files[1], second});
        QVERIFY(idle(session));
        QVERIFY(named(session, "early (2)") != nullptr);
        write(other.path(), {.name = QStringLiteral("early"), .flipsAt = {64}, .nanAt = {}, .settings = {}});
        session.reload();
        QVERIFY(idle(session));
        QCOMPARE(session.visibleRuns()[1]->name, QStringLiteral("early (2)"));
        QCOMPARE(session.heatmap().rows[1].cells[0].flips, std::int64_t(1));
    }

    void open_files_are_no_outputs()
    {
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        const QString link = m_folder->filePath(QStringLiteral("numbers.csv"));
        QVERIFY(QFile::link(m_files[1], link));
        for (const QString& path : {m_files[0], m_files[1], link}) {
            const auto refused = session.checkOutput(path);
            QVERIFY(!refused);
            QVERIFY(refused.error().message.find("choose another name") != std::string::npos);
        }
        QVERIFY(session.checkOutput(m_folder->filePath(QStringLiteral("new.csv"))));
    }

    void baseline_is_chosen_and_changed()
    {
        Session session;
        session.open({m_files[1], m_files[2]}, m_files[0]);
        QVERIFY(idle(session));
        QCOMPARE(session.baseline()->name, QStringLiteral("base"));
        const TablePtr first = named(session, "early")->table;
        QVERIFY(first != nullptr);

        session.setBaseline(named(session, "late")->id);
        QCOMPARE(session.baseline()->name, QStringLiteral("late"));
        QVERIFY(idle(session));
        const HeatmapGrid grid = session.heatmap();
        QCOMPARE(grid.baseline, std::string("late"));
        // Against "late", "base" flips where "late" did, and "early" at both places.
        QCOMPARE(session.visibleRuns()[0]->name, QStringLiteral("base"));
        QCOMPARE(grid.rows[0].cells[5].flips, std::int64_t(8));
        QCOMPARE(grid.rows[1].cells[2].flips, std::int64_t(5));
        QCOMPARE(grid.rows[1].cells[5].flips, std::int64_t(8));

        session.setBaseline(named(session, "base")->id);
        QVERIFY(!session.busy()); // back at once, from memory
        QCOMPARE(named(session, "early")->table, first);
    }

    /// As `flipscope analyze` has it: the windows reach to the last probe of any run that is compared.
    void run_longer_than_the_baseline()
    {
        MadeTrace made{.name = QStringLiteral("longer"), .flipsAt = {}, .nanAt = {}, .tokens = 5000, .settings = {}};
        const QString longer = write(m_folder->path(), made);
        made.name = QStringLiteral("other text");
        made.tokens = 9000;
        made.changedToken = 77;
        const QString other = write(m_folder->path(), made);
        Session session;
        session.open({m_files[0], longer, other});
        QVERIFY(idle(session));
        QCOMPARE(named(session, "other text")->state, SessionRun::State::Failed);
        QCOMPARE(session.extent(), (HistoryExtent{4992, 5000}));
        QCOMPARE(session.windowTokens(), qint64(512)); // for 5,000 tokens, not for 9,000
        const HeatmapGrid grid = session.heatmap();
        QCOMPARE(grid.n_tokens, std::int64_t(5000));
        QCOMPARE(grid.starts.size(), std::size_t(10));
        QCOMPARE(grid.ends.back(), std::int64_t(5000));
        QCOMPARE(grid.rows[0].cells[7].n, std::int64_t(13)); // the common history ends in window 7
        QCOMPARE(grid.rows[0].cells[8].state, HeatmapCell::State::Empty);
        const Analysis analysis = analysisOf(session);
        QCOMPARE(analysis.runs[0].windows.size(), grid.starts.size());
        for (std::size_t i = 0; i < grid.starts.size(); ++i) {
            QCOMPARE(analysis.runs[0].windows[i].start, grid.starts[i]);
            QCOMPARE(analysis.runs[0].windows[i].end, grid.ends[i]);
            QCOMPARE(analysis.runs[0].windows[i].n, grid.rows[0].cells[i].n);
        }
    }

    void failed_run_stays_with_its_problem()
    {
        Session session;
        const QString other =
            write(m_folder->path(),
                  {.name = QStringLiteral("other"), .flipsAt = {}, .nanAt = {}, .changedToken = 77, .settings = {}});
        session.open({m_files[0], other, m_files[1]});
        QVERIFY(idle(session));
        const SessionRun* run = named(session, "other");
        QVERIFY(run != nullptr);
        QCOMPARE(run->state, SessionRun::State::Failed);
        QVERIFY2(run->problem.contains(QStringLiteral("77")), qPrintable(run->problem));
        QVERIFY(banner(session, run->problem));
        QCOMPARE(session.heatmap().rows[0].cells[0].state, HeatmapCell::State::NotComparable);
        QCOMPARE(named(session, "early")->state, SessionRun::State::Ready);
    }

    void what_is_no_trace_is_said()
    {
        Session session;
        const QString text = m_folder->filePath(QStringLiteral("notes.txt"));
        QFile file(text);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("no trace");
        file.close();
        session.open({text, m_folder->filePath(QStringLiteral("missing.h5")), m_files[0], m_files[1]});
        QVERIFY(idle(session));
        QCOMPARE(session.runs().size(), std::size_t(2));
        QVERIFY(banner(session, QStringLiteral("notes.txt")));
        QVERIFY(banner(session, QStringLiteral("missing.h5")));
        QCOMPARE(session.banners().front().level, Banner::Level::Error);
        session.dismiss(Banner(session.banners().front()));
        session.dismiss(Banner(session.banners().front()));
        QVERIFY(!banner(session, QStringLiteral("notes.txt")));
    }

    void folder_opens_its_traces_only()
    {
        Session session;
        QFile file(m_folder->filePath(QStringLiteral("notes.txt")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("no trace");
        file.close();
        session.open({m_folder->path()});
        QVERIFY(idle(session));
        QCOMPARE(session.runs().size(), std::size_t(4));
        QVERIFY(!banner(session, QStringLiteral("notes.txt")));

        Session empty;
        const QTemporaryDir nothing;
        empty.open({nothing.path()});
        QVERIFY(idle(empty));
        QVERIFY(banner(empty, QStringLiteral("no trace in the folder")));
    }

    void changed_file_is_noticed_and_reloaded()
    {
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        const TablePtr untouched = named(session, "late")->table;
        QSignalSpy changes(&session, &Session::bannersChanged);
        write(m_folder->path(),
              {.name = QStringLiteral("early"), .flipsAt = inWindow(3, 7), .nanAt = {}, .settings = {}});
        QTRY_VERIFY_WITH_TIMEOUT(named(session, "early")->changedOnDisk, 5000);
        QVERIFY(banner(session, QStringLiteral("early changed on disk: F5 reloads it")));
        session.reload();
        QVERIFY(idle(session));
        QVERIFY(!named(session, "early")->changedOnDisk);
        QVERIFY(!banner(session, QStringLiteral("changed on disk")));
        QCOMPARE(session.heatmap().rows[0].cells[2].flips, std::int64_t(0));
        QCOMPARE(session.heatmap().rows[0].cells[3].flips, std::int64_t(7));
        QCOMPARE(named(session, "late")->table, untouched); // nothing else was computed again

        // And once more: a file that was replaced is still watched.
        write(m_folder->path(), {.name = QStringLiteral("early"), .flipsAt = {}, .nanAt = {}, .settings = {}});
        QTRY_VERIFY_WITH_TIMEOUT(named(session, "early")->changedOnDisk, 5000);
    }

    void reload_of_a_file_that_is_gone()
    {
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        QVERIFY(QFile::remove(m_files[1]));
        QTRY_VERIFY_WITH_TIMEOUT(banner(session, QStringLiteral("early is gone")), 5000);
        session.reload();
        QVERIFY(idle(session));
        QCOMPARE(named(session, "early")->state, SessionRun::State::Failed);
        QCOMPARE(named(session, "late")->state, SessionRun::State::Ready);
    }

    void verify_says_that_all_is_the_same()
    {
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        session.verify();
        QVERIFY(session.busy());
        QVERIFY(idle(session));
        QVERIFY(banner(session, QStringLiteral("Verified: 3 runs computed again")));
        QCOMPARE(session.heatmap().rows[0].cells[2].flips, std::int64_t(5));
    }

    void cancel_stops_a_long_computation()
    {
        qputenv("FLIPSCOPE_ENGINE", "reference"); // slow and plain
        MadeTrace big{.name = QStringLiteral("big"), .flipsAt = {}, .nanAt = {}, .settings = {}, .vocab = 60000};
        const QString base = write(m_folder->path(), big);
        big.name = QStringLiteral("big2");
        big.flipsAt = {320};
        const QString run = write(m_folder->path(), big);
        Session session;
        QSignalSpy progress(&session, &Session::progress);
        session.open({base, run});
        QVERIFY(QTest::qWaitFor(
            [&] { return session.runs().size() == 2 && session.runs()[1].state == SessionRun::State::Working; },
            10000));
        QTest::qWait(100);
        QElapsedTimer timer;
        timer.start();
        session.cancel();
        QVERIFY(idle(session, 3000));
        QVERIFY2(timer.elapsed() < 2000, qPrintable(QString::number(timer.elapsed())));
        QCOMPARE(session.runs()[1].state, SessionRun::State::Failed);
        QVERIFY(session.runs()[1].problem.contains(QStringLiteral("F5")));
        QVERIFY(progress.count() <= 2 + 30 * 12);

        qputenv("FLIPSCOPE_ENGINE", "cpu");
        session.reload(); // F5 computes what was stopped
        QVERIFY(idle(session, 60000));
        QCOMPARE(session.runs()[1].state, SessionRun::State::Ready);
    }

    void destructor_stops_what_is_running()
    {
        qputenv("FLIPSCOPE_ENGINE", "reference");
        const MadeTrace big{.name = QStringLiteral("big"), .flipsAt = {}, .nanAt = {}, .settings = {}, .vocab = 60000};
        const QString base = write(m_folder->path(), big);
        MadeTrace other = big;
        other.name = QStringLiteral("big2");
        const QString run = write(m_folder->path(), other);
        QElapsedTimer timer;
        {
            Session session;
            session.open({base, run});
            QVERIFY(QTest::qWaitFor(
                [&] { return session.runs().size() == 2 && session.runs()[1].state == SessionRun::State::Working; },
                10000));
            timer.start();
        }
        QVERIFY2(timer.elapsed() < 2000, qPrintable(QString::number(timer.elapsed())));
        QCoreApplication::processEvents(); // answers that were under way find nobody, and that is fine
    }

    void list_edits()
    {
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        const int early = named(session, "early")->id, late = named(session, "late")->id;
        session.move(late, 1);
        QCOMPARE(session.visibleRuns()[0]->id, late);
        QCOMPARE(session.heatmap().rows[0].name, std::string("late"));
        QCOMPARE(session.heatmap().rows[0].cells[5].flips, std::int64_t(8));
        session.rename(late, QStringLiteral("  renamed "));
        QCOMPARE(session.heatmap().rows[0].name, std::string("renamed"));
        session.setHidden(early, true);
        QCOMPARE(session.heatmap().rows.size(), std::size_t(2));
        session.setHidden(early, false);
        session.path().go({.run = late, .windowStart = 512});
        session.remove(late);
        QCOMPARE(session.path().place(), Place{});
        QCOMPARE(session.runs().size(), std::size_t(3));
        session.remove(session.baseline()->id);
        QVERIFY(idle(session));
        QCOMPARE(session.baseline()->name, QStringLiteral("early"));
        session.closeAll();
        QVERIFY(session.baseline() == nullptr);
        QVERIFY(session.heatmap().rows.empty());
        QVERIFY(session.banners().empty());
    }

    void window_size_keeps_the_place()
    {
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        session.path().go({.run = named(session, "late")->id, .windowStart = 5 * 512, .probe = 5 * 512 + 64});
        session.setWindowTokens(1000);
        QCOMPARE(session.path().place().windowStart, qint64(2000));
        QCOMPARE(session.path().place().probe, qint64(5 * 512 + 64));
        QCOMPARE(session.heatmap().starts.size(), std::size_t(4));
        QVERIFY(!banner(session, QStringLiteral("were chosen")));
        session.setWindowTokens(0);
        QCOMPARE(session.windowTokens(), qint64(512));
    }

    void down_goes_to_what_is_worst()
    {
        Session session;
        session.open(m_files);
        QVERIFY(idle(session));
        const int late = named(session, "late")->id;
        Place place = downFrom(session, {.run = late});
        QCOMPARE(place.windowStart, qint64(5 * 512));
        place = downFrom(session, place);
        QVERIFY(place.probe >= 5 * 512 && place.probe < 5 * 512 + 8 * 32); // one of those that flip
        const Place probe = place;
        place = downFrom(session, place);
        QCOMPARE(place.token, probe.probe + 1);
        QCOMPARE(downFrom(session, place), place);
        QCOMPARE(downFrom(session, {}).run, session.visibleRuns().front()->id);
        // In window 7 one probe flips: it is the worst, whatever the divergence of the others.
        QCOMPARE(downFrom(session, {.run = late, .windowStart = 7 * 512}).probe, qint64(7 * 512 + 64));
    }

    /// Δp has no value where the history's next token is none of the compared ids.
    void down_passes_over_windows_without_a_value()
    {
        MadeTrace made{.name = QStringLiteral("p"), .flipsAt = {}, .nanAt = {}, .changedToken = 1, .settings = {}};
        made.changedTo = 1000; // of 64 ids
        const QString base = write(m_folder->path(), made);
        made.name = QStringLiteral("q");
        made.flipsAt = {448}; // where the history's next token is the one that leads
        const QString run = write(m_folder->path(), made);
        Session session;
        session.open({base, run});
        QVERIFY(idle(session));
        session.setWindowTokens(32); // a probe each
        session.setMetric(QStringLiteral("dp_mean"));
        const HeatmapGrid grid = session.heatmap();
        QVERIFY(std::isnan(grid.rows[0].cells[0].value) && grid.rows[0].cells[0].n == 1);
        QCOMPARE(downFrom(session, {.run = named(session, "q")->id}).windowStart, qint64(448));
    }

    /// Cells of the grid over real traces, against flips counted in the reference tables (computed in 80-bit
    /// arithmetic, elsewhere).
    void real_traces_flip_where_the_reference_says()
    {
        const QString folder = QStringLiteral(FLIPSCOPE_SHARED "/traces/smollm2/");
        if (!QFile::exists(folder))
            QSKIP("../shared/traces is not there");
        const QStringList names{QStringLiteral("kv_q8_0"), QStringLiteral("kv_q4_0"), QStringLiteral("w_q2_k")};
        QStringList files{folder + QStringLiteral("baseline.h5")};
        for (const QString& name : names)
            files << folder + name + QStringLiteral(".h5");
        Session session;
        session.open(files);
        QVERIFY(idle(session, 120000));
        QCOMPARE(session.windowTokens(), qint64(1024)); // 7,667 tokens
        const HeatmapGrid grid = session.heatmap();
        QCOMPARE(grid.rows.size(), std::size_t(3));
        for (qsizetype r = 0; r < names.size(); ++r) {
            QFile csv(folder + QStringLiteral("reference/baseline__") + names[r] + QStringLiteral(".csv"));
            QVERIFY(csv.open(QIODevice::ReadOnly));
            const QList<QByteArray> heading = csv.readLine().trimmed().split(',');
            const auto position = heading.indexOf("position"), flip = heading.indexOf("flip");
            QVERIFY(position >= 0 && flip >= 0);
            std::vector<std::int64_t> flips(grid.starts.size()), n(grid.starts.size());
            while (!csv.atEnd()) {
                const QList<QByteArray> fields = csv.readLine().trimmed().split(',');
                const auto window = static_cast<std::size_t>(fields[position].toLongLong() / 1024);
                ++n[window];
                flips[window] += fields[flip].toLongLong();
            }
            for (std::size_t c = 0; c < flips.size(); ++c) {
                QCOMPARE(grid.rows[static_cast<std::size_t>(r)].cells[c].flips, flips[c]);
                QCOMPARE(grid.rows[static_cast<std::size_t>(r)].cells[c].n, n[c]);
            }
        }
    }

    void path_has_a_history()
    {
        DrilldownPath path;
        QSignalSpy changed(&path, &DrilldownPath::changed);
        path.go({.run = 1});
        path.go({.run = 1, .windowStart = 512});
        path.go({.run = 1, .windowStart = 512});
        QCOMPARE(changed.count(), 2);
        path.go({.run = 1, .windowStart = 512, .probe = 520, .token = 521});
        path.up();
        QCOMPARE(path.place().depth(), Place::Depth::Probe);
        path.up();
        path.back();
        QCOMPARE(path.place().depth(), Place::Depth::Probe);
        path.back();
        path.back();
        QCOMPARE(path.place(), (Place{.run = 1, .windowStart = 512}));
        QVERIFY(path.canForward());
        path.go({.run = 2});
        QVERIFY(!path.canForward());
        path.forgetRun(1);
        QCOMPARE(path.place().run, 2);
        path.back();
        QCOMPARE(path.place(), Place{});
        QVERIFY(!path.canBack());
        path.reset();
        QVERIFY(!path.canForward());
    }
};

FLIPSCOPE_GUI_TEST(SessionTest)
#include "session_test.moc"
