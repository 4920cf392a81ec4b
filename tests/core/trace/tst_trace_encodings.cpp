// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// How numbers stand in a file: every encoding gives the same values, and what cannot be read says why.
#include "trace_files.h"

#include "core/trace/writer.h"

#include <atomic>
#include <thread>

using namespace flipscope;
using namespace trace_files;

class TraceEncodings : public QObject {
    Q_OBJECT
private slots:
    void every_encoding_gives_the_same_values_data();
    void every_encoding_gives_the_same_values();
    void single_rows_equal_blocks_of_rows();
    void case_56_bfloat16_encodings();
    void case_56_implausible_values_are_warned_about();
    void refusals_name_the_reason_data();
    void refusals_name_the_reason();
    void findings_name_what_is_odd_data();
    void findings_name_what_is_odd();
    void case_61_missing_filter_leaves_the_rest();
    void case_63_one_chunk_is_unpacked_once();
    void chunk_that_unpacks_short_is_an_error();
    void newest_layout_is_explained();
    void rows_of_a_stopped_capture();
    void reads_outside_are_refused();
    void equal_content_has_equal_keys();
    void many_threads_read_at_once();
};

void TraceEncodings::every_encoding_gives_the_same_values_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("type");
    for (const auto& [file, type] : expected()["opened"].items())
        QTest::newRow(file.c_str()) << QString::fromStdString(file) << QString::fromStdString(type);
}

void TraceEncodings::every_encoding_gives_the_same_values()
{
    QFETCH(QString, file);
    QFETCH(QString, type);
    const auto trace = open_trace(data(file.toStdString() + ".h5"));
    QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
    const ProbeSet& probes = (*trace)->probes;
    QCOMPARE((*trace)->tokens.ids, expected()["ids"].get<std::vector<std::int32_t>>());
    QCOMPARE(probes.positions, expected()["positions"].get<std::vector<std::int64_t>>());
    QCOMPARE(probes.kind, ProbeSet::Kind::Full);
    QCOMPARE(probes.n_vocab, 64);
    QCOMPARE(QString(name_of(probes.rows->type())), type);
    QVERIFY(rows_are(*probes.rows, type.toStdString()));
    QCOMPARE((*trace)->run_name, file.toStdString());
    if (!expected()["found"].contains(file.toStdString()))
        QVERIFY2((*trace)->findings.empty(), (*trace)->findings.empty() ? "" : (*trace)->findings[0].text.c_str());
}

void TraceEncodings::single_rows_equal_blocks_of_rows()
{
    for (const auto& [file, type] : expected()["opened"].items()) {
        const auto trace = open_trace(data(file + ".h5"));
        QVERIFY(trace);
        const RowSource& rows = *(*trace)->probes.rows;
        const auto bytes = static_cast<std::size_t>(rows.row_bytes());
        std::vector<std::byte> all(5 * bytes), some(3 * bytes);
        QVERIFY(rows.read(0, 5, all));
        for (std::int64_t first : {4, 0, 2}) // backwards too: the cache must not mind
            for (std::int64_t n = 1; first + n <= 5 && n <= 3; ++n) {
                QVERIFY(rows.read(first, n, some));
                QVERIFY(std::equal(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n * rows.row_bytes()),
                                   all.begin() + static_cast<std::ptrdiff_t>(first * rows.row_bytes())));
            }
    }
}

void TraceEncodings::case_56_bfloat16_encodings()
{
    int seen = 0;
    for (const auto& [file, type] : expected()["opened"].items()) {
        if (type != "bfloat16")
            continue;
        const auto trace = open_trace(data(file + ".h5"));
        QVERIFY(trace);
        QCOMPARE((*trace)->probes.rows->type(), LogitType::BF16);
        QVERIFY2(rows_are(*(*trace)->probes.rows, "bfloat16"), file.c_str());
        ++seen;
    }
    QVERIFY(seen >= 8);
}

void TraceEncodings::case_56_implausible_values_are_warned_about()
{
    const auto misread = open_trace(data("implausible.h5"));
    QVERIFY(misread);
    const Finding* f = finding(**misread, "implausible-values");
    QVERIFY(f != nullptr);
    QCOMPARE(f->level, Finding::Level::Warning);
    const auto masked = open_trace(data("masked.h5"));
    QVERIFY(masked);
    QVERIFY(finding(**masked, "implausible-values") == nullptr);
}

void TraceEncodings::refusals_name_the_reason_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("part");
    for (const auto& [file, parts] : expected()["refused"].items())
        for (const auto& part : parts)
            QTest::newRow(file.c_str()) << QString::fromStdString(file)
                                        << QString::fromStdString(part.get<std::string>());
}

void TraceEncodings::refusals_name_the_reason()
{
    QFETCH(QString, file);
    QFETCH(QString, part);
    const auto trace = open_trace(data(file.toStdString() + ".h5"));
    QVERIFY(!trace);
    const std::string& text = trace.error().message;
    QVERIFY2(contains(text, part.toStdString()), text.c_str());
    QVERIFY2(contains(text, file.toStdString() + ".h5"), text.c_str());
    QVERIFY2(is_one_sentence(text), text.c_str());
}

void TraceEncodings::findings_name_what_is_odd_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("part");
    for (const auto& [file, found] : expected()["found"].items())
        QTest::newRow(file.c_str()) << QString::fromStdString(file)
                                    << QString::fromStdString(found[0].get<std::string>())
                                    << QString::fromStdString(found[1].get<std::string>());
}

void TraceEncodings::findings_name_what_is_odd()
{
    QFETCH(QString, file);
    QFETCH(QString, code);
    QFETCH(QString, part);
    const auto trace = open_trace(data(file.toStdString() + ".h5"));
    QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
    const Finding* f = finding(**trace, code.toStdString());
    QVERIFY(f != nullptr);
    QVERIFY2(contains(f->text, part.toStdString()), f->text.c_str());
    QVERIFY2(is_one_sentence(f->text), f->text.c_str());
}

void TraceEncodings::case_61_missing_filter_leaves_the_rest()
{
    const auto trace = open_trace(data("filter-blosc.h5"));
    QVERIFY(trace);
    QCOMPARE((*trace)->packages, std::vector<std::string>{"torch==2.11"});
    QCOMPARE((*trace)->probes.size(), 5);
    QCOMPARE((*trace)->probes.n_vocab, 64);
    const RowSource& rows = *(*trace)->probes.rows;
    std::vector<std::byte> row(static_cast<std::size_t>(rows.row_bytes()));
    const auto read = rows.read(0, 1, row);
    QVERIFY(!read);
    QCOMPARE(read.error().kind, ErrorKind::Unsupported);
    for (const char* part : {"32001 (blosc)", "/nowhere/plugins", "HDF5_PLUGIN_PATH", "GZIP"})
        QVERIFY2(contains(read.error().message, part), read.error().message.c_str());
    QVERIFY(is_one_sentence(read.error().message));
    QVERIFY(finding(**trace, "implausible-values") == nullptr);
}

void TraceEncodings::case_63_one_chunk_is_unpacked_once()
{
    // 128 rows in one compressed chunk: made here, since it is large.
    QTemporaryDir folder;
    const auto path = std::filesystem::path(folder.path().toStdString()) / "one-chunk.h5";
    constexpr std::size_t n_rows = 128, n_columns = 32768;
    std::vector<std::uint16_t> values(n_rows * n_columns);
    std::uint32_t state = 1;
    for (auto& v : values)
        v = static_cast<std::uint16_t>(0x3c00 + ((state = state * 1664525 + 1013904223) >> 24));
    {
        const QString script = QStringLiteral("import h5py,sys,numpy as np\n"
                                              "x=np.fromfile(sys.argv[1],'<f2').reshape(128,-1)\n"
                                              "f=h5py.File(sys.argv[2],'w')\n"
                                              "f.attrs['format']='flipscope-trace';f.attrs['format_version']=1\n"
                                              "f['tokens/ids']=np.arange(200,dtype='i4')\n"
                                              "f['probes/positions']=np.arange(128)\n"
                                              "f.create_dataset('probes/logits',data=x,chunks=x.shape,"
                                              "compression='gzip',compression_opts=1)\n");
        const auto raw = path.string() + ".raw";
        std::ofstream(raw, std::ios::binary)
            .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * 2));
        QProcess python;
        python.start("python3", {"-c", script, QString::fromStdString(raw), QString::fromStdString(path.string())});
        if (!python.waitForFinished(120000) || python.exitCode() != 0)
            QSKIP("needs python3 with h5py");
    }
    const auto trace = open_trace(path);
    QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
    QVERIFY(finding(**trace, "slow-chunks") != nullptr);
    const RowSource& rows = *(*trace)->probes.rows;
    std::vector<std::byte> row(n_columns * 2);
    // Opening looks at the first row, and so unpacks the chunk once.
    QElapsedTimer timer;
    timer.start();
    QVERIFY(open_trace(path));
    const qint64 once = timer.nsecsElapsed();
    timer.restart();
    for (std::size_t i = 0; i < n_rows; ++i) {
        QVERIFY(rows.read(static_cast<std::int64_t>(i), 1, row));
        QVERIFY(std::memcmp(row.data(), &values[i * n_columns], row.size()) == 0);
    }
    QVERIFY2(timer.nsecsElapsed() < 20 * once, "each row seems to unpack the chunk again");
}

void TraceEncodings::chunk_that_unpacks_short_is_an_error()
{
    const auto trace = open_trace(data("short-chunk.h5"));
    QVERIFY(trace);
    const RowSource& rows = *(*trace)->probes.rows;
    std::vector<std::byte> row(static_cast<std::size_t>(rows.row_bytes()));
    QVERIFY(rows.read(1, 1, row));
    const auto read = rows.read(2, 1, row);
    QVERIFY(!read);
    QVERIFY2(contains(read.error().message, "chunk 3 of 5 does not unpack to the 128 bytes"),
             read.error().message.c_str());
    QVERIFY(is_one_sentence(read.error().message));
    QVERIFY(rows.read(3, 1, row)); // the others are unharmed
}

void TraceEncodings::newest_layout_is_explained()
{
    // HDF5 2.0 writes compressed datasets of libver="latest" in a layout that older libraries do not know.
    const auto trace = open_trace(data("layout-5.h5"));
    if (trace)
        QVERIFY(rows_are(*(*trace)->probes.rows, "float16"));
    else
        QVERIFY2(contains(trace.error().message, "libver=(\"earliest\", \"v110\")"), trace.error().message.c_str());
}

void TraceEncodings::rows_of_a_stopped_capture()
{
    const auto ahead = open_trace(data("rows-ahead.h5"));
    QVERIFY(ahead);
    QCOMPARE((*ahead)->probes.positions, (std::vector<std::int64_t>{3, 7, 8}));
    QCOMPARE((*ahead)->probes.lse, (std::vector<double>{0, 1, 2}));
    QCOMPARE((*ahead)->probes.rows->rows(), 3);

    const auto holes = open_trace(data("rows-unwritten.h5"));
    QVERIFY(holes);
    QCOMPARE((*holes)->probes.positions, (std::vector<std::int64_t>{3, 7, 21}));
    const auto values = all_values(*(*holes)->probes.rows);
    const auto& wanted = expected()["rows"]["float16"];
    QCOMPARE(values.size(), 3u * 64);
    for (std::size_t i = 0; i < 64; ++i) {
        QVERIFY(same(values[i], number(wanted[0][i])));
        QVERIFY(same(values[64 + i], number(wanted[1][i])));
        QVERIFY(same(values[128 + i], number(wanted[3][i]))); // the hole at row 2 does not shift it
    }
}

void TraceEncodings::reads_outside_are_refused()
{
    for (const char* file : {"f16.h5", "f16-one-chunk-gzip.h5", "f16-compact.h5"}) {
        const auto trace = open_trace(data(file));
        QVERIFY(trace);
        const RowSource& rows = *(*trace)->probes.rows;
        std::vector<std::byte> out(static_cast<std::size_t>(2 * rows.row_bytes()));
        QVERIFY(!rows.read(-1, 1, out));
        QVERIFY(!rows.read(4, 2, out));
        QVERIFY(!rows.read(5, 1, out));
        QVERIFY(!rows.read(0, 3, out)); // no room
        QVERIFY(rows.read(5, 0, out));
    }
}

void TraceEncodings::equal_content_has_equal_keys()
{
    const auto key = [](const char* file) { return (*open_trace(data(file)))->content_key; };
    QCOMPARE(key("f32.h5"), key("f32-bigendian.h5"));
    QVERIFY(key("f32.h5") != key("f16.h5"));              // the type of the rows counts
    QVERIFY(key("f32.h5") != key("wrong-attributes.h5")); // so does an attribute
    QVERIFY(key("f16.h5") != key("rows-unwritten.h5"));   // and the positions
    QCOMPARE(key("f16.h5").size(), 32u);
}

void TraceEncodings::many_threads_read_at_once()
{
    for (const char* file : {"f16.h5", "f16-one-chunk-gzip.h5", "f16-odd-chunks.h5", "f16-compact.h5"}) {
        const auto trace = open_trace(data(file));
        QVERIFY(trace);
        std::atomic<int> wrong = 0;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                for (int i = 0; i < 20; ++i) {
                    wrong += rows_are(*(*trace)->probes.rows, "float16") ? 0 : 1;
                    const auto other = open_trace(data("everything.h5"));
                    wrong += other && (*other)->spans.size() == 3 ? 0 : 1;
                }
            });
        for (auto& thread : threads)
            thread.join();
        QCOMPARE(wrong.load(), 0);
    }
}

int main(int argc, char** argv)
{
    // Before the library starts: no plug-in of this machine may unpack the files that test a missing one.
    qputenv("HDF5_PLUGIN_PATH", "/nowhere/plugins");
    QCoreApplication app(argc, argv);
    TraceEncodings test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_trace_encodings.moc"
