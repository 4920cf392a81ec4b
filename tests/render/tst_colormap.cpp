// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/render/render_fixture.h"
#include "ui/charts/colormap.h"
#include "ui/charts/nice_ticks.h"

using namespace flipscope;
using namespace flipscope::test;

class TestColormap : public QObject {
    Q_OBJECT
private slots:
    void names()
    {
        QCOMPARE(colormapNames(), QStringList({"cividis", "viridis", "magma", "inferno", "plasma", "vik"}));
    }

    /// Ends of the tables as their authors publish them, in 0..1.
    void published_ends_data()
    {
        QTest::addColumn<QString>("map");
        QTest::addColumn<double>("t");
        QTest::addColumn<QVector<double>>("rgb");
        const auto row = [](const char* map, double t, QVector<double> rgb) {
            QTest::addRow("%s %g", map, t) << QString::fromLatin1(map) << t << rgb;
        };
        row("cividis", 0, {0.000000, 0.135112, 0.304751});
        row("cividis", 1, {0.995737, 0.909344, 0.217772});
        row("viridis", 0, {0.267004, 0.004874, 0.329415});
        row("viridis", 1, {0.993248, 0.906157, 0.143936});
        row("magma", 0, {0.001462, 0.000466, 0.013866});
        row("magma", 1, {0.987053, 0.991438, 0.749504});
        row("inferno", 1, {0.988362, 0.998364, 0.644924});
        row("plasma", 0, {0.050383, 0.029803, 0.527975});
        row("plasma", 1, {0.940015, 0.975158, 0.131326});
        row("vik", 0, {0.001328, 0.069836, 0.379529});
        row("vik", 1, {0.350423, 0.000061, 0.030499});
    }
    void published_ends()
    {
        QFETCH(QString, map);
        QFETCH(double, t);
        QFETCH(QVector<double>, rgb);
        const QColor color = colormapColor(map, t);
        QVERIFY2(std::abs(color.red() - rgb[0] * 255) <= 1 && std::abs(color.green() - rgb[1] * 255) <= 1 &&
                     std::abs(color.blue() - rgb[2] * 255) <= 1,
                 qPrintable(color.name()));
    }

    void lightness_rises_in_sequential_maps()
    {
        for (const QString& map : colormapNames()) {
            if (map == "vik")
                continue;
            double before = -1;
            for (int i = 0; i <= 16; ++i) {
                const QColor c = colormapColor(map, i / 16.0);
                const double light = 0.2126 * c.redF() + 0.7152 * c.greenF() + 0.0722 * c.blueF();
                QVERIFY2(light > before, qPrintable(map));
                before = light;
            }
        }
    }

    void clamped_and_not_a_number()
    {
        QCOMPARE(colormapColor("cividis", -3), colormapColor("cividis", 0));
        QCOMPARE(colormapColor("cividis", 7), colormapColor("cividis", 1));
        QVERIFY(colormapColor("cividis", NAN).isValid());
    }

    void text_reads_on_every_color()
    {
        const auto luminance = [](const QColor& c) {
            const auto f = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
            return 0.2126 * f(c.redF()) + 0.7152 * f(c.greenF()) + 0.0722 * f(c.blueF());
        };
        for (const QString& map : colormapNames()) {
            for (int i = 0; i < 256; ++i) {
                const QColor back = colormapColor(map, i / 255.0);
                const double a = luminance(back), b = luminance(textColorOn(back));
                QVERIFY((std::max(a, b) + 0.05) / (std::min(a, b) + 0.05) >= 4.5);
            }
        }
    }

    void run_colors_are_seen_and_told_apart()
    {
        for (const ChartStyle& style : {ChartStyle::light(), ChartStyle::dark()}) {
            QSet<QRgb> seen;
            for (int i = 0; i < 16; ++i) {
                seen.insert(style.runColor(i).rgb());
                QVERIFY(channel_distance(style.runColor(i).rgb(), style.background.rgb()) > 60);
            }
            QCOMPARE(seen.size(), 16);
        }
    }

    void linear()
    {
        const std::vector<double> values{0.1, 0.4, 0.2};
        const Normalizer n(ColourScale{}, values);
        QCOMPARE(n.low(), 0.0); // a scale of rates begins at 0
        QCOMPARE(n.high(), 0.4);
        QCOMPARE(n(0.1), 0.25);
        QCOMPARE(n(5), 1.0);
        QVERIFY(std::isnan(n(NAN)));
        QCOMPARE(n.inverse(0.5), 0.2);

        const std::vector<double> overlaps{0.94, 0.98, 1.0}; // near the top: from the least
        QCOMPARE(Normalizer(ColourScale{}, overlaps).low(), 0.94);
        const std::vector<double> zeros{0, 0};
        QCOMPARE(Normalizer(ColourScale{}, zeros)(0), 0.0);
        QCOMPARE(Normalizer(ColourScale{}, zeros).high(), 1.0);
        const std::vector<double> one{0.3};
        QCOMPARE(Normalizer(ColourScale{}, one)(0.3), 1.0);
        QCOMPARE(Normalizer(ColourScale{}, {}).high(), 1.0);
    }

    void fixed()
    {
        ColourScale scale;
        scale.automatic = false;
        scale.low = 0.2;
        scale.high = 0.6;
        const std::vector<double> values{5, 9};
        const Normalizer n(scale, values);
        QCOMPARE(n(0.4), 0.5);
        QCOMPARE(n(0.1), 0.0);
        QCOMPARE(n(0.9), 1.0);
        std::swap(scale.low, scale.high);
        QCOMPARE(Normalizer(scale, values)(0.4), 0.5);
    }

    void diverging_is_symmetric()
    {
        ColourScale scale;
        scale.map = "vik";
        const std::vector<double> values{-0.1, 0.4};
        const Normalizer n(scale, values);
        QCOMPARE(n(0), 0.5);
        QCOMPARE(n(0.4), 1.0);
        QCOMPARE(n(-0.4), 0.0);
    }

    void log()
    {
        ColourScale scale;
        scale.kind = ColourScale::Kind::Log;
        const std::vector<double> values{0, 1e-4, 1e-2, 1};
        const Normalizer n(scale, values);
        QCOMPARE(n.low(), 1e-4); // the least that a log scale can show
        QCOMPARE(n(1e-2), 0.5);
        QCOMPARE(n(0), 0.0);
        QCOMPARE(n(-1), 0.0);
        QCOMPARE(n.inverse(0.5), 1e-2);
        const std::vector<double> zeros{0};
        QVERIFY(std::isfinite(Normalizer(scale, zeros)(0)));
    }

    void percentile()
    {
        ColourScale scale;
        scale.kind = ColourScale::Kind::Percentile;
        const std::vector<double> values{0, 0, 1, 100, 1000};
        const Normalizer n(scale, values);
        QCOMPARE(n(0), 0.0);
        QCOMPARE(n(1), 0.5);
        QCOMPARE(n(100), 0.75);
        QCOMPARE(n(1000), 1.0);
        QCOMPARE(n(550), 0.875); // between neighbours
        QCOMPARE(n.inverse(0.75), 100.0);
    }

    void ticks()
    {
        QCOMPARE(niceTicks(0, 0.5, 4, 100), QVector<double>({0, 0.2, 0.4}));
        QCOMPARE(niceTicks(0, 10, 5), QVector<double>({0, 2, 4, 6, 8, 10}));
        QVERIFY(niceTicks(1, 1, 5).isEmpty());
        QVERIFY(niceTicks(0, INFINITY, 5).isEmpty());
        const auto d = decades(2e-6, 30, 3);
        QVERIFY(d.size() <= 3 && d.last() == 10);
        QVERIFY(decades(0, 1, 3).isEmpty());
    }
};

FLIPSCOPE_GUI_TEST(TestColormap)
#include "tst_colormap.moc"
