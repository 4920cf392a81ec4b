// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Many files at once: their order, what goes wrong among them, one that is slow, and what is stopped.
#include "tests/ui/ui_fixture.h"

#include "core/trace/hdf5.h"
#include "core/trace/open.h"

#include <QElapsedTimer>
#include <QSignalSpy>

#include <algorithm>

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
};

FLIPSCOPE_GUI_TEST(SessionJobsTest)
#include "tst_session_jobs.moc"
