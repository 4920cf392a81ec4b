// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Columns and rows of the heatmap in the window: segments, turns, a range of tokens, sorted, grouped and filtered runs,
// the noise floor. Numbers are those of `analyze`.
#include "tests/ui/window_fixture.h"

#include "core/report/report.h"
#include "core/trace/open.h"
#include "ui/models/heatmap_model.h"
#include "ui/models/probe_table_model.h"
#include "ui/session/navigation.h"
#include "ui/views/probe_table.h"
#include "ui/window/banner_bar.h"
#include "ui/window/figures.h"
#include "ui/window/rows_menu.h"
#include "ui/window/view_controls.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QStandardItemModel>
#include <QTreeWidget>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>

using namespace flipscope;
using namespace flipscope::test;

class ColumnsTest : public WindowFixture {
    Q_OBJECT

    RowsMenu* rows() { return m_window->heatmapPanel()->controls()->rows(); }
    void choose(const char* box, int index)
    {
        auto* combo = child<QComboBox>(box);
        QVERIFY(combo != nullptr);
        combo->setCurrentIndex(index);
        emit combo->activated(index);
    }
    QString openMade(const MadeTrace& made) { return write(m_folder->path(), made); }
    QStringList labels() { return heatmap()->rowLabels(); }

private slots:
    void init() { setUp(); }
    void cleanup() { tearDown(); }

    void case_5_turns_and_segments_instead_of_windows()
    {
        openUsual(); // system 0..400, user 400..900, assistant, tool call 1200..1300, assistant, tool 2000..4000
        choose("partition", 1);
        QCOMPARE(session().partition(), Partition::Segments);
        QCOMPARE(heatmap()->grid().starts, (std::vector<std::int64_t>{0, 400, 900, 1200, 1300, 2000}));
        Analysis analysis = analysisOf(session());
        QVERIFY(add_pieces(analysis, Partition::Segments, 4000));
        const auto json = analysis_json(analysis);
        for (int row = 0; row < 3; ++row) {
            for (int column = 0; column < 6; ++column) {
                const auto& segment =
                    json["runs"][static_cast<std::size_t>(row)]["segments"][static_cast<std::size_t>(column)];
                const HeatmapCell& cell =
                    heatmap()->grid().rows[static_cast<std::size_t>(row)].cells[static_cast<std::size_t>(column)];
                QCOMPARE(cell.n, segment["n"].get<std::int64_t>());
                QCOMPARE(cell.flips, segment["flips"].get<std::int64_t>());
                if (cell.n > 0)
                    QCOMPARE(cell.value, segment["flip_rate"].get<double>());
            }
        }
        QVERIFY2(heatmap()->cellToolTip(0, 3).contains("tool call, tokens 1,200–1,300"),
                 qPrintable(heatmap()->cellToolTip(0, 3)));
        QVERIFY(heatmap()->cellToolTip(0, 3).contains("show")); // its text
        // A click goes to the segment, Enter to its worst probe, which predicts a token of it.
        QTest::mouseClick(heatmap(), Qt::LeftButton, {}, heatmap()->cellRect(1, 5).center().toPoint());
        QCOMPARE(session().path().place().windowStart, 2000);
        QTest::keyClick(heatmap(), Qt::Key_Return);
        const qint64 probe = session().path().place().probe;
        QVERIFY(probe + 1 >= 2000 && probe + 1 < 4000);
        QCOMPARE(heatmap()->currentColumn(), 5);
        choose("partition", 2);
        QCOMPARE(session().partition(), Partition::Turns);
        QCOMPARE(heatmap()->grid().starts, (std::vector<std::int64_t>{0, 400}));
        QCOMPARE(session().path().place().windowStart, 400); // the place stays at its probe
        QVERIFY2(heatmap()->cellToolTip(1, 1).contains("turn 1"), qPrintable(heatmap()->cellToolTip(1, 1)));
        choose("partition", 0);
        QCOMPARE(heatmap()->grid().starts.size(), std::size_t(8));
        QCOMPARE(session().path().place().windowStart, probe / 512 * 512);
    }

    void the_view_menu_cuts_the_history_too()
    {
        openUsual();
        const auto by = [this](const char* name) {
            for (QMenu* menu : m_window->menuBar()->findChildren<QMenu*>())
                emit menu->aboutToShow();
            return action(name);
        };
        QVERIFY(by("byWindows")->isChecked());
        by("byTurns")->trigger();
        QCOMPARE(session().partition(), Partition::Turns);
        QVERIFY(by("byTurns")->isChecked());
        by("bySegments")->trigger();
        QCOMPARE(heatmap()->grid().starts.size(), std::size_t(6));
        by("byWindows")->trigger();
        QCOMPARE(heatmap()->grid().starts.size(), std::size_t(8));
    }

    void segments_are_offered_where_there_are_some()
    {
        const QString bare = m_folder->filePath("bare.h5");
        Trace trace;
        trace.run_name = "bare";
        trace.tokens.ids.assign(100, 1);
        trace.probes.n_vocab = 4;
        trace.probes.positions = {0, 50};
        trace.probes.rows = rows_in_memory(LogitType::F32, 4, std::vector<std::byte>(32));
        QVERIFY(write_trace(bare.toStdString(), trace));
        m_window->openFiles({bare});
        QVERIFY(idle(session()));
        const auto* model = qobject_cast<QStandardItemModel*>(child<QComboBox>("partition")->model());
        QVERIFY(!model->item(1)->isEnabled());
        QVERIFY(model->item(1)->toolTip().contains("marks no segments"));
        session().setPartition(Partition::Segments);
        QCOMPARE(session().partition(), Partition::Windows);
    }

    void the_table_is_the_picture()
    {
        openUsual();
        const auto model = [&] { return m_window->heatmapTable()->model(); };
        const QAbstractItemModelTester tester(model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        choose("partition", 1);
        QCOMPARE(model()->columnCount(), 6);
        QCOMPARE(model()->headerData(3, Qt::Horizontal).toString(), QStringLiteral("tool call 1,200"));
        QVERIFY(model()->index(0, 3).data(Qt::AccessibleTextRole).toString().contains("tool call"));
        rows()->sortByFlipRate();
        QCOMPARE(model()->headerData(0, Qt::Vertical).toString(), QStringLiteral("late"));
        choose("partition", 0);
        QCOMPARE(model()->columnCount(), 8);
        // Behind another tab it waits, and it is filled by the time that it is seen.
        auto* table = m_window->findChild<QTableView*>("heatmapTable");
        auto* dock = m_window->findChild<QDockWidget*>("tableDock");
        QVERIFY(!table->isVisible());
        session().setWindowTokens(1024);
        dock->show();
        dock->raise();
        QTRY_VERIFY(table->isVisible());
        QCOMPARE(table->model()->columnCount(), 4);
        session().setWindowTokens(2048);
        QCOMPARE(table->model()->columnCount(), 2);
    }

    void range_is_typed_and_cut_from_the_table()
    {
        openUsual();
        session().path().go({run("late")->id, -1, -1, -1});
        auto* range = child<QLineEdit>("range");
        range->setFocus();
        QTest::keyClicks(range, "1k-2000");
        QTest::keyClick(range, Qt::Key_Return);
        QCOMPARE(session().range(), (TokenRange{1000, 2000}));
        QCOMPARE(range->text(), QStringLiteral("1,000–2,000"));
        auto* table = m_window->findChild<ProbeTable*>();
        QCOMPARE(table->model()->rowCount(), 31); // 1,024 to 1,984
        QCOMPARE(m_window->heatmapTable()->model()->columnCount(), 3);
        range->setText("nonsense");
        QTest::keyClick(range, Qt::Key_Return);
        QCOMPARE(range->text(), QStringLiteral("1,000–2,000"));
        range->clear();
        QVERIFY(session().range().all());
        QCOMPARE(table->model()->rowCount(), 125);
        // It lies behind the tokens' tab, and is right by the time that it is seen.
        session().setRange({1000, 2000});
        m_window->findChild<QDockWidget*>("probesDock")->raise();
        QTRY_COMPARE(m_window->findChild<QTableView*>("probeView")->model()->rowCount(), 31);
        session().setRange({});
        QCOMPARE(m_window->findChild<QTableView*>("probeView")->model()->rowCount(), 125);
    }

    // --- rows ---

    void rows_are_sorted()
    {
        openUsual();
        QCOMPARE(labels(), QStringList({"early", "late", "same"}));
        rows()->sortByFlipRate();
        QCOMPARE(labels(), QStringList({"late", "early", "same"}));
        QCOMPARE(session().baseline()->name, QStringLiteral("base"));
        rows()->sortByName();
        QCOMPARE(labels(), QStringList({"early", "late", "same"}));
        rows()->sortBySetting("kv_cache_dtype");
        QCOMPARE(labels(), QStringList({"same", "early", "late"}));
        rows()->sortAsOpened();
        QCOMPARE(labels(), QStringList({"early", "late", "same"}));
        // The selection stays with its run.
        session().path().go({run("same")->id, 512, -1, -1});
        QCOMPARE(heatmap()->currentRow(), 2);
        rows()->sortBySetting("kv_cache_dtype");
        QCOMPARE(heatmap()->currentRow(), 0);
    }

    void case_3_rows_are_grouped_and_filtered_by_any_setting()
    {
        m_files << openMade({.name = QStringLiteral("silent"), .flipsAt = {}, .nanAt = {}, .settings = {}});
        openUsual();
        QCOMPARE(rows()->settings(), QStringList({"engine", "kv_cache_dtype"}));
        rows()->groupBy("kv_cache_dtype");
        QCOMPARE(labels(), QStringList({"same", "silent", "early", "late"}));
        const auto& grid = heatmap()->grid();
        QCOMPARE(QString::fromStdString(grid.rows[0].group), QStringLiteral("kv_cache_dtype: f16"));
        QCOMPARE(QString::fromStdString(grid.rows[1].group),
                 QStringLiteral("kv_cache_dtype: not stated")); // never blank
        QCOMPARE(grid.rows[2].group, grid.rows[3].group);
        rows()->showOnly("engine", {"made"});
        QCOMPARE(labels(), QStringList({"same", "early"}));
        QVERIFY(run("late")->hidden);
        rows()->showAll();
        QCOMPARE(labels().size(), 4);
        rows()->groupBy({});
        QVERIFY(heatmap()->grid().rows[0].group.empty());
        emit rows()->menu()->aboutToShow();
        QCOMPARE(rows()->menu()->actions().size(), 3);
        // The settings table and the exported chart name what is not stated.
        QVERIFY(!m_window->runsPanel()
                     ->settings()
                     ->findItems("not stated", Qt::MatchExactly | Qt::MatchRecursive, 1)
                     .isEmpty());
        const QStringList caption = figureCaption(figureOf(session(), FigureSpec::Chart::Heatmap));
        QVERIFY2(caption.join(' ').contains("silent"), qPrintable(caption.join('\n')));
        QVERIFY2(caption.join(' ').contains("ot stated"), qPrintable(caption.join('\n')));
    }

    // --- floor ---

    void case_9_and_77_noise_floor()
    {
        openUsual();
        const auto banners = [&] {
            QString all;
            for (const Banner& banner : session().banners())
                all += banner.text + '\n';
            return all;
        };
        // "late" comes from another engine, and nothing says how much that alone does.
        QVERIFY2(banners().contains("late: recorded by other, the baseline by made"), qPrintable(banners()));
        auto* model = m_window->runsPanel()->model();
        QVERIFY(runs()->isColumnHidden(RunsModel::Above));
        runs()->setCurrentIndex(model->index(model->rowOf(run("early")->id), RunsModel::Name));
        action("floor")->trigger();
        QCOMPARE(session().floorRun(), run("early"));
        QVERIFY(!runs()->isColumnHidden(RunsModel::Above));
        QVERIFY2(!banners().contains("recorded by other"), qPrintable(banners()));
        // Above the floor: the difference of the means of `analyze`.
        Analysis analysis = analysisOf(session());
        analysis.floor = 0;
        const auto json = analysis_json(analysis);
        QCOMPARE(json["floor"].get<std::string>(), std::string("early"));
        const double above = json["runs"][1]["above_floor"]["kl_pq_mean"].get<double>();
        QCOMPARE(above,
                 json["runs"][1]["kl_pq"]["mean"].get<double>() - json["runs"][0]["kl_pq"]["mean"].get<double>());
        const QString shown = model->index(model->rowOf(run("late")->id), RunsModel::Above).data().toString();
        QVERIFY2(!shown.isEmpty() && std::abs(shown.toDouble() - above) < 0.06 * std::abs(above), qPrintable(shown));
        QCOMPARE(model->index(model->rowOf(run("early")->id), RunsModel::Above).data().toString(),
                 QStringLiteral("floor"));
        QVERIFY(model->index(model->rowOf(run("early")->id), RunsModel::Name)
                    .data(RunsModel::BadgeRole)
                    .toString()
                    .contains("noise floor"));
        // On every chart.
        QVERIFY(heatmap()->grid().rows[0].floor);
        QVERIFY(session().probeChart().runs[0].floor);
        const auto flips = exportFigure(figureOf(session(), FigureSpec::Chart::Kl), m_folder->filePath("kl.svg"));
        QVERIFY(flips.has_value());
        QFile svg(m_folder->filePath("kl.svg"));
        QVERIFY(svg.open(QIODevice::ReadOnly));
        QVERIFY(svg.readAll().contains("noise floor"));
        // The baseline cannot be the floor.
        session().setBaseline(run("early")->id);
        QVERIFY(session().floorRun() == nullptr);
        action("floor")->trigger();
        QVERIFY(idle(session()));
    }

    // --- further cases ---

    void case_7_two_factors_differ()
    {
        const QString a = openMade({.name = QStringLiteral("tp1"),
                                    .flipsAt = {},
                                    .nanAt = {},
                                    .settings = {{"engine", "vllm"}, {"engine_version", "0.4.1"}, {"tp_size", "1"}}});
        const QString b = openMade({.name = QStringLiteral("tp4"),
                                    .flipsAt = inWindow(3, 2),
                                    .nanAt = {},
                                    .settings = {{"engine", "vllm"}, {"engine_version", "0.4.2"}, {"tp_size", "4"}}});
        m_window->openFiles({a, b});
        QVERIFY(idle(session()));
        const auto* model = m_window->runsPanel()->model();
        const QString badge = model->index(1, RunsModel::Name).data(RunsModel::BadgeRole).toString();
        QVERIFY2(badge.contains("2 settings differ"), qPrintable(badge));
        QStringList keys;
        for (int i = 0; i < m_window->runsPanel()->settings()->topLevelItemCount(); ++i)
            keys << m_window->runsPanel()->settings()->topLevelItem(i)->child(0)->text(0);
        QCOMPARE(keys, QStringList({"tp_size", "engine_version"})); // by stage
        QCOMPARE(heatmap()->grid().rows[0].cells[3].flips, 2);      // and it still compares
    }

    void case_15_cache_state_is_a_setting()
    {
        const QString a = openMade(
            {.name = QStringLiteral("cold"), .flipsAt = {}, .nanAt = {}, .settings = {{"cache_state", "cold"}}});
        const QString b = openMade({.name = QStringLiteral("warm"),
                                    .flipsAt = inWindow(1, 1),
                                    .nanAt = {},
                                    .settings = {{"cache_state", "warm"}}});
        m_window->openFiles({a, b});
        QVERIFY(idle(session()));
        QCOMPARE(rows()->settings(), QStringList({"cache_state"}));
    }

    void case_34_vocabularies_of_unlike_width()
    {
        // The same run with eight columns of padding: rows are wider than the tokenizer.
        const auto narrow = open_trace(m_files[0].toStdString());
        QVERIFY(narrow);
        Trace padded = **narrow;
        padded.run_name = "padded";
        const std::int64_t rows = padded.probes.rows->rows();
        std::vector<float> values(static_cast<std::size_t>(rows * 64)), wide;
        QVERIFY(padded.probes.rows->read(0, rows, std::as_writable_bytes(std::span(values))));
        for (std::ptrdiff_t row = 0; row < rows; ++row) {
            wide.insert(wide.end(), values.begin() + row * 64, values.begin() + row * 64 + 64);
            wide.insert(wide.end(), 8, -std::numeric_limits<float>::infinity());
        }
        std::vector<std::byte> bytes(wide.size() * sizeof(float));
        std::memcpy(bytes.data(), wide.data(), bytes.size());
        padded.probes.n_vocab = 72;
        padded.probes.rows = rows_in_memory(LogitType::F32, 72, std::move(bytes));
        const QString file = m_folder->filePath("padded.h5");
        QVERIFY(write_trace(file.toStdString(), padded));
        m_window->openFiles({m_files[0], file});
        QVERIFY(idle(session()));
        const QString tip = heatmap()->cellToolTip(0, 0);
        QVERIFY2(tip.contains("64 shared ids compared"), qPrintable(tip));
        QCOMPARE(heatmap()->grid().rows[0].cells[0].value, 0.0); // never an infinite KL by the padding
        QVERIFY(std::isfinite(session().visibleRuns()[0]->table->probes[0].kl_pq));
    }

    void case_12_axis_is_the_position_in_the_context()
    {
        openUsual();
        QCOMPARE(heatmap()->grid().starts[3], 1536); // tokens, whatever the stride of the probes
        const QStringList caption = figureCaption(figureOf(session(), FigureSpec::Chart::Position));
        QVERIFY2(caption.join(' ').contains("Tokens 0–4,000 of 4,000"), qPrintable(caption.join('\n')));
    }
};

FLIPSCOPE_GUI_TEST(ColumnsTest)
#include "tst_columns.moc"
