// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The built program, as a person or a script calls it.
#include <QDir>
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

const QString shared = QStringLiteral(FLIPSCOPE_SHARED "/traces/");
const QString samples = QStringLiteral(FLIPSCOPE_SOURCE "/resources/samples/");

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
    environment.remove(QStringLiteral("QT_QPA_PLATFORM")); // sub-commands need no display
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(FLIPSCOPE_BIN "/flipscope"), arguments);
    if (!process.waitForFinished(240'000) || process.exitStatus() != QProcess::NormalExit)
        return {};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

QJsonObject first_run(const Answer& answer)
{
    return answer.json()["runs"].toArray().at(0).toObject();
}

/// Columns of a CSV file by name.
QMap<QByteArray, QList<QByteArray>> csv(const QString& path)
{
    QFile file(path);
    QMap<QByteArray, QList<QByteArray>> columns;
    if (!file.open(QIODevice::ReadOnly))
        return columns;
    const auto names = file.readLine().trimmed().split(',');
    while (!file.atEnd()) {
        const auto values = file.readLine().trimmed().split(',');
        for (qsizetype i = 0; i < names.size(); ++i)
            columns[names[i]].push_back(values.value(i));
    }
    return columns;
}

/// As the manual demands: divergences to 1e-9 where they are at least 1e-12, the others also to 1e-14 (1 + max
/// |logit|), for which 100 stands here.
bool agrees(const QByteArray& name, double value, double expected)
{
    if (value == expected)
        return true;
    const double error = std::fabs(value - expected);
    const bool divergence = name == "kl_pq" || name == "kl_qp" || name == "js";
    return error <= 1e-9 * std::fabs(expected) || error <= (divergence ? 1e-21 : 1e-12);
}

} // namespace

class TestCommandLine : public QObject {
    Q_OBJECT
private slots:
    void toolcalls_of_the_sample()
    {
        const auto answer = flipscope(
            {"toolcalls", samples + "baseline.h5", samples + "flash_attn.h5", samples + "none.h5", "--json", "-"});
        QCOMPARE(answer.code, 1); // the rest is done, the missing file is named
        QVERIFY(answer.err.contains("none.h5"));
        QCOMPARE(answer.json()["format"].toString(), QStringLiteral("flipscope-toolcalls"));
        QCOMPARE(answer.json()["version"].toInt(), 1);
        const QJsonObject run = first_run(answer);
        QCOMPARE(run["summary"].toObject()["text"].toString(),
                 QStringLiteral("39 calls: 32 same, 6 argument differs, 1 other tool"));
        QCOMPARE(run["calls"].toArray().size(), 39);
        const auto text = flipscope({"toolcalls", samples + "baseline.h5", samples + "flash_attn.h5"});
        QCOMPARE(text.code, 0);
        QVERIFY(text.out.contains("flash_attn: 39 calls: 32 same, 6 argument differs, 1 other tool"));
        QCOMPARE(flipscope({"toolcalls", "a.h5", "b.h5", "--dialect", "klingon"}).code, 2);
        QCOMPARE(flipscope({"toolcalls", samples + "none.h5", samples + "flash_attn.h5"}).code, 1);
        QCOMPARE(flipscope({"toolcalls", samples + "baseline.h5"}).code, 2);
        const auto repeat = flipscope({"toolcalls", samples + "baseline.h5", samples + "baseline_repeat.h5"});
        QCOMPARE(repeat.code, 0); // that one holds no continuations
        QVERIFY(repeat.out.contains("no calls"));
    }

    void version_and_help()
    {
        for (const QStringList& a : {QStringList{"--version"}, {"info", "--version"}, {"analyze", "--version"}}) {
            QCOMPARE(flipscope(a).code, 0);
            QVERIFY(flipscope(a).out.startsWith("flipscope "));
        }
        for (const QStringList& a : {QStringList{"--help"}, {"info", "--help"}, {"analyze", "--help"}})
            QCOMPARE(flipscope(a).code, 0);
    }
    void wrong_usage_is_2()
    {
        const QString p = samples + "baseline.h5";
        for (const QStringList& a : {QStringList{"analyze"},
                                     {"analyze", p},
                                     {"analyze", p, p, "--window", "0"},
                                     {"analyze", p, p, "--engine", "gpu"},
                                     {"info"},
                                     {"info", p, "--bogus"},
                                     {"analyze", p, p, "--window", "9223372036854775808"},
                                     {"analyze", p, p, "--window", "08x"},
                                     {"analyze", p, p, "--window", "1e3"},
                                     {"analyze", p, p, "--threads", "-1"},
                                     {"analyze", p, p, "--json", ""},
                                     {"analyze", p, ""},
                                     {"analyze", p, p, "--json", "-", "--csv-probes", "-"},
                                     {"analyze", p, p, "--json", "new", "--csv-probes", "./new"},
                                     {"analyze", p, p, "--json", p}}) {
            const Answer answer = flipscope(a);
            QCOMPARE(answer.code, 2);
            QCOMPARE(answer.err.count('\n'), 1); // one sentence
            QVERIFY(answer.out.isEmpty());
        }
    }
    void answers_of_servers()
    {
        const QString data = QStringLiteral(FLIPSCOPE_TEST_DATA "/answers/");
        const Answer info = flipscope({"info", data + "vllm_completions_prompt_logprobs.json", "--json"});
        QCOMPARE(info.code, 0);
        QCOMPARE(info.json()["probes"].toObject()["n_probes"].toInt(), 48);
        const Answer error = flipscope({"info", data + "vllm_error_toolong.json"});
        QCOMPARE(error.code, 1);
        QCOMPARE(error.err.count('\n'), 1);
        const Answer pair = flipscope(
            {"analyze", data + "llamacpp_completion_k5.json", data + "llamacpp_completion_stream.sse", "--json", "-"});
        QCOMPARE(pair.code, 0);
        QVERIFY(first_run(pair)["lower_bound"].toBool());
    }
    void printouts_of_llama_perplexity()
    {
        const QString log = QStringLiteral(FLIPSCOPE_TEST_DATA "/answers/kl_divergence.txt");
        const Answer info = flipscope({"info", log, "--json"});
        QCOMPARE(info.json()["statistics"].toArray().size(), 34);
        const Answer beside =
            flipscope({"analyze", samples + "baseline.h5", samples + "kv_q4_0.h5", log, "--json", "-"});
        QCOMPARE(beside.code, 0);
        QCOMPARE(beside.json()["runs"].toArray().size(), 1);
        QCOMPARE(beside.json()["logs"].toArray().size(), 1);
        const auto run = beside.json()["runs"].toArray()[0].toObject();
        QCOMPARE(run["as_printed"].toObject()["Mean KLD"].toDouble(), run["kl_pq"].toObject()["mean"].toDouble());
        const Answer card = flipscope({"analyze", samples + "baseline.h5", samples + "kv_q4_0.h5", log});
        QVERIFY(card.out.contains("Printed by llama-perplexity, and computed here") &&
                card.out.contains("0.070087 ± 0.005691"));
        QCOMPARE(flipscope({"analyze", samples + "baseline.h5", log}).code, 1); // nothing to compute
    }
    void summaries()
    {
        const QTemporaryDir folder;
        const QString out = folder.filePath("s.h5");
        const QStringList pair{samples + "baseline.h5", samples + "kv_q4_0.h5", samples + "w_q2_k.h5"};
        QCOMPARE(flipscope(QStringList{"summarize"} + pair + QStringList{"-o", out}).code, 0);
        const Answer rows = flipscope(QStringList{"analyze"} + pair + QStringList{"--json", "-"});
        const Answer summary = flipscope({"analyze", out, "--json", "-"});
        QCOMPARE(summary.code, 0);
        for (const char* key : {"flips", "kl_pq", "kl_qp", "js", "tv", "n_probes", "windows", "lower_bound"})
            for (int run : {0, 1})
                QCOMPARE(summary.json()["runs"].toArray()[run].toObject()[QLatin1String(key)],
                         rows.json()["runs"].toArray()[run].toObject()[QLatin1String(key)]);
        QVERIFY(flipscope({"info", out}).out.contains("summary"));
        QCOMPARE(flipscope({"summarize", pair[0], pair[1], "-o", pair[0]}).code, 2);
    }
    void window_is_decimal()
    {
        const QString p = samples + "baseline.h5";
        QCOMPARE(flipscope({"analyze", p, p, "--window", "0512", "--json", "-"}).json()["window_tokens"].toInt(), 512);
    }
    void names_cannot_break_the_sentence()
    {
        const QString odd = "/no/such\n\x1b[31mfile.h5";
        for (const QStringList& a : {QStringList{"info", odd},
                                     {"analyze", odd, odd},
                                     {"analyze", samples + "baseline.h5", odd},
                                     {"analyze", samples + "baseline.h5", samples + "kv_q4_0.h5", "--json", odd}}) {
            const Answer answer = flipscope(a);
            QCOMPARE(answer.code, 1);
            QCOMPARE(answer.err.count('\n'), 1);
            QCOMPARE(answer.err.count("file.h5"), 1);
            QVERIFY(!answer.err.contains('\x1b'));
        }
    }
    void an_output_that_cannot_be_written_is_told_first()
    {
        const QString p = samples + "baseline.h5";
        const Answer answer = flipscope({"analyze", p, "/no/such/run.h5", "--json", "/no/such/folder/out.json"});
        QCOMPARE(answer.code, 1);
        QCOMPARE(answer.err.count('\n'), 1); // before the run was looked at
        QVERIFY2(answer.err.contains("there is no folder /no/such/folder"), answer.err);
    }
    void standard_streams_that_are_closed_or_full()
    {
        const QString program = "'" FLIPSCOPE_BIN "/flipscope' ", trace = "'" + samples + "baseline.h5'";
        const auto shell = [](const QString& command) {
            QProcess process;
            process.start("/bin/sh", {"-c", command});
            return process.waitForFinished(60'000) && process.exitStatus() == QProcess::NormalExit ? process.exitCode()
                                                                                                   : -1;
        };
        QCOMPARE(shell(program + "info /no/such/file 2>&-"), 1);
        QCOMPARE(shell(program + "info --bogus 2>/dev/full"), 2);
        QCOMPARE(shell(program + "info " + trace + " <&- >&- 2>&-"), 1);
        QCOMPARE(shell(program + "info " + trace + " >/dev/full 2>/dev/null"), 1);
        QCOMPARE(shell(program + "--help >/dev/full 2>/dev/null"), 1);
        // A file that is written does not get the number of a closed stream, and what is said to that.
        const QTemporaryDir dir;
        const QString out = dir.filePath("a.json");
        QCOMPARE(shell(program + "analyze " + trace + " " + trace + " /no/such --json " + out + " >&- 2>&-"), 1);
        QFile file(out);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(QJsonDocument::fromJson(file.readAll()).isObject());
    }
    void a_memory_limit_that_is_no_number_is_2()
    {
        const auto with = [](const char* value) {
            QProcess process;
            auto environment = QProcessEnvironment::systemEnvironment();
            environment.insert("FLIPSCOPE_MEMORY", value);
            process.setProcessEnvironment(environment);
            process.start(FLIPSCOPE_BIN "/flipscope", {"info", samples + "flash_attn.h5"});
            if (!process.waitForFinished(60'000) || process.exitStatus() != QProcess::NormalExit)
                return Answer();
            return Answer{process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
        };
        for (const char* value : {"", "0", "64", "99999999999"})
            QCOMPARE(with(value).code, 0);
        for (const char* value : {"4G", "1e3", "-1", " 64", "lots", "99999999999999999999", "64\n"}) {
            const Answer answer = with(value);
            QCOMPARE(answer.code, 2);
            QVERIFY(answer.err.contains("FLIPSCOPE_MEMORY is ") && answer.out.isEmpty());
            QCOMPARE(answer.err.count('\n'), 1);
        }
    }
    void a_file_that_crashes_hdf5_is_1()
    {
        const QString file = QStringLiteral(FLIPSCOPE_TEST_DATA "/traces/crashing.h5");
        const auto answer = flipscope({"info", file});
        if (answer.code == 0)
            QSKIP("this HDF5 opens it");
        QCOMPARE(answer.code, 1);
        QCOMPARE(answer.err.count('\n'), 1);
        QVERIFY2(answer.err.contains("crashing.h5"), answer.err);
        // The others are compared all the same.
        const QString p = samples + "baseline.h5";
        const auto several = flipscope({"analyze", p, file, p, "--json", "-"});
        QCOMPARE(several.code, 1);
        QCOMPARE(several.json()["runs"].toArray().size(), 1);
    }
    void without_the_trial_that_is_said()
    {
        const QTemporaryDir dir;
        const QString program = dir.filePath("bin/flipscope"), libexec = dir.filePath("libexec/flipscope");
        QVERIFY(QDir().mkpath(dir.filePath("bin")) && QDir().mkpath(libexec));
        QVERIFY(QFile::copy(FLIPSCOPE_BIN "/flipscope", program));
        const auto findings = [&] {
            QProcess process;
            process.start(program, {"info", samples + "flash_attn.h5"});
            return process.waitForFinished(60'000) && process.exitCode() == 0 ? process.readAllStandardOutput()
                                                                              : QByteArray();
        };
        const QByteArray without = findings();
        QVERIFY2(without.contains("without a trial in a process of its own"), without);
        QVERIFY(QFile::copy(FLIPSCOPE_BIN "/flipscope-trial", libexec + "/flipscope-trial")); // where it is installed
        const QByteArray with = findings();
        QVERIFY(!with.isEmpty() && !with.contains("without a trial"));
    }
    void unreadable_is_1()
    {
        const Answer answer = flipscope({"info", "/no/such/file.h5"});
        QCOMPARE(answer.code, 1);
        QVERIFY(answer.err.contains("/no/such/file.h5"));
        QCOMPARE(flipscope({"analyze", samples + "baseline.h5", "/no/such/file.h5"}).code, 1);
    }
    void runs_of_one_name_are_told_apart()
    {
        const QTemporaryDir dir;
        const QString csv_file = dir.filePath("w.csv"), repeat = samples + "baseline_repeat.h5";
        const Answer answer =
            flipscope({"analyze", samples + "baseline.h5", repeat, repeat, "--csv-windows", csv_file});
        QCOMPARE(answer.code, 0);
        const auto names = csv(csv_file)["run"];
        QCOMPARE(names.first(), "baseline_repeat");
        QCOMPARE(names.last(), "baseline_repeat (2)");
    }
    void contract_of_the_json()
    {
        const Answer answer =
            flipscope({"analyze", samples + "baseline.h5", samples + "kv_q4_0.h5", "--json", "-", "--window", "2000"});
        QCOMPARE(answer.code, 0);
        const QJsonObject json = answer.json();
        QCOMPARE(json["format"].toString(), "flipscope-analysis");
        QCOMPARE(json["version"].toInt(), 1);
        QCOMPARE(json["window_tokens"].toInt(), 2000);
        for (const char* name : {"name", "detail"})
            QVERIFY(json["engine"].toObject().contains(name));
        for (const char* name : {"name", "path"})
            QVERIFY(json["baseline"].toObject().contains(name));
        const QJsonObject run = first_run(answer);
        for (const char* name : {"name", "path", "n_probes", "flips", "flip_rate", "flips_tied", "flips_top1",
                                 "bit_identical", "differing_rows", "windows"})
            QVERIFY2(run.contains(name), name);
        for (const char* divergence : {"kl_pq", "kl_qp", "js", "tv"})
            for (const char* name : {"mean", "median", "p90", "p95", "p99", "p999", "max", "n_infinite", "n_invalid"})
                QVERIFY2(run[divergence].toObject().contains(name), name);
        for (const char* name : {"start", "end", "n", "flips", "flip_rate", "flip_low", "flip_high", "tv_mean",
                                 "kl_mean", "kl_median", "kl_p99", "kl_max"})
            QVERIFY2(run["windows"].toArray().at(0).toObject().contains(name), name);
        QCOMPARE(run["windows"].toArray().size(), 4);
    }
    void file_against_itself_is_bit_identical()
    {
        const QString p = samples + "baseline.h5";
        const QJsonObject run = first_run(flipscope({"analyze", p, p, "--json", "-"}));
        QVERIFY(run["bit_identical"].toBool());
        QCOMPARE(run["kl_pq"].toObject()["max"].toDouble(-1), 0.0);
    }
    void verbose_tells_the_stages()
    {
        const QString p = samples + "baseline.h5", q = samples + "kv_q4_0.h5";
        const Answer silent = flipscope({"analyze", p, q, "--threads", "1"});
        const Answer answer = flipscope({"analyze", p, q, "--verbose", "--threads", "1"});
        QCOMPARE(answer.code, 0);
        QCOMPARE(answer.out, silent.out);
        QVERIFY(silent.err.isEmpty());
        const QByteArrayList lines = answer.err.trimmed().split('\n');
        QCOMPARE(lines.size(), 5); // both files opened, three stages
        for (int i = 0; i < 2; ++i)
            QVERIFY2(lines[i].contains(": opened in "), lines[i].constData());
        const QByteArrayList stages = {": reading ", ": computing ", ": together "};
        QByteArray amount; // the same through every stage
        for (int i = 0; i < 3; ++i) {
            const QByteArray& line = lines[2 + i];
            QVERIFY2(line.contains("kv_q4_0.h5" + stages[i]) && line.contains(" GB/s"), line.constData());
            const QByteArray gigabytes = line.left(line.indexOf(" GB in ")).split(' ').back();
            QVERIFY2(gigabytes.toDouble() > 0, line.constData());
            QVERIFY(amount.isEmpty() || gigabytes == amount);
            amount = gigabytes;
        }
        QVERIFY(lines[3].contains(", 1 thread)"));
        QVERIFY(lines[4].endsWith("bound by reading") || lines[4].endsWith("bound by computing"));
    }
    void what_fails_is_named_and_the_rest_done()
    {
        const Answer answer =
            flipscope({"analyze", samples + "baseline.h5", "/no/such/file.h5", samples + "kv_q4_0.h5", "--json", "-"});
        QCOMPARE(answer.code, 1);
        QVERIFY(answer.err.contains("/no/such/file.h5"));
        QCOMPARE(answer.json()["runs"].toArray().size(), 1);
    }
    void reference_values_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("pair");
        QTest::addColumn<QString>("engine");
        // 80-bit arithmetic takes its time: here the pairs with few probes, all of them in tst_real_rows.
        const QStringList few{"baseline__baseline_repeat", "baseline__flash_attn", "triton__w-int8-w8a16"};
        for (const char* folder : {"smollm2", "smollm2-h200"})
            for (const QString& file : QDir(shared + folder + "/reference").entryList({"*.csv"})) {
                const QString pair = QFileInfo(file).baseName();
                QTest::newRow(qPrintable(file + " cpu")) << folder << pair << "cpu";
                if (few.contains(pair))
                    QTest::newRow(qPrintable(file + " reference")) << folder << pair << "reference";
            }
        if (!QFileInfo::exists(shared))
            QTest::newRow("none") << QString() << QString() << QString();
    }
    void reference_values()
    {
        QFETCH(QString, folder);
        QFETCH(QString, pair);
        QFETCH(QString, engine);
        if (folder.isEmpty())
            QSKIP("The collection of traces is not beside this checkout.");
        const QTemporaryDir dir;
        const QString out = dir.filePath("probes.csv"), at = shared + folder + "/";
        QCOMPARE(flipscope({"analyze", at + pair.section("__", 0, 0) + ".h5", at + pair.section("__", 1) + ".h5",
                            "--engine", engine, "--csv-probes", out})
                     .code,
                 0);
        const auto ours = csv(out), expected = csv(at + "reference/" + pair + ".csv");
        for (auto column = expected.begin(); column != expected.end(); ++column) {
            QVERIFY2(ours.contains(column.key()), column.key());
            QCOMPARE(ours[column.key()].size(), column->size());
            for (qsizetype i = 0; i < column->size(); ++i)
                QVERIFY2(agrees(column.key(), ours[column.key()][i].toDouble(), column->at(i).toDouble()),
                         column.key() + " " + ours[column.key()][i] + " " + column->at(i));
        }
    }
    void variants_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<int>("code");
        QTest::addColumn<QByteArray>("words"); // in the answer
        for (const char* name : {"bf16-float", "bf16-contiguous", "bf16-uint16-marked", "bf16-opaque"})
            QTest::newRow(name) << QString(name) << 0 << QByteArray("bfloat16");
        for (const char* name : {"f16", "f32", "f32-bigendian", "f64", "f16-gzip-shuffle"})
            QTest::newRow(name) << QString(name) << 0 << QByteArray("\"differing_rows\": 0,");
        for (const char* name : {"f16-one-chunk-gzip", "f16-column-chunks"})
            QTest::newRow(name) << QString(name) << 0 << QByteArray("slow-chunks");
        QTest::newRow("padded-vocab") << "padded-vocab" << 0 << QByteArray("padded-vocab");
        QTest::newRow("topk") << "topk" << 0 << QByteArray("lower bound");
        QTest::newRow("odd-values") << "odd-values" << 0 << QByteArray("\"n_invalid\": 2");
        QTest::newRow("odd-values, infinite") << "odd-values" << 0 << QByteArray("\"n_infinite\": 1");
        QTest::newRow("other-positions") << "other-positions" << 0 << QByteArray("\"n_probes\": 2,");
        QTest::newRow("unmarked") << "bf16-uint16-unmarked" << 1 << QByteArray("bfloat16");
        QTest::newRow("rank-deficient") << "rank-deficient" << 1 << QByteArray("rank-deficient");
        QTest::newRow("newer") << "newer-version" << 1 << QByteArray("written for version 2");
        QTest::newRow("other token") << "other-token" << 1 << QByteArray("position 77");
        QTest::newRow("doubled") << "doubled-first-token" << 1 << QByteArray("shift by one");
    }
    void variants()
    {
        QFETCH(QString, file);
        QFETCH(int, code);
        QFETCH(QByteArray, words);
        if (!QFileInfo::exists(shared))
            QSKIP("The collection of traces is not beside this checkout.");
        const Answer answer =
            flipscope({"analyze", shared + "smollm2/baseline.h5", shared + "variants/" + file + ".h5", "--json", "-"});
        QCOMPARE(answer.code, code);
        QVERIFY2((answer.out + answer.err).contains(words), answer.out.left(3000) + answer.err);
    }
};

QTEST_GUILESS_MAIN(TestCommandLine)
#include "tst_command_line.moc"
