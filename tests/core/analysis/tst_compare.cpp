// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Two runs side by side; expected values are scipy's and numpy's (tests/data/make_comparison.py).
#include "core/analysis/compare.h"
#include "core/analysis/compute.h"
#include "core/engine/engine.h"
#include "core/trace/open.h"
#include "tests/core/analysis/made_traces.h"

#include <QtTest>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

using namespace flipscope;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::string samples = FLIPSCOPE_SOURCE "/resources/samples/";

bool near(double value, double expected, double relative = 1e-9)
{
    return std::fabs(value - expected) <= relative * std::fabs(expected) || value == expected;
}

nlohmann::json expected_values()
{
    std::ifstream in(FLIPSCOPE_TEST_DATA "/analysis/comparison.json");
    return nlohmann::json::parse(in);
}

TracePtr opened(const std::string& name)
{
    const auto trace = open_trace(samples + name + ".h5");
    return trace ? *trace : nullptr;
}

ComparisonSide side(const TracePtr& baseline, const std::string& name)
{
    ComparisonSide s{name, opened(name), nullptr};
    const auto engine = make_engine({EngineChoice::Cpu, 0});
    ComputeOptions options;
    options.use_cache = false;
    if (const auto table = compute_table(baseline, s.trace, *engine->engine, options))
        s.table = *table;
    return s;
}

ComparisonSide made_side(const std::string& name, std::vector<ProbeMetrics> probes)
{
    auto table = std::make_shared<MetricsTable>();
    table->probes = std::move(probes);
    std::vector<std::int64_t> positions;
    for (const ProbeMetrics& p : table->probes)
        positions.push_back(p.position);
    return {name, std::make_shared<Trace>(made::trace(name, made::ids(100), positions)), table};
}

RunComparison made_pair(std::vector<ProbeMetrics> a, std::vector<ProbeMetrics> b)
{
    auto base = std::make_shared<Trace>(made::trace("base", made::ids(100), {}));
    for (const ProbeMetrics& p : a)
        base->probes.positions.push_back(p.position);
    return compare_sides(base, made_side("a", std::move(a)), made_side("b", std::move(b)));
}

std::vector<std::int64_t> positions_of(const std::vector<PairedProbe>& probes)
{
    std::vector<std::int64_t> positions;
    for (const PairedProbe& p : probes)
        positions.push_back(p.position);
    return positions;
}

} // namespace

class TestCompare : public QObject {
    Q_OBJECT
private slots:
    void mcnemar_is_scipys()
    {
        const auto expected = expected_values();
        for (const auto& e : expected.at("mcnemar")) {
            const double p = mcnemar_exact(e["only_a"], e["only_b"]);
            QVERIFY2(near(p, e["p"], 1e-9), (e.dump() + " " + std::to_string(p)).c_str());
            QCOMPARE(p, mcnemar_exact(e["only_b"], e["only_a"]));
        }
    }
    void intervals_are_numpys()
    {
        const auto expected = expected_values();
        for (const auto& e : expected.at("series")) {
            const Interval i = block_bootstrap_mean(e["values"].get<std::vector<double>>());
            QVERIFY2(near(i.low, e["low"]), e.dump().c_str());
            QVERIFY2(near(i.high, e["high"]), e.dump().c_str());
        }
        QVERIFY(std::isnan(block_bootstrap_mean({}).low));
        const std::vector<double> one{1.0};
        QVERIFY(std::isnan(block_bootstrap_mean(one).high)); // one value says nothing of its spread
    }
    void blocks_grow_as_the_cube_root()
    {
        for (const auto& [n, length] : {std::pair{0, 1}, {1, 1}, {2, 2}, {8, 2}, {9, 3}, {27, 3}, {28, 4}, {3125, 15}})
            QCOMPARE(bootstrap_block(n), length);
    }
    void pairs_of_the_sample()
    {
        const TracePtr baseline = opened("baseline");
        QVERIFY(baseline);
        const auto expected = expected_values();
        for (const auto& e : expected.at("pairs")) {
            const RunComparison c = compare_sides(baseline, side(baseline, e["a"]), side(baseline, e["b"]));
            QCOMPARE(c.flips.n, e["n"].get<std::int64_t>());
            QCOMPARE(c.only_in_a, e["only_in_a"].get<std::int64_t>());
            QCOMPARE(c.only_in_b, e["only_in_b"].get<std::int64_t>());
            QCOMPARE(c.flips.neither, e["neither"].get<std::int64_t>());
            QCOMPARE(c.flips.only_a, e["only_a"].get<std::int64_t>());
            QCOMPARE(c.flips.only_b, e["only_b"].get<std::int64_t>());
            QCOMPARE(c.flips.both, e["both"].get<std::int64_t>());
            QCOMPARE(c.flips.both_same_token, e["both_same_token"].get<std::int64_t>());
            QCOMPARE(c.flips.tops_differ, e["tops_differ"].get<std::int64_t>());
            QVERIFY(near(c.flips.mcnemar_p, e["mcnemar_p"]));
            QCOMPARE(c.differences.size(), e["differences"].size());
            for (std::size_t i = 0; i < c.differences.size(); ++i) {
                const MeanDifference& d = c.differences[i];
                const auto& want = e["differences"][i];
                QCOMPARE(std::string(d.name), want["name"].get<std::string>());
                QVERIFY(near(d.mean_a, want["mean_a"]));
                QVERIFY(near(d.mean_b, want["mean_b"]));
                QVERIFY(near(d.difference, want["difference"], 1e-8)); // of two rounded numbers
                QVERIFY(near(d.interval.low, want["low"], 1e-7));
                QVERIFY(near(d.interval.high, want["high"], 1e-7));
                QCOMPARE(d.larger_a, want["larger_a"].get<std::int64_t>());
                QCOMPARE(d.larger_b, want["larger_b"].get<std::int64_t>());
                QCOMPARE(d.larger_a + d.larger_b + d.equal, d.n);
            }
            QCOMPARE(positions_of(what_got_worse(c)), e["worse"].get<std::vector<std::int64_t>>());
        }
    }
    void windows_of_the_sample()
    {
        const TracePtr baseline = opened("baseline");
        const auto expected = expected_values();
        const auto& e = expected.at("pairs")[0];
        const RunComparison c = compare_sides(baseline, side(baseline, e["a"]), side(baseline, e["b"]));
        const auto kl = *find_window_metric("kl_pq_mean"), rate = *find_window_metric("flip_rate");
        const HeatmapGrid both = comparison_grid(c, *kl, 1024), difference = difference_grid(c, *kl, 1024);
        const HeatmapGrid rates = difference_grid(c, *rate, 1024);
        QCOMPARE(both.rows.size(), std::size_t(2));
        QCOMPARE(difference.rows.size(), std::size_t(1));
        QCOMPARE(both.starts.size(), e["windows"].size());
        QCOMPARE(difference.starts, both.starts);
        for (std::size_t w = 0; w < both.starts.size(); ++w) {
            const auto& want = e["windows"][w];
            QVERIFY(near(both.rows[0].cells[w].value, want["kl_mean_a"]));
            QVERIFY(near(both.rows[1].cells[w].value, want["kl_mean_b"]));
            QVERIFY(near(difference.rows[0].cells[w].value, want["kl_mean_difference"], 1e-8));
            QVERIFY(near(rates.rows[0].cells[w].value, want["flip_rate_difference"], 1e-12));
            const PairedFlips flips = count_flips(paired_between(c.probes, both.starts[w], both.ends[w]));
            QCOMPARE(flips.n, want["n"].get<std::int64_t>());
            QCOMPARE(flips.only_a, want["only_a"].get<std::int64_t>());
            QCOMPARE(flips.only_b, want["only_b"].get<std::int64_t>());
        }
    }
    void odd_values_are_counted_and_left_out()
    {
        using made::probe;
        // By position: finite in both; infinite in B; infinite in both; invalid in A; only in B.
        const RunComparison c =
            made_pair({probe(0, 1.0), probe(10, 1.0), probe(20, infinity), made::invalid(30)},
                      {probe(0, 3.0), probe(10, infinity), probe(20, infinity), probe(30, 5.0), probe(40, 9.0, true)});
        QCOMPARE(c.probes.size(), std::size_t(4));
        QCOMPARE(c.only_in_b, 1);
        QCOMPARE(c.flips.n, 3);
        QCOMPARE(c.flips.n_invalid, 1);
        QCOMPARE(c.flips.mcnemar_p, 1.0);
        const MeanDifference& kl = c.differences[1];
        QCOMPARE(kl.n, 1);
        QCOMPARE(kl.n_left_out, 2);
        QCOMPARE(kl.difference, 2.0);
        QVERIFY(std::isnan(kl.interval.low));                                          // of one value
        QCOMPARE(positions_of(what_got_worse(c)), (std::vector<std::int64_t>{10, 0})); // infinitely worse first
        const HeatmapGrid grid = difference_grid(c, **find_window_metric("kl_pq_mean"), 10);
        using State = HeatmapCell::State;
        std::vector<State> states;
        for (const HeatmapCell& cell : grid.rows[0].cells)
            states.push_back(cell.state);
        QVERIFY((states ==
                 std::vector<State>{State::Value, State::Infinite, State::Infinite, State::Invalid, State::Empty}));
        QVERIFY(grid.rows[0].note.find("1 probe") != std::string::npos);
    }
    void the_difference_is_over_probes_that_both_have()
    {
        using made::probe;
        const RunComparison c = made_pair({probe(0, 1.0), probe(10, 100.0)}, {probe(0, 2.0), made::invalid(10)});
        const auto kl = *find_window_metric("kl_pq_mean");
        QCOMPARE(comparison_grid(c, *kl, 50).rows[0].cells[0].value, 50.5); // as in any heatmap
        QCOMPARE(difference_grid(c, *kl, 50).rows[0].cells[0].value, 1.0);
    }
    void flips_only_in_b_come_first()
    {
        using made::probe;
        const RunComparison c =
            made_pair({probe(0, 0.0), probe(10, 0.5), probe(20, 0.1), probe(30, 0.7, true), probe(40, 2.0)},
                      {probe(0, 9.0), probe(10, 0.6, true), probe(20, 0.05, true), probe(30, 0.8), probe(40, 1.0)});
        QCOMPARE(positions_of(what_got_worse(c)), (std::vector<std::int64_t>{10, 20, 0, 30}));
        QCOMPARE(c.flips.only_a, 1);
        QCOMPARE(c.flips.only_b, 2);
    }
};

QTEST_GUILESS_MAIN(TestCompare)
#include "tst_compare.moc"
