// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Files that somebody else writes while they are read: locks, live captures, killed writers, rewritten files.
#include "trace_files.h"

#include <hdf5.h>
#include <sys/file.h>

using namespace flipscope;
using namespace trace_files;

class TraceWriters : public QObject {
    Q_OBJECT
private slots:
    void init();
    void case_59_locked_file_is_opened_without_a_lock();
    void case_59_reading_leaves_no_lock();
    void case_60_live_capture_is_followed();
    void case_60_killed_writer_data();
    void case_60_killed_writer();
    void rewritten_file_is_seen_by_the_next_opening();
    void file_cut_under_an_open_trace();

private:
    std::filesystem::path copy_of(const char* name) const;
    QTemporaryDir folder_;
};

namespace {

/// A capture in progress, by HDF5's own means: rows appended one by one to a file that readers may follow.
class Capture {
public:
    explicit Capture(const std::filesystem::path& path)
    {
        const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
        file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
        H5Pclose(access);
        const hid_t text = H5Tcopy(H5T_C_S1), scalar = H5Screate(H5S_SCALAR);
        H5Tset_size(text, 15);
        attribute("format", text, "flipscope-trace", scalar);
        const int version = 1;
        attribute("format_version", H5T_NATIVE_INT, &version, scalar);
        group("tokens");
        group("probes");
        std::vector<std::int32_t> ids(100, 7);
        const hid_t d = dataset("/tokens/ids", H5T_NATIVE_INT, {100}, {100}, {100});
        H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, ids.data());
        H5Dclose(d);
        positions_ = dataset("/probes/positions", H5T_NATIVE_INT64, {0}, {H5S_UNLIMITED}, {16});
        logits_ = dataset("/probes/logits", H5T_NATIVE_FLOAT, {0, 8}, {H5S_UNLIMITED, 8}, {1, 8});
        H5Tclose(text);
        H5Sclose(scalar);
    }
    ~Capture()
    {
        H5Dclose(positions_);
        H5Dclose(logits_);
        H5Fclose(file_);
    }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    bool let_readers_in() { return H5Fstart_swmr_write(file_) >= 0; }

    void append(std::int64_t position, bool with_position = true)
    {
        const std::vector<float> row(8, static_cast<float>(position));
        append_to(logits_, H5T_NATIVE_FLOAT, {1, 8}, n_rows_++, row.data());
        if (with_position)
            append_to(positions_, H5T_NATIVE_INT64, {1}, n_positions_++, &position);
    }

private:
    void attribute(const char* name, hid_t type, const void* value, hid_t space) const
    {
        const hid_t a = H5Acreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(a, type, value);
        H5Aclose(a);
    }
    void group(const char* name) const { H5Gclose(H5Gcreate2(file_, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)); }
    hid_t dataset(const char* name, hid_t type, std::vector<hsize_t> dims, std::vector<hsize_t> most,
                  std::vector<hsize_t> chunk) const
    {
        const int rank = static_cast<int>(dims.size());
        const hid_t space = H5Screate_simple(rank, dims.data(), most.data()), plist = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(plist, rank, chunk.data());
        const hid_t d = H5Dcreate2(file_, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
        H5Sclose(space);
        H5Pclose(plist);
        return d;
    }
    static void append_to(hid_t d, hid_t type, std::vector<hsize_t> count, hsize_t at, const void* value)
    {
        auto dims = count;
        dims[0] = at + 1;
        H5Dset_extent(d, dims.data());
        std::vector<hsize_t> start(count.size(), 0);
        start[0] = at;
        const hid_t space = H5Dget_space(d);
        const hid_t memory = H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
        H5Dwrite(d, type, memory, space, H5P_DEFAULT, value);
        H5Sclose(space);
        H5Sclose(memory);
        H5Dflush(d);
    }

    hid_t file_ = -1, positions_ = -1, logits_ = -1;
    hsize_t n_rows_ = 0, n_positions_ = 0;
};

} // namespace

void TraceWriters::init()
{
    QVERIFY(folder_.isValid());
}

std::filesystem::path TraceWriters::copy_of(const char* name) const
{
    const auto path = std::filesystem::path(folder_.path().toStdString()) / name;
    std::filesystem::copy_file(data(name), path, std::filesystem::copy_options::overwrite_existing);
    return path;
}

void TraceWriters::case_59_locked_file_is_opened_without_a_lock()
{
    const auto path = copy_of("f16.h5");
    const int fd = ::open(path.c_str(), O_RDWR);
    QCOMPARE(::flock(fd, LOCK_EX | LOCK_NB), 0);
    const auto trace = open_trace(path);
    QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
    QVERIFY(rows_are(*(*trace)->probes.rows, "float16"));
    const Finding* f = finding(**trace, "locked");
    QVERIFY(f != nullptr);
    QVERIFY(is_one_sentence(f->text));
    ::close(fd);
    const auto later = open_trace(path);
    QVERIFY(later);
    QVERIFY(finding(**later, "locked") == nullptr);
}

void TraceWriters::case_59_reading_leaves_no_lock()
{
    const auto path = copy_of("f16.h5");
    const auto trace = open_trace(path);
    QVERIFY(trace);
    const int fd = ::open(path.c_str(), O_RDWR);
    QCOMPARE(::flock(fd, LOCK_EX | LOCK_NB), 0);
    ::close(fd);
    QVERIFY(rows_are(*(*trace)->probes.rows, "float16"));
}

void TraceWriters::case_60_live_capture_is_followed()
{
    const auto path = std::filesystem::path(folder_.path().toStdString()) / "live.h5";
    TracePtr early;
    {
        Capture capture(path);
        QVERIFY(capture.let_readers_in());
        capture.append(10);
        capture.append(20);
        capture.append(30, false); // the row is there, its position not yet
        const auto trace = open_trace(path);
        QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
        early = *trace;
        QVERIFY(finding(*early, "being-written") != nullptr);
        QVERIFY(contains(finding(*early, "being-written")->text, "h5clear -s"));
        QCOMPARE(early->probes.positions, (std::vector<std::int64_t>{10, 20}));
        QCOMPARE(all_values(*early->probes.rows)[8], 20.0);

        Capture other(path.string() + ".2"); // nothing of the one shows in the other
        capture.append(40);
        // Reloading grows, though the first opening is still in use. The third row got the fourth's position.
        const auto again = open_trace(path);
        QVERIFY(again);
        QCOMPARE((*again)->probes.size(), 3);
        QCOMPARE((*again)->probes.rows->rows(), 3);
        QCOMPARE(all_values(*early->probes.rows).size(), 16u);
    }
    const auto done = open_trace(path);
    QVERIFY(done);
    QVERIFY(finding(**done, "being-written") == nullptr);
    QVERIFY(finding(**done, "writer-gone") == nullptr);
    QCOMPARE(all_values(*early->probes.rows)[8], 20.0); // a trace that is open stays as it was
}

void TraceWriters::case_60_killed_writer_data()
{
    QTest::addColumn<QString>("file");
    QTest::newRow("of a live capture") << "killed-swmr.h5";
    QTest::newRow("without readers") << "killed-latest.h5";
}

void TraceWriters::case_60_killed_writer()
{
    QFETCH(QString, file);
    const auto path = copy_of(file.toStdString().c_str());
    const auto before = QFileInfo(QString::fromStdString(path.string())).size();
    // Long untouched, as a file whose writer is gone.
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(30) -
                                               std::chrono::minutes(1)); // not on the border of 29 and 30
    const auto trace = open_trace(path);
    QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
    const Finding* f = finding(**trace, "writer-gone");
    QVERIFY(f != nullptr);
    for (const char* part : {"h5clear -s", "30 hours", "killed"})
        QVERIFY2(contains(f->text, part), f->text.c_str());
    QCOMPARE((*trace)->probes.positions, (std::vector<std::int64_t>{3, 7, 8}));
    const auto values = all_values(*(*trace)->probes.rows);
    for (std::size_t i = 0; i < 64; ++i)
        QVERIFY(same(values[128 + i], number(expected()["rows"]["float16"][2][i])));
    QCOMPARE(QFileInfo(QString::fromStdString(path.string())).size(), before);
}

void TraceWriters::rewritten_file_is_seen_by_the_next_opening()
{
    const auto path = copy_of("f16.h5");
    const auto old = open_trace(path);
    QVERIFY(old);
    { // in place: the same inode, other content
        std::ifstream in(data("f64.h5"), std::ios::binary);
        std::ofstream out(path, std::ios::binary | std::ios::trunc);
        out << in.rdbuf();
    }
    const auto fresh = open_trace(path); // while the old one is alive
    QVERIFY2(fresh, fresh ? "" : fresh.error().message.c_str());
    QCOMPARE((*fresh)->probes.rows->type(), LogitType::F64);
    QVERIFY(rows_are(*(*fresh)->probes.rows, "float64"));
    QVERIFY((*fresh)->stamp != (*old)->stamp);
}

void TraceWriters::file_cut_under_an_open_trace()
{
    const auto path = copy_of("f16.h5");
    const auto trace = open_trace(path);
    QVERIFY(trace);
    std::filesystem::resize_file(path, 1000);
    const RowSource& rows = *(*trace)->probes.rows;
    std::vector<std::byte> row(static_cast<std::size_t>(rows.row_bytes()));
    const auto read = rows.read(4, 1, row);
    QVERIFY(!read);
    QVERIFY2(is_one_sentence(read.error().message), read.error().message.c_str());
}

QTEST_GUILESS_MAIN(TraceWriters)
#include "tst_trace_writers.moc"
