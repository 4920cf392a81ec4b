// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Files larger than 4 GiB, with holes where nothing is: every offset takes 64 bits, and memory stays small.
#include "format_files.h"

#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

using namespace flipscope;
using namespace format_files;

namespace {

/// A file that is mostly holes.
class Sparse {
public:
    explicit Sparse(const std::filesystem::path& path) : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600)) {}
    Sparse(const Sparse&) = delete;
    Sparse& operator=(const Sparse&) = delete;
    ~Sparse() { ::close(fd_); }
    bool put(std::uint64_t offset, const std::string& bytes)
    {
        return ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
               static_cast<ssize_t>(bytes.size());
    }
    bool resize(std::uint64_t size) { return ::ftruncate(fd_, static_cast<off_t>(size)) == 0; }

private:
    int fd_;
};

template <class T>
std::string raw(T value)
{
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

std::string npy_header(const std::string& type, std::uint64_t rows, std::uint64_t columns)
{
    std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                       std::to_string(columns) + "), }";
    text += std::string(127 - 10 - text.size(), ' ') + "\n"; // 128 bytes in all
    return std::string("\x93NUMPY\x01\x00", 8) + raw(static_cast<std::uint16_t>(text.size())) + text;
}

double value_at(const Trace& trace, std::int64_t row, std::int64_t column)
{
    std::vector<std::byte> bytes(static_cast<std::size_t>(trace.probes.rows->row_bytes()));
    if (const auto ok = trace.probes.rows->read(row, 1, bytes); !ok) {
        qWarning("%s", ok.error().message.c_str());
        return 0;
    }
    return widen(bytes.data(), trace.probes.rows->type(), static_cast<std::size_t>(column));
}

/// The most memory this process ever had.
std::int64_t peak_bytes()
{
    struct rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * std::int64_t{1024};
}

} // namespace

class TestLargeFiles : public QObject {
    Q_OBJECT
private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_path = std::filesystem::path(m_folder->path().toStdString()) / "large";
        Sparse probe(m_path);
        if (!probe.resize(std::uint64_t{9} << 30))
            QSKIP("This file system takes no file of 9 GiB.");
    }

    void case_68_a_base_file_beyond_4_gib()
    {
        // 40 chunks of 512 with a vocabulary of 248,320: 10,200 rows of 496,648 bytes, 5.1 GB.
        constexpr std::uint64_t v = 248320, row_bytes = 2 * v + 8, rows_at = 20 + 4 * 512 * 40, rows = 40 * 255;
        Sparse file(m_path);
        QVERIFY(file.put(0, "_logits_" + raw<std::int32_t>(512) + raw<std::int32_t>(v) + raw<std::int32_t>(40)));
        // Flat rows (scale 0) say ln(1/V) for every id. Those in the holes do not sum to 1, but only some are checked.
        const float flat = -std::log(static_cast<float>(v));
        for (const std::uint64_t i : {std::uint64_t{0}, std::uint64_t{1}, rows / 2, rows - 1})
            QVERIFY(file.put(rows_at + i * row_bytes, raw(0.0F) + raw(flat)));
        // The last row but one has something to find.
        const std::uint64_t at = rows_at + (rows - 2) * row_bytes;
        QVERIFY(file.put(at, raw(16.0F / 65535) + raw(-28.4F)) &&
                file.put(at + 8 + 2 * 200'000, raw<std::uint16_t>(65535)));
        QVERIFY(file.resize(rows_at + rows * row_bytes));
        const auto trace = open_trace(m_path);
        QVERIFY2(trace.has_value(), trace ? "" : trace.error().message.c_str());
        QCOMPARE((*trace)->probes.size(), 10200);
        QCOMPARE(static_cast<float>(value_at(**trace, rows - 2, 200'000)), -28.4F + 16.0F);
        QCOMPARE(static_cast<float>(value_at(**trace, rows - 2, 199'999)), -28.4F);
        QCOMPARE(static_cast<float>(value_at(**trace, rows - 1, 0)), flat);
        QVERIFY(peak_bytes() < std::int64_t{1} << 30);
    }
    void an_array_of_more_than_2_to_the_31_elements()
    {
        // 10,000 × 248,320 in float16: 2.48e9 elements, 4.97 GB.
        constexpr std::uint64_t v = 248320, rows = 10000;
        Sparse file(m_path);
        QVERIFY(file.put(0, npy_header("<f2", rows, v)) && file.resize(128 + rows * v * 2));
        QVERIFY(file.put(128 + (9999 * v + 248'319) * 2, raw<std::uint16_t>(0x3c00))); // 1.0
        const auto trace = open_trace(m_path);
        QVERIFY2(trace.has_value(), trace ? "" : trace.error().message.c_str());
        QCOMPARE((*trace)->probes.size(), 10000);
        QCOMPARE(value_at(**trace, 9999, 248'319), 1.0);
        QCOMPARE(value_at(**trace, 9999, 248'318), 0.0);
        QVERIFY(peak_bytes() < std::int64_t{1} << 30);
    }
    void a_member_of_an_archive_of_more_than_2_to_the_31_elements()
    {
        // The same as a stored member of a ZIP64 archive, as numpy.savez writes it.
        constexpr std::uint64_t v = 248320, rows = 10000, size = 128 + rows * v * 2;
        const std::string name = "logits.npy";
        const std::string sizes = raw(size) + raw(size);
        const std::string local = std::string("PK\x03\x04") + raw<std::uint16_t>(45) + raw<std::uint16_t>(0) +
                                  raw<std::uint16_t>(0) + raw<std::uint32_t>(0x00210000) + raw<std::uint32_t>(0) +
                                  raw<std::uint32_t>(~0u) + raw<std::uint32_t>(~0u) +
                                  raw(static_cast<std::uint16_t>(name.size())) + raw<std::uint16_t>(20) + name +
                                  raw<std::uint16_t>(1) + raw<std::uint16_t>(16) + sizes;
        const std::uint64_t directory_at = local.size() + size;
        const std::string directory =
            std::string("PK\x01\x02") + raw<std::uint16_t>(45) + raw<std::uint16_t>(45) + raw<std::uint16_t>(0) +
            raw<std::uint16_t>(0) + raw<std::uint32_t>(0x00210000) + raw<std::uint32_t>(0) + raw<std::uint32_t>(~0u) +
            raw<std::uint32_t>(~0u) + raw(static_cast<std::uint16_t>(name.size())) + raw<std::uint16_t>(20) +
            raw<std::uint16_t>(0) + raw<std::uint16_t>(0) + raw<std::uint16_t>(0) + raw<std::uint32_t>(0) +
            raw<std::uint32_t>(0) + name + raw<std::uint16_t>(1) + raw<std::uint16_t>(16) + sizes;
        const std::string end64 = std::string("PK\x06\x06") + raw<std::uint64_t>(44) + raw<std::uint16_t>(45) +
                                  raw<std::uint16_t>(45) + raw<std::uint32_t>(0) + raw<std::uint32_t>(0) +
                                  raw<std::uint64_t>(1) + raw<std::uint64_t>(1) +
                                  raw(static_cast<std::uint64_t>(directory.size())) + raw(directory_at);
        const std::string locator = std::string("PK\x06\x07") + raw<std::uint32_t>(0) +
                                    raw(directory_at + directory.size()) + raw<std::uint32_t>(1);
        const std::string end = std::string("PK\x05\x06") + raw<std::uint16_t>(0) + raw<std::uint16_t>(0) +
                                raw<std::uint16_t>(1) + raw<std::uint16_t>(1) + raw<std::uint32_t>(~0u) +
                                raw<std::uint32_t>(~0u) + raw<std::uint16_t>(0);
        Sparse file(m_path);
        QVERIFY(file.put(0, local) && file.put(local.size(), npy_header("<f2", rows, v)));
        QVERIFY(file.put(local.size() + 128 + (9999 * v + 248'319) * 2, raw<std::uint16_t>(0x3c00)));
        QVERIFY(file.put(directory_at, directory + end64 + locator + end));
        const auto trace = open_trace(m_path);
        QVERIFY2(trace.has_value(), trace ? "" : trace.error().message.c_str());
        QCOMPARE((*trace)->probes.size(), 10000);
        QCOMPARE(value_at(**trace, 9999, 248'319), 1.0);
        QCOMPARE(value_at(**trace, 9999, 248'318), 0.0);
        QVERIFY(peak_bytes() < std::int64_t{1} << 30);
    }
    void a_tensor_beyond_4_gib()
    {
        constexpr std::uint64_t v = 248320, rows = 10000, size = rows * v * 2;
        const std::string header = "{\"logits\":{\"dtype\":\"BF16\",\"shape\":[" + std::to_string(rows) + "," +
                                   std::to_string(v) + "],\"data_offsets\":[0," + std::to_string(size) + "]}}";
        Sparse file(m_path);
        QVERIFY(file.put(0, raw(static_cast<std::uint64_t>(header.size())) + header));
        QVERIFY(file.put(8 + header.size() + (9999 * v + 5) * 2, raw<std::uint16_t>(0x3f80))); // 1.0
        QVERIFY(file.resize(8 + header.size() + size));
        const auto trace = open_trace(m_path);
        QVERIFY2(trace.has_value(), trace ? "" : trace.error().message.c_str());
        QCOMPARE(value_at(**trace, 9999, 5), 1.0);
        QCOMPARE(value_at(**trace, 9999, 6), 0.0);
    }
    void case_63_a_table_that_is_turned_over_is_read_once()
    {
        // Column-major: each element of a row lies elsewhere. 1,000 probes of 40,000 ids in float16, 80 MB.
        constexpr std::uint64_t v = 40000, rows = 1000;
        Sparse file(m_path);
        std::string header = npy_header("<f2", rows, v);
        header.replace(header.find("False"), 5, "True ");
        QVERIFY(file.put(0, header) && file.resize(128 + rows * v * 2));
        QVERIFY(file.put(128 + (39'999 * rows + 999) * 2, raw<std::uint16_t>(0x3c00)));
        QVERIFY(file.put(128 + (17 * rows + 234) * 2, raw<std::uint16_t>(0x4000)));
        QElapsedTimer timer;
        timer.start();
        const auto trace = open_trace(m_path);
        QVERIFY2(trace.has_value(), trace ? "" : trace.error().message.c_str());
        QCOMPARE(value_at(**trace, 999, 39'999), 1.0);
        QCOMPARE(value_at(**trace, 234, 17), 2.0);
        QCOMPARE(value_at(**trace, 234, 18), 0.0);
        for (std::int64_t r = 0; r < 1000; r += 9)
            QCOMPARE(value_at(**trace, r, 17), r == 234 ? 2.0 : 0.0);
        QVERIFY(peak_bytes() < std::int64_t{1} << 30);
        QVERIFY(timer.elapsed() < 60'000);
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path m_path;
};

QTEST_GUILESS_MAIN(TestLargeFiles)
#include "tst_large_files.moc"
