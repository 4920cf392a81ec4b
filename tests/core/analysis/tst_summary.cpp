// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Summary files: what is read back is what was computed from the rows, and the rows are not there.
#include "core/analysis/analysis.h"
#include "core/analysis/compute.h"
#include "core/analysis/summary.h"
#include "core/trace/open.h"
#include "core/trace/stored_metrics.h"
#include "core/trace/writer.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace flipscope;

namespace {

std::string sample(const std::string& name)
{
    return FLIPSCOPE_SOURCE "/resources/samples/" + name + ".h5";
}

} // namespace

class Summaries : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void the_numbers_are_those_of_the_rows();
    void the_file_is_small_and_marked();
    void lists_are_the_likeliest_tokens();
    void case_47_full_rows_and_lists_side_by_side();
    void summaries_of_several_people();

private:
    QTemporaryDir folder_;
    std::string path_;
    TracePtr baseline_, kv_, weights_, summary_;
    TablePtr kv_table_, weights_table_;
    std::unique_ptr<Engine> engine_ = make_cpu_engine(1);
};

void Summaries::initTestCase()
{
    const auto base = open_trace(sample("baseline")), kv = open_trace(sample("kv_q4_0")),
               weights = open_trace(sample("w_q2_k"));
    QVERIFY(base && kv && weights);
    baseline_ = *base;
    kv_ = *kv;
    weights_ = *weights;
    const auto a = compute_table(baseline_, kv_, *engine_, {false, false});
    const auto b = compute_table(baseline_, weights_, *engine_, {false, false});
    QVERIFY(a && b);
    kv_table_ = *a;
    weights_table_ = *b;
    const auto made = summarise(baseline_, {{"kv", kv_, kv_table_}, {"weights", weights_, weights_table_}});
    QVERIFY2(made, made ? "" : made.error().message.c_str());
    path_ = folder_.filePath("summary.h5").toStdString();
    const auto written = write_trace(path_, *made);
    QVERIFY2(written, written ? "" : written.error().message.c_str());
    const auto read = open_trace(path_);
    QVERIFY2(read, read ? "" : read.error().message.c_str());
    summary_ = *read;
}

void Summaries::the_numbers_are_those_of_the_rows()
{
    QCOMPARE(summary_->others.size(), std::size_t{2});
    QCOMPARE(summary_->others[0]->run_name, std::string("kv"));
    for (const auto& [run, table] :
         {std::pair(summary_->others[0], kv_table_), {summary_->others[1], weights_table_}}) {
        const auto again = compute_table(summary_, run, *engine_, {false, false});
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        MetricsTable even = *table; // a summary leaves the dense stretches out
        even.dense.clear();
        even.alignment.dense.clear();
        QCOMPARE(different_probes(**again, even), 0);
        QCOMPARE((*again)->rows_hash, table->rows_hash);
        QCOMPARE((*again)->alignment.top_k, false);
        QCOMPARE((*again)->alignment.vocab, table->alignment.vocab);
        QCOMPARE((*again)->alignment.findings.size(), table->alignment.findings.size());
    }
}

void Summaries::the_file_is_small_and_marked()
{
    QVERIFY(std::filesystem::file_size(path_) < 1'000'000);
    QCOMPARE(summary_->format, std::string("flipscope-trace 1, summary"));
    QCOMPARE(summary_->probes.kind, ProbeSet::Kind::TopK);
    QVERIFY(!summary_->probes.rows);
    QCOMPARE(summary_->tokens.ids, baseline_->tokens.ids);
    QCOMPARE(summary_->run, baseline_->run);
    QCOMPARE(summary_->others[0]->run, kv_->run);
    QCOMPARE(summary_->generations.size(), baseline_->generations.size());
    for (const TracePtr& trace : {summary_, summary_->others[0]})
        QVERIFY(std::any_of(trace->findings.begin(), trace->findings.end(),
                            [](const Finding& f) { return f.code == "summary"; }));
}

void Summaries::lists_are_the_likeliest_tokens()
{
    // Row 3 of the baseline, by sorting.
    const auto& rows = *baseline_->probes.rows;
    std::vector<std::byte> row(static_cast<std::size_t>(rows.row_bytes()));
    QVERIFY(rows.read(3, 1, row));
    std::vector<std::pair<double, std::int32_t>> all;
    double sum = 0;
    for (std::int64_t i = 0; i < rows.columns(); ++i) {
        const double v = widen(row.data(), rows.type(), static_cast<std::size_t>(i));
        all.emplace_back(-v, static_cast<std::int32_t>(i));
        sum += std::exp(v);
    }
    std::sort(all.begin(), all.end());
    std::vector<std::int32_t> ids(32);
    std::vector<float> logprobs(32);
    QVERIFY(summary_->probes.lists->read(3, 1, ids, logprobs));
    for (std::size_t i = 0; i < 32; ++i)
        QCOMPARE(logprobs[i], static_cast<float>(-all[i].first - std::log(sum)));
    QCOMPARE(ids[0], all[0].second);
    if (baseline_->vocabulary)
        QCOMPARE(std::string(summary_->vocabulary->text[static_cast<std::size_t>(ids[0])]),
                 std::string(baseline_->vocabulary->text[static_cast<std::size_t>(ids[0])]));
}

void Summaries::case_47_full_rows_and_lists_side_by_side()
{
    const auto table = compute_table(baseline_, summary_->others[0], *engine_, {false, false});
    QVERIFY2(table, table ? "" : table.error().message.c_str());
    QVERIFY((*table)->alignment.top_k);
    for (std::size_t i = 0; i < kv_table_->probes.size(); ++i)
        QVERIFY((*table)->probes[i].kl_pq <= kv_table_->probes[i].kl_pq * (1 + 1e-5) + 1e-6);
    const auto flips = [](const MetricsTable& t) {
        return std::count_if(t.probes.begin(), t.probes.end(), [](const ProbeMetrics& m) { return m.flip != 0; });
    };
    QCOMPARE(flips(**table), flips(*kv_table_)); // the best tokens are known
}

void Summaries::summaries_of_several_people()
{
    // Somebody else measured other weights against the same baseline.
    const auto theirs = summarise(baseline_, {{"weights", weights_, weights_table_}});
    QVERIFY(theirs);
    const std::string path = folder_.filePath("theirs.h5").toStdString();
    QVERIFY(write_trace(path, *theirs));
    const auto opened = open_trace(path);
    QVERIFY(opened);
    const auto table = compute_table(summary_, (*opened)->others[0], *engine_, {false, false});
    QVERIFY2(table, table ? "" : table.error().message.c_str());
    QCOMPARE(different_probes(**table, *weights_table_), 0); // the baseline is the same by content
    QVERIFY(!(*table)->alignment.top_k);
}

QTEST_GUILESS_MAIN(Summaries)
#include "tst_summary.moc"
