// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The charts over single probes: where points stand, what is never lost, mouse, keys, and 100,000 probes.
#include "tests/core/analysis/made_traces.h"
#include "tests/render/render_fixture.h"
#include "ui/charts/probe_chart_view.h"
#include "ui/charts/token_zoom.h"

#include <QSignalSpy>
#include <QWheelEvent>

#include <cmath>
#include <limits>

using namespace flipscope;
using namespace flipscope::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

ProbeMetrics at_logit(std::int64_t position, double kl, double margin, bool flip, bool tied = false)
{
    ProbeMetrics p = made::probe(position, kl, flip, tied, margin);
    p.p_top = 0.5;
    p.lse_p = 20 - std::log(0.5); // bfloat16: steps of 0.125
    return p;
}

ProbeChartRun run_of(const std::string& name, std::vector<ProbeMetrics> probes)
{
    auto table = std::make_shared<MetricsTable>();
    table->probes = std::move(probes);
    return {name, table, ""};
}

/// "red": a decade a step, a zero, an infinite one, a tie, and a flip of each kind. "blue": identical.
ProbeChartData usual()
{
    ProbeChartData data;
    data.baseline = "base";
    data.type = LogitType::BF16;
    data.n_tokens = 1000;
    data.window_tokens = 200;
    std::vector<ProbeMetrics> red{at_logit(0, 1e-4, 3, false),       at_logit(100, 1e-3, 2, false),
                                  at_logit(200, 1e-2, 1, true),      at_logit(300, 0, 4, false),
                                  at_logit(400, infinity, 5, false), at_logit(500, 1e-1, 0, true, true),
                                  at_logit(600, 1, 0.125, true),     made::invalid(700)};
    std::vector<ProbeMetrics> blue;
    for (int t = 0; t < 1000; t += 100)
        blue.push_back(at_logit(t, 0, 2, false));
    data.runs = {run_of("red", red), run_of("blue", blue)};
    return data;
}

/// As many probes as a long session has, the same every time.
ProbeChartData large(int runs, int probes)
{
    ProbeChartData data;
    data.baseline = "base";
    data.type = LogitType::BF16;
    data.n_tokens = probes;
    data.window_tokens = 8000;
    std::uint32_t state = 1;
    const auto random = [&] { return static_cast<double>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24); };
    for (int r = 0; r < runs; ++r) {
        std::vector<ProbeMetrics> all;
        for (int t = 0; t < probes; ++t)
            all.push_back(at_logit(t, std::pow(10, -7 + 6 * random()), 8 * random(), random() < 0.02));
        data.runs.push_back(run_of("run " + std::to_string(r), std::move(all)));
    }
    return data;
}

} // namespace

class TestProbeChartView : public QObject {
    Q_OBJECT

    static std::unique_ptr<ProbeChartView> shown(ProbePlot::Kind kind, const ProbeChartData& data)
    {
        auto chart = std::make_unique<ProbeChartView>(kind);
        chart->resize(900, 360);
        chart->setStyle(ChartStyle::light());
        chart->setData(data, {QColor(0xff0000), QColor(0x0000ff)});
        chart->show();
        (void)QTest::qWaitForWindowExposed(chart.get());
        return chart;
    }
    static QImage picture(ProbeChartView& chart)
    {
        return chart.grab().toImage().convertToFormat(QImage::Format_RGB32);
    }
    /// `radius` is in logical pixels, as the marks are: hollow ones have no ink at their centre.
    static bool inkAt(const QImage& image, const QPointF& point, QRgb color, int radius = 3)
    {
        const QPoint at = (point * image.devicePixelRatio()).toPoint();
        radius = qRound(radius * image.devicePixelRatio());
        for (const QRgb c : colors_in(image, QRect(at - QPoint(radius, radius), QSize(2 * radius + 1, 2 * radius + 1))))
            if (channel_distance(c, color) < 80)
                return true;
        return false;
    }
    /// With plain spaces before units.
    static QString plain(QString text) { return text.replace(QChar(0x00a0), QLatin1Char(' ')); }
    static void click(QWidget* widget, const QPointF& point)
    {
        QTest::mouseClick(widget, Qt::LeftButton, {}, point.toPoint());
    }

private slots:
    void initTestCase() { loadExportFonts(); }
    void cleanup() { VERIFY_NO_WARNINGS(); }

    void points_stand_on_a_log_axis()
    {
        const auto chart = shown(ProbePlot::Kind::Position, usual());
        const ProbePlot& plot = chart->plot();
        // A decade is a step, everywhere the same; positions are evenly apart.
        const double step = plot.pointOf(0, 0).y() - plot.pointOf(0, 100).y();
        QVERIFY(step > 10);
        QVERIFY(std::abs(plot.pointOf(0, 100).y() - plot.pointOf(0, 200).y() - step) < 0.01);
        QVERIFY(std::abs(plot.pointOf(0, 500).y() - plot.pointOf(0, 600).y() - step) < 0.01);
        QVERIFY(std::abs(plot.pointOf(0, 100).x() - plot.plotRect().left() - plot.plotRect().width() / 10) < 0.01);
        const QImage image = picture(*chart);
        for (const qint64 t : {0, 100, 200, 500, 600})
            QVERIFY2(inkAt(image, plot.pointOf(0, t), 0xffff0000), qPrintable(QString::number(t)));
    }

    void zeros_infinite_values_and_ties_are_not_lost()
    {
        const auto chart = shown(ProbePlot::Kind::Position, usual());
        const ProbePlot& plot = chart->plot();
        const double lowest = plot.pointOf(0, 0).y(), highest = plot.pointOf(0, 600).y();
        QVERIFY(plot.pointOf(0, 300).y() > lowest + 5);               // KL 0: below the axis
        QVERIFY(plot.pointOf(0, 400).y() < highest - 5);              // infinite: above it
        QVERIFY(plot.pointOf(1, 300).y() > plot.pointOf(0, 300).y()); // a lane for each run
        QVERIFY(plot.pointOf(0, 700).isNull());                       // not a number
        const QImage image = picture(*chart);
        QVERIFY(inkAt(image, plot.pointOf(0, 300), 0xffff0000, 1));
        QVERIFY(inkAt(image, plot.pointOf(1, 300), 0xff0000ff, 1));
        QVERIFY(inkAt(image, plot.pointOf(0, 400), 0xffff0000, 1));
        // The tie has a stroke in the lowest band, below all zeros.
        const double x = plot.pointOf(0, 500).x();
        bool tie = false;
        for (double y = plot.pointOf(1, 300).y() + 6; y < plot.plotRect().bottom(); ++y)
            tie = tie || inkAt(image, {x, y}, 0xffff0000, 1);
        QVERIFY(tie);
    }

    void case_15_and_16_tool_tips_tell_ties_from_real_flips()
    {
        for (const auto kind : {ProbePlot::Kind::Position, ProbePlot::Kind::Margin}) {
            const auto chart = shown(kind, usual());
            const auto text = [&](qint64 t) { return plain(chart->toolTipAt(chart->plot().pointOf(0, t))); };
            QVERIFY2(text(200).contains("red") && text(200).contains("probe 200"), qPrintable(text(200)));
            QVERIFY2(text(200).contains("rank 2"), qPrintable(text(200)));
            QVERIFY2(text(500).contains("flip by a tie"), qPrintable(text(500)));
            QVERIFY2(text(600).contains("flip by one step"), qPrintable(text(600)));
            QVERIFY2(text(600).contains("a step of bfloat16 is 0.1250 nats"), qPrintable(text(600)));
            QVERIFY2(text(0).contains("same top token"), qPrintable(text(0)));
        }
    }

    void margin_counts_the_kinds_of_flips()
    {
        const auto chart = shown(ProbePlot::Kind::Margin, usual());
        QVERIFY2(chart->plot().subtitle().contains("3 flips, 1 by a tie, 1 by one step of bfloat16"),
                 qPrintable(chart->plot().subtitle()));
        // x: a decade is a step; the tie stands in the column of margin 0, left of all others.
        const ProbePlot& plot = chart->plot();
        const double two = plot.pointOf(0, 100).x() - plot.pointOf(0, 200).x();  // 2 over 1
        const double four = plot.pointOf(0, 300).x() - plot.pointOf(0, 100).x(); // 4 over 2
        QVERIFY(std::abs(two - four) < 0.01 && two > 10);
        QVERIFY(plot.pointOf(0, 500).x() < plot.pointOf(0, 600).x() - 5);
        chart->setCurrent(1, -1);
        QVERIFY2(plot.subtitle().contains("blue: 0 flips"), qPrintable(plot.subtitle()));
    }

    void distribution_says_how_many()
    {
        const auto chart = shown(ProbePlot::Kind::Distribution, usual());
        const QRectF plot = chart->plot().plotRect();
        const QString zeros = plain(chart->toolTipAt({plot.left() + 8, plot.center().y()}));
        QVERIFY2(zeros.startsWith("KL(P‖Q) 0\n"), qPrintable(zeros));
        QVERIFY2(zeros.contains("red: 1 of 7 (14 %)") && zeros.contains("blue: 10 of 10 (100 %)"), qPrintable(zeros));
        // Far right of the second pane's axis all finite values are below.
        const QString all = plain(chart->toolTipAt({plot.right() - 40, plot.center().y()}));
        QVERIFY2(all.contains("red: 85.7 % of the probes"), qPrintable(all)); // 6 of 7: one is infinite
    }

    void agreement_is_a_line()
    {
        const auto chart = shown(ProbePlot::Kind::Agreement, usual());
        const ProbePlot& plot = chart->plot();
        // 600 and 500 are flips; (400, 600] holds nothing else.
        const QString text = plain(chart->toolTipAt(plot.pointOf(0, 600)));
        QVERIFY2(text.contains("agreement 0 % of the last 2 probes"), qPrintable(text));
        QVERIFY2(text.contains("57.1 % of all probes so far"), qPrintable(text)); // 4 of 7
        QVERIFY(inkAt(picture(*chart), plot.pointOf(1, 500), 0xff0000ff));
    }

    void a_click_chooses_a_probe()
    {
        for (const auto kind : {ProbePlot::Kind::Position, ProbePlot::Kind::Margin}) {
            const auto chart = shown(kind, usual());
            QSignalSpy spy(chart.get(), &ProbeChartView::probeActivated);
            click(chart.get(), chart->plot().pointOf(0, 600));
            QCOMPARE(spy.size(), 1);
            QCOMPARE(spy[0][0].toInt(), 0);
            QCOMPARE(spy[0][1].toLongLong(), 600);
        }
    }

    void case_71_hover_hits_what_is_drawn()
    {
        const auto chart = shown(ProbePlot::Kind::Position, usual());
        QSignalSpy spy(chart.get(), &ProbeChartView::probeHovered);
        for (const qint64 t : {0, 100, 200, 300, 400, 500, 600}) {
            move_mouse(chart.get(), chart->plot().pointOf(0, t).toPoint());
            QCOMPARE(spy.back()[0].toInt(), 0);
            QCOMPARE(spy.back()[1].toLongLong(), t);
        }
        const QImage hovered = picture(*chart);
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(chart.get(), &leave);
        QVERIFY(difference(hovered, picture(*chart)).isValid());
        QCOMPARE(spy.back()[1].toLongLong(), -1);
    }

    void wheel_drag_and_keys_ask_for_a_range()
    {
        const auto chart = shown(ProbePlot::Kind::Position, usual());
        QSignalSpy spy(chart.get(), &ProbeChartView::rangeRequested);
        const auto last = [&] { return spy.back()[0].value<TokenRange>(); };
        const QRectF plot = chart->plot().plotRect();
        const auto x = [&](double token) { return chart->plot().xOfToken(token); };
        QWheelEvent wheel(QPointF(x(500), plot.center().y()), chart->mapToGlobal(QPointF(x(500), plot.center().y())),
                          {}, QPoint(0, 120), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(chart.get(), &wheel);
        QCOMPARE(spy.size(), 1);
        QVERIFY(std::abs(last().end - last().start - 800) <= 1); // 1.25 a notch, about what the mouse is over
        QVERIFY(std::abs((last().start + last().end) / 2 - 500) <= 1);
        QTest::mousePress(chart.get(), Qt::LeftButton, {}, QPoint(qRound(x(200)), 150));
        QMouseEvent move(QEvent::MouseMove, QPointF(x(400), 150), QPointF(x(400), 150), Qt::NoButton, Qt::LeftButton,
                         {});
        QApplication::sendEvent(chart.get(), &move);
        QTest::mouseRelease(chart.get(), Qt::LeftButton, {}, QPoint(qRound(x(400)), 150));
        QCOMPARE(spy.size(), 2);
        QVERIFY(std::abs(last().start - 200) <= 2 && std::abs(last().end - 400) <= 2);
        QTest::keyClick(chart.get(), Qt::Key_Plus);
        QCOMPARE(last(), (TokenRange{250, 750}));
        QTest::keyClick(chart.get(), Qt::Key_0);
        QVERIFY(last().all());
    }

    void zoom_stays_within_the_history()
    {
        using namespace token_zoom;
        QVERIFY(zoomed({0, 1000}, 300, 4, 1000).all());
        QCOMPARE(zoomed({0, 1000}, 0, 0.5, 1000), (TokenRange{0, 500}));
        QCOMPARE(zoomed({500, 1000}, 1000, 0.5, 1000), (TokenRange{750, 1000}));
        QCOMPARE(moved({0, 100}, -50, 1000), (TokenRange{0, 100}));
        QCOMPARE(moved({850, 950}, 500, 1000), (TokenRange{900, 1000}));
        QCOMPARE(between(700, 200, 1000), (TokenRange{200, 700}));
        QCOMPARE(zoomed({100, 120}, 110, 0.1, 1000).end - zoomed({100, 120}, 110, 0.1, 1000).start, least_tokens);
        QVERIFY(zoomed({0, 5}, 2, 0.1, 5).all()); // shorter than the least that can be shown
    }

    void range_is_what_is_drawn()
    {
        ProbeChartData data = usual();
        data.range = {150, 350};
        const auto chart = shown(ProbePlot::Kind::Position, data);
        QVERIFY(chart->plot().pointOf(0, 100).isNull());
        QVERIFY(chart->plot().pointOf(0, 250).isNull()); // no probe there
        const QRectF plot = chart->plot().plotRect();
        QVERIFY(std::abs(chart->plot().pointOf(0, 200).x() - plot.left() - plot.width() / 4) < 0.01);
        QVERIFY(chart->toolTipAt(chart->plot().pointOf(1, 300)).contains("probe 300"));
    }

    void the_chosen_run_stands_out()
    {
        const auto chart = shown(ProbePlot::Kind::Position, usual());
        const QPointF point = chart->plot().pointOf(0, 100);
        QVERIFY(inkAt(picture(*chart), point, 0xffff0000));
        chart->setCurrent(1, -1);
        QVERIFY(!inkAt(picture(*chart), point, 0xffff0000)); // paler now
        chart->setCurrent(0, 100);
        QVERIFY(inkAt(picture(*chart), point, 0xffff0000));
    }

    void nothing_to_show_is_said()
    {
        for (const auto kind : {ProbePlot::Kind::Position, ProbePlot::Kind::Distribution, ProbePlot::Kind::Margin,
                                ProbePlot::Kind::Agreement}) {
            ProbeChartData data;
            const auto empty = shown(kind, data);
            const QImage nothing = picture(*empty);
            QVERIFY(colors_in(nothing, nothing.rect()).size() > 2); // words
            data.runs.push_back({"waiting", nullptr, ""});
            empty->setData(data, {});
            move_mouse(empty.get(), {450, 200});
            QVERIFY(empty->toolTipAt({450, 200}).isEmpty());
            data.n_tokens = 100;
            data.runs = {run_of("none valid", {made::invalid(5)}), run_of("no probes", {})};
            empty->setData(data, {});
            (void)picture(*empty);
            move_mouse(empty.get(), {450, 200});
        }
    }

    void a_hundred_thousand_probes_stay_smooth()
    {
        const ProbeChartData data = large(3, 100'000);
        for (const auto kind : {ProbePlot::Kind::Position, ProbePlot::Kind::Distribution, ProbePlot::Kind::Margin,
                                ProbePlot::Kind::Agreement}) {
            const auto chart = shown(kind, data);
            (void)picture(*chart);
            // Following the mouse never draws the points again. The bound is loose: this machine may be busy.
            const QRectF plot = chart->plot().plotRect();
            QElapsedTimer timer;
            timer.start();
            constexpr int frames = 40;
            for (int i = 0; i < frames; ++i) {
                move_mouse(chart.get(), QPointF(plot.left() + i * plot.width() / frames, plot.center().y()).toPoint());
                chart->repaint();
            }
            const double frame = static_cast<double>(timer.nsecsElapsed()) / 1e6 / frames;
            QVERIFY2(frame < 100, qPrintable(QStringLiteral("%1 ms a frame").arg(frame)));
        }
    }
};

FLIPSCOPE_GUI_TEST(TestProbeChartView)
#include "tst_probe_chart_view.moc"
