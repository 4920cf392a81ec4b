// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions as files, notes, several windows: through the real window.
#include "tests/ui/window_fixture.h"

#include "ui/models/notes_model.h"
#include "ui/session/session_file.h"
#include "ui/views/notes_panel.h"
#include "ui/window/banner_bar.h"
#include "ui/window/figures.h"
#include "ui/window/locate_dialog.h"
#include "ui/window/page_stack.h"

#include <QAbstractItemModelTester>
#include <QDockWidget>
#include <QFileDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QListWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>

using namespace flipscope;
using namespace flipscope::test;

class TestSessions : public WindowFixture {
    Q_OBJECT

    QString sessionPath() const { return m_folder->filePath("evening.flipscope"); }

    /// A session that differs from a fresh one in everything that a file holds.
    void arrange()
    {
        openUsual();
        session().setBaseline(run("same")->id);
        session().move(run("late")->id, 0);
        session().rename(run("late")->id, "my late one");
        session().setColor(run("early")->id, QColor("#123456"));
        session().setHidden(run("base")->id, true);
        session().setWindowTokens(1024);
        session().setMetric("kl_pq_p99");
        session().setMargin(1.5);
        session().setColourScale({ColourScale::Kind::Log, false, 0.001, 4, "vik"});
        session().setComparedRuns(run("early")->id, run("my late one")->id);
        session().addBookmark({2561, run("my late one")->id, "here it goes wrong"});
        session().addBookmark({100, -1, ""});
        Place place;
        place.run = run("my late one")->id;
        place.windowStart = 2048;
        place.probe = 2560;
        place.token = 2561;
        session().path().go(place);
        m_window->pages()->showPage("comparePage");
        QVERIFY(idle(session()));
    }
    void checkArranged(MainWindow& window)
    {
        Session& s = *window.session();
        const auto named = [&](const char* name) {
            const auto it = std::ranges::find(s.runs(), QString::fromLatin1(name), &SessionRun::name);
            return it == s.runs().end() ? nullptr : &*it;
        };
        QCOMPARE(s.runs().size(), std::size_t(4));
        QCOMPARE(s.runs()[0].name, QStringLiteral("my late one"));
        QVERIFY(named("same") && s.baseline() == named("same"));
        QCOMPARE(named("early")->color, QColor("#123456"));
        QVERIFY(named("base")->hidden && !named("early")->hidden);
        QCOMPARE(s.windowTokens(), 1024);
        QVERIFY(!s.windowChosen());
        QCOMPARE(s.metric().name, std::string("kl_pq_p99"));
        QCOMPARE(s.margin(), 1.5);
        QVERIFY((s.colourScale() == ColourScale{ColourScale::Kind::Log, false, 0.001, 4, "vik"}));
        QCOMPARE(s.comparedRuns().first, named("early"));
        QCOMPARE(s.comparedRuns().second, named("my late one"));
        QCOMPARE(s.path().place().run, named("my late one")->id);
        QCOMPARE(s.path().place().windowStart, 2048);
        QCOMPARE(s.path().place().probe, 2560);
        QCOMPARE(s.path().place().token, 2561);
        QCOMPARE(window.pages()->current(), QStringLiteral("comparePage"));
        QCOMPARE(s.bookmarks().size(), std::size_t(2));
        QCOMPARE(s.bookmarks()[0].position, 100);
        QCOMPARE(s.bookmarks()[1].text, std::string("here it goes wrong"));
        QCOMPARE(s.bookmarks()[1].run, named("my late one")->id);
    }
    bool openSaved(MainWindow& window, const QString& path)
    {
        QSignalSpy restored(window.sessionOpener(), &SessionOpener::restored);
        window.openFiles({path});
        return QTest::qWaitFor([&] { return !restored.isEmpty() && !window.session()->busy(); }, 20000);
    }

private slots:
    void init() { setUp(); }
    void cleanup()
    {
        tearDown();
        QSettings().remove("session/restoreAtStart");
    }

    void comes_back_as_it_was()
    {
        arrange();
        m_window->saveSessionTo(sessionPath());
        QVERIFY(QFileInfo::exists(sessionPath()));
        QCOMPARE(m_window->sessionPath(), sessionPath());
        MainWindow other;
        other.show();
        QVERIFY(openSaved(other, sessionPath()));
        checkArranged(other);
        // Saved again it is the same file, and Save needs no name any more.
        QFile before(sessionPath());
        QVERIFY(before.open(QIODevice::ReadOnly));
        const QByteArray text = before.readAll();
        other.findChild<QAction*>("saveSession")->trigger();
        QFile after(sessionPath());
        QVERIFY(after.open(QIODevice::ReadOnly));
        QCOMPARE(after.readAll(), text);
    }
    void takes_the_place_of_what_is_open()
    {
        arrange();
        m_window->saveSessionTo(sessionPath());
        session().closeAll();
        QVERIFY(m_window->sessionPath().isEmpty());
        QVERIFY(openSaved(*m_window, sessionPath()));
        checkArranged(*m_window);
        QVERIFY(openSaved(*m_window, sessionPath())); // over itself
        checkArranged(*m_window);
    }
    void saving_asks_for_a_name_once()
    {
        openUsual();
        action("saveSession")->trigger();
        auto* dialog = child<QFileDialog>("saveSessionDialog");
        QVERIFY(dialog != nullptr);
        emit dialog->fileSelected(sessionPath());
        dialog->close();
        QVERIFY(QFileInfo::exists(sessionPath()));
        QVERIFY(!recent::entries().isEmpty() && recent::entries().front() == QStringList{sessionPath()});
    }
    void an_open_trace_is_not_overwritten()
    {
        openUsual();
        const QByteArray before = [&] {
            QFile file(m_files[0]);
            return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        }();
        m_window->saveSessionTo(m_files[0]);
        auto* box = m_window->findChild<QMessageBox*>();
        QVERIFY(box != nullptr);
        box->close();
        QFile file(m_files[0]);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), before);
    }
    void what_moved_is_asked_for()
    {
        arrange();
        m_window->saveSessionTo(sessionPath());
        session().closeAll();
        QVERIFY(QDir(m_folder->path()).mkdir("away"));
        for (const char* name : {"late.h5", "early.h5"})
            QVERIFY(QFile::rename(m_folder->filePath(name), m_folder->filePath(QStringLiteral("away/") + name)));
        QSignalSpy restored(m_window->sessionOpener(), &SessionOpener::restored);
        m_window->openFiles({sessionPath()});
        auto* dialog = child<LocateDialog>("locateDialog");
        QVERIFY(dialog != nullptr && dialog->isVisible());
        QCOMPARE(dialog->findChild<QListWidget*>("missingFiles")->count(), 2);
        dialog->lookIn(m_folder->filePath("nowhere"));
        QVERIFY(dialog->isVisible());
        dialog->lookIn(m_folder->filePath("away"));
        QVERIFY(!dialog->isVisible());
        QVERIFY(QTest::qWaitFor([&] { return !restored.isEmpty() && !session().busy(); }, 20000));
        checkArranged(*m_window);
    }
    void the_rest_opens_without_what_is_missing()
    {
        arrange();
        m_window->saveSessionTo(sessionPath());
        session().closeAll();
        QVERIFY(QFile::remove(m_folder->filePath("late.h5")));
        QSignalSpy restored(m_window->sessionOpener(), &SessionOpener::restored);
        m_window->openFiles({sessionPath()});
        auto* dialog = child<LocateDialog>("locateDialog");
        QVERIFY(dialog != nullptr);
        QTest::mouseClick(dialog->findChild<QPushButton*>("openWithout"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return !restored.isEmpty() && !session().busy(); }, 20000));
        QCOMPARE(session().runs().size(), std::size_t(3));
        QCOMPARE(session().baseline()->name, QStringLiteral("same"));
        QCOMPARE(session().path().place().run, -1);
        QCOMPARE(session().bookmarks()[1].run, -1);
    }
    void cancelling_leaves_everything_as_it_is()
    {
        arrange();
        m_window->saveSessionTo(sessionPath());
        QVERIFY(QFile::rename(m_folder->filePath("late.h5"), m_folder->filePath("gone.h5")));
        m_window->openFiles({sessionPath()});
        auto* dialog = child<LocateDialog>("locateDialog");
        QVERIFY(dialog != nullptr);
        dialog->reject();
        checkArranged(*m_window);
    }
    void another_trace_in_its_place_is_told()
    {
        openUsual();
        m_window->saveSessionTo(sessionPath());
        session().closeAll();
        write(m_folder->path(), {.name = "late", .flipsAt = {}, .nanAt = {}, .settings = {{"engine", "third"}}});
        QVERIFY(openSaved(*m_window, sessionPath()));
        const auto& banners = session().banners();
        QVERIFY(std::any_of(banners.begin(), banners.end(),
                            [](const Banner& b) { return b.text.contains("late.h5 is not the file"); }));
    }
    void hostile_files_get_a_sentence()
    {
        openUsual();
        for (
            const char* text :
            {"", "{", "[]", R"({"format": "flipscope-session", "version": 9})",
             R"({"format": "flipscope-session", "version": 1, "files": [{"absolute": "/no/such.h5"}], "baseline": 5})"}) {
            QFile file(sessionPath());
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(text);
            file.close();
            m_window->openFiles({sessionPath()});
            auto* box = m_window->findChild<QMessageBox*>();
            QVERIFY2(box != nullptr, text);
            QVERIFY(box->text().contains("evening.flipscope"));
            delete box;
            QCOMPARE(session().runs().size(), std::size_t(4)); // as it was
        }
    }
    void numbers_that_make_no_sense_do_no_harm()
    {
        const QString trace = m_files[0];
        QFile file(sessionPath());
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(
            QStringLiteral(
                R"({"format": "flipscope-session", "version": 1, "files": [{"absolute": "%1"}, {"absolute": "%2"}],
            "baseline": 0, "metric": "no such", "window_tokens": 7, "scale": {"map": "none", "automatic": false, "low": 5, "high": 1},
            "place": {"run": 1, "window_start": 70368744177664, "probe": 3, "token": 99999999}, "page": "no page",
            "bookmarks": [{"position": 281474976710656, "run": 1, "text": "far out"}]})")
                .arg(trace, m_files[1])
                .toUtf8());
        file.close();
        QVERIFY(openSaved(*m_window, sessionPath()));
        QCOMPARE(session().metric().name, std::string("flip_rate"));
        QCOMPARE(session().path().place().windowStart, -1);
        QVERIFY(session().colourScale().automatic);
        child<QDockWidget>("notesDock")->show();
        auto* notes = child<QTableView>("notesTable");
        emit notes->activated(notes->model()->index(0, 0)); // leads nowhere
        QCOMPARE(session().path().place().windowStart, -1);
    }
    void restored_at_start_if_wished()
    {
        arrange();
        action("restoreAtStart")->setChecked(true);
        QVERIFY(m_window->close());
        MainWindow next;
        next.show();
        QSignalSpy restored(next.sessionOpener(), &SessionOpener::restored);
        next.openLastSession();
        QVERIFY(QTest::qWaitFor([&] { return !restored.isEmpty() && !next.session()->busy(); }, 20000));
        checkArranged(next);
        QVERIFY(next.sessionPath().isEmpty()); // nobody named it
        next.findChild<QAction*>("restoreAtStart")->setChecked(false);
        MainWindow third;
        third.openLastSession();
        QVERIFY(third.session()->runs().empty() && !third.session()->busy());
    }
    void notes_are_made_edited_and_removed()
    {
        openUsual();
        const QAbstractItemModelTester tester(child<QTableView>("notesTable")->model(),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(!action("bookmarkHere")->isEnabled());
        Place place;
        place.run = run("early")->id;
        place.windowStart = 1024;
        place.probe = 1056;
        place.token = 1057;
        session().path().go(place);
        action("bookmarkHere")->trigger();
        QVERIFY(child<QDockWidget>("notesDock")->isVisible());
        QCOMPARE(session().bookmarks().size(), std::size_t(1));
        QCOMPARE(session().bookmarks()[0].position, 1057);
        action("bookmarkHere")->trigger(); // there is one already
        QCOMPARE(session().bookmarks().size(), std::size_t(1));
        auto* notes = child<QTableView>("notesTable");
        QVERIFY(notes->model()->setData(notes->model()->index(0, NotesModel::Text), "look, \"here\""));
        QCOMPARE(session().bookmarks()[0].text, std::string("look, \"here\""));
        session().path().go({});
        emit notes->activated(notes->model()->index(0, 0));
        QCOMPARE(session().path().place().token, 1057);
        QCOMPARE(session().path().place().probe, 1056);
        // In everything that is exported.
        const QString json = m_folder->filePath("all.json"), csv = m_folder->filePath("notes.csv");
        QVERIFY(writeNumbers(session(), NumbersKind::Json, json));
        QVERIFY(writeNumbers(session(), NumbersKind::Notes, csv));
        QFile file(json), table(csv);
        QVERIFY(file.open(QIODevice::ReadOnly) && table.open(QIODevice::ReadOnly));
        const QJsonDocument all = QJsonDocument::fromJson(file.readAll());
        QCOMPARE(all["notes"][0]["position"].toInt(), 1057);
        QCOMPARE(all["notes"][0]["run"].toString(), QStringLiteral("early"));
        QCOMPARE(table.readAll(), QByteArray("position,run,text\n1057,early,\"look, \"\"here\"\"\"\n"));
        QVERIFY(figureCaption(figureOf(session(), FigureSpec::Chart::Heatmap))
                    .join('\n')
                    .contains("1,057: look, \"here\""));
        notes->setCurrentIndex(notes->model()->index(0, 0));
        m_window->findChild<NotesPanel*>()->removeCurrent();
        QVERIFY(session().bookmarks().empty());
    }
    void windows_have_sessions_of_their_own()
    {
        openUsual();
        MainWindow* other = m_window->newWindow();
        QVERIFY(QTest::qWaitForWindowExposed(other));
        QVERIFY(other->session() != m_window->session());
        QVERIFY(other->session()->runs().empty());
        other->openFiles({m_files[0], m_files[1]});
        QVERIFY(idle(*other->session()));
        QCOMPARE(other->session()->runs().size(), std::size_t(2));
        QCOMPARE(session().runs().size(), std::size_t(4));
        const QPointer<MainWindow> watched(other);
        QVERIFY(other->close());
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QVERIFY(watched.isNull());
    }
};

FLIPSCOPE_GUI_TEST(TestSessions)
#include "tst_sessions.moc"
