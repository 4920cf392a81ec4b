// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The compare page in the real window; its numbers are those of `flipscope compare --json`.
#include "tests/ui/window_fixture.h"

#include "ui/charts/compare_figure.h"
#include "ui/charts/pair_scatter_view.h"
#include "ui/models/worse_model.h"
#include "ui/views/comparison_card.h"
#include "ui/views/token_columns.h"
#include "ui/window/compare_page.h"
#include "ui/window/drawn_figures.h"
#include "ui/window/page_stack.h"
#include "ui/window/rows_menu.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QProcess>
#include <QPushButton>
#include <QScrollBar>
#include <QSplitter>
#include <QTableView>
#include <QTimer>
#include <QToolButton>
#include <QTreeWidget>

#include <algorithm>
#include <cmath>

using namespace flipscope;
using namespace flipscope::test;

class TestComparePage : public WindowFixture {
    Q_OBJECT

    ComparePage* page() { return qobject_cast<ComparePage*>(m_window->pages()->page("comparePage")); }

    /// What the command line says about two of the open files.
    QJsonDocument told(const QString& a, const QString& b)
    {
        QProcess process;
        process.start(FLIPSCOPE_BIN "/flipscope",
                      {"compare", m_files[0], m_folder->filePath(a + ".h5"), m_folder->filePath(b + ".h5"), "--window",
                       QString::number(session().windowTokens()), "--json", "-", "--engine", "cpu"});
        return process.waitForFinished(60'000) ? QJsonDocument::fromJson(process.readAllStandardOutput())
                                               : QJsonDocument();
    }
    void openPage()
    {
        openUsual();
        QTest::keyClick(m_window.get(), Qt::Key_2, Qt::ControlModifier);
        QCOMPARE(m_window->pages()->current(), QStringLiteral("comparePage"));
        QVERIFY(page()->isVisible());
    }
    void agree(const QJsonDocument& json)
    {
        QVERIFY(json["format"].toString() == "flipscope-compare");
        const RunComparison* c = page()->comparison();
        QVERIFY(c != nullptr);
        const HeatmapGrid &runs = page()->heatmap()->grid(), &difference = page()->difference()->grid();
        const QJsonArray windows = json["windows"].toArray();
        QCOMPARE(static_cast<qsizetype>(runs.starts.size()), windows.size());
        for (int w = 0; w < windows.size(); ++w) {
            const auto i = static_cast<std::size_t>(w);
            QCOMPARE(runs.rows[0].cells[i].value, windows[w]["flip_rate_a"].toDouble());
            QCOMPARE(runs.rows[1].cells[i].value, windows[w]["flip_rate_b"].toDouble());
            QCOMPARE(difference.rows[0].cells[i].value, windows[w]["flip_rate_difference"].toDouble());
        }
        const QString card = page()->card()->toPlainText();
        for (const char* name : {"only_a", "only_b", "neither"})
            QVERIFY2(card.contains(QString::number(json["flips"][QLatin1String(name)].toInt())), qPrintable(card));
        QVERIFY2(card.contains(pText(json["flips"]["mcnemar_p"].toDouble())), qPrintable(card));
        QCOMPARE(page()->worse()->model()->rowCount(), json["n_worse"].toInt());
        for (int r = 0; r < std::min<int>(10, json["n_worse"].toInt()); ++r)
            QCOMPARE(page()->worse()->model()->index(r, 0).data(WorseModel::PositionRole).toInt(),
                     json["worse"][r]["position"].toInt());
    }

private slots:
    void init() { setUp(); }
    void cleanup() { tearDown(); }

    void calls_that_break_in_a_or_b_are_marked()
    {
        const QString samples = QStringLiteral(FLIPSCOPE_SOURCE "/resources/samples/");
        m_window->openFiles(
            {samples + "baseline.h5", samples + "flash_attn.h5", samples + "kv_q4_0.h5", samples + "w_q2_k.h5"});
        QVERIFY(idle(session()));
        session().setComparedRuns(session().runs()[1].id, session().runs()[3].id);
        m_window->pages()->showPage(QStringLiteral("comparePage"));
        const auto& marks = page()->heatmap()->grid().marks;
        QVERIFY(!marks.empty());
        int broken = 0;
        for (const CallMark& mark : marks) {
            const QString text = QString::fromStdString(mark.text);
            QVERIFY2(text.contains("flash_attn: ") && text.contains("w_q2_k: "), qPrintable(text));
            QVERIFY2(!text.contains("kv_q4_0"), qPrintable(text));
            QCOMPARE(mark.broken, text != QLatin1String("flash_attn: same\nw_q2_k: same"));
            broken += mark.broken ? 1 : 0;
        }
        QVERIFY(broken > 0);
        // A run that is hidden elsewhere is compared all the same.
        session().setHidden(session().runs()[3].id, true);
        QTRY_COMPARE(std::ranges::count_if(page()->heatmap()->grid().marks, &CallMark::broken), broken);
    }

    void shows_what_the_command_line_says()
    {
        openPage();
        QCOMPARE(child<QComboBox>("compareA")->currentText(), QStringLiteral("early"));
        QCOMPARE(child<QComboBox>("compareB")->currentText(), QStringLiteral("late"));
        QVERIFY(child<QLabel>("compareAgainst")->text().contains("base"));
        agree(told("early", "late"));
        // Planted: early flips 5 times in window 2, late 8 times in window 5 and once in window 7.
        QCOMPARE(page()->comparison()->flips.only_a, 5);
        QCOMPARE(page()->comparison()->flips.only_b, 9);
        QCOMPARE(page()->difference()->cellText(0, 2), QStringLiteral("−31\u00a0%")); // 5 of 16
        QCOMPARE(page()->difference()->cellText(0, 5), QStringLiteral("50\u00a0%"));
    }
    void the_difference_is_diverging_and_symmetric()
    {
        openPage();
        const HeatmapView* d = page()->difference();
        const ColourScale scale = differenceScale(d->grid());
        QCOMPARE(scale.low, -scale.high);
        QCOMPARE(scale.high, 0.5);
        QCOMPARE(scale.map, QStringLiteral("vik"));
        QVERIFY(d->cellColor(0, 2).blueF() > d->cellColor(0, 2).redF());              // A worse
        QVERIFY(d->cellColor(0, 5).redF() > d->cellColor(0, 5).blueF());              // B worse
        QCOMPARE(page()->heatmap()->cellRect(0, 3).left(), d->cellRect(0, 3).left()); // columns stand above each other
        QCOMPARE(page()->heatmap()->cellRect(1, 7).right(), d->cellRect(0, 7).right());
    }
    void opened_with_the_run_that_is_selected()
    {
        openUsual();
        const auto select = [&](const char* name) {
            m_window->pages()->showPage("overviewPage");
            Place place;
            place.run = run(name)->id;
            place.windowStart = 2560; // the sixth window of 512
            session().path().go(place);
            m_window->pages()->showPage("comparePage");
        };
        const auto pair = [&] {
            return child<QComboBox>("compareA")->currentText() + ' ' + child<QComboBox>("compareB")->currentText();
        };
        select("late");
        QCOMPARE(pair(), QStringLiteral("late same"));
        agree(told("late", "same"));
        // One of the two: they stay as they are.
        QTest::mouseClick(child<QToolButton>("compareSwap"), Qt::LeftButton);
        select("same");
        select("late");
        QCOMPARE(pair(), QStringLiteral("same late"));
        // A cell here chooses a run too, and moves none of them.
        QTest::mouseClick(page()->heatmap(), Qt::LeftButton, {}, page()->heatmap()->cellRect(0, 1).center().toPoint());
        QCOMPARE(pair(), QStringLiteral("same late"));
        select("early");
        QCOMPARE(pair(), QStringLiteral("early late"));
        select("same"); // behind the last comes the first
        QCOMPARE(pair(), QStringLiteral("same early"));
        select("base");
        QCOMPARE(pair(), QStringLiteral("same early"));
        // Chosen while another run was selected: that is what a person wants.
        session().setComparedRuns(run("early")->id, run("late")->id);
        select("same");
        QCOMPARE(pair(), QStringLiteral("same early"));
        session().setComparedRuns(run("early")->id, run("late")->id);
        m_window->pages()->showPage("overviewPage");
        m_window->pages()->showPage("comparePage");
        QCOMPARE(pair(), QStringLiteral("early late"));
    }
    void nothing_is_scrolled_aside()
    {
        openPage();
        QCOMPARE(m_window->size(), QSize(1440, 900));
        QCOMPARE(page()->card()->horizontalScrollBar()->maximum(), 0); // with all panels beside it
        // The longest numbers and sentences that there can be.
        RunComparison worst = *page()->comparison();
        for (MeanDifference& d : worst.differences) {
            d.mean_a = 0.00012345;
            d.mean_b = 0.00012346;
            d.difference = -0.00012345;
            d.interval = {-0.00012345, -0.00012344};
            d.n_left_out = 123'456;
        }
        worst.flips.n = worst.flips.tops_differ = worst.only_in_a = worst.only_in_b = 1'234'567;
        page()->card()->setComparison(&worst);
        QCOMPARE(page()->card()->horizontalScrollBar()->maximum(), 0);
        QSplitter* splitter = qobject_cast<QSplitter*>(page()->card()->parentWidget());
        QVERIFY(splitter != nullptr);
        splitter->setSizes({10'000, 0}); // as narrow as it gets
        QCOMPARE(page()->card()->width(), page()->card()->minimumWidth());
        QCOMPARE(page()->card()->horizontalScrollBar()->maximum(), 0);
        // The list, where the page has the window but for the runs.
        for (QDockWidget* dock : m_window->findChildren<QDockWidget*>())
            dock->setVisible(dock->objectName() == "runsDock");
        QCoreApplication::processEvents();
        QCOMPARE(page()->worse()->horizontalScrollBar()->maximum(), 0);
        for (int column = 0; column < WorseModel::ColumnCount; ++column)
            QVERIFY(page()->worse()->columnWidth(column) >= page()->worse()->fontMetrics().horizontalAdvance("-0.001"));
    }
    void swap_turns_it_round()
    {
        openPage();
        QTest::mouseClick(child<QToolButton>("compareSwap"), Qt::LeftButton);
        QCOMPARE(child<QComboBox>("compareA")->currentText(), QStringLiteral("late"));
        agree(told("late", "early"));
        QCOMPARE(page()->difference()->cellText(0, 2), QStringLiteral("31\u00a0%"));
    }
    void rebaseline_measures_from_a()
    {
        openPage();
        QTest::mouseClick(child<QToolButton>("compareRebaseline"), Qt::LeftButton);
        QVERIFY(idle(session()));
        QCOMPARE(session().baseline()->name, QStringLiteral("early"));
        QCOMPARE(child<QComboBox>("compareA")->currentText(), QStringLiteral("base"));
        QCOMPARE(child<QComboBox>("compareB")->currentText(), QStringLiteral("late"));
        QVERIFY(page()->comparison() != nullptr);
        QCOMPARE(page()->comparison()->flips.flips_a(), 5);
    }
    void columns_may_be_segments()
    {
        openPage();
        session().setPartition(Partition::Segments);
        // 0–400, 400–900, 900–1,200, the call 1,200–1,300, 1,300–2,000, 2,000–4,000. A probe counts where the token
        // that it predicts is: 9 of them in the third segment, where A flips 5 times; 62 in the last, where B flips 9
        // times.
        const HeatmapGrid &runs = page()->heatmap()->grid(), &difference = page()->difference()->grid();
        QCOMPARE(runs.starts, (std::vector<std::int64_t>{0, 400, 900, 1200, 1300, 2000}));
        QCOMPARE(difference.starts, runs.starts);
        QCOMPARE(runs.rows[0].cells[2].value, 5 / 9.0);
        QCOMPARE(difference.rows[0].cells[2].value, -5 / 9.0);
        QCOMPARE(runs.rows[1].cells[5].value, 9 / 62.0);
        QCOMPARE(difference.rows[0].cells[5].value, 9 / 62.0);
    }
    void both_zoom_together()
    {
        openPage();
        page()->difference()->setFocus();
        page()->difference()->setCurrentCell(0, 5);
        const ColourScale before = differenceScale(page()->difference()->grid());
        QTest::keyClick(page()->difference(), Qt::Key_Plus);
        QVERIFY(!session().range().all());
        QVERIFY(page()->difference()->grid().starts.size() < 8);
        QCOMPARE(page()->heatmap()->grid().starts, page()->difference()->grid().starts);
        QCOMPARE(m_window->heatmapPanel()->heatmap()->grid().starts, page()->difference()->grid().starts);
        QCOMPARE(before.high, 0.5);
        session().setRange({0, 1024}); // no difference there: still the scale of the whole
        QCOMPARE(page()->difference()->grid().starts.size(), 2UL);
        QTest::keyClick(page()->heatmap(), Qt::Key_0);
        QCOMPARE(page()->difference()->grid().starts.size(), 8UL);
    }
    void rows_can_be_arranged_from_here()
    {
        openPage(); // made after the files were opened
        auto* button = page()->findChild<RowsMenu*>();
        QVERIFY(button != nullptr && button->isEnabled());
        QVERIFY(button->width() >= button->sizeHint().width());
        QVERIFY(button->fontMetrics().horizontalAdvance("Rows ▾") < button->width());
    }
    void the_figure_is_exported()
    {
        openPage();
        action("exportFigure")->trigger();
        auto* dialog = child<QDialog>("exportDialog");
        QVERIFY(dialog != nullptr);
        auto* chart = dialog->findChild<QComboBox*>("exportChart");
        auto* path = dialog->findChild<QLineEdit*>("exportPath");
        QCOMPARE(chart->currentData().toString(), QStringLiteral("compare")); // what is looked at
        for (const char* name : {"compare", "probe", "tokens"}) {
            if (dialog == nullptr) {
                action("exportFigure")->trigger();
                dialog = m_window->findChildren<QDialog*>("exportDialog").last();
                chart = dialog->findChild<QComboBox*>("exportChart");
                path = dialog->findChild<QLineEdit*>("exportPath");
            }
            chart->setCurrentIndex(chart->findData(QLatin1String(name)));
            emit chart->activated(chart->currentIndex());
            QCOMPARE(QFileInfo(path->text()).completeBaseName(), QLatin1String("flipscope-") + QLatin1String(name));
            const QString file = m_folder->filePath(QLatin1String(name) + QStringLiteral(".svg"));
            path->setText(file);
            dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save)->click();
            QVERIFY2(QFileInfo::exists(file), qPrintable(dialog->findChild<QLabel*>("exportProblem")->text()));
            QFile written(file);
            QVERIFY(written.open(QIODevice::ReadOnly));
            const QByteArray svg = written.readAll();
            QVERIFY2(svg.contains("early") && svg.contains("late"), name);
            if (QLatin1String(name) == QLatin1String("compare"))
                QVERIFY2(svg.contains(">10</text>"), svg.constData()); // the axes of the scatter are lettered
            dialog = nullptr;
        }
    }
    void a_caption_is_about_the_runs_in_the_figure()
    {
        openPage();
        session().setComparedRuns(run("early")->id, run("same")->id); // late, the third, has another engine
        for (const DrawnFigure kind : {DrawnFigure::Tokens, DrawnFigure::Compare}) {
            const auto figure = figureOf(session(), kind);
            QVERIFY(figure);
            for (const MethodLine& line : figure->method)
                QVERIFY2(line.value.find("late") == std::string::npos, line.value.c_str());
        }
    }
    void selection_is_linked_both_ways()
    {
        openPage();
        QTest::mouseClick(page()->heatmap(), Qt::LeftButton, {}, page()->heatmap()->cellRect(1, 5).center().toPoint());
        QCOMPARE(session().path().place().run, run("late")->id);
        QCOMPARE(session().path().place().windowStart, 5 * 512);
        QCOMPARE(page()->difference()->currentColumn(), 5);
        QTest::mouseClick(page()->difference(), Qt::LeftButton, {},
                          page()->difference()->cellRect(0, 2).center().toPoint());
        QCOMPARE(session().path().place().windowStart, 2 * 512);
        QCOMPARE(page()->heatmap()->currentColumn(), 2);
        QCOMPARE(page()->heatmap()->currentRow(), 1);
        // From elsewhere: the overview's heatmap is the same selection.
        Place place;
        place.run = run("early")->id;
        place.windowStart = 512;
        session().path().go(place);
        QCOMPARE(page()->heatmap()->currentRow(), 0);
        QCOMPARE(page()->heatmap()->currentColumn(), 1);
        QCOMPARE(page()->difference()->currentColumn(), 1);
    }
    void a_click_in_the_scatter_goes_to_the_probe()
    {
        openPage();
        PairScatterView* scatter = page()->scatter();
        const auto& probes = scatter->plot().probes();
        const std::int64_t wanted = inWindow(5, 1)[0];
        const auto it = std::ranges::find(probes, wanted, &PairedProbe::position);
        QVERIFY(it != probes.end() && it->only_b());
        const QPointF at = scatter->plot().pointOf(static_cast<std::size_t>(it - probes.begin()));
        QTest::mouseClick(scatter, Qt::LeftButton, {}, at.toPoint());
        const qint64 probe = session().path().place().probe;
        QVERIFY(probe >= 0);
        QCOMPARE(scatter->current(), probe);
        QVERIFY(std::ranges::find(probes, probe, &PairedProbe::position)->only_b()); // a flip lies on top
        // The same probe is chosen in the list, and the keyboard goes on from there.
        QCOMPARE(page()->worse()->currentIndex().data(WorseModel::PositionRole).toLongLong(), probe);
        QTest::keyClick(scatter, Qt::Key_Right);
        QCOMPARE(session().path().place().probe, probe + 32);
        QVERIFY(scatter->accessibleDescription().contains(QLocale(QLocale::English).toString(probe + 32)));
    }
    void zeros_have_a_band()
    {
        openPage();
        m_window->session()->setComparedRuns(run("same")->id, run("late")->id);
        const PairScatter& plot = page()->scatter()->plot();
        int zeros = 0;
        for (std::size_t i = 0; i < plot.probes().size(); ++i) {
            if (!plot.probes()[i].valid())
                QVERIFY(plot.pointOf(i).isNull());
            else if (plot.probes()[i].a->kl_pq == 0) {
                QVERIFY(plot.pointOf(i).x() < plot.plotRect().left());
                QVERIFY(plot.pointOf(i).x() > 0);
                ++zeros;
            }
        }
        QVERIFY(zeros > 100);
    }
    void the_list_goes_to_the_probe()
    {
        openPage();
        const QAbstractItemModelTester tester(page()->worse()->model(),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        page()->worse()->setCurrentIndex(page()->worse()->model()->index(0, 0));
        const qint64 first = page()->worse()->model()->index(0, 0).data(WorseModel::PositionRole).toLongLong();
        QCOMPARE(session().path().place().probe, first);
        QCOMPARE(session().path().place().run, run("late")->id);
        page()->worse()->sortByColumn(WorseModel::Position, Qt::AscendingOrder);
        qint64 before = -1;
        for (int r = 0; r < page()->worse()->model()->rowCount(); ++r) {
            const qint64 t = page()->worse()->model()->index(r, 0).data(WorseModel::PositionRole).toLongLong();
            QVERIFY(t > before);
            before = t;
        }
    }
    void compare_with_in_the_runs_menu()
    {
        openUsual();
        runs()->setCurrentIndex(m_window->runsPanel()->model()->index(3, 1)); // same
        bool chosen = false;
        QTimer opened; // the menu has an event loop of its own
        opened.setSingleShot(true);
        connect(&opened, &QTimer::timeout, m_window.get(), [&] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            QVERIFY(menu != nullptr);
            for (QAction* action : menu->findChild<QMenu*>("compareWith")->actions())
                if (action->text() == "early") {
                    chosen = true;
                    action->trigger();
                }
            menu->close();
        });
        opened.start(0);
        emit runs()->customContextMenuRequested(cell(3, 1).center());
        QVERIFY(chosen);
        QCOMPARE(m_window->pages()->current(), QStringLiteral("comparePage"));
        QCOMPARE(child<QComboBox>("compareA")->currentText(), QStringLiteral("same"));
        QCOMPARE(child<QComboBox>("compareB")->currentText(), QStringLiteral("early"));
    }
    void a_run_is_never_beside_itself()
    {
        openPage();
        auto* b = child<QComboBox>("compareB");
        b->setCurrentText("early"); // which is A
        emit b->activated(b->currentIndex());
        QCOMPARE(child<QComboBox>("compareA")->currentText(), QStringLiteral("late"));
        QCOMPARE(b->currentText(), QStringLiteral("early"));
    }
    void one_run_is_not_enough_and_it_is_said()
    {
        m_window->openFiles({m_files[0], m_files[1]});
        QVERIFY(idle(session()));
        m_window->pages()->showPage("comparePage");
        QVERIFY(child<QLabel>("whyNoComparison")->isVisible());
        QVERIFY(child<QLabel>("whyNoComparison")->text().contains("Two runs"));
        m_window->openFiles({m_files[2]});
        QVERIFY(idle(session()));
        QVERIFY(!child<QLabel>("whyNoComparison")->isVisible());
        agree(told("early", "late"));
    }
    void metric_and_window_act_on_both()
    {
        openPage();
        session().setMetric("kl_pq_mean");
        session().setWindowTokens(1024);
        const QJsonDocument json = told("early", "late");
        const auto& cells = page()->difference()->grid().rows[0].cells;
        QCOMPARE(static_cast<qsizetype>(cells.size()), json["windows"].toArray().size());
        for (std::size_t w = 0; w < cells.size(); ++w)
            QCOMPARE(cells[w].value, json["windows"][static_cast<int>(w)]["kl_mean_difference"].toDouble());
    }
    void texts_mark_where_the_two_disagree()
    {
        openPage();
        Place place;
        place.run = run("late")->id;
        place.windowStart = 2560; // the sixth window of 512
        session().path().go(place);
        TokenColumns* texts = page()->texts();
        QCOMPARE(texts->disagreements(), 8); // as planted
        texts->next();
        QCOMPARE(session().path().place().probe, inWindow(5, 1)[0]);
        QCOMPARE(session().path().place().token, inWindow(5, 1)[0] + 1);
        const ColumnUnit& unit = texts->columns().units()[texts->currentUnit()];
        QVERIFY(unit.differs && unit.b.contains(QStringLiteral("⇒")) && !unit.a.contains(QStringLiteral("⇒")));
        QVERIFY(texts->text().contains(QLatin1Char('\t')));
    }
    void dark_and_light()
    {
        openPage();
        applyTheme(ThemeChoice::Dark);
        QCoreApplication::processEvents();
        const QImage image = page()->scatter()->grab().toImage();
        QVERIFY(image.pixelColor(3, 3).lightnessF() < 0.3F);
    }
};

FLIPSCOPE_GUI_TEST(TestComparePage)
#include "tst_compare_page.moc"
