// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/analysis.h"
#include "core/analysis/heatmap.h"
#include "core/analysis/windows.h"
#include "tests/core/analysis/made_traces.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace flipscope;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

const WindowMetric& metric(const char* name)
{
    return **find_window_metric(name);
}

TablePtr table_of(std::vector<ProbeMetrics> probes)
{
    auto table = std::make_shared<MetricsTable>();
    table->probes = std::move(probes);
    table->alignment.baseline_vocab = table->alignment.run_vocab = table->alignment.vocab = 10;
    return table;
}

} // namespace

class TestWindows : public QObject {
    Q_OBJECT
private slots:
    void too_many_windows_are_refused()
    {
        QVERIFY(check_windows(1, -1)); // no probe
        QVERIFY(check_windows(std::numeric_limits<std::int64_t>::max(), 100'000'000));
        QVERIFY(check_windows(1, most_windows - 1));
        QVERIFY(!check_windows(1, most_windows));
        const auto refused = check_windows(1, 19'999'999); // 20 million over 2^20 is 19.07
        QVERIFY(!refused);
        QVERIFY2(refused.error().message.find("at least 20 tokens") != std::string::npos,
                 refused.error().message.c_str());
        QVERIFY(check_windows(20, 19'999'999));
        QVERIFY(!check_windows(19, 19'999'999));
    }
    void borders_are_half_open()
    {
        // A probe on a border belongs to the window that begins there.
        const std::vector<ProbeMetrics> probes{made::probe(0, 1), made::probe(99, 2), made::probe(100, 3),
                                               made::probe(250, 4)};
        const auto w = windows_of(probes, 100, 250, 260);
        QCOMPARE(w.size(), 3u);
        QCOMPARE(w[0].start, 0);
        QCOMPARE(w[0].end, 100);
        QCOMPARE(w[0].n, 2);
        QCOMPARE(w[0].kl_pq.mean, 1.5);
        QCOMPARE(w[1].n, 1);
        QCOMPARE(w[1].kl_pq.max, 3.0);
        QCOMPARE(w[2].start, 200);
        QCOMPARE(w[2].end, 260); // cut at the history's end
    }
    void case_1_stride_32_gives_250_probes_a_window()
    {
        std::vector<ProbeMetrics> probes;
        for (std::int64_t t = 0; t <= 99'968; t += 32)
            probes.push_back(made::probe(t, 1e-6));
        // Planted bursts at 41-43k and at 77k; a mean over all hides them.
        for (ProbeMetrics& p : probes)
            if ((p.position >= 41'000 && p.position < 43'000) || p.position / 1000 == 77) {
                p.flip = 1;
                p.kl_pq = 2;
            }
        QCOMPARE(probes.size(), 3125u);
        const auto w = windows_of(probes, default_window_tokens, 99'968, 100'000);
        QCOMPARE(w.size(), 13u);
        for (std::size_t i = 0; i < 12; ++i)
            QCOMPARE(w[i].n, 250);
        QCOMPARE(w[12].n, 125);
        QCOMPARE(w[12].end, 100'000);
        // Multiples of 32 in [41000, 43000): 41024 .. 42976, that is 62; in [77000, 78000): 77024 .. 77984, 31.
        for (std::size_t i = 0; i < w.size(); ++i)
            QCOMPARE(w[i].flips, i == 5 ? 62 : i == 9 ? 31 : 0);
        QCOMPARE(w[5].flip_rate, 62.0 / 250);
        QCOMPARE(w[5].kl_pq.max, 2.0);
        QCOMPARE(w[5].kl_pq.median, 1e-6);
        const WindowStats all = summarize(probes, 0, 100'000);
        QCOMPARE(all.flips, 93);
        QVERIFY(all.flip_rate < 0.03);
        // Smaller windows, same probes: the burst fills whole windows.
        const auto small = windows_of(probes, 1000, 99'968, 100'000);
        QCOMPARE(small.size(), 100u);
        QCOMPARE(small[41].flip_rate, 1.0);
        QCOMPARE(small[42].flip_rate, 1.0);
        QCOMPARE(small[77].flip_rate, 1.0);
        QCOMPARE(small[40].flips + small[43].flips + small[76].flips + small[78].flips, 0);
    }
    void irregular_positions()
    {
        const std::vector<ProbeMetrics> probes{made::probe(5, 1), made::probe(6, 1), made::probe(1003, 1, true),
                                               made::probe(7990, 1)};
        const auto w = windows_of(probes, 1000, 7990, 7991);
        QCOMPARE(w.size(), 8u);
        QCOMPARE(w[0].n, 2);
        QCOMPARE(w[1].n, 1);
        QCOMPARE(w[1].flips, 1);
        for (std::size_t i = 2; i < 7; ++i)
            QCOMPARE(w[i].n, 0);
        QCOMPARE(w[7].end, 7991);
    }
    void case_12_windows_are_of_context_positions_not_rows()
    {
        // The same 16 rows, recorded early and late in the context.
        std::vector<ProbeMetrics> early, late;
        for (std::int64_t i = 0; i < 16; ++i) {
            early.push_back(made::probe(31 + 32 * i, 0.1));
            late.push_back(made::probe(7711 + 32 * i - 32, 0.1));
        }
        const auto e = windows_of(early, 512, late.back().position, 8192);
        const auto l = windows_of(late, 512, late.back().position, 8192);
        QCOMPARE(e.size(), l.size());
        QCOMPARE(e.front().n, 16);
        QCOMPARE(l.front().n, 0);
        QCOMPARE(l.back().n + l[l.size() - 2].n, 16);
    }
    void empty_window_has_no_values()
    {
        const auto w = windows_of({}, 100, 150, 200);
        QCOMPARE(w.size(), 2u);
        QCOMPARE(w[0].n, 0);
        QVERIFY(std::isnan(w[0].flip_rate));
        QVERIFY(std::isnan(w[0].flip_interval.low));
        QVERIFY(std::isnan(w[0].kl_pq.mean));
        QVERIFY(std::isnan(w[0].top5_overlap));
        QVERIFY(std::isnan(w[0].dp_mean));
    }
    void infinite_counts_in_n_and_flips_but_not_in_means()
    {
        const std::vector<ProbeMetrics> probes{made::probe(0, infinity, true), made::probe(1, 2.0, true),
                                               made::probe(2, 4.0)};
        const WindowStats s = summarize(probes, 0, 3);
        QCOMPARE(s.n, 3);
        QCOMPARE(s.flips, 2);
        QCOMPARE(s.kl_pq.n_infinite, 1);
        QCOMPARE(s.kl_pq.mean, 3.0);
        QCOMPARE(s.kl_pq.max, 4.0);
    }
    void case_55_invalid_probes_are_counted_apart()
    {
        const std::vector<ProbeMetrics> probes{made::probe(0, 1, true), made::invalid(1), made::invalid(2)};
        const WindowStats s = summarize(probes, 0, 3);
        QCOMPARE(s.n, 1);
        QCOMPARE(s.n_invalid, 2);
        QCOMPARE(s.flips, 1);
        QCOMPARE(s.flip_rate, 1.0);
        QCOMPARE(s.kl_pq.mean, 1.0);
    }
    void case_16_tied_flips_are_counted_apart_and_margin_is_choosable()
    {
        const std::vector<ProbeMetrics> probes{made::probe(0, 0, true, true, 0), made::probe(1, 0, true, false, 0.125),
                                               made::probe(2, 0, true, false, 5), made::probe(3, 0, false, true, 0)};
        const WindowStats s = summarize(probes, 0, 4);
        QCOMPARE(s.flips, 3);
        QCOMPARE(s.flips_tied, 1);
        QCOMPARE(evaluate(metric("flip_rate"), probes).value, 0.75);
        QCOMPARE(evaluate(metric("flips_above_margin"), probes).value, 0.25);        // 0.5 nats
        QCOMPARE(evaluate(metric("flips_above_margin"), probes, 0.0).value, 0.5);    // no ties
        QCOMPARE(evaluate(metric("flips_above_margin"), probes, 0.125).value, 0.25); // strictly above
        QVERIFY(evaluate(metric("flip_rate"), probes).interval.low > 0.1);
    }
    void first_size_gives_six_windows()
    {
        QCOMPARE(first_window_tokens(99'968), 8000);
        QCOMPARE(first_window_tokens(40'000), 8000); // 0 .. 5: six
        QCOMPARE(first_window_tokens(39'999), 4096);
        QCOMPARE(first_window_tokens(7647), 1024); // 7647/1024 = 7: eight windows; 2,048 would give four
        QCOMPARE(first_window_tokens(5 * 4096), 4096);
        QCOMPARE(first_window_tokens(5 * 4096 - 1), 2048);
        QCOMPARE(first_window_tokens(127), 16);
        QCOMPARE(first_window_tokens(3), 1);
        QCOMPARE(first_window_tokens(-1), 8000);
    }
    void huge_window_does_not_overflow()
    {
        const std::vector<ProbeMetrics> probes{made::probe(5, 1)};
        const auto w = windows_of(probes, std::numeric_limits<std::int64_t>::max(), 5, 10);
        QCOMPARE(w.size(), 1u);
        QCOMPARE(w[0].end, 10);
        QCOMPARE(w[0].n, 1);
    }
    void metric_names_are_the_contract()
    {
        QStringList names;
        for (const WindowMetric& m : window_metrics())
            names << QString::fromStdString(m.name);
        QCOMPARE(names.size(), 2 + 4 * 6 + 4);
        for (const char* base : {"kl_pq", "kl_qp", "js", "tv"})
            for (const char* part : {"mean", "median", "p90", "p95", "p99", "max"})
                QVERIFY(names.contains(QStringLiteral("%1_%2").arg(base, part)));
        for (const char* name :
             {"flip_rate", "flips_above_margin", "top5_overlap", "top5_disagreement", "top10_disagreement", "dp_mean"})
            QVERIFY(names.contains(name));
        QCOMPARE(find_window_metric("kl").error().kind, ErrorKind::Usage);
    }
    void disagreement_is_what_overlap_leaves()
    {
        std::vector<ProbeMetrics> probes{made::probe(0, 1), made::probe(1, 1), made::invalid(2)};
        probes[0].top5_overlap = 0.6; // three of five
        probes[0].top10_overlap = 0.9;
        QVERIFY(std::abs(evaluate(metric("top5_disagreement"), probes).value - 0.2) < 1e-12);
        QVERIFY(std::abs(evaluate(metric("top10_disagreement"), probes).value - 0.05) < 1e-12);
        QVERIFY(std::isnan(evaluate(metric("top5_disagreement"), {}).value));
    }
    void case_53_direction_is_in_every_title()
    {
        QCOMPARE(metric("kl_pq_p99").title, "KL(P‖Q) p99");
        QCOMPARE(metric("kl_qp_mean").title, "KL(Q‖P) mean");
        QCOMPARE(metric("kl_pq_mean").unit, "nats");
        std::vector<ProbeMetrics> probes{made::probe(0, 0.5)};
        probes[0].kl_qp = 0.75;
        QCOMPARE(evaluate(metric("kl_pq_mean"), probes).value, 0.5);
        QCOMPARE(evaluate(metric("kl_qp_mean"), probes).value, 0.75);
    }
    void heatmap_says_why_a_cell_is_empty()
    {
        Trace baseline = made::trace("base", made::ids(500), {50, 150, 250, 350});
        const TablePtr table = table_of(
            {made::probe(50, 0.5, true), made::invalid(150), made::probe(250, infinity), made::probe(251, 0.5)});
        std::vector<ProbeMetrics> infinite{made::probe(250, infinity)};
        const std::vector<HeatmapInput> runs{
            {"a", table, ""}, {"b", nullptr, "token ids differ"}, {"c", nullptr, ""}, {"d", table_of(infinite), ""}};
        const HeatmapGrid grid = make_heatmap(baseline, runs, metric("kl_pq_mean"), 100);
        QCOMPARE(grid.starts, (std::vector<std::int64_t>{0, 100, 200, 300}));
        QCOMPARE(grid.ends, (std::vector<std::int64_t>{100, 200, 300, 400}));
        using State = HeatmapCell::State;
        QCOMPARE(grid.rows[0].cells[0].state, State::Value);
        QCOMPARE(grid.rows[0].cells[0].value, 0.5);
        QCOMPARE(grid.rows[0].cells[0].flips, 1);
        QCOMPARE(grid.rows[0].cells[1].state, State::Invalid);
        QCOMPARE(grid.rows[0].cells[1].n_invalid, 1);
        QCOMPARE(grid.rows[0].cells[2].state, State::Value); // one finite value beside the infinite one
        QCOMPARE(grid.rows[0].cells[3].state, State::Empty);
        QCOMPARE(grid.rows[1].cells[0].state, State::NotComparable);
        QCOMPARE(grid.rows[1].note, "token ids differ");
        QCOMPARE(grid.rows[2].cells[0].state, State::Pending);
        QCOMPARE(grid.rows[3].cells[2].state, State::Infinite);
        QVERIFY(std::isnan(grid.rows[3].cells[2].value));
        QVERIFY(QString::fromStdString(grid.rows[0].note).contains("1 invalid probe"));
        // Another run may reach further than the baseline does.
        QCOMPARE(make_heatmap(baseline, runs, metric("flip_rate"), 100, default_margin, {499, 0}).starts.size(), 5u);
    }
    void grid_and_analysis_have_the_same_windows()
    {
        // The run's history goes on where the baseline's ends: 230 tokens against 150, its last probe in window 2.
        const Trace baseline = made::trace("base", made::ids(150), {40, 90, 140});
        const auto run = std::make_shared<const Trace>(made::trace("run", made::ids(230), {40, 90, 140, 205}));
        const TablePtr table = table_of({made::probe(40, 1), made::probe(90, 1, true), made::probe(140, 1)});
        HistoryExtent extent;
        extent.include(baseline);
        extent.include(*run);
        QCOMPARE(extent.last_position, 205);
        QCOMPARE(extent.n_tokens, 230);
        const auto windows = analyze_table(run, table, 100, extent).windows;
        const HeatmapGrid grid = make_heatmap(baseline, std::vector<HeatmapInput>{{"run", table, ""}},
                                              metric("flip_rate"), 100, default_margin, extent);
        QCOMPARE(windows.size(), 3u);
        QCOMPARE(grid.n_tokens, 230);
        QCOMPARE(grid.starts, (std::vector<std::int64_t>{0, 100, 200}));
        QCOMPARE(grid.ends, (std::vector<std::int64_t>{100, 200, 230}));
        for (std::size_t i = 0; i < windows.size(); ++i) {
            QCOMPARE(windows[i].start, grid.starts[i]);
            QCOMPARE(windows[i].end, grid.ends[i]);
            QCOMPARE(windows[i].n, grid.rows[0].cells[i].n);
            QCOMPARE(windows[i].flips, grid.rows[0].cells[i].flips);
        }
        QCOMPARE(grid.rows[0].cells[2].state, HeatmapCell::State::Empty);
    }
};

QTEST_GUILESS_MAIN(TestWindows)
#include "tst_windows.moc"
