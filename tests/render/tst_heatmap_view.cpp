// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The heatmap on the screen, at the scale factor that QT_SCALE_FACTOR names: what is drawn where, in which colour, and
// what the mouse and the keyboard hit.
#include "tests/render/render_fixture.h"
#include "ui/charts/chart_paint.h"
#include "ui/charts/colormap.h"
#include "ui/charts/heatmap_view.h"
#include "ui/charts/segment_strip.h"

#include <QHelpEvent>
#include <QScrollBar>

using namespace flipscope;
using namespace flipscope::test;
using State = HeatmapCell::State;

class TestHeatmapView : public QObject {
    Q_OBJECT

    /// A shown view of a size that leaves cells small enough to sample beside their numbers.
    static std::unique_ptr<HeatmapView> shown(const HeatmapGrid& grid, const ColourScale& scale = {},
                                              QSize size = {900, 420}, bool dark = false)
    {
        auto view = std::make_unique<HeatmapView>();
        view->resize(size);
        view->setStyle(dark ? ChartStyle::dark() : ChartStyle::light());
        view->setGrid(grid, scale);
        view->show();
        (void)QTest::qWaitForWindowExposed(view.get());
        return view;
    }
    static QImage picture(HeatmapView& view) { return view.grab().toImage().convertToFormat(QImage::Format_RGB32); }

private slots:
    void initTestCase()
    {
        loadExportFonts();
        const double asked = qEnvironmentVariable("QT_SCALE_FACTOR", "1").toDouble();
        QCOMPARE(qApp->devicePixelRatio(), asked);
    }
    void cleanup() { VERIFY_NO_WARNINGS(); }

    void case_71_points_hit_the_cell_they_are_drawn_in()
    {
        for (const QSize size : {QSize(900, 420), QSize(533, 311), QSize(1207, 667)}) {
            const auto view = shown(agent_grid(), {}, size);
            for (int row = 0; row < 6; ++row) {
                for (int column = 0; column < 13; ++column) {
                    const QRectF rect = view->cellRect(row, column);
                    QVERIFY(rect.width() > 4 && rect.height() > 4);
                    const QRectF inner = rect.adjusted(0.2, 0.2, -0.2, -0.2);
                    for (const QPointF& point :
                         {inner.center(), inner.topLeft(), inner.topRight(), inner.bottomLeft(), inner.bottomRight()})
                        QCOMPARE(view->cellAt(point), QPoint(row, column));
                }
            }
            QCOMPARE(view->cellAt(view->cellRect(0, 0).topLeft() - QPointF(1, 1)), QPoint(-1, -1));
            QCOMPARE(view->cellAt({-5, -5}), QPoint(-1, -1));
        }
    }

    void case_71_pixels_have_the_color_of_the_value()
    {
        const auto grid = agent_grid();
        const auto view = shown(grid);
        view->clearFocus();
        const QImage image = picture(*view);
        const double scale = image.devicePixelRatio();
        QCOMPARE(image.width(), qRound(900 * scale));
        for (int row = 0; row < 6; ++row) {
            for (int column = 0; column < 13; ++column) {
                const double value = grid.rows[row].cells[column].value;
                const QColor expected = colormapColor("cividis", value / 0.5); // the largest is 125 of 250
                QCOMPARE(view->cellColor(row, column), expected);
                const QRectF rect = view->cellRect(row, column);
                // Beside the number, well inside the cell: left, and above and below the middle.
                for (const QPointF& at :
                     {QPointF(rect.left() + 3, rect.center().y()), QPointF(rect.center().x(), rect.top() + 4),
                      QPointF(rect.center().x(), rect.bottom() - 5)})
                    QCOMPARE(QColor(image.pixel((at * scale).toPoint())), expected);
            }
        }
    }

    void case_71_clicks_and_hover()
    {
        const auto view = shown(agent_grid());
        QSignalSpy current(view.get(), &HeatmapView::currentCellChanged);
        QSignalSpy hovered(view.get(), &HeatmapView::cellHovered);
        QSignalSpy activated(view.get(), &HeatmapView::cellActivated);
        for (const auto& [row, column] : {std::pair(5, 12), std::pair(0, 0), std::pair(3, 7)}) {
            const QPoint at = view->cellRect(row, column).center().toPoint();
            move_mouse(view.get(), at);
            QVERIFY(!hovered.isEmpty());
            QCOMPARE(hovered.last(), QList<QVariant>({row, column}));
            QTest::mouseClick(view.get(), Qt::LeftButton, {}, at);
            QCOMPARE(current.last(), QList<QVariant>({row, column}));
            QCOMPARE(view->currentRow(), row);
        }
        QTest::mouseDClick(view.get(), Qt::LeftButton, {}, view->cellRect(2, 2).center().toPoint());
        QCOMPARE(activated.last(), QList<QVariant>({2, 2}));
        move_mouse(view.get(), QPoint(3, 3));
        QCOMPARE(hovered.last(), QList<QVariant>({-1, -1}));
        // A run's name chooses its row.
        QTest::mouseClick(view.get(), Qt::LeftButton, {}, view->rowLabelRect(4).center().toPoint());
        QCOMPARE(view->currentRow(), 4);
    }

    void labels_stand_beside_their_rows()
    {
        const auto grid = agent_grid();
        const auto view = shown(grid);
        QCOMPARE(view->rowLabels(), QStringList({"triton-2", "fa2", "flashinfer", "kv-int8", "kv-int4", "w-nvfp4"}));
        const QImage before = picture(*view);
        for (int row = 0; row < 6; ++row) {
            const QRectF label = view->rowLabelRect(row), cell = view->cellRect(row, 0);
            QVERIFY(std::abs(label.center().y() - cell.center().y()) < 0.6);
            QVERIFY(label.right() <= cell.left());
            QVERIFY(row == 0 || view->cellRect(row - 1, 0).bottom() <= cell.top() + 0.01);
            // Another name for this run changes ink in this label's place and nowhere else.
            HeatmapGrid renamed = grid;
            renamed.rows[row].name = "WWWW";
            view->setGrid(renamed, {});
            const QRect changed = difference(before, picture(*view));
            QVERIFY(!changed.isEmpty());
            const double scale = before.devicePixelRatio();
            // (a longest name that becomes shorter moves the whole plot: "flashinfer" is it)
            if (row != 2)
                QVERIFY2(QRectF(label.topLeft() * scale, label.size() * scale).adjusted(-1, -1, 1, 1).contains(changed),
                         qPrintable(QString("row %1").arg(row)));
        }
    }

    void numbers_in_cells()
    {
        const auto view = shown(agent_grid());
        QCOMPARE(view->cellText(0, 0), QString("0\u00a0%"));
        QCOMPARE(view->cellText(1, 3), QString("4.0\u00a0%")); // 10 of 250
        QCOMPARE(view->cellText(1, 1), QString("0.4\u00a0%")); // 1 of 250
        QCOMPARE(view->cellText(5, 11), QString("50\u00a0%")); // 125 of 250
        HeatmapGrid grid = empty_grid(256, 4, 1024);
        grid.metric = *find_window_metric("kl_pq_mean").value();
        grid.rows = {{"r", "", {value_cell(0.01234), value_cell(1.5e-7), value_cell(0), value_cell(12.34)}}};
        view->setGrid(grid, {});
        QCOMPARE(view->cellText(0, 0), QString("0.012\u00a0nats"));
        QCOMPARE(view->cellText(0, 1), QString("1.5e-7\u00a0nats"));
        QCOMPARE(view->cellText(0, 2), QString("0\u00a0nats"));
        QCOMPARE(view->cellText(0, 3), QString("12\u00a0nats"));
        grid.metric = *find_window_metric("top5_overlap").value();
        grid.rows = {{"r", "", {value_cell(0.99996), value_cell(1), value_cell(0.00004), value_cell(0.5)}}};
        view->setGrid(grid, {});
        QVERIFY(view->cellText(0, 0) != view->cellText(0, 1)); // nearly all is not all
        QVERIFY(view->cellText(0, 2) != QString("0\u00a0%"));  // hardly any is not none
    }

    void zero_is_not_missing()
    {
        const auto view = shown(gaps_grid());
        const QImage image = picture(*view);
        const double scale = image.devicePixelRatio();
        const auto colors = [&](int row, int column) {
            return colors_in(image, pixels_of(view->cellRect(row, column).adjusted(4, 4, -4, -4), scale));
        };
        QCOMPARE(view->cellColor(4, 0), colormapColor("cividis", 0)); // zero: the bottom of the scale
        QVERIFY(colors(4, 0).contains(colormapColor("cividis", 0).rgb()));
        // Missing: hatched, in colours of its own.
        const auto missing = colors(0, 2);
        QVERIFY(missing.contains(ChartStyle::light().missing.rgb()));
        QVERIFY(missing.size() >= 2); // lines over the fill
        QVERIFY(!missing.contains(colormapColor("cividis", 0).rgb()));
        QCOMPARE(view->cellText(0, 2), QString());
    }

    void states_look_different()
    {
        const auto view = shown(gaps_grid());
        const QImage image = picture(*view);
        const double scale = image.devicePixelRatio();
        const std::vector<std::pair<int, int>> cells{{0, 2}, {1, 3}, {1, 4}, {2, 6}, {3, 6}, {4, 6}};
        for (std::size_t a = 0; a < cells.size(); ++a) {
            for (std::size_t b = a + 1; b < cells.size(); ++b) {
                const auto at = [&](std::size_t i) {
                    const QRect r =
                        pixels_of(view->cellRect(cells[i].first, cells[i].second), scale).adjusted(3, 3, -3, -3);
                    return image.copy(QRect(r.topLeft(), QSize(60, 30)));
                };
                QVERIFY2(!difference(at(a), at(b)).isEmpty(), qPrintable(QString("%1 %2").arg(a).arg(b)));
            }
        }
        QCOMPARE(view->cellText(1, 3), QString("NaN"));
        QCOMPARE(view->cellText(1, 4), QString("∞"));
        QVERIFY(view->cellToolTip(2, 1).contains("token 41 is 318 here, 262 there"));
    }

    void tool_tips()
    {
        const auto view = shown(agent_grid());
        // 95 % Wilson interval of 41 / 250 is 12.3 to 21.5 % (statsmodels proportion_confint, method wilson)
        QCOMPARE(view->cellToolTip(4, 5), QString("kv-int4 · tokens 40,000–48,000\n"
                                                  "Flip rate 16.4\u00a0% · 41 of 250 probes\n"
                                                  "95 % interval 12–21\u00a0%"));
        QVERIFY(view->cellToolTip(0, 0).endsWith("bit-identical"));
        QVERIFY(view->cellToolTip(0, 12).contains("96,000–101,376")); // the last window is cut
        QCOMPARE(view->cellToolTip(9, 9), QString());
        view->setGrid(gaps_grid(), {});
        QVERIFY(view->cellToolTip(0, 2).contains("no probe"));
        QVERIFY(view->cellToolTip(1, 3).contains("128 probes"));
        QVERIFY(view->cellToolTip(1, 4).contains("infinite"));
        QVERIFY(view->cellToolTip(3, 0).contains("Not computed yet"));
        QVERIFY(view->cellToolTip(0, 0).contains("0 flips"));
    }

    void segments()
    {
        const auto grid = agent_grid();
        QCOMPARE(segment_strip::kinds(grid),
                 QStringList({"system", "user", "assistant", "tool", "thinking", "tool_call"}));
        const QRectF strip(100, 50, 1040, segment_strip::height(grid)); // 1 pixel = 100 tokens
        QCOMPARE(segment_strip::toolTip(strip, grid, {100 + 15, 55}), QString("system · tokens 0–3,100"));
        QCOMPARE(segment_strip::toolTip(strip, grid, {100 + 300, 55}), QString("tool · tokens 21,000–39,500"));
        QCOMPARE(segment_strip::toolTip(strip, grid, {100 + 100, 67}), QString("thinking · tokens 8,200–13,900"));
        const QString call = segment_strip::toolTip(strip, grid, {100 + 201, strip.bottom() - 6});
        QVERIFY2(call.startsWith("tool call · tokens 20,100–20,900") && call.contains("show arp <brief>"),
                 qPrintable(call));
        QCOMPARE(segment_strip::toolTip(strip, grid, {5, 5}), QString());
        QCOMPARE(segment_strip::height(gaps_grid()), 0.0);
    }

    void token_axis()
    {
        const QFontMetricsF metrics(chart_paint::font(ChartStyle::light(), 11));
        const auto labels = [&](const HeatmapGrid& grid, double width) {
            QStringList out;
            double end = -1e9;
            for (const auto& tick : chart_paint::tokenTicks(grid, width, metrics)) {
                const double x = width * tick.at / static_cast<double>(grid.starts.size());
                const double half = metrics.horizontalAdvance(tick.label) / 2;
                if (x - half <= end + 4)
                    return QStringList{"labels touch"};
                end = x + half;
                out << tick.label;
            }
            return out;
        };
        QCOMPARE(labels(agent_grid(), 800).mid(0, 4), QStringList({"0k", "8k", "16k", "24k"}));
        QCOMPARE(labels(agent_grid(), 800).last(), QString("96k")); // the end, 101,376, is no boundary
        QCOMPARE(labels(agent_grid(), 300).mid(0, 3), QStringList({"0k", "16k", "32k"}));
        QCOMPARE(labels(empty_grid(256, 8, 2048), 700),
                 QStringList({"0", "256", "512", "768", "1,024", "1,280", "1,536", "1,792", "2,048"}));
        QCOMPARE(labels(empty_grid(256, 3000, 768'000), 700).first(), QString("0"));
        QVERIFY(labels(empty_grid(256, 3000, 768'000), 700).size() > 4);
        QCOMPARE(labels(empty_grid(500, 4, 2000), 700), QStringList({"0k", "0.5k", "1k", "1.5k", "2k"}));
        QVERIFY(labels(empty_grid(8000, 0, 0), 700).isEmpty());
    }

    void keyboard()
    {
        const auto view = shown(agent_grid());
        view->setFocus();
        QSignalSpy current(view.get(), &HeatmapView::currentCellChanged);
        QSignalSpy activated(view.get(), &HeatmapView::cellActivated);
        QSignalSpy up(view.get(), &HeatmapView::upRequested);
        const auto cell = [&] { return QPoint(view->currentRow(), view->currentColumn()); };
        QTest::keyClick(view.get(), Qt::Key_Return); // nothing chosen yet
        QCOMPARE(activated.count(), 0);
        QTest::keyClick(view.get(), Qt::Key_Down);
        QCOMPARE(cell(), QPoint(0, 0));
        QTest::keyClick(view.get(), Qt::Key_Right);
        QTest::keyClick(view.get(), Qt::Key_Down);
        QCOMPARE(cell(), QPoint(1, 1));
        QTest::keyClick(view.get(), Qt::Key_End);
        QCOMPARE(cell(), QPoint(1, 12));
        const auto count = current.count();
        QTest::keyClick(view.get(), Qt::Key_Right); // at the edge: nothing happens, nothing is said
        QCOMPARE(current.count(), count);
        QTest::keyClick(view.get(), Qt::Key_Home, Qt::ControlModifier);
        QCOMPARE(cell(), QPoint(0, 0));
        QTest::keyClick(view.get(), Qt::Key_Return);
        QCOMPARE(activated.last(), QList<QVariant>({0, 0}));
        QTest::keyClick(view.get(), Qt::Key_Backspace);
        QCOMPARE(up.count(), 1);
        view->setCurrentCell(3, 3);
        QCOMPARE(view->currentColumn(), 3);
        view->setCurrentCell(-1, -1);
        QCOMPARE(cell(), QPoint(-1, -1));
    }

    void current_cell_is_outlined_on_any_color()
    {
        const auto view = shown(agent_grid());
        for (const auto& [row, column] : {std::pair(0, 0), std::pair(5, 11)}) {
            view->setCurrentCell(row, column);
            const QImage image = picture(*view);
            const double scale = image.devicePixelRatio();
            const QRectF rect = view->cellRect(row, column);
            const QRect edge((rect.topLeft() * scale).toPoint() + QPoint(-4, qRound(rect.height() * scale / 3)),
                             QSize(9, 2));
            const auto colors = colors_in(image, edge);
            QVERIFY(colors.contains(0xff000000) && colors.contains(0xffffffff));
        }
    }

    void focus_is_seen()
    {
        const auto view = shown(agent_grid());
        view->clearFocus();
        const QImage without = picture(*view);
        view->setFocus();
        if (!view->hasFocus())
            QSKIP("This platform gives no focus.");
        QVERIFY(!difference(without, picture(*view)).isEmpty());
    }

    void spoken()
    {
        const auto view = shown(agent_grid());
        QVERIFY(view->accessibleName().contains("Flip rate · window 8,000 tokens · against triton"));
        QVERIFY(view->accessibleDescription().contains("6 runs, 13 windows"));
        view->setCurrentCell(4, 5);
        QVERIFY(view->accessibleDescription().contains("Flip rate 16.4"));
    }

    void many_runs_scroll()
    {
        HeatmapGrid grid = empty_grid(8000, 5, 40'000);
        for (int r = 0; r < 40; ++r)
            grid.rows.push_back({"run-" + std::to_string(r), "", std::vector<HeatmapCell>(5, flips_cell(r))});
        const auto view = shown(grid, {}, {600, 300});
        QVERIFY(view->findChild<QScrollBar*>()->isVisible());
        view->setCurrentCell(39, 4); // brought into view
        const QRectF rect = view->cellRect(39, 4);
        QVERIFY(QRectF(view->rect()).contains(rect));
        QCOMPARE(view->cellAt(rect.center()), QPoint(39, 4));
        const QImage image = picture(*view);
        const QPointF at = QPointF(rect.left() + 6, rect.top() + 5) * image.devicePixelRatio();
        QCOMPARE(QColor(image.pixel(at.toPoint())), view->cellColor(39, 4));
    }

    void a_hot_window_among_thousands_is_seen()
    {
        HeatmapGrid grid = empty_grid(32, 5000, 160'000);
        HeatmapRow row{"r", "", std::vector<HeatmapCell>(5000, value_cell(0.1, 8))};
        row.cells[3217] = value_cell(1, 8);
        row.cells[3218] = state_cell(State::Empty);
        grid.rows = {row};
        const auto view = shown(grid);
        const QImage image = picture(*view);
        const double scale = image.devicePixelRatio();
        const QRectF rect = view->cellRect(0, 3217);
        const int x = qFloor(rect.left() * scale), y = qRound(rect.center().y() * scale);
        QVERIFY(colors_in(image, QRect(x - 1, y, 3, 1)).contains(colormapColor("cividis", 1).rgb()));
        QCOMPARE(view->cellAt(rect.center()), QPoint(0, 3217));
    }

    void nothing_to_draw()
    {
        const auto view = shown(HeatmapGrid{});
        QVERIFY(!picture(*view).isNull());
        QCOMPARE(view->cellAt({100, 100}), QPoint(-1, -1));
        QTest::keyClick(view.get(), Qt::Key_Right);
        QCOMPARE(view->currentRow(), -1);
        HeatmapGrid ragged = agent_grid();
        ragged.rows[2].cells.resize(3);
        view->setGrid(ragged, {});
        QVERIFY(!picture(*view).isNull());
        view->resize(120, 80);
        QVERIFY(!picture(*view).isNull());
    }

    void dark_follows_the_style()
    {
        const auto view = shown(agent_grid(), {}, {900, 420}, true);
        const QImage image = picture(*view);
        QCOMPARE(QColor(image.pixel(2, 2)), ChartStyle::dark().background);
    }
};

FLIPSCOPE_GUI_TEST(TestHeatmapView)
#include "tst_heatmap_view.moc"
