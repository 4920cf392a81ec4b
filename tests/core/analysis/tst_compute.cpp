// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/analysis.h"
#include "core/analysis/cache.h"
#include "core/analysis/compute.h"
#include "core/trace/open.h"
#include "core/trace/writer.h"
#include "tests/core/analysis/made_traces.h"

#include <QTemporaryDir>
#include <QtTest>

#include <functional>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace flipscope;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

TracePtr trace_of(const char* name, const std::vector<std::vector<float>>& rows)
{
    std::vector<std::int64_t> positions;
    for (std::size_t i = 0; i < rows.size(); ++i)
        positions.push_back(static_cast<std::int64_t>(i) * 10);
    auto t = std::make_shared<Trace>(made::trace(name, made::ids(rows.size() * 10 + 1), positions));
    made::set_rows(t->probes, rows);
    return t;
}

/// Fails like a GPU that is lost on its second block.
class LostGpu final : public Engine {
public:
    std::string_view name() const override { return "cuda"; }
    std::string detail() const override { return "made for a test"; }
    Result<void> compute(const PairBlock& block, std::span<ProbeMetrics> out, std::stop_token stop) override
    {
        if (++blocks > 1)
            return fail(ErrorKind::Device, "The GPU was lost.");
        return cpu->compute(block, out, stop);
    }
    int blocks = 0;
    std::unique_ptr<Engine> cpu = make_cpu_engine(1);
};

/// A pair of files on disk, old enough to be trusted.
struct Pair {
    QTemporaryDir folder;
    std::string p, q;

    explicit Pair(int changed_bits = 0)
    {
        p = folder.filePath("p.h5").toStdString();
        q = folder.filePath("q.h5").toStdString();
        const std::vector<std::vector<float>> rows(5, {1.f, 2.f, 3.f, 0.5f});
        auto other = rows;
        if (changed_bits)
            other[3][1] = std::nextafter(2.f, 3.f);
        write(p, rows);
        write(q, other);
    }
    static void write(const std::string& path, const std::vector<std::vector<float>>& rows)
    {
        const auto written = write_trace(path, *trace_of("made", rows));
        if (!written)
            qFatal("%s", written.error().message.c_str());
        age(path);
    }
    static void age(const std::string& path)
    {
        std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    }
    TracePtr open(const std::string& path) const
    {
        auto trace = open_trace(path);
        if (!trace)
            qFatal("%s", trace.error().message.c_str());
        return *trace;
    }
};

} // namespace

class TestCompute : public QObject {
    Q_OBJECT
    QTemporaryDir cache_;
    std::unique_ptr<Engine> cpu_ = make_cpu_engine(1);
private slots:
    void init()
    {
        qputenv("XDG_CACHE_HOME", cache_.path().toUtf8());
        qunsetenv("FLIPSCOPE_NO_CACHE");
    }
    void case_53_asymmetric_pair_by_hand()
    {
        // P = (1/2, 1/4, 1/4), Q = (1/4, 1/4, 1/2): KL(P||Q) = KL(Q||P) = ln(2)/4, TV = 1/4.
        // P = (1/2, 1/2, 0+), Q = (1/4, 3/4, 0+): KL(P||Q) = ln(2)/2 + ln(2/3)/2, KL(Q||P) = ln(1/2)/4 + 3 ln(3/2)/4.
        const float a = std::log(2.f);
        const auto table = compute_table(trace_of("p", {{a, 0, 0}, {0, 0, -inf}}),
                                         trace_of("q", {{0, 0, a}, {0, std::log(3.f), -inf}}), *cpu_);
        QVERIFY(table.has_value());
        const auto& m = (*table)->probes;
        const double ln2 = std::log(2.0);
        QVERIFY(std::fabs(m[0].kl_pq - ln2 / 4) < 1e-7);
        QVERIFY(std::fabs(m[0].tv - 0.25) < 1e-7);
        QVERIFY(m[0].flip && m[0].argmax_p == 0 && m[0].argmax_q == 2);
        QVERIFY(std::fabs(m[1].kl_pq - (ln2 / 2 + std::log(2.0 / 3) / 2)) < 1e-7);
        QVERIFY(std::fabs(m[1].kl_qp - (-ln2 / 4 + 0.75 * std::log(1.5))) < 1e-7);
        QVERIFY(m[1].tied && m[1].flip); // P's tie goes to the lowest id
        QCOMPARE(m[1].position, 10);
    }
    void case_34_padding_is_measured_and_left_out_when_asked()
    {
        const auto logs = [](const std::vector<double>& p) {
            std::vector<float> row;
            for (const double x : p)
                row.push_back(static_cast<float>(std::log(x)));
            return row;
        };
        const std::vector<float> p = logs({.4, .2, .2, .1, .06, .04}), q = logs({.25, .25, .25, .25});
        std::vector<float> padded = q;
        padded.resize(6, -inf);
        // Over the four tokens, after renormalising P by .9; by hand.
        double kl = 0;
        for (const double x : {.4, .2, .2, .1})
            kl += x / .9 * std::log(x / .9 / .25);
        const auto text = [](const MetricsTable& table, std::string_view code) {
            for (const Finding& f : table.alignment.findings)
                if (f.code == code)
                    return f.text;
            return std::string();
        };
        // The candidate's rows are narrower: shared ids, and the mass in the rest.
        const auto narrow = compute_table(trace_of("p", {p, p}), trace_of("q", {q, q}), *cpu_);
        QVERIFY(narrow.has_value());
        QVERIFY(std::fabs((*narrow)->probes[0].kl_pq - kl) < 1e-6);
        QVERIFY(std::fabs((*narrow)->probes[0].outside_p - .1) < 1e-6);
        QCOMPARE((*narrow)->probes[0].outside_q, 0.0);
        QVERIFY(!text(**narrow, "padded-vocab").empty() && !text(**narrow, "outside-mass").empty());
        // Equal widths, no probability in one's padding: infinite, and it is said how to leave it out.
        const auto equal = compute_table(trace_of("p", {p, p}), trace_of("q", {padded, padded}), *cpu_);
        QVERIFY(equal.has_value());
        QVERIFY(std::isinf((*equal)->probes[0].kl_pq));
        QVERIFY(text(**equal, "infinite-kl").find("2 of 2 probes") != std::string::npos);
        QVERIFY(text(**equal, "infinite-kl").find("--vocab") != std::string::npos);
        // Left out.
        QTemporaryDir folder;
        const auto reopened = [&](const char* name, const std::vector<float>& row) {
            const std::string path = folder.filePath(name).toStdString();
            auto trace = std::make_shared<Trace>(*trace_of(name, {row, row}));
            trace->vocabulary = std::make_shared<Vocabulary>(Vocabulary{made::strings({"a", "b", "c", "d"}), {}});
            if (!write_trace(path, *trace))
                return TracePtr();
            OpenHints hints;
            hints.vocabulary = 4;
            const auto plain = open_trace(path), cut = open_trace(path, hints);
            const auto has = [](const Trace& t, std::string_view code) {
                return std::any_of(t.findings.begin(), t.findings.end(), [&](auto& f) { return f.code == code; });
            };
            if (!plain || !cut || !has(**plain, "padding") || has(**cut, "padding") || !has(**cut, "padding-left-out"))
                return TracePtr();
            return (*cut)->content_key != (*plain)->content_key ? *cut : TracePtr();
        };
        const TracePtr cut_p = reopened("p.h5", p), cut_q = reopened("q.h5", padded);
        QVERIFY(cut_p && cut_q);
        const auto cut = compute_table(cut_p, cut_q, *cpu_);
        QVERIFY2(cut, cut ? "" : cut.error().message.c_str());
        QCOMPARE((*cut)->alignment.vocab, 4);
        for (const auto& m : (*cut)->probes)
            QVERIFY(std::fabs(m.kl_pq - kl) < 1e-6);
        QVERIFY(text(**cut, "infinite-kl").empty());
    }
    void repeat_is_bit_identical_and_one_bit_is_found()
    {
        const std::vector<std::vector<float>> rows(7, {1.f, 2.f, 3.f});
        auto other = rows;
        const auto same = compute_table(trace_of("p", rows), trace_of("q", rows), *cpu_);
        QVERIFY(bit_identical(**same));
        for (const auto& m : (*same)->probes)
            QCOMPARE(m.kl_pq, 0.0);
        other[6][0] = std::nextafter(1.f, 2.f);
        const auto changed = compute_table(trace_of("p", rows), trace_of("q", other), *cpu_);
        QVERIFY(!bit_identical(**changed));
        QCOMPARE(differing_rows(**changed), 1);
        QVERIFY((*changed)->rows_hash != (*same)->rows_hash);
    }
    void case_55_nan_rows_leave_the_others_unharmed()
    {
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const auto table = compute_table(trace_of("p", {{0, 1}, {0, 1}, {0, 1}, {0, 1}}),
                                         trace_of("q", {{0, 1}, {nan, 1}, {-inf, -inf}, {-inf, 1}}), *cpu_);
        const auto run = analyze_table(trace_of("q", {{0}}), *table, 100, {30, 41});
        QCOMPARE(run.overall.n, 2);
        QCOMPARE(run.overall.n_invalid, 2);
        QCOMPARE(run.overall.kl_pq.n_infinite, 1);
        QCOMPARE(run.overall.kl_pq.mean, 0.0);
    }
    void padded_vocabulary_reports_the_mass_outside()
    {
        // Q puts e^ln2 / (1 + 1 + 2) = 1/2 on the id that P does not have.
        const auto table = compute_table(trace_of("p", {{0, 0}}), trace_of("q", {{0, 0, std::log(2.f)}}), *cpu_);
        const auto& m = (*table)->probes[0];
        QCOMPARE(m.kl_pq, 0.0);
        QCOMPARE(m.outside_p, 0.0);
        QVERIFY(std::fabs(m.outside_q - 0.5) < 1e-7);
        const Findings& findings = (*table)->alignment.findings;
        QVERIFY(
            std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.code == "outside-mass"; }));
    }
    void case_66_lost_gpu_leaves_the_rest_to_the_cpu()
    {
        std::vector<std::vector<float>> p, q;
        for (int i = 0; i < 100; ++i) {
            p.push_back({static_cast<float>(i % 7), 1, 2});
            q.push_back({static_cast<float>(i % 5), 1, 2});
        }
        LostGpu gpu;
        ComputeOptions options;
        options.threads = 3;
        const auto lost = compute_table(trace_of("p", p), trace_of("q", q), gpu, options);
        const auto whole = compute_table(trace_of("p", p), trace_of("q", q), *cpu_);
        QVERIFY(lost.has_value());
        QVERIFY(gpu.blocks == 2);
        QVERIFY((*lost)->notices.front().find("The GPU was lost.") != std::string::npos);
        QVERIFY((*lost)->engine_detail.find(", 3 threads") != std::string::npos); // as many as were asked for
        for (std::size_t i = 0; i < 100; ++i)
            QVERIFY(std::memcmp(&(*lost)->probes[i], &(*whole)->probes[i], sizeof(ProbeMetrics)) == 0);
    }
    void cancelled_at_once()
    {
        std::stop_source stop;
        stop.request_stop();
        Job job;
        job.stop = stop.get_token();
        const auto table = compute_table(trace_of("p", {{0, 1}}), trace_of("q", {{0, 1}}), *cpu_, {}, job);
        QCOMPARE(table.error().kind, ErrorKind::Cancelled);
    }
    void progress_counts_all_bytes()
    {
        Progress last;
        Job job;
        job.report = [&](const Progress& p) { last = p; };
        QVERIFY(compute_table(trace_of("p", {{0, 1}, {2, 3}}), trace_of("q", {{0, 1}, {2, 3}}), *cpu_, {}, job));
        QCOMPARE(last.done, 2 * 2 * 2 * 4);
        QCOMPARE(last.total, last.done);
        QVERIFY(last.bytes);
    }
    void second_time_comes_from_the_cache()
    {
        const Pair pair(1);
        const auto first = compute_table(pair.open(pair.p), pair.open(pair.q), *cpu_);
        const auto second = compute_table(pair.open(pair.p), pair.open(pair.q), *cpu_);
        QVERIFY(!(*first)->from_cache);
        QVERIFY((*second)->from_cache);
        QCOMPARE((*second)->rows_hash, (*first)->rows_hash);
        QVERIFY(std::memcmp((*first)->probes.data(), (*second)->probes.data(), 5 * sizeof(ProbeMetrics)) == 0);
        ComputeOptions none;
        none.use_cache = false;
        QVERIFY(!(*compute_table(pair.open(pair.p), pair.open(pair.q), *cpu_, none))->from_cache);
        qputenv("FLIPSCOPE_NO_CACHE", "1");
        QVERIFY(!(*compute_table(pair.open(pair.p), pair.open(pair.q), *cpu_))->from_cache);
        qunsetenv("FLIPSCOPE_NO_CACHE");
        // Nothing beside the input.
        QCOMPARE(QDir(pair.folder.path()).entryList(QDir::Files | QDir::Hidden).size(), 2);
    }
    void verify_says_what_it_found()
    {
        const Pair pair;
        ComputeOptions refresh;
        refresh.refresh = true;
        const auto says = [&](const char* words) {
            const auto table = compute_table(pair.open(pair.p), pair.open(pair.q), *cpu_, refresh);
            return (*table)->notices.back().find(words) != std::string::npos;
        };
        QVERIFY(says("no cached table"));
        QVERIFY(says("Verified: all numbers of 5 probes"));
    }
    void damaged_entry_is_none()
    {
        const Pair pair(1);
        const auto p = pair.open(pair.p), q = pair.open(pair.q);
        const auto key = TableCache::key(*p, *q, "cpu");
        QVERIFY(key.has_value());
        QVERIFY(compute_table(p, q, *cpu_));
        const auto cache = TableCache::of_user();
        QVERIFY(cache->load(*key));
        const auto file = std::filesystem::path(cache_.path().toStdString()) / "flipscope" / (*key + ".table");
        std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
        out.seekp(200);
        out.put('\x55');
        out.close();
        QVERIFY(!cache->load(*key));
        QVERIFY(!(*compute_table(p, q, *cpu_))->from_cache);
        QVERIFY((*compute_table(p, q, *cpu_))->from_cache); // written again
        std::filesystem::resize_file(file, 100);
        QVERIFY(!cache->load(*key));
        QVERIFY(!cache->load("no-such-entry"));
    }
    void an_entry_that_is_no_file_is_none()
    {
        const Pair pair(2);
        const auto p = pair.open(pair.p), q = pair.open(pair.q);
        const auto key = TableCache::key(*p, *q, "cpu");
        QVERIFY(key.has_value());
        const auto cache = TableCache::of_user();
        const auto file = std::filesystem::path(cache_.path().toStdString()) / "flipscope" / (*key + ".table");
        std::filesystem::create_directories(file.parent_path());
        const std::pair<const char*, std::function<void()>> kinds[] = {
            {"pipe", [&] { QCOMPARE(::mkfifo(file.c_str(), 0600), 0); }},
            {"link to a device", [&] { std::filesystem::create_symlink("/dev/zero", file); }},
            {"folder", [&] { std::filesystem::create_directory(file); }},
            {"huge",
             [&] {
                 std::ofstream(file).put('x');
                 std::filesystem::resize_file(file, std::uintmax_t{1} << 40); // a hole: takes no room
             }},
        };
        for (const auto& [name, make] : kinds) {
            std::filesystem::remove(file);
            make();
            QVERIFY2(!cache->load(*key), name);
            QVERIFY2(!(*compute_table(p, q, *cpu_))->from_cache, name); // nor does writing wait
        }
        QVERIFY((*compute_table(p, q, *cpu_))->from_cache); // the last one was replaced
        std::filesystem::remove(file);
    }
    void young_or_changed_files_are_not_cached()
    {
        const Pair pair;
        const auto p = pair.open(pair.p);
        std::filesystem::last_write_time(pair.q, std::filesystem::file_time_type::clock::now());
        QVERIFY(!TableCache::key(*p, *pair.open(pair.q), "cpu"));
        Pair::age(pair.q);
        const auto q = pair.open(pair.q);
        const auto key = TableCache::key(*p, *q, "cpu");
        QVERIFY(key.has_value());
        QVERIFY(TableCache::key(*p, *q, "cuda") != key);
        std::filesystem::last_write_time(pair.q, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
        QVERIFY(!TableCache::key(*p, *q, "cpu"));
        QVERIFY(TableCache::key(*p, *pair.open(pair.q), "cpu") != key);
    }
    void changed_file_is_one_clear_error()
    {
        const Pair pair;
        const auto p = pair.open(pair.p), q = pair.open(pair.q);
        Pair::write(pair.q, std::vector<std::vector<float>>(5, {9.f, 2.f, 3.f, 0.5f}));
        const auto table = compute_table(p, q, *cpu_);
        QVERIFY(!table);
        QVERIFY(table.error().message.find("changed on disk") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestCompute)
#include "tst_compute.moc"
