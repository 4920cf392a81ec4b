// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged files: cut at 200 places, and 2,000 with some bytes changed. Each is refused, or opened in part, in one
// sentence; nothing crashes and no call takes longer than two seconds. A trial in a process of its own costs 10 ms:
// only the cut files get one, the others are opened as the trial opens them.
#include "core/trace/chunk_unpack.h"
#include "core/trace/flipscope_reader.h"
#include "trace_files.h"

#include <csignal>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace flipscope;
using namespace trace_files;

namespace {

/// What the process that tries the files tells the one that watches it.
struct Report {
    int number = -1; ///< of the file being tried
    int opened = 0, refused = 0;
    double slowest = 0;
    char complaint[400] = {};
};

void complain(Report& report, const std::string& text)
{
    if (report.complaint[0] == 0)
        std::snprintf(report.complaint, sizeof report.complaint, "file %d: %s", report.number, text.c_str());
}

template <class Call>
auto timed(Report& report, Call call)
{
    QElapsedTimer timer;
    timer.start();
    auto result = call();
    const double seconds = 1e-9 * static_cast<double>(timer.nsecsElapsed());
    report.slowest = std::max(report.slowest, seconds);
    if (seconds > 2)
        complain(report, fmt::format("a call took {:.1f} s", seconds));
    return result;
}

void read_all(const ProbeSet& set, Report& report)
{
    const auto judge = [&](const Result<void>& read) {
        if (!read && !is_one_sentence(read.error().message))
            complain(report, "no sentence: " + read.error().message);
    };
    if (set.rows) {
        std::vector<std::byte> row(static_cast<std::size_t>(set.rows->row_bytes()));
        for (std::int64_t i = 0; i < set.rows->rows(); ++i)
            judge(timed(report, [&] { return set.rows->read(i, 1, row); }));
    }
    if (set.lists) {
        std::vector<std::int32_t> ids(static_cast<std::size_t>(set.lists->k()));
        std::vector<float> logprobs(ids.size());
        for (std::int64_t i = 0; i < set.lists->rows(); ++i)
            judge(timed(report, [&] { return set.lists->read(i, 1, ids, logprobs); }));
    }
}

/// What every trace that opens must keep, however damaged its file was.
void check_promises(const Trace& t, Report& report)
{
    const auto n = static_cast<std::int64_t>(t.tokens.ids.size());
    const auto check = [&](bool good, const char* what) {
        if (!good)
            complain(report, what);
    };
    check(t.tokens.text.empty() || t.tokens.text.size() == t.tokens.ids.size(), "texts and ids");
    for (const auto& span : t.spans)
        check(span.start >= 0 && span.start <= span.end && span.end <= n, "a span");
    std::vector<const ProbeSet*> sets = {&t.probes};
    for (const auto& set : t.dense)
        sets.push_back(&set);
    for (const ProbeSet* set : sets) {
        std::int64_t last = -1;
        for (const std::int64_t p : set->positions) {
            check(p > last && p < n, "positions");
            last = p;
        }
        check(!set->rows || set->rows->rows() == set->size(), "rows");
        check(!set->lists || set->lists->rows() == set->size(), "lists");
        check(set->top1.empty() || set->top1.size() == set->positions.size(), "top1");
        check(set->lse.empty() || set->lse.size() == set->positions.size(), "lse");
    }
    for (const auto& g : t.generations)
        check(g.prefix_tokens >= 0 && g.prefix_tokens <= n &&
                  g.top_ids.size() == g.ids.size() * static_cast<std::size_t>(g.top_ids.empty() ? 0 : g.k),
              "a continuation");
    for (const auto& f : t.findings)
        check(is_one_sentence(f.text), f.text.c_str());
}

Result<TracePtr> open_untried(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    std::string head(16, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    const auto reader = flipscope_reader();
    // Where it is no HDF5 file any more, there is no trial either.
    return reader.recognises(path, head) ? open_hdf5_here({path, path, *stamp_of(path)}, {}, {}) : open_trace(path);
}

enum class Opening { Tried, Untried };

void try_file(const std::filesystem::path& path, const std::string& content, Report& report, Opening opening)
{
    {
        std::ofstream out(path, std::ios::binary | std::ios::trunc);
        out.write(content.data(), static_cast<std::streamsize>(content.size()));
    }
    const auto trace = timed(report, [&] { return opening == Opening::Tried ? open_trace(path) : open_untried(path); });
    if (!trace) {
        ++report.refused;
        if (!is_one_sentence(trace.error().message))
            complain(report, "no sentence: " + trace.error().message);
        return;
    }
    ++report.opened;
    check_promises(**trace, report);
    read_all((*trace)->probes, report);
    for (const auto& set : (*trace)->dense)
        read_all(set, report);
}

void change_something(std::string& mutant, const std::string& whole, std::mt19937_64& random)
{
    const auto at = random() % mutant.size();
    const auto put = [&](std::string_view bytes) {
        for (std::size_t i = 0; i < bytes.size() && at + i < mutant.size(); ++i)
            mutant[at + i] = bytes[i];
    };
    switch (random() % 4) {
    case 0: // one bit
        mutant[at] = static_cast<char>(mutant[at] ^ (1 << random() % 8));
        break;
    case 1: // any byte
        mutant[at] = static_cast<char>(random());
        break;
    case 2: // extremes, where sizes and addresses stand
        put(random() % 2 != 0 ? std::string_view("\xff\xff\xff\x7f") : std::string_view("\0\0\0\0", 4));
        break;
    default: // a piece from elsewhere
        put(std::string_view(whole).substr(random() % (whole.size() - 8), 8));
    }
}

std::string content_of(const char* name)
{
    std::ifstream in(data(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

class TraceDamage : public QObject {
    Q_OBJECT
private slots:
    void cut_at_200_places_data();
    void cut_at_200_places();
    void mutants_data();
    void mutants();
    void shuffled_elements_of_any_size();

private:
    /// Runs file(number) through try_file for numbers [begin, end) in a process of its own, so that a crash or a hang
    /// is one file's and has its number.
    template <class Make>
    void try_many(int begin, int end, Opening opening, Make make);
    QTemporaryDir folder_;
    int opened_ = 0, refused_ = 0;
};

template <class Make>
void TraceDamage::try_many(int begin, int end, Opening opening, Make make)
{
    auto* report = static_cast<Report*>(
        ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    QVERIFY(report != MAP_FAILED);
    new (report) Report;
    const auto path = std::filesystem::path(folder_.path().toStdString()) / "damaged.h5";
    const pid_t child = ::fork();
    QVERIFY(child >= 0);
    if (child == 0) {
        for (int i = begin; i < end; ++i) {
            report->number = i;
            ::alarm(30); // for a hang; slowness is measured
            try_file(path, make(i), *report, opening);
        }
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    const Report result = *report;
    ::munmap(report, sizeof(Report));
    const bool alive = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!alive && path.parent_path() == std::filesystem::path(folder_.path().toStdString()))
        std::filesystem::copy_file(path, std::filesystem::temp_directory_path() / "flipscope-damaged.h5",
                                   std::filesystem::copy_options::overwrite_existing);
    QVERIFY2(alive, qPrintable(QString("file %1 ended the process (status %2); it is kept as flipscope-damaged.h5 in "
                                       "the temporary folder")
                                   .arg(result.number)
                                   .arg(status)));
    QVERIFY2(result.complaint[0] == 0, result.complaint);
    opened_ += result.opened;
    refused_ += result.refused;
}

void TraceDamage::cut_at_200_places_data()
{
    QTest::addColumn<QString>("file");
    for (const char* file : {"mutant-old.h5", "mutant-new.h5"})
        QTest::newRow(file) << file;
}

void TraceDamage::cut_at_200_places()
{
    QFETCH(QString, file);
    const std::string whole = content_of(qPrintable(file));
    QVERIFY(whole.size() > 200);
    opened_ = refused_ = 0;
    try_many(0, 200, Opening::Tried,
             [&](int i) { return whole.substr(0, whole.size() * static_cast<std::size_t>(i) / 200); });
    QCOMPARE(opened_ + refused_, 200);
    qInfo("%d opened in part, %d refused", opened_, refused_);
}

void TraceDamage::mutants_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("begin");
    for (int begin = 0; begin < 1000; begin += 100)
        for (const char* file : {"mutant-old.h5", "mutant-new.h5"})
            QTest::addRow("%s from %d", file, begin) << file << begin;
}

void TraceDamage::mutants()
{
    QFETCH(QString, file);
    QFETCH(int, begin);
    const std::string whole = content_of(qPrintable(file));
    opened_ = refused_ = 0;
    try_many(begin, begin + 100, Opening::Untried, [&](int i) {
        // A generator per file: mutant 734 is the same whether 733 was made or not.
        std::mt19937_64 random(20261130u + static_cast<unsigned>(i));
        std::string mutant = whole;
        const auto changes = 1 + random() % 4;
        for (unsigned c = 0; c < changes; ++c)
            change_something(mutant, whole, random);
        return mutant;
    });
    QCOMPARE(opened_ + refused_, 100);
}

void TraceDamage::shuffled_elements_of_any_size()
{
    // The size of the elements stands in the file. HDF5 leaves a chunk of fewer than two elements as it is.
    std::vector<std::byte> chunk;
    for (int i = 0; i < 6; ++i)
        chunk.push_back(static_cast<std::byte>(i));
    Report report;
    for (const unsigned size : {4u, 6u, 7u, 0xffffffffu}) {
        const auto unpacked = timed(report, [&] {
            return h5::unpack_chunk(chunk, {{H5Z_FILTER_SHUFFLE, "shuffle", size}}, 0, 2, 6);
        });
        QVERIFY(unpacked);
        QCOMPARE(*unpacked, chunk);
    }
    QCOMPARE(std::string(report.complaint), std::string());
    const auto halves = h5::unpack_chunk(chunk, {{H5Z_FILTER_SHUFFLE, "shuffle", 2}}, 0, 2, 6);
    QVERIFY(halves);
    const int wanted[] = {0, 3, 1, 4, 2, 5};
    for (std::size_t i = 0; i < 6; ++i)
        QCOMPARE(static_cast<int>((*halves)[i]), wanted[i]);
}

QTEST_GUILESS_MAIN(TraceDamage)
#include "tst_trace_damage.moc"
