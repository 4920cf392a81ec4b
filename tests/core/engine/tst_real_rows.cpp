// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Engines over real traces, against reference values that came with the captures (80-bit arithmetic in numpy), and over
// constructed rows against the textbook formulas in 60-digit arithmetic. tests/data/make_engine_cases.py made the
// files.
#include "core/trace/open.h"
#include "tests/core/engine/engine_rows.h"

#include <QDir>
#include <QFile>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <map>

using namespace flipscope;
using namespace engine_test;

namespace {

const QString data = QStringLiteral(FLIPSCOPE_TEST_DATA "/engine/");
const QString samples = QStringLiteral(FLIPSCOPE_SOURCE "/resources/samples/");
const QString shared_traces = QStringLiteral(FLIPSCOPE_SHARED "/traces/");

using Record = std::map<QString, QString>;

/// The lines of a CSV file, by column name.
std::vector<Record> read_csv(const QString& path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("cannot open %s", qPrintable(path));
    const auto lines = QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts);
    const auto names = lines[0].trimmed().split(',');
    std::vector<Record> records;
    for (const auto& line : lines.mid(1)) {
        const auto cells = line.trimmed().split(',');
        Record record;
        for (int i = 0; i < names.size(); ++i)
            record[names[i]] = cells[i];
        records.push_back(std::move(record));
    }
    return records;
}

double number(const Record& r, const char* name)
{
    const QString& text = r.at(name);
    return text.isEmpty() ? std::nan("") : text.toDouble();
}

ProbeMetrics metrics_of(const Record& r)
{
    ProbeMetrics m{};
    m.valid = 1;
    m.kl_pq = number(r, "kl_pq");
    m.kl_qp = number(r, "kl_qp");
    m.js = number(r, "js");
    m.tv = number(r, "tv");
    m.margin = number(r, "margin");
    m.p_top = number(r, "p_top");
    m.q_top = number(r, "q_top");
    m.entropy_p = number(r, "entropy_p");
    m.entropy_q = number(r, "entropy_q");
    m.nll_p = number(r, "nll_p");
    m.nll_q = number(r, "nll_q");
    m.dp = number(r, "dp");
    m.max_abs_dlogit = number(r, "max_abs_dlogit");
    m.top5_overlap = number(r, "top5_overlap");
    m.top10_overlap = number(r, "top10_overlap");
    m.differing = r.at("differing").toLongLong();
    m.argmax_p = r.at("argmax_p").toInt();
    m.argmax_q = r.at("argmax_q").toInt();
    m.rank = r.at("rank").toInt();
    m.flip = r.at("flip").toInt() != 0;
    m.tied = r.at("tied").toInt() != 0;
    return m;
}

/// The rows of some positions.
Rows load(const Trace& trace, const std::vector<std::int64_t>& positions)
{
    const RowSource& source = *trace.probes.rows;
    Rows rows(source.type(), static_cast<std::int32_t>(source.columns()), static_cast<std::int64_t>(positions.size()));
    std::vector<std::byte> packed(static_cast<std::size_t>(source.row_bytes()));
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const auto at = std::find(trace.probes.positions.begin(), trace.probes.positions.end(), positions[i]);
        if (at == trace.probes.positions.end() || !source.read(at - trace.probes.positions.begin(), 1, packed))
            qFatal("no row at %lld", static_cast<long long>(positions[i]));
        std::copy(packed.begin(), packed.end(), rows.row(static_cast<std::int64_t>(i)));
    }
    return rows;
}

TracePtr open(const QString& path)
{
    auto trace = open_trace(path.toStdString());
    if (!trace)
        qFatal("%s", trace.error().message.c_str());
    return *trace;
}

} // namespace

class TestRealRows : public QObject {
    Q_OBJECT
    std::map<std::string, Worst> worst_;

    void check(Rows& p, Rows& q, const std::vector<std::int32_t>& next, const std::vector<Record>& records)
    {
        for (const auto& engine : engines()) {
            const auto got = compute(*engine, p, q, next);
            for (std::size_t i = 0; i < got.size(); ++i) {
                auto want = metrics_of(records[i]);
                want.lse_p = got[i].lse_p; // not among the reference values
                want.lse_q = got[i].lse_q;
                const double scale = scale_of(p, q, static_cast<std::int64_t>(i));
                const auto wrong = difference(got[i], want, scale, &worst_[std::string(engine->name())]);
                if (!wrong.empty())
                    QFAIL(qPrintable(QString("%1, position %2: %3")
                                         .arg(QString::fromStdString(std::string(engine->name())),
                                              records[i].at("position"), QString::fromStdString(wrong))));
            }
        }
    }

    void check_traces(const QString& baseline, const QString& run, const QString& reference)
    {
        const auto records = read_csv(reference);
        QVERIFY(!records.empty());
        const TracePtr p = open(baseline), q = open(run);
        std::vector<std::int64_t> positions;
        std::vector<std::int32_t> next;
        for (const auto& record : records) {
            positions.push_back(record.at("position").toLongLong());
            const auto following = static_cast<std::size_t>(positions.back()) + 1;
            next.push_back(following < p->tokens.ids.size() ? p->tokens.ids[following] : -1);
        }
        Rows rows_p = load(*p, positions), rows_q = load(*q, positions);
        check(rows_p, rows_q, next, records);
    }

private slots:
    void sample_session_data()
    {
        QTest::addColumn<QString>("run");
        for (const char* run : {"baseline_repeat", "flash_attn", "kv_q4_0", "w_q2_k"})
            QTest::newRow(run) << QString(run);
    }
    void sample_session()
    {
        QFETCH(QString, run);
        check_traces(samples + "baseline.h5", samples + run + ".h5", data + run + ".csv");
    }

    void real_bfloat16_flips()
    {
        const auto records = read_csv(data + "triton_fa2.csv");
        constexpr std::int32_t vocab = 49152;
        QFile file(data + "triton_fa2.bf16");
        QVERIFY(file.open(QIODevice::ReadOnly));
        Rows p(LogitType::BF16, vocab, static_cast<std::int64_t>(records.size()));
        Rows q(LogitType::BF16, vocab, static_cast<std::int64_t>(records.size()));
        for (std::int64_t i = 0; i < p.count(); ++i)
            for (Rows* side : {&p, &q})
                QCOMPARE(file.read(reinterpret_cast<char*>(side->row(i)), vocab * 2), vocab * 2);
        check(p, q, {40, 361}, records); // the tokens that follow positions 5983 and 1247
    }

    void fifty_digits()
    {
        QFile file(data + "fifty_digits.txt");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const std::map<QString, LogitType> types{
            {"bf16", LogitType::BF16}, {"f16", LogitType::F16}, {"f32", LogitType::F32}, {"f64", LogitType::F64}};
        int cases = 0;
        for (const auto& line : QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts)) {
            if (line.startsWith('#'))
                continue;
            const auto parts = line.split('|');
            QCOMPARE(parts.size(), 5);
            const auto values = [](const QString& text) {
                std::vector<double> row;
                for (const auto& word : text.split(' '))
                    row.push_back(std::strtod(word.toLatin1().constData(), nullptr)); // reads C99's hexadecimal floats
                return row;
            };
            Rows p(types.at(parts[1]), {values(parts[2])}), q(types.at(parts[1]), {values(parts[3])});
            Record want;
            for (const auto& word : parts[4].split(' '))
                want[word.section('=', 0, 0)] = word.section('=', 1);
            for (const auto& engine : engines()) {
                // What the textbook formulas do not give is taken from the engine itself: only the ten numbers count.
                const auto got = compute(*engine, p, q)[0];
                auto expected = got;
                expected.kl_pq = std::max(0.0, number(want, "kl_pq")); // 60 digits leave -1e-53 where it is 0
                expected.kl_qp = std::max(0.0, number(want, "kl_qp"));
                expected.js = std::max(0.0, number(want, "js"));
                expected.tv = number(want, "tv");
                expected.p_top = number(want, "p_top");
                expected.q_top = number(want, "q_top");
                expected.entropy_p = number(want, "entropy_p");
                expected.entropy_q = number(want, "entropy_q");
                expected.lse_p = number(want, "lse_p");
                expected.lse_q = number(want, "lse_q");
                const auto wrong = difference(got, expected, scale_of(p, q, 0), &worst_[std::string(engine->name())]);
                QVERIFY2(wrong.empty(), qPrintable(QString("%1, %2 %3: %4")
                                                       .arg(QString::fromStdString(std::string(engine->name())),
                                                            parts[1], parts[0], QString::fromStdString(wrong))));
            }
            ++cases;
        }
        QVERIFY(cases > 40);
    }

    void every_reference_file_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("base");
        QTest::addColumn<QString>("run");
        for (const char* run : {"baseline_repeat", "flash_attn", "kv_q4_0", "kv_q8_0", "w_q2_k"})
            QTest::newRow(run) << "smollm2/"
                               << "baseline" << run;
        for (const char* run : {"fa2", "w-int8-w8a16"})
            QTest::newRow(run) << "smollm2-h200/"
                               << "triton" << run;
    }
    void every_reference_file() // the complete captures; a clone has the sample session above
    {
        QFETCH(QString, folder);
        QFETCH(QString, base);
        QFETCH(QString, run);
        if (!QDir(shared_traces + folder).exists())
            QSKIP("the complete captures are not beside this checkout");
        const QString path = shared_traces + folder;
        check_traces(path + base + ".h5", path + run + ".h5", path + "reference/" + base + "__" + run + ".csv");
    }

    void cleanupTestCase()
    {
        for (const auto& [name, worst] : worst_)
            qInfo("%s: divergences within %.1e relative; everything else uses %.1e of what is allowed", name.c_str(),
                  worst.divergence, worst.rest);
    }
};

QTEST_GUILESS_MAIN(TestRealRows)
#include "tst_real_rows.moc"
