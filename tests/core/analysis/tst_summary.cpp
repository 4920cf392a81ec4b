// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Summary files: what is read back is what was computed from the rows, and the rows are not there.
#include "core/analysis/analysis.h"
#include "core/analysis/compute.h"
#include "core/analysis/list_bias.h"
#include "core/analysis/summary.h"
#include "core/report/report.h"
#include "core/trace/convert.h"
#include "core/trace/open.h"
#include "core/trace/stored_metrics.h"
#include "core/trace/writer.h"
#include "tests/core/analysis/made_traces.h"

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
    void case_46_estimates_are_named_and_say_what_they_keep();
    void case_47_full_rows_and_lists_side_by_side();
    void case_47_the_bias_of_lists_is_told();
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

namespace {

/// Four ids; the log probabilities are exact logarithms, so that the numbers are known by hand.
TracePtr made_run(const std::string& name, const std::vector<double>& p)
{
    Trace t = made::trace(name, made::ids(10), {4, 8});
    std::vector<float> row;
    for (const double x : p)
        row.push_back(static_cast<float>(std::log(x)));
    made::set_rows(t.probes, {row, row});
    t.run = {{"weights", name == "base" ? "bf16" : "q4"}};
    return std::make_shared<const Trace>(std::move(t));
}

} // namespace

void Summaries::case_46_estimates_are_named_and_say_what_they_keep()
{
    const auto base = made_run("base", {.5, .25, .125, .125}), run = made_run("run", {.25, .5, .05, .2});
    const std::string path = folder_.filePath("top2.h5").toStdString();
    ConvertOptions how;
    how.top_k = 2;
    QVERIFY(convert_trace(path, *run, how));
    const auto lists = open_trace(path);
    QVERIFY(lists);
    Analysis analysis;
    analysis.baseline = base;
    for (const TracePtr& trace : {run, *lists}) {
        const auto table = compute_table(base, trace, *engine_, {false, false});
        QVERIFY2(table, table ? "" : table.error().message.c_str());
        analysis.runs.push_back(analyze_table(trace, *table, 8000, {8, 10}));
    }
    analysis.runs[1].name = "run, lists";
    // Full: .25 ln 2 + .125 ln(.125 / .05) + .125 ln(.125 / .2). Lists: ids 0 and 1, and one bucket of .25 each.
    const double full = .25 * std::log(2.0) + .125 * std::log(2.5) + .125 * std::log(.625),
                 estimate = .25 * std::log(2.0);
    QVERIFY(std::fabs(analysis.runs[0].overall.kl_pq.mean - full) < 1e-6);
    QVERIFY(std::fabs(analysis.runs[1].overall.kl_pq.mean - estimate) < 1e-6);
    const auto json = analysis_json(analysis);
    QVERIFY(!json["runs"][0]["lower_bound"].get<bool>() && !json["runs"][0].contains("lists"));
    QVERIFY(json["runs"][1]["lower_bound"].get<bool>());
    QVERIFY(std::fabs(json["runs"][1]["lists"]["kept_p_mean"].get<double>() - .75) < 1e-6);
    QVERIFY(std::fabs(json["runs"][1]["lists"]["kept_q_mean"].get<double>() - .75) < 1e-6);
    QCOMPARE(json["runs"][1]["lists"]["id_overlap_mean"].get<double>(), 1.0);
    const QString text = QString::fromStdString(analysis_text(analysis));
    QVERIFY2(text.contains("top-k: lower bound, 75 % of P and 75 % of Q kept, 100 % of the ids shared"),
             qPrintable(text));
    // And the bias, since the full rows are here: 1 - .173287 / .229073.
    QCOMPARE(json["list_bias"].size(), 1u);
    QVERIFY(std::fabs(json["list_bias"][0]["kl_pq_mean_full"].get<double>() - full) < 1e-6);
    QVERIFY2(text.contains("run, lists beside run: mean KL(P‖Q) 0.173287 nats from the lists, 0.229073 from the full "
                           "rows (24.4 % under)"),
             qPrintable(text));
}

void Summaries::case_47_the_bias_of_lists_is_told()
{
    const std::string path = folder_.filePath("top20.h5").toStdString();
    ConvertOptions how;
    how.top_k = 20;
    QVERIFY(convert_trace(path, *kv_, how));
    const auto lists = open_trace(path);
    QVERIFY(lists);
    const auto table = compute_table(baseline_, *lists, *engine_, {false, false});
    QVERIFY2(table, table ? "" : table.error().message.c_str());
    const std::vector<BiasInput> inputs = {{weights_, weights_table_}, {*lists, *table}, {kv_, kv_table_}};
    const auto bias = list_bias(inputs);
    QCOMPARE(bias.size(), 1u); // not of the other weights
    QCOMPARE(bias[0].full, 2u);
    QCOMPARE(bias[0].lists, 1u);
    QCOMPARE(bias[0].n, static_cast<std::int64_t>(kv_table_->probes.size()));
    QVERIFY(bias[0].kl_lists < bias[0].kl_full && bias[0].kl_lists > 0);
    QVERIFY(bias[0].facts.kept_p > 0 && bias[0].facts.kept_p <= 1 && bias[0].facts.id_overlap <= 1);
    QCOMPARE(bias[0].flips_lists, bias[0].flips_full);
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
