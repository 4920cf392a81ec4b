// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Figures as files: size, letters, colours and numbers, read back with other people's tools.
#include "core/report/report.h"
#include "tests/render/render_fixture.h"
#include "ui/charts/colormap.h"
#include "ui/charts/figure.h"

#include <QProcess>
#include <QStandardPaths>
#include <QXmlStreamReader>

using namespace flipscope;
using namespace flipscope::test;

class TestFigure : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    static FigureSpec spec(const HeatmapGrid& grid = agent_grid())
    {
        FigureSpec s;
        s.grid = grid;
        s.method = {{"reference checkpoint", "Qwen3.6-27B", true},
                    {"calibration data", "not stated", false},
                    {"sampling positions", "every 32 tokens", true},
                    {"environment", "not stated", false}};
        return s;
    }
    QString path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)); }
    static QByteArray contentOf(const QString& path)
    {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    static QString outputOf(const QString& program, const QStringList& arguments)
    {
        QProcess process;
        process.start(program, arguments);
        return process.waitForFinished(60'000) ? QString::fromUtf8(process.readAllStandardOutput()) : QString();
    }
    static bool written(const FigureSpec& s, const QString& path)
    {
        const auto result = exportFigure(s, path);
        if (!result)
            qInfo("%s", result.error().message.c_str());
        return result.has_value();
    }
    static std::string refusal(const FigureSpec& s, const QString& path)
    {
        const auto result = exportFigure(s, path);
        return result ? std::string() : result.error().message;
    }

    struct Text {
        QString words;
        double x = 0, y = 0, pixels = 0;
        bool strong = false;
    };
    /// Every <text> of an SVG file with its place on the page.
    static QVector<Text> textsOf(const QString& path)
    {
        QVector<Text> texts;
        QXmlStreamReader xml(contentOf(path));
        QVector<QTransform> transforms{QTransform()};
        while (!xml.atEnd()) {
            xml.readNext();
            if (xml.isEndElement() && xml.name() == QLatin1String("g")) {
                transforms.removeLast();
            } else if (xml.isStartElement() && xml.name() == QLatin1String("g")) {
                static const QRegularExpression matrix("matrix\\(([^)]*)\\)");
                QTransform t = transforms.last();
                if (const auto m = matrix.match(xml.attributes().value("transform").toString()); m.hasMatch()) {
                    const QStringList v = m.captured(1).split(',');
                    t = QTransform(v[0].toDouble(), v[1].toDouble(), v[2].toDouble(), v[3].toDouble(), v[4].toDouble(),
                                   v[5].toDouble()) *
                        t;
                }
                transforms << t;
            } else if (xml.isStartElement() && xml.name() == QLatin1String("text")) {
                const auto a = xml.attributes();
                Text text;
                const QPointF at = transforms.last().map(QPointF(a.value("x").toDouble(), a.value("y").toDouble()));
                text.x = at.x();
                text.y = at.y();
                text.pixels = a.value("font-size").toDouble();
                text.strong = a.value("font-weight") == QLatin1String("600");
                text.words = xml.readElementText();
                texts << text;
            }
        }
        if (xml.hasError()) {
            qWarning() << xml.errorString() << xml.lineNumber();
            texts.clear();
        }
        return texts;
    }

private slots:
    void initTestCase() { QVERIFY(m_folder.isValid()); }
    void cleanup() { VERIFY_NO_WARNINGS(); }

    void case_72_letters_in_a_png()
    {
        // The place of a name holds other ink for another name: letters, not boxes.
        QVector<QImage> pictures;
        for (const char* name : {"abcdef", "ghkmnw", "abcdeg"}) {
            FigureSpec s = spec();
            s.grid.rows[0].name = name;
            QVERIFY(written(s, path("letters.png")));
            const QImage image(path("letters.png"));
            QCOMPARE(image.size(), QSize(1200, 700));
            QCOMPARE(QColor(image.pixel(1, 1)), QColor(Qt::white)); // no black page
            pictures << image.convertToFormat(QImage::Format_RGB32);
        }
        const QRect label(14, 60, 110, 70);
        for (const QImage& image : pictures)
            QVERIFY(colors_in(image, label).size() > 8); // smooth dark letters on white
        QVERIFY(difference(pictures[0], pictures[1]).intersects(label));
        // The last letter alone differs between the first and the third: six boxes would not.
        const QRect last = difference(pictures[0].copy(label), pictures[2].copy(label));
        const QRect all = difference(pictures[0].copy(label), pictures[1].copy(label));
        QVERIFY(!last.isEmpty() && last.width() < all.width() / 2);
    }

    void size_and_dpi()
    {
        FigureSpec s = spec();
        s.size = {800, 600};
        s.dpi = 192;
        QVERIFY(written(s, path("dpi.png")));
        const QImage image(path("dpi.png"));
        QCOMPARE(image.size(), QSize(1600, 1200));
        QVERIFY(std::abs(image.dotsPerMeterX() - 192 / 0.0254) < 1);
        QVERIFY(image.text("Description").contains("Baseline: triton"));
        QVERIFY(written(s, path("size.svg")));
        QXmlStreamReader xml(contentOf(path("size.svg")));
        xml.readNextStartElement();
        QCOMPARE(xml.attributes().value("viewBox").toString(), QString("0 0 800 600"));
    }

    void case_72_svg_keeps_text()
    {
        FigureSpec s = spec();
        s.grid.rows[1].name = "a<b> & \"c\"";
        s.grid.rows[2].name = "Größe ‖ ≤ × · –";
        QVERIFY(written(s, path("text.svg")));
        const auto texts = textsOf(path("text.svg"));
        QStringList words;
        for (const Text& text : texts)
            words << text.words;
        for (const HeatmapRow& row : s.grid.rows)
            QVERIFY2(words.contains(QString::fromStdString(row.name)),
                     qPrintable(QString::fromStdString(row.name) + " not in " + words.join('|')));
        QVERIFY(words.contains("Flip rate · window 8,000 tokens · against triton"));
        QVERIFY(words.contains("50\u00a0%"));
        QVERIFY(words.contains("tool"));
        QVERIFY(words.join(' ').contains("Not stated: calibration data, environment"));
        const QByteArray svg = contentOf(path("text.svg"));
        QVERIFY(svg.contains("<title>Flip rate"));
        QVERIFY(svg.contains("Baseline: triton"));
        QVERIFY(svg.contains("font-family=\"Inter, "));
        QVERIFY(!svg.contains("<image")); // cells are shapes
    }

    void nothing_is_cut_off()
    {
        for (const auto chart : {FigureSpec::Chart::Heatmap, FigureSpec::Chart::Flips}) {
            for (const QSize size : {QSize(640, 560), QSize(1200, 700), QSize(2000, 500)}) {
                FigureSpec s = spec();
                s.chart = chart;
                s.size = size;
                s.grid.rows[0].name = "a-run-with-a-name-that-is-much-longer-than-anybody-would-read-it-to-the-end-of";
                QVERIFY(written(s, path("cut.svg")));
                const auto texts = textsOf(path("cut.svg"));
                QVERIFY(texts.size() > 10);
                for (const Text& text : texts) {
                    QFont font("Inter");
                    font.setPixelSize(qRound(text.pixels));
                    font.setWeight(text.strong ? QFont::DemiBold : QFont::Normal);
                    font.setHintingPreference(QFont::PreferNoHinting);
                    const double right = text.x + QFontMetricsF(font).horizontalAdvance(text.words);
                    QVERIFY2(text.x >= 0 && right <= size.width() + 0.5 && text.y > 8 && text.y <= size.height(),
                             qPrintable(QString("%1 at %2, %3").arg(text.words).arg(text.x).arg(text.y)));
                }
                // No two texts on each other.
                for (int a = 0; a < texts.size(); ++a) {
                    for (int b = a + 1; b < texts.size(); ++b)
                        QVERIFY2(std::abs(texts[a].y - texts[b].y) > 2 || std::abs(texts[a].x - texts[b].x) > 2,
                                 qPrintable(texts[a].words + " | " + texts[b].words));
                }
            }
        }
    }

    void many_cells_become_an_image_with_exact_colors()
    {
        FigureSpec s = spec(empty_grid(32, 3000, 96'000));
        s.grid.rows = {{"r", "", std::vector<HeatmapCell>(3000, flips_cell(0, 8))},
                       {"q", "", std::vector<HeatmapCell>(3000, flips_cell(8, 8))}};
        QVERIFY(written(s, path("many.svg")));
        const QByteArray svg = contentOf(path("many.svg"));
        QVERIFY(svg.contains("<image"));
        QVERIFY(svg.size() < 400'000);
        QVERIFY(written(s, path("many.pdf")));
        if (QStandardPaths::findExecutable("pdfimages").isEmpty())
            QSKIP("pdfimages (poppler-utils) is not installed.");
        const QString list = outputOf("pdfimages", {"-list", path("many.pdf")});
        QVERIFY2(!list.contains("jpeg"), qPrintable(list));
    }

    void case_72_pdf()
    {
        for (const char* tool : {"pdffonts", "pdftoppm", "pdftotext", "pdfinfo"}) {
            if (QStandardPaths::findExecutable(tool).isEmpty())
                QSKIP("The tools of poppler-utils are not installed.");
        }
        FigureSpec s = spec();
        QVERIFY(written(s, path("figure.pdf")));
        const QString fonts = outputOf("pdffonts", {path("figure.pdf")});
        QVERIFY2(fonts.contains("Inter-Regular") && fonts.contains("Inter-SemiBold"), qPrintable(fonts));
        const auto emb = fonts.indexOf(" emb ") + 1;
        for (const QString& line : fonts.split('\n').mid(2)) {
            if (!line.isEmpty())
                QVERIFY2(line.mid(emb, 3) == "yes", qPrintable(line)); // column "emb"
        }
        const QString text = outputOf("pdftotext", {"-layout", path("figure.pdf"), "-"});
        QVERIFY2(text.contains("w-nvfp4") && text.contains("Not stated"), qPrintable(text));
        QVERIFY(outputOf("pdfinfo", {path("figure.pdf")}).contains("900 x 525 pts")); // 1200 x 700 at 96 dpi

        // At 192 dpi every page pixel is 2 x 2; the PNG of the same figure says where the cells are.
        outputOf("pdftoppm", {"-r", "192", "-png", "-singlefile", path("figure.pdf"), path("page")});
        const QImage page(path("page.png"));
        QCOMPARE(page.size(), QSize(2400, 1400));
        QVERIFY(written(s, path("figure.png")));
        const QImage png(path("figure.png"));
        int seen = 0;
        for (const HeatmapRow& row : s.grid.rows) {
            for (const HeatmapCell& cell : row.cells) {
                const QRgb color = colormapColor("cividis", cell.value / 0.5).rgb();
                for (int y = 65; y < 480; y += 3) {
                    for (int x = 150; x < 1168; x += 3) {
                        // Plain places: the same colour all around.
                        if (png.pixel(x, y) != color || colors_in(png, QRect(x - 3, y - 3, 7, 7)).size() > 1)
                            continue;
                        QCOMPARE(QColor(page.pixel(2 * x, 2 * y)), QColor(color));
                        ++seen;
                        x = y = 10'000; // one place a cell is enough
                    }
                }
            }
        }
        QCOMPARE(seen, 6 * 13);
    }

    void csv_is_the_grid()
    {
        const FigureSpec s = spec();
        QVERIFY(written(s, path("grid.csv")));
        const QString csv = QString::fromUtf8(contentOf(path("grid.csv")));
        QCOMPARE(csv.toStdString(), heatmap_csv(s.grid));
        const QStringList lines = csv.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 1 + 6 * 13);
        const QStringList head = lines[0].split(',');
        const auto column = [&](const char* name) { return head.indexOf(QLatin1String(name)); };
        for (int i = 0; i < 6 * 13; ++i) {
            const QStringList fields = lines[1 + i].split(',');
            const HeatmapRow& row = s.grid.rows[i / 13];
            QCOMPARE(fields[column("run")].toStdString(), row.name);
            QCOMPARE(fields[column("start")].toLongLong(), s.grid.starts[i % 13]);
            QCOMPARE(fields[column("value")].toDouble(), row.cells[i % 13].value); // bit for bit
            QCOMPARE(fields[column("n")].toLongLong(), row.cells[i % 13].n);
        }
    }

    void caption()
    {
        FigureSpec s = spec();
        s.grid.rows[1].cells[3].n = 240;
        const QStringList lines = figureCaption(s);
        QCOMPARE(lines[0],
                 QString("Baseline: triton · Runs: triton-2 (bit-identical), fa2, flashinfer, kv-int8, kv-int4, "
                         "w-nvfp4 (2 invalid)"));
        QVERIFY(lines[1].startsWith("Flip rate, %: "));
        QCOMPARE(lines[2], QString("Window: 8,000 tokens of 101,376 · n = 240–250 valid probes per window and run, "
                                   "3,240–3,250 per run"));
        QCOMPARE(lines[3],
                 QString("Colours: cividis, linear scale from 0\u00a0% to 50\u00a0% (fitted to the values shown)"));
        QCOMPARE(lines[4], QString("reference checkpoint: Qwen3.6-27B · sampling positions: every 32 tokens"));
        QCOMPARE(lines[5], QString("Not stated: calibration data, environment"));
        s.grid = gaps_grid();
        s.chart = FigureSpec::Chart::Kl;
        const QString all = figureCaption(s).join('\n');
        QVERIFY(all.contains("KL(P‖Q) mean, nats"));
        QVERIFY(all.contains("P: the baseline's next-token distribution, Q: the run's"));
        QVERIFY(all.contains("128 not a number"));
    }

    void refusals()
    {
        FigureSpec s = spec();
        for (const char* name : {"figure.jpg", "figure", "figure.svgz"}) {
            const std::string sentence = refusal(s, path(name));
            for (const char* suffix : {".png", ".svg", ".pdf", ".csv"})
                QVERIFY2(sentence.find(suffix) != std::string::npos, sentence.c_str());
            QVERIFY(!QFile::exists(path(name)));
        }
        s.size = {400, 240};
        QVERIFY(refusal(s, path("small.png")).find("has no room for 6 runs") != std::string::npos);
        s.size.setHeight(figureMinimumHeight(s));
        QVERIFY(written(s, path("small.png"))); // the height that the sentence names is enough
        for (const QSize size : {QSize(0, 0), QSize(-1, 500), QSize(1'000'000, 500)}) {
            s.size = size;
            QVERIFY(refusal(s, path("size.png")).find("cannot be drawn") != std::string::npos);
        }
        s.size = {1200, 700};
        for (const int dpi : {0, -5, 100'000}) {
            s.dpi = dpi;
            QVERIFY(refusal(s, path("dpi2.png")).find("dpi") != std::string::npos);
        }
        s.size = {10'000, 10'000};
        s.dpi = 300;
        QVERIFY(refusal(s, path("huge.png")).find("million pixels") != std::string::npos);
        s = spec();
        QVERIFY(!refusal(s, path("no/such/folder/figure.png")).empty());
        // Nothing half-written is left behind.
        const QStringList left = QDir(m_folder.path()).entryList(QDir::Files);
        for (const QString& file : left)
            QVERIFY2(file.contains('.') && !file.contains("tmp"), qPrintable(file));
    }

    void all_charts_in_all_formats()
    {
        for (const auto chart : {FigureSpec::Chart::Heatmap, FigureSpec::Chart::Flips, FigureSpec::Chart::Kl}) {
            for (const auto theme : {ChartStyle::Theme::Light, ChartStyle::Theme::Dark}) {
                for (const char* name : {"all.png", "all.svg", "all.pdf"}) {
                    FigureSpec s = spec(chart == FigureSpec::Chart::Kl ? gaps_grid() : agent_grid());
                    s.chart = chart;
                    s.theme = theme;
                    QVERIFY(written(s, path(name)));
                    QVERIFY(QFileInfo(path(name)).size() > 5000);
                }
                const QColor corner(QImage(path("all.png")).pixel(1, 1));
                QCOMPARE(corner, theme == ChartStyle::Theme::Dark ? ChartStyle::dark().background : QColor(Qt::white));
            }
        }
    }

    void the_same_every_time()
    {
        const FigureSpec s = spec();
        QVERIFY(written(s, path("one.svg")) && written(s, path("two.svg")));
        QCOMPARE(contentOf(path("one.svg")), contentOf(path("two.svg")));
    }

    static FigureSpec differences(bool zoomed)
    {
        FigureSpec s = spec(zoomed ? cut_to(difference_grid(), {30'000, 60'000}) : difference_grid());
        s.scale.map = QStringLiteral("vik"); // symmetric about 0
        s.scale.automatic = false;
        s.scale.low = -0.3;
        s.scale.high = 0.3;
        s.size = {860, 560};
        return s;
    }
    void a_zoomed_difference_has_the_numbers_of_its_windows()
    {
        // By hand, from the flips of 250 that agent_grid() states: windows 24k to 64k; the fourth has no probe.
        const QVector<QPair<QString, QVector<double>>> rows{{"kv-int4 − w-nvfp4", {-2.4, -3.6, -4.4, -7.6}},
                                                            {"w-nvfp4 − kv-int4", {2.4, 3.6, 4.4, 7.6}},
                                                            {"fa2 − flashinfer", {0.8, -0.4, -1.2, 0.4}}};
        const FigureSpec s = differences(true);
        QVERIFY(written(s, path("zoomed.svg")) && written(s, path("zoomed.png")));
        const QImage image = QImage(path("zoomed.png")).convertToFormat(QImage::Format_RGB32);
        const auto texts = textsOf(path("zoomed.svg"));
        for (const auto& [name, values] : rows) {
            const auto label = std::ranges::find(texts, name, &Text::words);
            QVERIFY2(label != texts.end(), qPrintable(name));
            QStringList numbers, found;
            for (const double value : values)
                numbers << (value < 0 ? "−" : "") + QString::number(std::abs(value), 'f', 1) + "\u00a0%";
            QVector<int> tints; // red less blue beside each number
            for (const Text& text : texts)
                if (std::abs(text.y - label->y) < 8 && text.words.endsWith(QStringLiteral("\u00a0%"))) {
                    found << text.words;
                    const QColor beside(image.pixel(qRound(text.x) - 8, qRound(text.y) - 4));
                    tints << beside.red() - beside.blue();
                }
            QCOMPARE(found, numbers);
            for (int i = 0; i < found.size(); ++i) // red above 0, blue below; near it both are next to white
                QVERIFY2(std::abs(values[i]) < 2 || (tints[i] < 0) == (values[i] < 0), qPrintable(name + numbers[i]));
            if (name != rows[2].first)
                QVERIFY(std::abs(tints[0]) < std::abs(tints[1]) && std::abs(tints[1]) < std::abs(tints[2]) &&
                        std::abs(tints[2]) < std::abs(tints[3]));
        }
        const auto shown = [&](const char* words) {
            return std::ranges::find(texts, QString::fromUtf8(words), &Text::words) != texts.end();
        };
        QVERIFY(shown("24k") && shown("64k") && !shown("16k") && !shown("72k"));
        QVERIFY(!shown("−8.0\u00a0%")); // of the last window, which is not in the range
    }

    /// A few whole pictures, looked at by a person once. UPDATE_GOLDENS=1 accepts what is drawn now.
    void goldens_data()
    {
        QTest::addColumn<int>("chart");
        QTest::addColumn<QString>("grid");
        QTest::addColumn<bool>("dark");
        QTest::addColumn<int>("dpi");
        using Chart = FigureSpec::Chart;
        const auto row = [](const char* name, Chart chart, const char* grid, bool dark = false, int dpi = 96) {
            QTest::newRow(name) << static_cast<int>(chart) << QString::fromLatin1(grid) << dark << dpi;
        };
        row("heatmap-light", Chart::Heatmap, "agent");
        row("heatmap-light-2x", Chart::Heatmap, "agent", false, 192);
        row("heatmap-dark", Chart::Heatmap, "agent", true);
        row("heatmap-gaps", Chart::Heatmap, "gaps");
        row("heatmap-zoomed", Chart::Heatmap, "zoomed");
        row("heatmap-difference", Chart::Heatmap, "difference");
        row("heatmap-difference-zoomed", Chart::Heatmap, "difference-zoomed");
        row("heatmap-difference-zoomed-2x", Chart::Heatmap, "difference-zoomed", false, 192);
        row("heatmap-segments", Chart::Heatmap, "segments");
        row("lines-light", Chart::Flips, "agent");
        row("position-light", Chart::Position, "probes");
        row("position-dark-2x", Chart::Position, "probes", true, 192);
        row("distribution-light", Chart::Distribution, "probes");
        row("margin-light", Chart::Margin, "probes");
        row("agreement-light", Chart::Agreement, "probes");
    }
    void goldens()
    {
        QFETCH(int, chart);
        QFETCH(QString, grid);
        QFETCH(bool, dark);
        QFETCH(int, dpi);
        const bool gaps = grid == "gaps";
        FigureSpec s = grid.startsWith("difference") ? differences(grid.endsWith("zoomed"))
                                                     : spec(gaps               ? gaps_grid()
                                                            : grid == "zoomed" ? cut_to(agent_grid(), {30'000, 60'000})
                                                            : grid == "segments" ? segments_grid()
                                                                                 : agent_grid());
        if (grid == "probes")
            s.probes = made_probes();
        s.dpi = dpi;
        s.chart = static_cast<FigureSpec::Chart>(chart);
        s.theme = dark ? ChartStyle::Theme::Dark : ChartStyle::Theme::Light;
        s.scale.kind = gaps ? ColourScale::Kind::Log : ColourScale::Kind::Linear;
        s.size = grid == "probes" ? QSize(860, 420) : QSize(860, 560);
        const QString name = QString::fromLatin1(QTest::currentDataTag()) + ".png";
        const QString golden = QStringLiteral(FLIPSCOPE_TEST_DATA "/render/") + name;
        QVERIFY(written(s, path("now.png")));
        if (qEnvironmentVariableIntValue("UPDATE_GOLDENS") == 1) {
            QDir().mkpath(QFileInfo(golden).path());
            QFile::remove(golden);
            QVERIFY(QFile::copy(path("now.png"), golden));
        }
        const QImage now = QImage(path("now.png")).convertToFormat(QImage::Format_RGB32);
        const QImage then = QImage(golden).convertToFormat(QImage::Format_RGB32);
        QCOMPARE(now.size(), then.size());
        QImage differing(now.size(), QImage::Format_RGB32);
        differing.fill(Qt::white);
        int count = 0;
        for (int y = 0; y < now.height(); ++y) {
            for (int x = 0; x < now.width(); ++x) {
                if (channel_distance(now.pixel(x, y), then.pixel(x, y)) >
                    40) { // other versions smooth letters otherwise
                    ++count;
                    differing.setPixel(x, y, 0xffff0000);
                }
            }
        }
        if (count > now.width() * now.height() / 200) {
            const QString failures = QDir::current().filePath("render-failures");
            QDir().mkpath(failures);
            now.save(failures + "/actual-" + name);
            differing.save(failures + "/diff-" + name);
            QFAIL(qPrintable(QString("%1 pixels differ; see %2").arg(count).arg(failures)));
        }
    }
};

FLIPSCOPE_GUI_TEST(TestFigure)
#include "tst_figure.moc"
