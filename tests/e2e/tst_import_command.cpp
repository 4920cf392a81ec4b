// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Files of other programs on the command line: info, analyze, import, convert.
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

namespace {

const QString data = QStringLiteral(FLIPSCOPE_TEST_DATA "/formats/");

struct Answer {
    int code = -1;
    QByteArray out, err;
    QJsonObject json() const { return QJsonDocument::fromJson(out).object(); }
};

Answer flipscope(const QStringList& arguments)
{
    QProcess process;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("FLIPSCOPE_NO_CACHE"), QStringLiteral("1"));
    environment.remove(QStringLiteral("QT_QPA_PLATFORM"));
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(FLIPSCOPE_BIN "/flipscope"), arguments);
    if (!process.waitForFinished(120'000) || process.exitStatus() != QProcess::NormalExit)
        return {};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

QByteArray content_of(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class TestImportCommand : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_out = m_folder.filePath("out.h5");
        m_expected = QJsonDocument::fromJson(content_of(data + "expected.json")).object();
    }

    void info_says_what_a_file_is_data()
    {
        QTest::addColumn<QByteArray>("kind");
        QTest::newRow("base.kld") << QByteArray("llama.cpp base file");
        QTest::newRow("base.kld.zst") << QByteArray("llama.cpp base file");
        QTest::newRow("f32.npy") << QByteArray("NumPy array (.npy)");
        QTest::newRow("packed.npz") << QByteArray("NumPy archive (.npz)");
        QTest::newRow("bf16.safetensors") << QByteArray("safetensors file");
    }
    void info_says_what_a_file_is()
    {
        QFETCH(QByteArray, kind);
        const QString file = data + QTest::currentDataTag();
        const Answer text = flipscope({"info", file}), json = flipscope({"info", file, "--json"});
        QCOMPARE(text.code, 0);
        QVERIFY2(text.out.contains("kind          " + kind), text.out);
        QVERIFY(text.out.contains("  yes: flips, KL in both directions") && text.out.contains("  no:  "));
        QCOMPARE(json.json()["kind"].toString().toUtf8(), kind);
        QVERIFY(!json.json()["can"].toArray().isEmpty() && !json.json()["cannot"].toArray().isEmpty());
        const auto findings = json.json()["findings"].toArray();
        QVERIFY(std::any_of(findings.begin(), findings.end(),
                            [](const auto& f) { return f.toObject()["code"] == "not-stated"; }));
    }
    void statistics_of_llamacpp_stand_beside_ours()
    {
        const QStringList pair = {data + "base.kld", data + "run.kld"};
        const Answer text = flipscope(QStringList{"analyze"} + pair);
        QCOMPARE(text.code, 0);
        for (const char* words : {"====== Perplexity statistics ======", "Mean PPL(base)",
                                  "99.9%   KLD:", "RMS Δp    :", "Same top p:", "Codec-limited", "rounded copy"})
            QVERIFY2(text.out.contains(words), words);
        const auto run = flipscope(QStringList{"analyze"} + pair + QStringList{"--json", "-"})
                             .json()["runs"]
                             .toArray()[0]
                             .toObject();
        const auto ours = run["llamacpp"].toObject();
        const auto wanted = m_expected["base"].toObject()["codec"].toObject();
        QCOMPARE(ours["n"].toInt(), wanted["n"].toInt());
        QVERIFY(ours["run_is_codec"].toBool() && ours["codec_limited"].toBool());
        QVERIFY(std::fabs(ours["kld_mean"].toObject()["value"].toDouble() -
                          wanted["kld_mean"].toArray()[0].toDouble()) < 1e-7);
        QCOMPARE(ours["same_top"].toObject()["value"].toDouble(), wanted["same_top"].toArray()[0].toDouble());
        QCOMPARE(ours["chunks"].toArray().size(), 4);
        // 16-bit codes move the mean by little; both are KL(P‖Q).
        QVERIFY(std::fabs(run["kl_pq"].toObject()["mean"].toDouble() -
                          ours["kld_mean"].toObject()["value"].toDouble()) < 1e-3);
        // Another baseline has no such block.
        QVERIFY(
            !flipscope({"analyze", data + "f32.npy", data + "f16.npy", "--tokens", data + "ids.txt", "--stride", "32"})
                 .out.contains("====== Perplexity"));
    }
    void import_writes_a_trace()
    {
        const QByteArray before = content_of(data + "f32.npy");
        const Answer import = flipscope({"import", data + "f32.npy", "-o", m_out, "--tokens", data + "ids.json",
                                         "--stride", "32", "--name", "mine", "--set", "gpu=H200", "--set", "notes=a=b",
                                         "--compress", "4", "--scoring", "prefill"});
        QVERIFY2(import.code == 0, import.err);
        QVERIFY(import.out.contains("5 probes of 160 tokens written"));
        QCOMPARE(content_of(data + "f32.npy"), before);
        const auto info = flipscope({"info", m_out, "--json"}).json();
        QCOMPARE(info["kind"].toString(), QStringLiteral("flipscope-trace 1"));
        QCOMPARE(info["run_name"].toString(), QStringLiteral("mine"));
        QCOMPARE(info["run"].toObject()["gpu"].toString(), QStringLiteral("H200"));
        QCOMPARE(info["run"].toObject()["notes"].toString(), QStringLiteral("a=b"));
        QCOMPARE(info["probes"].toObject()["scoring"].toString(), QStringLiteral("prefill"));
        QVERIFY(info["producer"].toString().contains("imported from: NumPy array"));
        // The same rows, whichever way they are read.
        const auto run = flipscope({"analyze", m_out, data + "f32.npy", "--tokens", data + "ids.npy", "--positions",
                                    positions_file(), "--json", "-"})
                             .json()["runs"]
                             .toArray()[0]
                             .toObject();
        QVERIFY(run["bit_identical"].toBool());
        QCOMPARE(run["n_probes"].toInt(), 5);
    }
    void a_doubled_bos_is_shifted_only_when_asked()
    {
        const QList<QByteArray> ids = content_of(data + "ids.txt").simplified().split(' ');
        const QString twice = m_folder.filePath("twice.txt"), run = m_folder.filePath("twice.h5");
        QFile file(twice);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(ids.first() + ' ' + ids.join(' ')); // ids.txt may have commas; both are read
        file.close();
        // Both probed after the same tokens of the text, so one position later in the longer history.
        QCOMPARE(
            flipscope({"import", data + "f32.npy", "-o", run, "--tokens", twice, "--stride", "32", "--first", "32"})
                .code,
            0);
        const Answer refused = flipscope({"analyze", m_out, run});
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.err.contains("shift by one") && refused.err.contains("--shift-bos"), refused.err);
        const Answer shifted = flipscope({"analyze", m_out, run, "--shift-bos", "--json", "-"});
        QVERIFY2(shifted.code == 0, shifted.err);
        const auto result = shifted.json()["runs"].toArray()[0].toObject();
        QVERIFY(result["bit_identical"].toBool());
        QCOMPARE(result["n_probes"].toInt(), 5);
        const auto findings = result["findings"].toArray();
        QVERIFY(std::any_of(findings.begin(), findings.end(),
                            [](const auto& f) { return f.toObject()["code"] == "shifted"; }));
    }
    void convert_states_the_loss()
    {
        const QString small = m_folder.filePath("small.h5");
        const Answer bf16 = flipscope({"convert", m_out, "-o", small, "--type", "bf16"});
        QVERIFY2(bf16.code == 0, bf16.err);
        QVERIFY2(bf16.out.contains("Rounded from float32 to bfloat16: the largest change of a logit is "), bf16.out);
        QVERIFY(bf16.out.contains("0 of 5 top tokens move"));
        QCOMPARE(flipscope({"info", small, "--json"}).json()["probes"].toObject()["logits"].toString(),
                 QStringLiteral("bfloat16"));
        const Answer cut =
            flipscope({"convert", m_out, "-o", small, "--positions", "60:130", "--top-k", "3", "--drop-text"});
        QVERIFY2(cut.code == 0, cut.err);
        const auto probes = flipscope({"info", small, "--json"}).json()["probes"].toObject();
        QCOMPARE(probes["n_probes"].toInt(), 3);
        QCOMPARE(probes["k"].toInt(), 3);
    }
    void case_61_rows_behind_a_missing_filter_are_named()
    {
        const Answer answer = flipscope({"convert", QStringLiteral(FLIPSCOPE_TEST_DATA "/traces/filter-zstd.h5"), "-o",
                                         m_folder.filePath("none.h5")});
        QCOMPARE(answer.code, 1);
        QVERIFY2(answer.err.contains("32015"), answer.err);
        QVERIFY(!QFileInfo::exists(m_folder.filePath("none.h5")));
    }
    void wrong_usage_is_2()
    {
        for (const QStringList& arguments : {QStringList{"import", data + "f32.npy"},
                                             {"convert", m_out},
                                             {"convert", m_out, "-o", "x", "--type", "f8"},
                                             {"convert", m_out, "-o", "x", "--positions", "5"},
                                             {"convert", m_out, "-o", "x", "--positions", "9:4"},
                                             {"convert", m_out, "-o", "x", "--positions", ":"},
                                             {"convert", m_out, "-o", "x", "--top-k", "0"},
                                             {"import", data + "f32.npy", "-o", "x", "--set", "=1"},
                                             {"info", m_out, "--dtype", "int8"},
                                             {"info", m_out, "--stride", "0"},
                                             {"info", m_out, "--temperature", "-1"},
                                             {"info", m_out, "--bos", "x"}}) {
            const Answer answer = flipscope(arguments);
            QVERIFY2(answer.code == 2 && answer.err.count('\n') == 1, arguments.join(' ').toUtf8() + answer.err);
        }
        // An input is never the output, and what cannot be read is 1.
        QVERIFY(flipscope({"convert", m_out, "-o", m_out}).code != 0);
        QCOMPARE(flipscope({"import", data + "short.npy", "-o", m_folder.filePath("x.h5")}).code, 1);
        QCOMPARE(flipscope({"convert", m_out, "-o", m_folder.filePath("x.h5"), "--type", "f16", "--top-k", "2"}).code,
                 2);
        QVERIFY(!QFileInfo::exists(m_folder.filePath("x.h5")));
    }
    void parts_are_joined()
    {
        const QString even = m_folder.filePath("even.h5"), odd = m_folder.filePath("odd.h5"),
                      all = m_folder.filePath("all.h5");
        QCOMPARE(flipscope({"convert", m_out, "-o", even, "--positions", ":70"}).code, 0);
        QCOMPARE(flipscope({"convert", m_out, "-o", odd, "--positions", "70:"}).code, 0);
        const Answer joined = flipscope({"import", odd, even, "-o", all});
        QVERIFY2(joined.code == 0, joined.err);
        const auto run = flipscope({"analyze", m_out, all, "--json", "-"}).json()["runs"].toArray()[0].toObject();
        QVERIFY(run["bit_identical"].toBool());
        QCOMPARE(run["n_probes"].toInt(), 5);
    }

private:
    QString positions_file()
    {
        const QString path = m_folder.filePath("positions.txt");
        QFile file(path);
        if (file.open(QIODevice::WriteOnly))
            file.write("31, 63, 95, 127, 159\n");
        return path;
    }

    QTemporaryDir m_folder;
    QString m_out;
    QJsonObject m_expected;
};

QTEST_GUILESS_MAIN(TestImportCommand)
#include "tst_import_command.moc"
