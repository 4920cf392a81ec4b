// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/render/render_fixture.h"
#include "ui/charts/window_chart.h"

using namespace flipscope;
using namespace flipscope::test;
using State = HeatmapCell::State;

class TestWindowChart : public QObject {
    Q_OBJECT

    static std::unique_ptr<WindowChart> shown(const HeatmapGrid& grid, bool log = false)
    {
        auto chart = std::make_unique<WindowChart>();
        chart->resize(900, 320);
        chart->setStyle(ChartStyle::light());
        chart->setLogAxis(log);
        chart->setGrid(grid, {QColor(0xff0000), QColor(0x0000ff)});
        chart->show();
        (void)QTest::qWaitForWindowExposed(chart.get());
        return chart;
    }
    static QImage picture(WindowChart& chart) { return chart.grab().toImage().convertToFormat(QImage::Format_RGB32); }

    static HeatmapGrid kl(const std::vector<HeatmapCell>& a, const std::vector<HeatmapCell>& b = {})
    {
        HeatmapGrid grid = empty_grid(8000, static_cast<int>(a.size()), 8000 * static_cast<std::int64_t>(a.size()));
        grid.metric = *find_window_metric("kl_pq_mean").value();
        grid.rows.push_back({"a", "", a});
        if (!b.empty())
            grid.rows.push_back({"b", "", b});
        return grid;
    }
    /// Is there ink of about this colour within `radius` device pixels?
    static bool inkAt(const QImage& image, const QPointF& point, QRgb color, int radius = 2)
    {
        const QPoint at = (point * image.devicePixelRatio()).toPoint();
        for (const QRgb c :
             colors_in(image, QRect(at - QPoint(radius, radius), QSize(2 * radius + 1, 2 * radius + 1)))) {
            if (channel_distance(c, color) < 60)
                return true;
        }
        return false;
    }

private slots:
    void initTestCase() { loadExportFonts(); }
    void cleanup() { VERIFY_NO_WARNINGS(); }

    void points_stand_at_their_values()
    {
        const auto chart = shown(kl({value_cell(0), value_cell(1), value_cell(2), value_cell(4)}));
        const QRectF plot = chart->plotRect();
        QVERIFY(std::abs(chart->pointAt(0, 0).y() - plot.bottom()) < 0.5);
        // Equal steps in value are equal steps in height, a quarter of the plot's columns apart.
        const double one = chart->pointAt(0, 0).y() - chart->pointAt(0, 1).y();
        QVERIFY(one > 10);
        QVERIFY(std::abs(chart->pointAt(0, 1).y() - chart->pointAt(0, 2).y() - one) < 0.1);
        QVERIFY(std::abs(chart->pointAt(0, 2).y() - chart->pointAt(0, 3).y() - 2 * one) < 0.1);
        QVERIFY(std::abs(chart->pointAt(0, 0).x() - (plot.left() + plot.width() / 8)) < 0.1);
        const QImage image = picture(*chart);
        for (int c = 0; c < 4; ++c)
            QVERIFY(inkAt(image, chart->pointAt(0, c), 0xffff0000));
        QVERIFY(inkAt(image, (chart->pointAt(0, 1) + chart->pointAt(0, 2)) / 2, 0xffff0000));
    }

    void gaps_are_not_bridged()
    {
        const auto chart = shown(kl({value_cell(1), value_cell(1), state_cell(State::Empty), value_cell(1),
                                     state_cell(State::Invalid, 0, 3), value_cell(1)}));
        QCOMPARE(chart->pointAt(0, 2), QPointF());
        const QImage image = picture(*chart);
        const QPointF middle((chart->pointAt(0, 1).x() + chart->pointAt(0, 3).x()) / 2, chart->pointAt(0, 1).y());
        QVERIFY(!inkAt(image, middle, 0xffff0000));
        QVERIFY(inkAt(image, chart->pointAt(0, 5), 0xffff0000)); // a window alone has a marker
        QVERIFY(inkAt(image, (chart->pointAt(0, 0) + chart->pointAt(0, 1)) / 2, 0xffff0000));
    }

    void zeros_on_a_log_axis()
    {
        const auto chart = shown(kl({value_cell(1e-6), value_cell(1e-3), value_cell(0), value_cell(1)}), true);
        const QRectF plot = chart->plotRect();
        QVERIFY(std::abs(chart->pointAt(0, 2).y() - plot.bottom()) < 0.5); // on the floor
        QVERIFY(chart->pointAt(0, 0).y() < plot.bottom() - 10);            // and nothing else is
        const double a = chart->pointAt(0, 0).y() - chart->pointAt(0, 1).y();
        const double b = chart->pointAt(0, 1).y() - chart->pointAt(0, 3).y();
        QVERIFY(std::abs(a - b) < 0.1); // three decades each
        const QImage image = picture(*chart);
        for (int c = 0; c < 4; ++c)
            QVERIFY(inkAt(image, chart->pointAt(0, c), 0xffff0000));
        const auto zeros = shown(kl({value_cell(0), value_cell(0)}), true);
        QVERIFY(inkAt(picture(*zeros), zeros->pointAt(0, 0), 0xffff0000));
    }

    void bands_reach_over_the_interval()
    {
        HeatmapGrid grid = empty_grid(8000, 4, 32'000);
        grid.rows.push_back({"r", "", std::vector<HeatmapCell>(4, flips_cell(50))}); // 20 %, 15.5 to 25.4 %
        const auto chart = shown(grid);
        const QImage image = picture(*chart);
        const double scale = image.devicePixelRatio();
        const QPointF zero(0, chart->plotRect().bottom());
        const double perShare = (zero.y() - chart->pointAt(0, 1).y()) / 0.2;
        const double x = (chart->pointAt(0, 1).x() + chart->pointAt(0, 2).x()) / 2;
        const auto at = [&](double share) {
            return QColor(image.pixel((QPointF(x + 7, zero.y() - share * perShare) * scale).toPoint()));
        };
        const QColor plain = ChartStyle::light().plot;
        QVERIFY(at(0.17) != plain && at(0.23) != plain);
        QVERIFY(at(0.145) == plain || at(0.145) == ChartStyle::light().grid);
        QVERIFY(at(0.262) == plain);
    }

    void mouse()
    {
        const auto chart =
            shown(kl({value_cell(1), value_cell(2), value_cell(3)}, {value_cell(3), value_cell(3), value_cell(1)}));
        QSignalSpy hovered(chart.get(), &WindowChart::columnHovered);
        QSignalSpy activated(chart.get(), &WindowChart::pointActivated);
        move_mouse(chart.get(), chart->pointAt(0, 2).toPoint());
        QCOMPARE(hovered.count(), 1);
        QCOMPARE(hovered.last().first().toInt(), 2);
        QTest::mouseClick(chart.get(), Qt::LeftButton, {}, chart->pointAt(1, 0).toPoint());
        QCOMPARE(activated.last(), QList<QVariant>({1, 0}));
        QTest::mouseClick(chart.get(), Qt::LeftButton, {}, chart->pointAt(0, 0).toPoint());
        QCOMPARE(activated.last(), QList<QVariant>({0, 0}));
        move_mouse(chart.get(), QPoint(2, 2));
        QCOMPARE(hovered.last().first().toInt(), -1);
    }

    void selection_and_hover_are_drawn()
    {
        const auto chart = shown(agent_grid());
        const QImage plain = picture(*chart);
        chart->setCurrentColumn(4);
        const QImage current = picture(*chart);
        const QRect box = difference(plain, current);
        const double scale = plain.devicePixelRatio(), column = chart->plotRect().width() / 13 * scale;
        const double left = chart->plotRect().left() * scale + 4 * column;
        QVERIFY(std::abs(box.left() - left) < 2 && std::abs(box.width() - column) < 3);
        chart->setHoveredColumn(9);
        QVERIFY(!difference(current, picture(*chart)).isEmpty());
        chart->setHoveredColumn(-1);
        QVERIFY(difference(current, picture(*chart)).isEmpty());
        chart->setCurrentColumn(400); // no such column
        QVERIFY(!picture(*chart).isNull());
    }

    void odd_grids()
    {
        for (const bool log : {false, true}) {
            auto chart = shown(gaps_grid(), log);
            QVERIFY(!picture(*chart).isNull());
            chart->setGrid(HeatmapGrid{}, {});
            QVERIFY(!picture(*chart).isNull());
            chart->setGrid(kl({state_cell(State::Pending), state_cell(State::Pending)}), {});
            QVERIFY(!picture(*chart).isNull());
            chart->setGrid(kl({value_cell(1e300), value_cell(1e-300)}), {});
            QVERIFY(!picture(*chart).isNull());
            chart->setGrid(kl({value_cell(-0.3), value_cell(0.2)}), {});
            QVERIFY(!picture(*chart).isNull());
        }
        HeatmapGrid many = empty_grid(32, 20'000, 640'000);
        HeatmapRow row{"r", "", std::vector<HeatmapCell>(20'000, value_cell(0.1))};
        row.cells[7777] = value_cell(0.9);
        many.rows = {row};
        const auto chart = shown(many);
        QVERIFY(inkAt(picture(*chart), chart->pointAt(0, 7777), 0xffff0000, 3)); // the peak survives
    }
};

FLIPSCOPE_GUI_TEST(TestWindowChart)
#include "tst_window_chart.moc"
