// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The constructed pair of traces: every outcome and every first diverging token as its maker says (expected.json).
#include "core/toolcalls/compare_calls.h"
#include "core/trace/open.h"

#include <QtTest>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace flipscope;

class TestPlantedCalls : public QObject {
    Q_OBJECT

    nlohmann::json expected_;
    RunCallsPtr calls_;

    static TraceCallsPtr read(const std::string& file, const TracePtr& first = nullptr)
    {
        const auto trace = open_trace(file);
        if (!trace) {
            qWarning("%s", trace.error().message.c_str());
            return nullptr;
        }
        return read_calls(*trace, TokenTexts(first ? std::vector{first, *trace} : std::vector{*trace}));
    }

    static bool pair_of(const std::string& base_file, const std::string& run_file, RunCallsPtr& calls)
    {
        const auto base = read(base_file);
        const auto run = base ? read(run_file, base->trace) : nullptr;
        const auto compared = base && run ? compare_calls(base, run) : Result<RunCallsPtr>(nullptr);
        calls = compared ? *compared : nullptr;
        return calls != nullptr;
    }

    static void check(const nlohmann::json& expected, const RunCalls& calls);

private slots:
    void initTestCase()
    {
        const std::string folder = FLIPSCOPE_TEST_DATA "/toolcalls/";
        std::ifstream in(folder + "planted-expected.json");
        expected_ = nlohmann::json::parse(in);
        QVERIFY(pair_of(folder + "planted-base.h5", folder + "planted-run.h5", calls_));
    }

    void every_outcome_is_as_planted() { check(expected_, *calls_); }

    void the_whole_traces_say_the_same()
    {
        const std::string folder = FLIPSCOPE_SHARED "/traces/planted/";
        if (!std::ifstream(folder + "base.h5"))
            QSKIP("the wider collection of traces is not there");
        RunCallsPtr calls;
        QVERIFY(pair_of(folder + "base.h5", folder + "run.h5", calls));
        check(expected_, *calls);
    }

    void the_summary_counts_rows()
    {
        // 12 separate continuations with a call each, one of which is repeated, and a closed loop of 3.
        QCOMPARE(calls_->summary.rows, 16);
        QCOMPARE(calls_->summary.text,
                 std::string("16 calls: 5 same, 4 argument differs, 1 other tool, 1 missing, 1 arguments empty, "
                             "1 unclosed, 1 malformed, 1 repeated, 1 parser disagrees; recovers after call 13"));
        QCOMPARE(calls_->baseline->dialect->name, std::string_view("hermes"));
        QVERIFY(!calls_->baseline->chosen);
    }

    /// Case 2: the one argument token, both top lists, the path, and whether later calls come back together.
    void case_2_show_arp_becomes_show_run()
    {
        const auto& row = calls_->rows.at(0);
        QCOMPARE(row.name, std::string("run_command"));
        QCOMPARE(row.path, std::string("$.command"));
        const auto& d = *calls_->continuations.at(0).divergence;
        QCOMPARE(d.position, 439);
        QCOMPARE(d.inside(), Inside::Value);
        QCOMPARE(d.path(), std::string("$.command"));
        const auto& g = calls_->baseline->trace->generations.at(0);
        QCOMPARE(d.baseline.top_ids.size(), std::size_t(5));
        QCOMPARE(d.baseline.top_ids[0], g.top_ids.at(18 * 5));
        QCOMPARE(d.baseline.p_baseline_id, std::exp(static_cast<double>(g.top_logprobs.at(18 * 5))));
        QVERIFY(d.run.p_id > 0 && d.run.p_id <= 1);
        const auto& loop = calls_->continuations.at(12);
        QVERIFY(loop.closed_loop);
        QCOMPARE(loop.recovers, std::optional(true));
        QCOMPARE(calls_->rows.at(loop.first_row).recovers, std::optional(true));
    }

    void next_broken_walks_over_them()
    {
        QCOMPARE(next_broken(*calls_, -1), std::optional<std::size_t>(0));
        QCOMPARE(next_broken(*calls_, 4), std::optional<std::size_t>(6)); // 5 is the same
        QCOMPARE(next_broken(*calls_, 6, true), std::optional<std::size_t>(4));
        QCOMPARE(next_broken(*calls_, 15), std::optional<std::size_t>());
        QCOMPARE(next_broken(*calls_, 0, true), std::optional<std::size_t>());
    }
};

void TestPlantedCalls::check(const nlohmann::json& expected, const RunCalls& calls)
{
    QCOMPARE(calls.continuations.size(), expected.size());
    for (const auto& want : expected) {
        const auto number = want["generation"].get<std::size_t>();
        const auto& continuation = calls.continuations.at(number);
        QCOMPARE(continuation.prefix_tokens, want["prefix"].get<std::int64_t>());
        std::vector<std::string> outcomes;
        for (std::size_t i = 0; i < continuation.rows; ++i)
            outcomes.emplace_back(outcome_word(calls.rows[continuation.first_row + i].outcome));
        if (want.contains("calls")) {
            QCOMPARE(outcomes, want["calls"].get<std::vector<std::string>>());
            QCOMPARE(continuation.recovers, std::optional(want["recovers"].get<bool>()));
            QCOMPARE(continuation.recovers_after_call, std::optional(want["recovers_after_call"].get<std::size_t>()));
            continue;
        }
        const bool repeated = want["outcome"] == "repeated"; // the call itself is there, and once more
        QCOMPARE(outcomes, repeated ? std::vector<std::string>({"same", "repeated"})
                                    : std::vector<std::string>({want["outcome"].get<std::string>()}));
        const auto& row = calls.rows[continuation.first_row];
        if (want.contains("path"))
            QCOMPARE(row.path, want["path"].get<std::string>());
        if (want.contains("value")) {
            QCOMPARE(row.baseline_value.value_or("?"), want["baseline_value"].get<std::string>());
            QCOMPARE(row.value.value_or("?"), want["value"].get<std::string>());
        }
        QCOMPARE(continuation.divergence.has_value(), want.contains("first_divergence"));
        if (!continuation.divergence)
            continue;
        const auto& d = *continuation.divergence;
        const auto& first = want["first_divergence"];
        QCOMPARE(d.step, first["step"].get<std::int64_t>());
        QCOMPARE(d.position, first["position"].get<std::int64_t>());
        QCOMPARE(d.baseline.id, first["baseline_id"].get<std::int32_t>());
        QCOMPARE(d.run.id, first["id"].get<std::int32_t>());
        QCOMPARE(d.baseline.text, first["baseline_text"].get<std::string>());
        QCOMPARE(d.run.text, first["text"].get<std::string>());
        QCOMPARE(d.baseline.margin, first["baseline_margin"].get<double>());
        QCOMPARE(d.tied(), first["tied"].get<bool>());
    }
}

QTEST_GUILESS_MAIN(TestPlantedCalls)
#include "tst_planted_calls.moc"
