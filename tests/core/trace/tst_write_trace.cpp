// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The writer: what it writes reads back as it was, and other programs read it as numbers.
#include "trace_files.h"

#include "core/trace/writer.h"

#include <cstring>

using namespace flipscope;
using namespace trace_files;

class WriteTrace : public QObject {
    Q_OBJECT
private slots:
    void round_trip_data();
    void round_trip();
    void rows_of_every_type_data();
    void rows_of_every_type();
    void other_programs_read_it();
    void h5dump_reads_it();
    void options_leave_parts_out();
    void selected_probes();
    void writing_over_the_source();
    void refusals();

private:
    std::filesystem::path path(const char* name) const
    {
        return std::filesystem::path(folder_.path().toStdString()) / name;
    }
    QTemporaryDir folder_;
};

namespace {

bool equal(const ByteStrings& a, const ByteStrings& b)
{
    return a.bytes == b.bytes && a.offsets == b.offsets;
}

bool equal_rows(const RowSource& a, const RowSource& b)
{
    if (a.type() != b.type() || a.rows() != b.rows() || a.columns() != b.columns())
        return false;
    std::vector<std::byte> x(static_cast<std::size_t>(a.rows() * a.row_bytes())), y(x.size());
    return a.read(0, a.rows(), x) && b.read(0, b.rows(), y) && x == y;
}

bool equal_sets(const ProbeSet& a, const ProbeSet& b)
{
    const bool rows = a.rows ? b.rows && equal_rows(*a.rows, *b.rows) : !b.rows;
    return rows && a.name == b.name && a.kind == b.kind && a.positions == b.positions && a.n_vocab == b.n_vocab &&
           a.k == b.k && a.scoring == b.scoring && a.values == b.values && a.temperature == b.temperature &&
           a.top1 == b.top1 && a.lse == b.lse && !a.lists == !b.lists;
}

void compare(const Trace& a, const Trace& b)
{
    QCOMPARE(a.created, b.created);
    QCOMPARE(a.producer, b.producer);
    QCOMPARE(a.run_name, b.run_name);
    QCOMPARE(a.tokens.ids, b.tokens.ids);
    QVERIFY(equal(a.tokens.text, b.tokens.text));
    QCOMPARE(a.tokens.tokenizer, b.tokens.tokenizer);
    QCOMPARE(a.tokens.prompt_sha256, b.tokens.prompt_sha256);
    QCOMPARE(!a.vocabulary, !b.vocabulary);
    if (a.vocabulary) {
        QVERIFY(equal(a.vocabulary->text, b.vocabulary->text));
        QCOMPARE(a.vocabulary->special, b.vocabulary->special);
    }
    QCOMPARE(a.spans.size(), b.spans.size());
    for (std::size_t i = 0; i < a.spans.size(); ++i)
        QVERIFY(a.spans[i].start == b.spans[i].start && a.spans[i].end == b.spans[i].end &&
                a.spans[i].kind == b.spans[i].kind && a.spans[i].label == b.spans[i].label);
    QVERIFY(equal_sets(a.probes, b.probes));
    QCOMPARE(a.dense.size(), b.dense.size());
    for (std::size_t i = 0; i < a.dense.size(); ++i)
        QVERIFY(equal_sets(a.dense[i], b.dense[i]));
    QCOMPARE(a.run, b.run);
    QCOMPARE(a.packages, b.packages);
    QCOMPARE(a.launch_log, b.launch_log);
    QCOMPARE(a.generations.size(), b.generations.size());
    for (std::size_t i = 0; i < a.generations.size(); ++i) {
        const Generation &g = a.generations[i], &h = b.generations[i];
        QVERIFY(g.group == h.group && g.prefix_tokens == h.prefix_tokens && g.ids == h.ids && equal(g.text, h.text) &&
                g.fed == h.fed && g.k == h.k && g.top_ids == h.top_ids && g.top_logprobs == h.top_logprobs &&
                g.sampler == h.sampler && g.finish_reason == h.finish_reason &&
                g.parsed_tool_calls == h.parsed_tool_calls);
    }
}

QString run(const QString& program, const QStringList& arguments, bool& ran)
{
    QProcess process;
    process.start(program, arguments);
    ran = process.waitForFinished(60000) && process.exitCode() == 0;
    return QString::fromUtf8(process.readAllStandardOutput());
}

} // namespace

void WriteTrace::round_trip_data()
{
    QTest::addColumn<QString>("file");
    for (const char* file : {"everything.h5", "everything-fixed.h5", "topk.h5", "f64-bigendian.h5", "f32.h5",
                             "bf16-opaque-tag.h5", "f16-one-chunk-gzip.h5"})
        QTest::newRow(file) << file;
}

void WriteTrace::round_trip()
{
    QFETCH(QString, file);
    const auto original = open_trace(data(file.toStdString()));
    QVERIFY(original);
    for (const WriteOptions& options :
         {WriteOptions{}, WriteOptions{.compression = 4}, WriteOptions{.contiguous = true}}) {
        const auto written = write_trace(path("copy.h5"), **original, options);
        QVERIFY2(written, written ? "" : written.error().message.c_str());
        const auto copy = open_trace(path("copy.h5"));
        QVERIFY2(copy, copy ? "" : copy.error().message.c_str());
        QVERIFY2((*copy)->findings.empty(), (*copy)->findings.empty() ? "" : (*copy)->findings[0].text.c_str());
        auto wanted = **original;
        if (wanted.created.empty()) // the writer states its own time
            wanted.created = (*copy)->created;
        compare(wanted, **copy);
    }
    const QDir left(folder_.path());
    QCOMPARE(left.entryList(QDir::Files | QDir::Hidden), QStringList{"copy.h5"}); // no temporary file stays
}

void WriteTrace::rows_of_every_type_data()
{
    QTest::addColumn<int>("type");
    for (const LogitType t : {LogitType::BF16, LogitType::F16, LogitType::F32, LogitType::F64})
        QTest::newRow(name_of(t)) << static_cast<int>(t);
}

void WriteTrace::rows_of_every_type()
{
    QFETCH(int, type);
    const auto t = static_cast<LogitType>(type);
    // Every bit pattern of the upper 16 bits: all 16-bit floats there are, NaN payloads included.
    constexpr std::int64_t columns = 4096;
    const std::size_t size = size_of(t);
    std::vector<std::byte> bytes(65536 * size);
    for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto pattern = static_cast<std::uint16_t>(i);
        std::memcpy(&bytes[i * size + size - 2], &pattern, 2);
    }
    Trace trace;
    trace.tokens.ids.assign(100, 1);
    trace.probes.n_vocab = columns;
    for (std::int64_t i = 0; i < 16; ++i)
        trace.probes.positions.push_back(3 * i);
    trace.probes.rows = rows_in_memory(t, columns, bytes);
    for (const WriteOptions& options :
         {WriteOptions{}, WriteOptions{.compression = 1}, WriteOptions{.contiguous = true}}) {
        QVERIFY(write_trace(path("bits.h5"), trace, options));
        const auto copy = open_trace(path("bits.h5"));
        QVERIFY2(copy, copy ? "" : copy.error().message.c_str());
        QCOMPARE((*copy)->probes.rows->type(), t);
        std::vector<std::byte> back(bytes.size());
        QVERIFY((*copy)->probes.rows->read(0, 16, back));
        QVERIFY(back == bytes);
    }
}

void WriteTrace::other_programs_read_it()
{
    const auto original = open_trace(data("everything.h5"));
    QVERIFY(original && write_trace(path("python.h5"), **original));
    const QString script =
        "import h5py,sys,json,numpy as np\n"
        "f=h5py.File(sys.argv[1]); l=f['probes/logits']\n"
        "s=f['spans'][0]\n"
        "print(json.dumps(dict(dtype=str(l.dtype), row=[str(x) for x in l[1]], "
        "kind=s['kind'].decode(), start=int(s['start']), engine=f['run'].attrs['engine'], "
        "version=int(f.attrs['format_version']), log=f['run/launch_log'][()].decode(), "
        "packages=[x.decode() for x in f['run/packages']], "
        "ids=f['tokens/ids'][:].tolist(), prefix=int(f['generations/9'].attrs['prefix_tokens']))))\n";
    bool ran = false;
    const QString out = run("python3", {"-c", script, QString::fromStdString(path("python.h5").string())}, ran);
    if (!ran)
        QSKIP("needs python3 with h5py");
    const auto json = nlohmann::json::parse(out.toStdString());
    QCOMPARE(json["dtype"], "float32"); // how h5py shows bfloat16
    const auto& wanted = expected()["rows"]["bfloat16"][1];
    for (std::size_t i = 0; i < 64; ++i)
        QVERIFY(same(std::stod(json["row"][i].get<std::string>()),
                     std::stod(fmt::format("{}", static_cast<float>(number(wanted[i]))))));
    QCOMPARE(json["kind"], "system");
    QCOMPARE(json["start"], 0);
    QCOMPARE(json["engine"], "toy");
    QCOMPARE(json["version"], 1);
    QCOMPARE(json["log"], "line 1\nline 2");
    QCOMPARE(json["packages"], (std::vector<std::string>{"a==1", "b==2"}));
    QCOMPARE(json["ids"], expected()["ids"]);
    QCOMPARE(json["prefix"], 20);
}

void WriteTrace::h5dump_reads_it()
{
    Trace trace;
    trace.tokens.ids = {1, 2, 3};
    trace.probes.positions = {1};
    trace.probes.n_vocab = 4;
    const std::vector<std::uint16_t> bits = {0x3f80, 0xc010, 0x41b8, 0x0000}; // 1, -2.25, 23, 0
    std::vector<std::byte> bytes(8);
    std::memcpy(bytes.data(), bits.data(), 8);
    trace.probes.rows = rows_in_memory(LogitType::BF16, 4, bytes);
    QVERIFY(write_trace(path("dump.h5"), trace));
    bool ran = false;
    const QString out = run("h5dump", {"-d", "/probes/logits", QString::fromStdString(path("dump.h5").string())}, ran);
    if (!ran)
        QSKIP("needs h5dump");
    QVERIFY2(out.contains("(0,0): 1, -2.25, 23, 0"), qPrintable(out));
}

void WriteTrace::options_leave_parts_out()
{
    const auto original = open_trace(data("everything.h5"));
    QVERIFY(original);
    QVERIFY(write_trace(path("less.h5"), **original, {.with_vocabulary = false, .with_dense = false}));
    const auto copy = open_trace(path("less.h5"));
    QVERIFY(copy);
    QVERIFY(!(*copy)->vocabulary);
    QVERIFY((*copy)->dense.empty());
    QCOMPARE((*copy)->generations.size(), 3u);
}

void WriteTrace::selected_probes()
{
    const auto original = open_trace(data("everything.h5"));
    QVERIFY(original);
    const std::vector<std::int64_t> numbers = {0, 2, 3};
    const Trace some = select_probes(**original, numbers);
    QCOMPARE(some.probes.positions, (std::vector<std::int64_t>{3, 8, 21}));
    QCOMPARE(some.probes.lse, (std::vector<double>{20, 20.5, 20.75}));
    QCOMPARE(some.probes.top1.size(), 3u);
    QCOMPARE(some.generations.size(), 3u);
    QCOMPARE(some.dense.size(), 2u);
    QVERIFY(some.content_key != (*original)->content_key);
    QVERIFY(write_trace(path("some.h5"), some));
    const auto copy = open_trace(path("some.h5"));
    QVERIFY(copy);
    const auto values = all_values(*(*copy)->probes.rows);
    QCOMPARE(values.size(), 3u * 64);
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t i = 0; i < 64; ++i)
            QVERIFY(same(values[r * 64 + i],
                         number(expected()["rows"]["bfloat16"][static_cast<std::size_t>(numbers[r])][i])));
    const auto lists = open_trace(data("topk.h5"));
    const Trace two = select_probes(**lists, std::vector<std::int64_t>{1, 3});
    std::vector<std::int32_t> ids(6);
    std::vector<float> logprobs(6);
    QVERIFY(two.probes.lists->read(0, 2, ids, logprobs));
    QCOMPARE(ids, (std::vector<std::int32_t>{4, 5, -1, 0, 63, 1}));
    QVERIFY(!two.probes.lists->read(1, 2, ids, logprobs));
}

void WriteTrace::writing_over_the_source()
{
    std::filesystem::copy_file(data("everything.h5"), path("self.h5"));
    const auto original = open_trace(path("self.h5"));
    QVERIFY(original && write_trace(path("self.h5"), **original));
    const auto copy = open_trace(path("self.h5"));
    QVERIFY(copy);
    compare(**original, **copy);
}

void WriteTrace::refusals()
{
    const auto original = open_trace(data("everything.h5"));
    QVERIFY(original);
    Trace wrong = **original;
    wrong.probes.positions.pop_back();
    const std::vector<Result<void>> results = {
        write_trace(path("no/such/folder.h5"), **original),
        write_trace(folder_.path().toStdString(), **original),
        write_trace(path("x.h5"), **original, {.compression = 1, .contiguous = true}),
        write_trace(path("x.h5"), wrong),
        write_trace("/dev/full", **original),
    };
    for (const auto& result : results) {
        QVERIFY(!result);
        QVERIFY2(is_one_sentence(result.error().message), result.error().message.c_str());
    }
    QVERIFY(!std::filesystem::exists(path("x.h5")));
}

QTEST_GUILESS_MAIN(WriteTrace)
#include "tst_write_trace.moc"
