// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The wider collection of real traces: every bit of every row is what numpy reads (shared_values.json).
#include "trace_files.h"

#include <QCryptographicHash>

using namespace flipscope;
using namespace trace_files;

class TraceShared : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void equals_what_numpy_reads_data();
    void equals_what_numpy_reads();
    void refused_variants_data();
    void refused_variants();
    void slow_variants_say_so();
    void exact_types_equal_the_baseline();
};

namespace {

template <class T>
std::string digest(const std::vector<T>& values)
{
    const QByteArrayView bytes(reinterpret_cast<const char*>(values.data()),
                               static_cast<qsizetype>(values.size() * sizeof(T)));
    return QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex().toStdString();
}

const char* const refused_files[][2] = {
    {"bf16-uint16-unmarked.h5", "attribute dtype = \"bfloat16\""},
    {"rank-deficient.h5", "1 dimension (49152)"},
    {"newer-version.h5", "written for version 2"},
};

bool is_refused(const std::string& name)
{
    return std::any_of(std::begin(refused_files), std::end(refused_files),
                       [&](const auto& r) { return name == std::string("variants/") + r[0]; });
}

} // namespace

void TraceShared::initTestCase()
{
    if (!std::filesystem::exists(shared("README.md")))
        QSKIP("the wider collection of traces is not beside this checkout");
}

void TraceShared::equals_what_numpy_reads_data()
{
    QTest::addColumn<QString>("file");
    const auto all = read_json(std::filesystem::path(FLIPSCOPE_TEST_DATA) / "shared_values.json");
    for (const auto& [file, value] : all.items())
        if (!is_refused(file))
            QTest::newRow(file.c_str()) << QString::fromStdString(file);
}

void TraceShared::equals_what_numpy_reads()
{
    QFETCH(QString, file);
    const auto wanted =
        read_json(std::filesystem::path(FLIPSCOPE_TEST_DATA) / "shared_values.json")[file.toStdString()];
    const auto opened = open_trace(shared(file.toStdString()));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const Trace& t = **opened;
    const bool doubled = file == "variants/doubled-first-token.h5";
    QCOMPARE(finding(t, "doubled-bos") != nullptr, doubled);
    for (const auto& f : t.findings)
        QVERIFY2(f.code == "slow-chunks" || (doubled && f.code == "doubled-bos"), f.text.c_str());
    QCOMPARE(t.tokens.ids.size(), wanted["n_tokens"].get<std::size_t>());
    QCOMPARE(digest(t.tokens.ids), wanted["ids"]);
    if (!wanted["text"].is_null())
        QCOMPARE(digest(std::vector<char>(t.tokens.text.bytes.begin(), t.tokens.text.bytes.end())), wanted["text"]);
    QCOMPARE(digest(t.probes.positions), wanted["positions"]);
    QCOMPARE(t.spans.size(), wanted["n_spans"].get<std::size_t>());
    QCOMPARE(t.run.size(), wanted["n_run"].get<std::size_t>());
    QCOMPARE(t.generations.size(), wanted["n_generations"].get<std::size_t>());
    QCOMPARE(t.dense.size(), wanted["dense"].size());
    if (wanted.contains("rows")) {
        QCOMPARE(t.probes.rows->rows(), wanted["shape"][0].get<std::int64_t>());
        QCOMPARE(t.probes.rows->columns(), wanted["shape"][1].get<std::int64_t>());
        QCOMPARE(digest(all_values(*t.probes.rows)), wanted["rows"]);
    }
    if (wanted.contains("top_ids")) {
        std::vector<std::int32_t> ids(static_cast<std::size_t>(t.probes.size() * t.probes.k));
        std::vector<float> logprobs(ids.size());
        QVERIFY(t.probes.lists->read(0, t.probes.size(), ids, logprobs));
        QCOMPARE(digest(ids), wanted["top_ids"]);
        QCOMPARE(digest(logprobs), wanted["top_logprobs"]);
    }
    if (wanted.contains("top1"))
        QCOMPARE(digest(t.probes.top1), wanted["top1"]);
    if (wanted.contains("lse"))
        QCOMPARE(digest(t.probes.lse), wanted["lse"]);
    if (wanted.contains("generated")) {
        std::vector<std::int32_t> generated;
        for (const auto& g : t.generations)
            generated.insert(generated.end(), g.ids.begin(), g.ids.end());
        QCOMPARE(digest(generated), wanted["generated"]);
    }
}

void TraceShared::refused_variants_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("part");
    for (const auto& r : refused_files)
        QTest::newRow(r[0]) << r[0] << r[1];
}

void TraceShared::refused_variants()
{
    QFETCH(QString, file);
    QFETCH(QString, part);
    const auto opened = open_trace(shared("variants/" + file.toStdString()));
    QVERIFY(!opened);
    QVERIFY2(contains(opened.error().message, part.toStdString()), opened.error().message.c_str());
    QVERIFY(is_one_sentence(opened.error().message));
}

void TraceShared::slow_variants_say_so()
{
    for (const char* file : {"variants/f16-one-chunk-gzip.h5", "variants/f16-column-chunks.h5"}) {
        const auto opened = open_trace(shared(file));
        QVERIFY(opened);
        QVERIFY2(finding(**opened, "slow-chunks") != nullptr, file);
    }
}

void TraceShared::exact_types_equal_the_baseline()
{
    const auto baseline = open_trace(shared("smollm2/baseline.h5"));
    QVERIFY(baseline);
    const RowSource& rows = *(*baseline)->probes.rows;
    const auto columns = static_cast<std::size_t>(rows.columns());
    for (const char* file : {"f16.h5", "f32.h5", "f64.h5", "f32-bigendian.h5", "f16-gzip-shuffle.h5"}) {
        const auto variant = open_trace(shared(std::string("variants/") + file));
        QVERIFY(variant);
        const ProbeSet& probes = (*variant)->probes;
        const auto values = all_values(*probes.rows);
        std::vector<std::byte> row(static_cast<std::size_t>(rows.row_bytes()));
        for (std::size_t i = 0; i < probes.positions.size(); ++i) {
            const auto& all = (*baseline)->probes.positions;
            const auto at = std::find(all.begin(), all.end(), probes.positions[i]) - all.begin();
            QVERIFY(at < rows.rows());
            QVERIFY(rows.read(at, 1, row));
            for (std::size_t c = 0; c < columns; ++c)
                QVERIFY(same(values[i * columns + c], widen(row.data(), rows.type(), c)));
        }
    }
}

QTEST_GUILESS_MAIN(TraceShared)
#include "tst_trace_shared.moc"
