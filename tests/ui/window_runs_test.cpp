// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of the window: their list, files that change on disk, long work that is stopped. On the offscreen platform.
#include "tests/ui/window_fixture.h"

#include "ui/window/banner_bar.h"

#include <QAbstractItemModelTester>
#include <QColorDialog>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QMimeData>
#include <QTableView>
#include <QToolButton>
#include <QTreeWidget>

using namespace flipscope;
using namespace flipscope::test;

class WindowRunsTest : public WindowFixture {
    Q_OBJECT
private slots:
    void init() { setUp(); }
    void cleanup() { tearDown(); }

    // --- the list of runs ---

    void star_eye_name_and_order()
    {
        openUsual();
        RunsModel* model = m_window->runsPanel()->model();
        QCOMPARE(model->index(1, RunsModel::Flips).data().toString(), QStringLiteral("4.0 %")); // 5 of 125
        QCOMPARE(model->index(3, RunsModel::Flips).data().toString(), QStringLiteral("0 %"));
        QVERIFY(model->index(3, RunsModel::Name)
                    .data(RunsModel::BadgeRole)
                    .toString()
                    .contains(QStringLiteral("bit-identical")));
        QVERIFY(model->index(2, RunsModel::Name)
                    .data(RunsModel::BadgeRole)
                    .toString()
                    .contains(QStringLiteral("2 settings differ")));
        QVERIFY(model->index(2, RunsModel::Name)
                    .data(RunsModel::BadgeRole)
                    .toString()
                    .contains(QStringLiteral("1 invalid")));

        clickCell(1, RunsModel::Shown);
        QVERIFY(run("early")->hidden);
        QCOMPARE(heatmap()->rowLabels(), QStringList({QStringLiteral("late"), QStringLiteral("same")}));
        clickCell(1, RunsModel::Shown);
        QCOMPARE(heatmap()->rowLabels().size(), 3);

        clickCell(2, RunsModel::Star);
        QCOMPARE(session().baseline()->name, QStringLiteral("late"));
        QVERIFY(idle(session()));
        QCOMPARE(heatmap()->rowLabels(),
                 QStringList({QStringLiteral("base"), QStringLiteral("early"), QStringLiteral("same")}));
        clickCell(0, RunsModel::Star);
        QCOMPARE(session().baseline()->name, QStringLiteral("base"));

        clickCell(3, RunsModel::Name);
        runs()->setFocus();
        QTest::keyClick(runs(), Qt::Key_Up, Qt::AltModifier);
        QCOMPARE(session().runs()[2].name, QStringLiteral("same"));
        QCOMPARE(heatmap()->rowLabels()[1], QStringLiteral("same"));
        QTest::keyClick(runs(), Qt::Key_Down, Qt::AltModifier);
        QCOMPARE(session().runs()[3].name, QStringLiteral("same"));

        QTest::keyClick(runs(), Qt::Key_F2);
        auto* editor = runs()->viewport()->findChild<QLineEdit*>();
        QVERIFY(editor != nullptr);
        editor->selectAll();
        QTest::keyClicks(editor, QStringLiteral("control"));
        QTest::keyClick(editor, Qt::Key_Return);
        QTRY_COMPARE(heatmap()->rowLabels()[2], QStringLiteral("control"));

        QTest::keyClick(runs(), Qt::Key_Delete);
        QCOMPARE(session().runs().size(), std::size_t(3));
        QVERIFY(run("control") == nullptr);
    }

    void colour_is_changed_by_a_click()
    {
        openUsual();
        clickCell(1, RunsModel::Colour);
        auto* dialog = m_window->findChild<QColorDialog*>();
        QVERIFY(dialog != nullptr);
        dialog->setCurrentColor(QColor(1, 2, 3));
        dialog->accept();
        QCOMPARE(run("early")->color, QColor(1, 2, 3));
    }

    void order_is_changed_by_dragging()
    {
        openUsual();
        RunsModel* model = m_window->runsPanel()->model();
        const std::unique_ptr<QMimeData> data(model->mimeData({model->index(3, RunsModel::Name)}));
        QVERIFY(model->canDropMimeData(data.get(), Qt::MoveAction, 1, 0, {}));
        model->dropMimeData(data.get(), Qt::MoveAction, 1, 0, {});
        QCOMPARE(session().runs()[1].name, QStringLiteral("same"));
        QCOMPARE(session().runs().size(), std::size_t(4));
        QCOMPARE(heatmap()->rowLabels()[0], QStringLiteral("same"));
    }

    void settings_that_differ_are_listed()
    {
        openUsual();
        QTreeWidget* settings = m_window->runsPanel()->settings();
        QCOMPARE(settings->topLevelItemCount(), 2); // stages of kv_cache_dtype and engine over all runs
        QCOMPARE(settings->topLevelItem(1)->text(0), QStringLiteral("Engine and machine"));
        QCOMPARE(settings->topLevelItem(1)->child(0)->text(0), QStringLiteral("engine"));
        clickCell(1, RunsModel::Name);
        QCOMPARE(settings->topLevelItemCount(), 1);
        QCOMPARE(settings->topLevelItem(0)->text(0), QStringLiteral("KV cache"));
        const QTreeWidgetItem* kv = settings->topLevelItem(0)->child(0);
        QCOMPARE(kv->text(0), QStringLiteral("kv_cache_dtype"));
        QCOMPARE(kv->child(0)->text(1), QStringLiteral("f16"));
        QCOMPARE(kv->child(1)->text(1), QStringLiteral("q4_0"));
    }

    void models_hold_what_views_expect()
    {
        const QAbstractItemModelTester runsTester(m_window->runsPanel()->model(),
                                                  QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QAbstractItemModelTester tableTester(m_window->heatmapTable()->model(),
                                                   QAbstractItemModelTester::FailureReportingMode::QtTest);
        openUsual();
        session().setWindowTokens(700);
        session().setHidden(run("early")->id, true);
        session().move(run("same")->id, 0);
        session().remove(run("late")->id);
        session().closeAll();
    }

    // --- files that change, long work, closing ---

    void f5_after_a_file_changed()
    {
        openUsual();
        write(m_folder->path(),
              {.name = QStringLiteral("early"), .flipsAt = inWindow(3, 7), .nanAt = {}, .settings = {}});
        QTRY_VERIFY_WITH_TIMEOUT(m_window->bannerBar()->text().contains(QStringLiteral("early changed on disk")), 5000);
        QTest::keyClick(m_window.get(), Qt::Key_F5);
        QVERIFY(session().busy());
        QVERIFY(idle(session()));
        QCOMPARE(heatmap()->grid().rows[0].cells[3].flips, std::int64_t(7));
        QVERIFY(!m_window->bannerBar()->text().contains(QStringLiteral("changed on disk")));
    }

    void banner_says_why_a_run_cannot_be_compared()
    {
        const QString other =
            write(m_folder->path(),
                  {.name = QStringLiteral("other"), .flipsAt = {}, .nanAt = {}, .changedToken = 77, .settings = {}});
        m_window->openFiles({m_files[0], other});
        QVERIFY(idle(session()));
        QVERIFY(m_window->bannerBar()->isVisible());
        QVERIFY(m_window->bannerBar()->text().contains(QStringLiteral("77")));
        QCOMPARE(heatmap()->rowLabels(), QStringList({QStringLiteral("other")}));
        QVERIFY(heatmap()->cellToolTip(0, 0).contains(QStringLiteral("77")));
    }

    void stop_button_stops()
    {
        const QStringList big = writeBig();
        m_window->openFiles(big);
        QVERIFY(QTest::qWaitFor(
            [&] { return session().runs().size() == 2 && session().runs()[1].state == SessionRun::State::Working; },
            10000));
        auto* stop = child<QToolButton>("jobStop");
        QVERIFY(stop->isVisible());
        QElapsedTimer timer;
        timer.start();
        QTest::mouseClick(stop, Qt::LeftButton);
        QVERIFY(idle(session(), 3000));
        QVERIFY2(timer.elapsed() < 2000, qPrintable(QString::number(timer.elapsed())));
        QVERIFY(!stop->isVisible());
        QVERIFY(m_window->bannerBar()->text().contains(QStringLiteral("F5")));
    }

    void closes_during_a_load()
    {
        const QStringList big = writeBig();
        m_window->openFiles(big);
        QVERIFY(QTest::qWaitFor(
            [&] { return session().runs().size() == 2 && session().runs()[1].state == SessionRun::State::Working; },
            10000));
        QElapsedTimer timer;
        timer.start();
        QVERIFY(m_window->close());
        QVERIFY(!m_window->isVisible());
        m_window.reset();
        QVERIFY2(timer.elapsed() < 2000, qPrintable(QString::number(timer.elapsed())));
        QCoreApplication::processEvents();
    }

private:
    QStringList writeBig()
    {
        qputenv("FLIPSCOPE_ENGINE", "reference"); // slow and plain
        makeWindow();                             // asks what computes when it starts
        MadeTrace big{.name = QStringLiteral("big"), .flipsAt = {}, .nanAt = {}, .settings = {}, .vocab = 60000};
        QStringList files{write(m_folder->path(), big)};
        big.name = QStringLiteral("big2");
        big.flipsAt = {320};
        files.append(write(m_folder->path(), big));
        return files;
    }
};

FLIPSCOPE_GUI_TEST(WindowRunsTest)
#include "window_runs_test.moc"
