// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// `flipscope compare`: its JSON and CSV against scipy's and numpy's numbers (tests/data/make_comparison.py).
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

const QString samples = QStringLiteral(FLIPSCOPE_SOURCE "/resources/samples/");

struct Answer {
    int code = -1;
    QByteArray out, err;
};

Answer flipscope(const QStringList& arguments)
{
    QProcess process;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert("FLIPSCOPE_NO_CACHE", "1");
    environment.insert("FLIPSCOPE_ENGINE", "cpu");
    environment.remove("QT_QPA_PLATFORM"); // sub-commands need no display
    process.setProcessEnvironment(environment);
    process.start(FLIPSCOPE_BIN "/flipscope", arguments);
    if (!process.waitForFinished(120'000) || process.exitStatus() != QProcess::NormalExit)
        return {};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

QStringList pair(const QString& a, const QString& b, const QStringList& more = {})
{
    return QStringList{"compare", samples + "baseline.h5", samples + a + ".h5", samples + b + ".h5"} + more;
}

QJsonArray expected_pairs()
{
    QFile file(FLIPSCOPE_TEST_DATA "/analysis/comparison.json");
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll())["pairs"].toArray() : QJsonArray();
}

bool near(const QJsonValue& value, const QJsonValue& expected, double relative = 1e-7)
{
    return value.isDouble() &&
           std::fabs(value.toDouble() - expected.toDouble()) <= relative * std::fabs(expected.toDouble());
}

} // namespace

class TestCompareCommand : public QObject {
    Q_OBJECT
private slots:
    void json_has_scipys_numbers()
    {
        const QJsonArray pairs = expected_pairs();
        QCOMPARE(pairs.size(), 3);
        for (const QJsonValue& e : pairs) {
            const Answer answer =
                flipscope(pair(e["a"].toString(), e["b"].toString(), {"--json", "-", "--window", "1024"}));
            QVERIFY2(answer.code == 0, answer.err);
            const QJsonObject json = QJsonDocument::fromJson(answer.out).object();
            QCOMPARE(json["format"].toString(), "flipscope-compare");
            QCOMPARE(json["version"].toInt(), 1);
            QCOMPARE(json["a"]["name"].toString(), e["a"].toString());
            QCOMPARE(json["only_in_b"], e["only_in_b"]);
            for (const char* name : {"n", "neither", "only_a", "only_b", "both", "both_same_token", "tops_differ"})
                QCOMPARE(json["flips"][QLatin1String(name)], e[QLatin1String(name)]);
            QVERIFY(near(json["flips"]["mcnemar_p"], e["mcnemar_p"], 1e-9));
            const QJsonArray differences = json["differences"].toArray();
            for (int i = 0; i < 5; ++i)
                for (const char* name : {"mean_a", "mean_b", "difference", "low", "high"})
                    QVERIFY2(near(differences[i][QLatin1String(name)], e["differences"][i][QLatin1String(name)]), name);
            QCOMPARE(json["n_worse"].toInt(), e["worse"].toArray().size());
            for (int i = 0; i < json["worse"].toArray().size(); ++i)
                QCOMPARE(json["worse"][i]["position"], e["worse"][i]);
            for (int w = 0; w < e["windows"].toArray().size(); ++w) {
                QCOMPARE(json["windows"][w]["start"], e["windows"][w]["start"]);
                for (const char* name : {"only_a", "only_b", "kl_mean_a", "kl_mean_b", "kl_mean_difference"})
                    QVERIFY2(near(json["windows"][w][QLatin1String(name)], e["windows"][w][QLatin1String(name)]), name);
            }
        }
    }
    void settings_that_differ_are_named()
    {
        const Answer answer = flipscope(pair("kv_q4_0", "w_q2_k", {"--json", "-"}));
        const QJsonObject settings = QJsonDocument::fromJson(answer.out)["differing_settings"].toObject();
        QVERIFY(!settings.isEmpty());
        for (const QJsonValue& s : settings)
            QVERIFY(s["a"] != s["b"]);
        const Answer text = flipscope(pair("kv_q4_0", "w_q2_k"));
        for (const QString& key : settings.keys())
            QVERIFY2(text.out.contains(key.toUtf8()), qPrintable(key));
        QVERIFY(text.out.contains("7 only in B"));
        QVERIFY(text.out.contains("p = 0.01562"));
    }
    void a_row_per_paired_probe()
    {
        const QTemporaryDir dir;
        const QString out = dir.filePath("pairs.csv");
        QCOMPARE(flipscope(pair("flash_attn", "kv_q4_0", {"--csv", out})).code, 0);
        QFile file(out);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = file.readAll().trimmed().split('\n');
        QCOMPARE(lines.size(), 1 + 14);
        QCOMPARE(lines[0].left(41), QByteArray("position,flips,argmax_p,argmax_a,argmax_b"));
        for (const QByteArray& line : lines)
            QCOMPARE(line.count(','), lines[0].count(','));
        QVERIFY(lines[1].startsWith("511,neither,"));
    }
    void a_run_against_itself_differs_in_nothing()
    {
        const QJsonDocument json = QJsonDocument::fromJson(flipscope(pair("w_q2_k", "w_q2_k", {"--json", "-"})).out);
        QCOMPARE(json["b"]["name"].toString(), "w_q2_k (2)");
        QCOMPARE(json["flips"]["only_a"].toInt(-1), 0);
        QCOMPARE(json["flips"]["only_b"].toInt(-1), 0);
        QCOMPARE(json["flips"]["both"].toInt(-1), 8);
        QCOMPARE(json["differences"][1]["low"].toDouble(-1), 0.0);
        QCOMPARE(json["differences"][1]["high"].toDouble(-1), 0.0);
        QCOMPARE(json["n_worse"].toInt(-1), 0);
    }
    void what_is_wrong_is_one_sentence()
    {
        const QString p = samples + "baseline.h5", a = samples + "kv_q4_0.h5";
        for (const QStringList& wrong : {QStringList{"compare"},
                                         {"compare", p, a},
                                         {"compare", p, a, a, a},
                                         {"compare", p, a, a, "--json", a},
                                         {"compare", p, a, a, "--json", "-", "--csv", "-"},
                                         {"compare", p, a, a, "--window", "0"}}) {
            const Answer answer = flipscope(wrong);
            QCOMPARE(answer.code, 2);
            QCOMPARE(answer.err.count('\n'), 1);
        }
        const Answer missing = flipscope({"compare", p, a, "/no/such/file.h5"});
        QCOMPARE(missing.code, 1);
        QCOMPARE(missing.err.count('\n'), 1);
        QVERIFY(missing.err.contains("/no/such/file.h5"));
        QVERIFY(missing.out.isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestCompareCommand)
#include "tst_compare_command.moc"
