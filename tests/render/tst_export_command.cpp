// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// `flipscope export`, as a user without a display runs it, over the sample session.
#include "core/trace/open.h"
#include "core/trace/writer.h"

#include <QFileInfo>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include <filesystem>

class TestExportCommand : public QObject {
    Q_OBJECT

    struct Outcome {
        int code = -1;
        QString out, err;
    };
    QTemporaryDir m_folder;

    Outcome run(const QStringList& arguments, const QString& platform = {}) const
    {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "XDG_RUNTIME_DIR"})
            environment.remove(name);
        if (!platform.isEmpty())
            environment.insert("QT_QPA_PLATFORM", platform);
        environment.insert("FLIPSCOPE_ENGINE", "cpu"); // no remark on a GPU that is not there
        environment.insert("XDG_CACHE_HOME", m_folder.filePath("cache"));
        process.setProcessEnvironment(environment);
        process.start(FLIPSCOPE_BIN "/flipscope", QStringList{"export"} + arguments);
        if (!process.waitForFinished(120'000))
            process.kill();
        const bool exited = process.exitStatus() == QProcess::NormalExit;
        return {exited ? process.exitCode() : -1, QString::fromUtf8(process.readAllStandardOutput()),
                QString::fromUtf8(process.readAllStandardError())};
    }
    static QString sample(const char* name)
    {
        return QStringLiteral(FLIPSCOPE_SOURCE "/resources/samples/") + QLatin1String(name) + ".h5";
    }
    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    QStringList usual() const { return {sample("baseline"), sample("kv_q4_0"), sample("flash_attn")}; }

private slots:
    void charts_and_formats()
    {
        for (const char* chart : {"heatmap", "flips", "kl", "position", "distribution", "margin", "agreement"}) {
            for (const char* suffix : {"png", "svg", "pdf", "csv"}) {
                const QString out = path(qPrintable(QString("%1.%2").arg(chart, suffix)));
                const Outcome o = run(usual() + QStringList{"--chart", chart, "--window", "1024", "--out", out});
                QVERIFY2(o.code == 0, qPrintable(o.err));
                QCOMPARE(o.err, QString());
                QVERIFY(QFileInfo(out).size() > 500);
            }
        }
        QFile csv(path("kl.csv"));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QVERIFY(csv.readAll().contains("kl_pq_mean")); // what --chart kl shows unless told otherwise
        QFile svg(path("heatmap.svg"));
        QVERIFY(svg.open(QIODevice::ReadOnly));
        const QByteArray text = svg.readAll();
        QVERIFY(text.contains(">kv_q4_0<") && text.contains(">flash_attn<") && text.contains("window 1,024 tokens"));
        QVERIFY(text.contains(">broken tool call<")); // as under the heatmap of the window
        const QString pair = path("pair.svg");
        QCOMPARE(run(usual() + QStringList{"--chart", "compare", "--out", pair}).code, 0);
        QFile compared(pair);
        QVERIFY(compared.open(QIODevice::ReadOnly));
        QVERIFY(compared.readAll().contains(">broken tool call<"));
    }

    void options()
    {
        const Outcome o = run(usual() + QStringList{"--metric", "tv_mean", "--size", "900x500", "--dpi", "192",
                                                    "--theme", "dark", "--window", "512", "--engine", "cpu",
                                                    "--threads", "1", "--no-cache", "--out", path("o.png")});
        QVERIFY2(o.code == 0, qPrintable(o.err));
        const QImage image(path("o.png"));
        QCOMPARE(image.size(), QSize(1800, 1000));
        QVERIFY(QColor(image.pixel(1, 1)).lightness() < 60);
        QVERIFY(image.text("Description").contains("Window: 512 tokens"));
        QVERIFY(image.text("Title").startsWith("TV(P,Q) mean"));
    }

    void a_platform_that_is_not_there_does_not_matter()
    {
        const Outcome o = run(usual() + QStringList{"--out", path("xcb.png")}, "xcb");
        QVERIFY2(o.code == 0, qPrintable(o.err));
    }

    void many_runs_make_it_higher()
    {
        QStringList arguments{sample("baseline")};
        for (int i = 0; i < 24; ++i)
            arguments << sample("baseline_repeat");
        const Outcome o = run(arguments + QStringList{"--out", path("many.png")});
        QVERIFY2(o.code == 0, qPrintable(o.err));
        QVERIFY(QImage(path("many.png")).height() > 700);
        const Outcome small = run(arguments + QStringList{"--size", "600x300", "--out", path("small.png")});
        QCOMPARE(small.code, 2);
        QVERIFY2(small.err.contains("has no room"), qPrintable(small.err));
    }

    void one_bad_run_among_good_ones()
    {
        const QString broken = path("broken.h5");
        QFile file(broken);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("this is no trace");
        file.close();
        const Outcome o = run(usual() + QStringList{broken, path("absent.h5"), "--out", path("some.svg")});
        QCOMPARE(o.code, 1);
        QVERIFY2(o.err.contains("broken.h5") && o.err.contains("absent.h5"), qPrintable(o.err));
        QVERIFY(QFileInfo::exists(path("some.svg")));
        const Outcome none = run({sample("baseline"), broken, "--out", path("none.svg")});
        QCOMPARE(none.code, 1);
        QVERIFY(!QFileInfo::exists(path("none.svg")));
        QCOMPARE(run({path("absent.h5"), sample("flash_attn"), "--out", path("none.svg")}).code, 1);
    }

    /// As in the window: a row that says why, in the place where the run was named.
    void run_of_another_text_has_its_row()
    {
        const QString other = QStringLiteral(FLIPSCOPE_TEST_DATA "/traces/f32.h5");
        const QStringList arguments{sample("baseline"), other, sample("flash_attn"), "--window", "4096", "--out"};
        const Outcome o = run(arguments + QStringList{path("rows.svg")});
        QCOMPARE(o.code, 1);
        QVERIFY2(o.err.contains("token ids differ"), qPrintable(o.err));
        QFile svg(path("rows.svg"));
        QVERIFY(svg.open(QIODevice::ReadOnly));
        const QByteArray text = svg.readAll();
        QVERIFY(text.contains(">flash_attn<") && text.contains("not comparable: ") &&
                text.contains("token ids differ"));
        QCOMPARE(run(arguments + QStringList{path("rows.csv")}).code, 1);
        QFile csv(path("rows.csv"));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QStringList states;
        for (const QByteArray& line : csv.readAll().split('\n').mid(1))
            if (!line.isEmpty())
                states << QString::fromUtf8(line.split(',').last());
        const QStringList none{"not comparable", "not comparable"}, some{"value", "value"};
        QCOMPARE(states, none + some);
        const Outcome alone = run({sample("baseline"), other, "--out", path("alone.svg")});
        QCOMPARE(alone.code, 1);
        QVERIFY(!QFileInfo::exists(path("alone.svg")));
    }

    void wrong_usage_data()
    {
        QTest::addColumn<QStringList>("more");
        QTest::addColumn<QString>("said");
        const QString out = path("never.png");
        QTest::newRow("suffix") << QStringList{"--out", path("never.jpg")} << ".png, .svg, .pdf or .csv";
        QTest::newRow("metric") << QStringList{"--metric", "kl", "--out", out} << "kl_pq_mean";
        QTest::newRow("chart") << QStringList{"--chart", "pie", "--out", out} << "heatmap";
        QTest::newRow("size") << QStringList{"--size", "12", "--out", out} << "1200x700";
        QTest::newRow("size too large") << QStringList{"--size", "90000x90", "--out", out} << "cannot be drawn";
        QTest::newRow("dpi") << QStringList{"--dpi", "1", "--out", out} << "24";
        QTest::newRow("window") << QStringList{"--window", "0", "--out", out} << "window";
        QTest::newRow("engine") << QStringList{"--engine", "abacus", "--out", out} << "engine";
        QTest::newRow("no output") << QStringList{} << "--out";
    }
    void wrong_usage()
    {
        QFETCH(QStringList, more);
        QFETCH(QString, said);
        const Outcome o = run(usual() + more);
        QCOMPARE(o.code, 2);
        QVERIFY2(o.err.contains(said), qPrintable(o.err));
        QVERIFY(!QFileInfo::exists(path("never.png")));
    }

    void a_name_that_is_not_utf8()
    {
        // As bytes through a shell: Qt's process would replace them.
        QProcess process;
        process.setWorkingDirectory(m_folder.path());
        process.start("/bin/sh", {"-c", QStringLiteral("'" FLIPSCOPE_BIN "/flipscope' export '%1' '%2' --engine cpu "
                                                       "--no-cache --out \"$(printf 'caf\\351').svg\"")
                                            .arg(sample("baseline"), sample("flash_attn"))});
        QVERIFY(process.waitForFinished(120'000));
        QCOMPARE(process.exitCode(), 0);
        QVERIFY(std::filesystem::exists(m_folder.path().toStdString() + "/caf\xe9.svg"));
    }

    void control_characters_in_a_name()
    {
        const QString odd = path("odd\x1b[31m\n.h5");
        auto trace = flipscope::open_trace(sample("flash_attn").toStdString());
        QVERIFY(trace);
        flipscope::Trace renamed = **trace;
        renamed.run_name = "evil\n\x1b[31m\x01name";
        QVERIFY(flipscope::write_trace(odd.toStdString(), renamed, {0, false, false, false}));
        const Outcome o = run({sample("baseline"), odd, "--out", path("evil.svg")});
        QVERIFY2(o.code == 0, qPrintable(o.err));
        QFile svg(path("evil.svg"));
        QVERIFY(svg.open(QIODevice::ReadOnly));
        QXmlStreamReader xml(&svg);
        while (!xml.atEnd())
            xml.readNext();
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    }

    void input_is_never_overwritten()
    {
        const QString copy = path("copy.csv"); // a trace may have any name
        QVERIFY(QFile::copy(sample("flash_attn"), copy));
        const qint64 size = QFileInfo(copy).size();
        const Outcome o = run({sample("baseline"), copy, "--out", copy});
        QVERIFY(o.code == 1 || o.code == 2);
        QCOMPARE(QFileInfo(copy).size(), size);
    }
};

QTEST_GUILESS_MAIN(TestExportCommand)
#include "tst_export_command.moc"
