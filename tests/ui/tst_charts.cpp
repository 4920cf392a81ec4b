// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The charts under the heatmap, in the window: the numbers that `analyze` prints, one selection, one range.
#include "tests/ui/window_fixture.h"

#include "core/report/report.h"
#include "ui/charts/probe_chart_view.h"
#include "ui/session/navigation.h"
#include "ui/window/charts_panel.h"
#include "ui/window/figures.h"

#include <QSignalSpy>
#include <QTabWidget>
#include <QWheelEvent>

#include <cmath>

using namespace flipscope;
using namespace flipscope::test;

class ChartsTest : public WindowFixture {
    Q_OBJECT

    ChartsPanel* charts() { return m_window->heatmapPanel()->charts(); }
    ProbeChartView* chart(ProbePlot::Kind kind)
    {
        charts()->tabs()->setCurrentWidget(charts()->probeChart(kind));
        return charts()->probeChart(kind);
    }
    nlohmann::ordered_json analysis() { return analysis_json(analysisOf(session())); }
    void openSample()
    {
        const QString folder = QStringLiteral(FLIPSCOPE_SOURCE "/resources/samples/");
        m_window->openFiles({folder + "baseline.h5", folder + "kv_q4_0.h5", folder + "w_q2_k.h5"});
        QVERIFY(idle(session()));
        QCoreApplication::processEvents();
        QCOMPARE(session().visibleRuns().size(), std::size_t(2));
    }

private slots:
    void init() { setUp(); }
    void cleanup() { tearDown(); }

    void tabs_are_there()
    {
        openUsual();
        QStringList titles;
        for (int i = 0; i < charts()->tabs()->count(); ++i) {
            titles << charts()->tabs()->tabText(i);
            QVERIFY(!charts()->tabs()->tabToolTip(i).isEmpty());
        }
        QCOMPARE(titles, QStringList({"Per window", "KL by position", "Distribution", "Margin", "Agreement"}));
    }

    void distribution_is_that_of_analyze()
    {
        openSample();
        const auto* view = chart(ProbePlot::Kind::Distribution);
        const auto json = analysis();
        const KlHistogram& histogram = *view->plot().histogram();
        for (std::size_t run = 0; run < 2; ++run) {
            const auto& of = json["runs"][run];
            const auto& r = histogram.runs[run];
            QCOMPARE(r.n, of["kl_pq"]["n"].get<std::int64_t>());
            QCOMPARE(r.sorted.back(), of["kl_pq"]["max"].get<double>());
            double sum = 0;
            for (const double value : r.sorted)
                sum += value;
            QVERIFY(std::abs(sum / static_cast<double>(r.n) - of["kl_pq"]["mean"].get<double>()) < 1e-12);
            // The median is where the cumulative share passes one half, within the distance of two probes.
            const double median = of["kl_pq"]["median"].get<double>();
            QVERIFY(std::abs(histogram.cumulative(run, median) - 0.5) <= 1.0 / static_cast<double>(r.n));
            QVERIFY(histogram.cumulative(run, of["kl_pq"]["p90"].get<double>()) >= 0.89);
        }
    }

    void agreement_at_the_end_of_a_window_is_its_flip_rate()
    {
        openSample();
        const auto* view = chart(ProbePlot::Kind::Agreement);
        const auto json = analysis();
        for (int run = 0; run < 2; ++run) {
            const auto& table = session().visibleRuns()[static_cast<std::size_t>(run)]->table;
            const auto points = agreement(table->probes, session().windowTokens());
            for (const auto& window : json["runs"][static_cast<std::size_t>(run)]["windows"]) {
                if (window["end"].get<qint64>() - window["start"].get<qint64>() != session().windowTokens())
                    continue;
                const auto last = std::ranges::find_if(points, [&](const AgreementPoint& p) {
                    return p.position >= window["end"].get<qint64>() - 128; // a probe every 128 tokens
                });
                QVERIFY(last != points.end());
                QVERIFY(std::abs(1 - last->recent - window["flip_rate"].get<double>()) < 1e-12);
                QCOMPARE(last->n, window["n"].get<std::int64_t>());
                QVERIFY(!view->plot().pointOf(run, last->position).isNull());
            }
        }
    }

    void margin_counts_the_flips_of_analyze()
    {
        openSample();
        auto* view = chart(ProbePlot::Kind::Margin);
        const auto json = analysis();
        for (int run = 0; run < 2; ++run) {
            const auto& of = json["runs"][static_cast<std::size_t>(run)];
            view->setCurrent(run, -1);
            const QString words = view->plot().subtitle();
            const auto flips = of["flips"].get<int>();
            const QString wanted = QStringLiteral("%1: %2 flip").arg(QString::fromStdString(of["name"])).arg(flips);
            QVERIFY2(words.contains(wanted), qPrintable(words));
            QVERIFY2(words.contains(QStringLiteral("%1 by a tie").arg(of["flips_tied"].get<int>())), qPrintable(words));
        }
    }

    void case_1_a_burst_is_seen_and_chosen()
    {
        openUsual(); // "late": eight flips in a row from position 2,560 on
        auto* view = chart(ProbePlot::Kind::Position);
        QSignalSpy hovered(view, &ProbeChartView::probeHovered);
        const QPointF point = view->plot().pointOf(1, 2560 + 32);
        QVERIFY(!point.isNull());
        QTest::mouseClick(view, Qt::LeftButton, {}, point.toPoint());
        const Place place = session().path().place();
        QCOMPARE(place.run, run("late")->id);
        QCOMPARE(place.probe, qint64(2560 + 32));
        QCOMPARE(place.windowStart, qint64(2560));
        // The heatmap shows the cell, and the chart the run.
        QCOMPARE(heatmap()->currentRow(), 1);
        QCOMPARE(heatmap()->currentColumn(), 5);
        QTRY_COMPARE(view->plot().currentRow(), 1); // a turn of the event loop later
        QVERIFY2(view->toolTipAt(point).contains("flip"), qPrintable(view->toolTipAt(point)));
    }

    void hover_is_linked_both_ways()
    {
        openUsual();
        auto* view = chart(ProbePlot::Kind::Position);
        const QImage before = heatmap()->grab().toImage();
        const QPoint point = view->plot().pointOf(1, 2592).toPoint();
        QMouseEvent move(QEvent::MouseMove, QPointF(point), view->mapToGlobal(QPointF(point)), Qt::NoButton,
                         Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(view, &move);
        QVERIFY(heatmap()->grab().toImage() != before); // window 5 is outlined
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(view, &leave);
        QCOMPARE(heatmap()->grab().toImage(), before);
        const QImage calm = view->grab().toImage();
        const QPointF cell = heatmap()->cellRect(0, 3).center();
        QMouseEvent over(QEvent::MouseMove, cell, heatmap()->mapToGlobal(cell), Qt::NoButton, Qt::NoButton,
                         Qt::NoModifier);
        QApplication::sendEvent(heatmap(), &over);
        QVERIFY(view->grab().toImage() != calm);
    }

    void one_range_for_heatmap_and_charts()
    {
        openUsual();
        auto* view = chart(ProbePlot::Kind::Position);
        QCOMPARE(heatmap()->grid().starts.size(), std::size_t(8));
        QTest::keyClick(heatmap(), Qt::Key_Plus);
        const TokenRange range = session().range();
        QVERIFY(!range.all());
        QCOMPARE(heatmap()->grid().starts.size(), std::size_t(4));
        QCOMPARE(range.start, heatmap()->grid().starts.front());
        QTRY_COMPARE(view->plot().data().range, range); // a turn of the event loop later
        // Cells keep their numbers and their windows.
        const auto all = session().heatmap();
        for (std::size_t c = 0; c < 4; ++c) {
            const auto at = std::ranges::find(all.starts, heatmap()->grid().starts[c]) - all.starts.begin();
            QCOMPARE(heatmap()->grid().rows[1].cells[c].flips, all.rows[1].cells[static_cast<std::size_t>(at)].flips);
        }
        // The other way: a range from the chart.
        session().setRange({2560, 3072});
        QCOMPARE(heatmap()->grid().starts.size(), std::size_t(1));
        QCOMPARE(heatmap()->cellText(1, 0), QStringLiteral("50\u00a0%"));
        const QPoint cell = heatmap()->cellRect(1, 0).center().toPoint();
        QTest::mouseClick(heatmap(), Qt::LeftButton, {}, cell);
        QCOMPARE(session().path().place().windowStart, qint64(2560));
        QTest::keyClick(view, Qt::Key_0);
        QVERIFY(session().range().all());
        QCOMPARE(heatmap()->grid().starts.size(), std::size_t(8));
    }

    /// The heatmap is drawn first; what is grabbed, asked for or clicked on before the charts' turn is right all the
    /// same.
    void charts_are_never_seen_half_way()
    {
        openUsual();
        auto* view = chart(ProbePlot::Kind::Position);
        QCoreApplication::processEvents();
        session().setRange({512, 1024});
        session().setRange({2560, 3072});
        QVERIFY(view->plot().data().range.all());
        const QImage grabbed = view->grab().toImage();
        QCOMPARE(view->plot().data().range, (TokenRange{2560, 3072}));
        QTest::qWait(20);
        QCOMPARE(view->grab().toImage(), grabbed);
        session().setRange({});
        QCOMPARE(chart(ProbePlot::Kind::Position)->plot().data().range, TokenRange{});
        auto* windows = charts()->windowChart();
        charts()->tabs()->setCurrentIndex(0);
        session().setWindowTokens(1024);
        const QImage lines = windows->grab().toImage();
        QTest::qWait(20);
        QCOMPARE(windows->grab().toImage(), lines);
        session().setWindowTokens(512);
        QCOMPARE(charts()->windowChart(), windows);
        QVERIFY(windows->pointAt(1, 7) != QPointF());
        // Two turns of a wheel in one turn of the event loop zoom twice.
        view = chart(ProbePlot::Kind::Position);
        const QPointF middle = view->plot().plotRect().center();
        const auto turn = [&] {
            QWheelEvent wheel(middle, view->mapToGlobal(middle), {}, QPoint(0, 120), Qt::NoButton, Qt::NoModifier,
                              Qt::NoScrollPhase, false);
            QApplication::sendEvent(view, &wheel);
            return session().range();
        };
        const TokenRange once = turn(), twice = turn();
        QVERIFY(twice.end - twice.start < once.end - once.start);
    }

    void dragging_along_the_axis_zooms_the_heatmap()
    {
        openUsual();
        const QRectF first = heatmap()->cellRect(0, 2), last = heatmap()->cellRect(0, 4);
        const QRectF bottom = heatmap()->cellRect(2, 0);
        const auto y = static_cast<int>(bottom.bottom()) + 10;
        QTest::mousePress(heatmap(), Qt::LeftButton, {}, QPoint(static_cast<int>(first.center().x()), y));
        QTest::mouseRelease(heatmap(), Qt::LeftButton, {}, QPoint(static_cast<int>(last.center().x()), y));
        QCOMPARE(session().range(), (TokenRange{1024, 2560}));
        QCOMPARE(heatmap()->grid().starts.size(), std::size_t(3));
        const QPointF over = heatmap()->cellRect(0, 1).center();
        QWheelEvent wheel(over, heatmap()->mapToGlobal(over), {}, QPoint(0, -120), Qt::NoButton, Qt::ControlModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(heatmap(), &wheel);
        QCOMPARE(heatmap()->grid().starts.size(), std::size_t(4));
        QTest::keyClick(heatmap(), Qt::Key_0);
        QVERIFY(session().range().all());
    }

    void range_is_cut_to_the_history()
    {
        openUsual();
        session().setRange({-5, 100000});
        QVERIFY(session().range().all());
        session().setRange({3000, 9000});
        QCOMPARE(session().range(), (TokenRange{3000, 4000}));
        session().setRange({200, 100});
        QVERIFY(session().range().all());
        session().setRange({100, 200});
        action("closeAll")->trigger();
        QVERIFY(session().range().all());
    }

    void figures_of_all_charts()
    {
        openSample();
        for (const auto& [name, which] : figureCharts()) {
            const QString svg = m_folder->filePath(QString::fromStdString(name) + ".svg");
            const auto written = exportFigure(figureOf(session(), which), svg);
            QVERIFY2(written.has_value(), written ? "" : written.error().message.c_str());
            QFile file(svg);
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QByteArray text = file.readAll();
            QVERIFY2(text.contains("kv_q4_0") && text.contains("Baseline: baseline"), name.c_str());
            QVERIFY2(text.size() < 2'000'000, name.c_str());
        }
    }

    void dark_charts_are_dark()
    {
        openUsual();
        for (const auto kind : {ProbePlot::Kind::Position, ProbePlot::Kind::Distribution, ProbePlot::Kind::Margin,
                                ProbePlot::Kind::Agreement}) {
            auto* view = chart(kind);
            QVERIFY(view->grab().toImage().pixelColor(2, 2).lightness() > 200);
            applyTheme(ThemeChoice::Dark);
            QCoreApplication::processEvents();
            QVERIFY(view->grab().toImage().pixelColor(2, 2).lightness() < 60);
            applyTheme(ThemeChoice::Light);
            QCoreApplication::processEvents();
        }
    }
};

FLIPSCOPE_GUI_TEST(ChartsTest)
#include "tst_charts.moc"
