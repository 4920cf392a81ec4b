// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What the charts over single probes show: kinds of flips, the distribution of KL, agreement, ranges.
#include "core/analysis/compute.h"
#include "core/analysis/probe_chart.h"
#include "core/report/report.h"
#include "core/trace/open.h"
#include "tests/core/analysis/made_traces.h"

#include <QtTest>

#include <cmath>
#include <filesystem>
#include <limits>

using namespace flipscope;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A probe whose best logit is `top`.
ProbeMetrics at_logit(double top, double margin, bool flip = true, bool tied = false)
{
    ProbeMetrics p = made::probe(0, 0.1, flip, tied, margin);
    p.p_top = 0.25;
    p.lse_p = top - std::log(0.25);
    return p;
}

ProbeChartData chart_of(std::vector<ProbeMetrics> probes, std::int64_t n_tokens = 1000, std::int64_t window = 100)
{
    auto table = std::make_shared<MetricsTable>();
    table->probes = std::move(probes);
    ProbeChartData data;
    data.n_tokens = n_tokens;
    data.window_tokens = window;
    data.runs.push_back({"run", table, ""});
    return data;
}

} // namespace

class TestProbeChart : public QObject {
    Q_OBJECT
private slots:
    void steps_of_the_formats_data()
    {
        QTest::addColumn<double>("logit");
        QTest::addColumn<int>("type");
        QTest::addColumn<double>("step");
        const auto row = [](const char* name, double logit, LogitType type, double step) {
            QTest::newRow(name) << logit << static_cast<int>(type) << step;
        };
        // bfloat16 has 8 significant bits, float16 11, float32 24, float64 53.
        row("bf16 in 16..32", 20, LogitType::BF16, 0.125);
        row("bf16 at 32 looks down", 32, LogitType::BF16, 0.125);
        row("bf16 above 32", 32.25, LogitType::BF16, 0.25);
        row("bf16 at 16 looks down", 16, LogitType::BF16, 0.0625);
        row("bf16 just off 16 by rounding", 16 - 1e-14, LogitType::BF16, 0.0625);
        row("bf16 below 0: away from it", -16, LogitType::BF16, 0.125);
        row("bf16 below 0", -20, LogitType::BF16, 0.125);
        row("f16", 20, LogitType::F16, 1.0 / 64);
        row("f16 at 1", 1, LogitType::F16, 1.0 / 2048);
        row("f32", 20, LogitType::F32, std::ldexp(1, -19));
        row("f64", 20, LogitType::F64, std::ldexp(1, -48));
    }
    void steps_of_the_formats()
    {
        QFETCH(double, logit);
        QFETCH(int, type);
        QFETCH(double, step);
        QCOMPARE(step_below(logit, static_cast<LogitType>(type)), step);
    }

    void case_16_ties_and_single_steps_are_no_changes_of_mind()
    {
        const auto bf16 = LogitType::BF16;
        QCOMPARE(flip_kind(at_logit(20, 5, false), bf16), FlipKind::None);
        QCOMPARE(flip_kind(at_logit(20, 0, false, true), bf16), FlipKind::None); // a tie that did not flip
        QCOMPARE(flip_kind(at_logit(20, 0, true, true), bf16), FlipKind::Tie);
        QCOMPARE(flip_kind(at_logit(20, 0.125), bf16), FlipKind::OneStep);
        QCOMPARE(flip_kind(at_logit(20, 0.25), bf16), FlipKind::Clear);
        QCOMPARE(flip_kind(at_logit(40, 0.25), bf16), FlipKind::OneStep);
        QCOMPARE(flip_kind(at_logit(20, 5), bf16), FlipKind::Clear);
        // Without a stored row (top-k lists) nobody knows the step; a tie is a tie.
        QCOMPARE(flip_kind(at_logit(20, 0.125), {}), FlipKind::Clear);
        QCOMPARE(flip_kind(at_logit(20, 0, true, true), {}), FlipKind::Tie);
        QCOMPARE(flip_kind(made::invalid(3), bf16), FlipKind::None);
    }

    void case_16_flips_of_flash_attention_2()
    {
        const std::filesystem::path folder = FLIPSCOPE_SHARED "/traces/smollm2-h200";
        if (!std::filesystem::exists(folder / "fa2.h5"))
            QSKIP("no shared traces here");
        const auto base = open_trace(folder / "triton.h5"), run = open_trace(folder / "fa2.h5");
        QVERIFY(base && run);
        QCOMPARE(stored_type(**base), std::optional(LogitType::BF16));
        const auto engine = make_cpu_engine(1);
        const auto table = compute_table(*base, *run, *engine, {.use_cache = false});
        QVERIFY(table);
        // reference/triton__fa2.csv: 479, 2527 and 5983 are tied, 1247 has a margin of 0.125 at logits in 16..32.
        const FlipKinds kinds = count_flips((*table)->probes, stored_type(**base));
        QCOMPARE(kinds.tie, 3);
        QCOMPARE(kinds.one_step, 1);
        QCOMPARE(kinds.clear, 0);
    }

    void distribution_keeps_what_has_no_logarithm()
    {
        ProbeMetrics lossy = made::probe(6, -1e-6);
        const auto data = chart_of({made::probe(0, 0), made::probe(1, 0), made::probe(2, 1e-3), made::probe(3, 1.5e-3),
                                    made::probe(4, 2), made::probe(5, infinity), lossy, made::invalid(7)});
        const KlHistogram histogram = kl_histogram(data);
        const auto& run = histogram.runs[0];
        QCOMPARE(run.n, 7);
        QCOMPARE(run.zero, 2);
        QCOMPARE(run.infinite, 1);
        QCOMPARE(run.below_zero, 1);
        QCOMPARE(run.invalid, 1);
        std::int64_t sum = run.zero + run.infinite + run.below_zero;
        for (const auto count : run.counts)
            sum += count;
        QCOMPARE(sum, run.n);
        QCOMPARE(histogram.edges.size(), run.counts.size() + 1);
        // Four bins a decade; 1e-3 and 1.5e-3 share the first, 2 lies in the last.
        QVERIFY(std::abs(histogram.edges[4] / histogram.edges[0] - 10) < 1e-9);
        QVERIFY(histogram.edges[0] <= 1e-3 * (1 + 1e-12));
        QCOMPARE(run.counts.front() + run.counts[1], 2);
        QCOMPARE(run.counts.back(), 1);
        QCOMPARE(histogram.cumulative(0, -1), 1.0 / 7);
        QCOMPARE(histogram.cumulative(0, 0), 3.0 / 7);
        QCOMPARE(histogram.cumulative(0, 1.2e-3), 4.0 / 7);
        QCOMPARE(histogram.cumulative(0, 1e9), 6.0 / 7);
        QCOMPARE(histogram.cumulative(0, infinity), 1.0);
    }

    void distribution_of_nothing()
    {
        const KlHistogram none = kl_histogram(chart_of({}));
        QVERIFY(none.edges.empty());
        QVERIFY(std::isnan(none.cumulative(0, 1)));
        const KlHistogram same = kl_histogram(chart_of({made::probe(0, 0)}));
        QVERIFY(same.edges.empty());
        QCOMPARE(same.cumulative(0, 0), 1.0);
    }

    void agreement_looks_back_one_window()
    {
        // Probes every 10 tokens; flips at 30 and 40; an invalid one at 50.
        std::vector<ProbeMetrics> probes;
        for (int t = 0; t <= 120; t += 10)
            probes.push_back(t == 50 ? made::invalid(t) : made::probe(t, 0.1, t == 30 || t == 40));
        const auto points = agreement(probes, 50);
        QCOMPARE(points.size(), 12u);
        QCOMPARE(points[2].recent, 1.0);
        QCOMPARE(points[4].position, 40); // 0, 10, 20, 30, 40: two flips
        QCOMPARE(points[4].n, 5);
        QCOMPARE(points[4].recent, 3.0 / 5);
        QCOMPARE(points[5].position, 60); // 20, 30, 40, 60
        QCOMPARE(points[5].n, 4);
        QCOMPARE(points[5].recent, 0.5);
        QCOMPARE(points.back().recent, 1.0);
        QCOMPARE(points.back().cumulative, 10.0 / 12);
    }

    void range_cuts_what_is_counted()
    {
        auto data = chart_of({made::probe(0, 1), made::probe(100, 2), made::probe(200, 3)});
        QCOMPARE(data.probes(0).size(), 3u);
        data.range = {100, 200};
        QCOMPARE(data.probes(0).size(), 1u);
        QCOMPARE(data.probes(0)[0].kl_pq, 2.0);
        QCOMPARE(kl_histogram(data).runs[0].n, 1);
        const std::vector<std::shared_ptr<const SortedKl>> whole{
            std::make_shared<const SortedKl>(sort_kl(data.runs[0].table->probes))};
        QCOMPARE(kl_histogram(data, whole).runs[0].n, 1);
        QCOMPARE(kl_histogram(data, whole).runs[0].sorted, std::vector<double>{2.0});
        QVERIFY(data.probes(7).empty());
    }

    void heatmap_is_cut_to_whole_columns()
    {
        HeatmapGrid grid;
        grid.window_tokens = 100;
        for (std::int64_t c = 0; c < 5; ++c) {
            grid.starts.push_back(c * 100);
            grid.ends.push_back(c * 100 + 100);
        }
        grid.rows.push_back({"a", "", std::vector<HeatmapCell>(5)});
        grid.rows[0].cells[2].n = 7;
        const HeatmapGrid cut = cut_to(grid, {199, 201});
        QCOMPARE(cut.starts, (std::vector<std::int64_t>{100, 200}));
        QCOMPARE(cut.rows[0].cells.size(), 2u);
        QCOMPARE(cut.rows[0].cells[1].n, 7);
        QCOMPARE(cut_to(grid, {}).starts.size(), 5u);
        QCOMPARE(cut_to(grid, {200, 300}).starts, (std::vector<std::int64_t>{200}));
        QCOMPARE(cut_to(grid, {9000, 9001}).starts.size(), 5u); // nothing there: better all than an empty picture
    }

    void csv_of_the_charts()
    {
        auto data = chart_of({at_logit(20, 0.125), made::invalid(5), made::probe(9, 0)});
        data.type = LogitType::BF16;
        data.runs[0].name = "a,b";
        QCOMPARE(position_csv(data), std::string("run,position,kl_pq,flip,tied,kind,valid\n"
                                                 "\"a,b\",0,0.10000000000000001,1,0,one step,1\n"
                                                 "\"a,b\",5,,0,0,,0\n"
                                                 "\"a,b\",9,0,0,0,,1\n"));
        const std::string margins = margin_csv(data);
        QVERIFY2(margins.find("\"a,b\",0,0.125,0.125,0.10000000000000001,1,one step\n") != std::string::npos,
                 margins.c_str());
        QVERIFY(margins.find(",5,") == std::string::npos); // not a number: no margin
        const std::string spread = distribution_csv(data);
        QVERIFY2(spread.find("\"a,b\",0,0,1,2,0.5\n") != std::string::npos, spread.c_str());
        QVERIFY2(spread.find("\"a,b\",inf,inf,0,2,1\n") != std::string::npos, spread.c_str());
        QCOMPARE(agreement_csv(data), std::string("run,position,agreement,n,cumulative\n"
                                                  "\"a,b\",0,0,1,0\n"
                                                  "\"a,b\",9,0.5,2,0.5\n"));
    }
};

QTEST_GUILESS_MAIN(TestProbeChart)
#include "tst_probe_chart.moc"
