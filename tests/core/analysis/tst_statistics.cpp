// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/statistics.h"

#include <QtTest>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

using namespace flipscope;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double none = std::numeric_limits<double>::quiet_NaN();

bool near(double value, double expected, double relative = 1e-14)
{
    return std::fabs(value - expected) <= relative * std::fabs(expected) || value == expected;
}

/// What numpy and scipy say; made by tests/data/make_statistics.py.
nlohmann::json expected_values()
{
    std::ifstream in(FLIPSCOPE_TEST_DATA "/analysis/statistics.json");
    return nlohmann::json::parse(in);
}

} // namespace

class TestStatistics : public QObject {
    Q_OBJECT
private slots:
    void wilson_is_scipys()
    {
        const auto expected = expected_values();
        for (const auto& e : expected.at("wilson")) {
            const Interval i = wilson_95(e["successes"], e["n"]);
            QVERIFY2(near(i.low, e["low"], 1e-12), e.dump().c_str());
            QVERIFY2(near(i.high, e["high"], 1e-12), e.dump().c_str());
        }
    }
    void wilson_of_nothing_is_no_interval()
    {
        QVERIFY(std::isnan(wilson_95(0, 0).low));
        QVERIFY(std::isnan(wilson_95(0, 0).high));
    }
    void percentiles_are_numpys()
    {
        const auto expected = expected_values();
        for (const auto& e : expected.at("described")) {
            const Distribution d = describe(e["values"].get<std::vector<double>>());
            QCOMPARE(d.n, static_cast<std::int64_t>(e["values"].size()));
            QCOMPARE(d.n_infinite, 0);
            QVERIFY(near(d.median, e["median"]));
            QVERIFY(near(d.p90, e["p90"]));
            QVERIFY(near(d.p95, e["p95"]));
            QVERIFY(near(d.p99, e["p99"]));
            QVERIFY(near(d.p999, e["p999"]));
            QVERIFY(near(d.mean, e["mean"]));
            QCOMPARE(d.max, e["max"].get<double>());
        }
    }
    void percentile_ends()
    {
        const std::vector<double> values{1, 2, 4};
        QCOMPARE(percentile(values, 0), 1.0);
        QCOMPARE(percentile(values, 100), 4.0);
        QCOMPARE(percentile(values, 75), 3.0); // between 2 and 4, half way
        QVERIFY(std::isnan(percentile({}, 50)));
    }
    void infinite_is_counted_and_nan_skipped()
    {
        const Distribution d = describe({1, infinity, none, 3});
        QCOMPARE(d.n, 2);
        QCOMPARE(d.n_infinite, 1);
        QCOMPARE(d.mean, 2.0);
        QCOMPARE(d.max, 3.0);
    }
    void nothing_finite_has_no_numbers()
    {
        const Distribution d = describe({infinity, none});
        QCOMPARE(d.n, 0);
        QCOMPARE(d.n_infinite, 1);
        for (const double v : {d.mean, d.median, d.p90, d.p95, d.p99, d.p999, d.max})
            QVERIFY(std::isnan(v));
    }
    void mean_keeps_small_parts()
    {
        // Added one after the other in FP64 this gives 0.
        QCOMPARE(describe({1e16, 1.0, -1e16, 1.0}).mean, 0.5);
    }
};

QTEST_GUILESS_MAIN(TestStatistics)
#include "tst_statistics.moc"
