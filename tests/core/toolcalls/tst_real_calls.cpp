// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Real continuations against a reading by a script that shares nothing with the program
// (tests/data/toolcalls/read_continuations.py).
#include "core/toolcalls/compare_calls.h"
#include "core/toolcalls/forced_calls.h"
#include "core/trace/open.h"

#include <QtTest>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace flipscope;

class TestRealCalls : public QObject {
    Q_OBJECT

    static TracePtr open(const std::string& file)
    {
        const auto trace = open_trace(file);
        if (!trace)
            qWarning("%s", trace.error().message.c_str());
        return trace ? *trace : nullptr;
    }

    static void check_run(const nlohmann::json& expected, const RunCalls& calls);

    /// All runs of one reading, their traces in `folder`.
    static void check(const std::string& reading, const std::string& folder)
    {
        std::ifstream in(std::string(FLIPSCOPE_TEST_DATA "/toolcalls/") + reading);
        const auto expected = nlohmann::json::parse(in);
        const TracePtr base = open(folder + expected["baseline"].get<std::string>() + ".h5");
        QVERIFY(base);
        for (const auto& [name, continuations] : expected["runs"].items()) {
            const TracePtr trace = open(folder + name + ".h5");
            QVERIFY(trace);
            const TokenTexts texts({base, trace});
            const auto baseline = read_calls(base, texts);
            const auto calls = compare_calls(baseline, read_calls(trace, texts, baseline->dialect));
            QVERIFY(calls);
            qInfo("%s: %s", name.c_str(), (*calls)->summary.text.c_str());
            check_run(continuations, **calls);
        }
    }

private slots:
    void the_sample() { check("samples-calls.json", FLIPSCOPE_SOURCE "/resources/samples/"); }

    void smollm2()
    {
        const std::string folder = FLIPSCOPE_SHARED "/traces/smollm2/";
        if (!std::filesystem::exists(folder))
            QSKIP("the wider collection of traces is not there");
        check("smollm2-calls.json", folder);
    }

    void smollm2_h200()
    {
        const std::string folder = FLIPSCOPE_SHARED "/traces/smollm2-h200/";
        if (!std::filesystem::exists(folder))
            QSKIP("the wider collection of traces is not there");
        check("smollm2-h200-calls.json", folder);
    }

    /// Teacher-forced probes inside the history's calls, and the one call that has a probe at every token.
    void the_history_of_the_sample()
    {
        std::ifstream in(FLIPSCOPE_TEST_DATA "/toolcalls/samples-calls.json");
        const auto expected = nlohmann::json::parse(in)["history"];
        const std::string folder = FLIPSCOPE_SOURCE "/resources/samples/";
        const TracePtr base = open(folder + "baseline.h5");
        QVERIFY(base);
        const auto baseline = read_calls(base, TokenTexts({base}));
        const auto engine = make_reference_engine();
        for (const auto& [name, want] : expected.items()) {
            const TracePtr run = open(folder + name + ".h5");
            QVERIFY(run);
            const auto forced = compute_forced_calls(*baseline, run, *engine);
            QVERIFY(forced);
            QCOMPARE(forced->calls_in_history, 32);
            for (const Inside inside : {Inside::Name, Inside::Key, Inside::Value, Inside::Delimiter}) {
                const std::string word(inside_word(inside));
                const auto counts = want["classes"].contains(word) ? want["classes"][word] : nlohmann::json{0, 0};
                QCOMPARE(forced->probes_by_class[static_cast<std::size_t>(inside)], counts[0].get<std::int64_t>());
                QCOMPARE(forced->flips_by_class[static_cast<std::size_t>(inside)], counts[1].get<std::int64_t>());
            }
            std::size_t complete = 0;
            for (const ForcedCall& call : forced->calls) {
                if (!call.complete)
                    continue;
                QVERIFY(complete < want["calls"].size());
                const auto& wanted = want["calls"][complete++];
                QCOMPARE(call.start, wanted["start"].get<std::int64_t>());
                QCOMPARE(call.end, wanted["end"].get<std::int64_t>());
                QVERIFY(std::fabs(call.logprob_p - wanted["baseline_logprob"].get<double>()) < 1e-10);
                QVERIFY(std::fabs(call.logprob_q - wanted["logprob"].get<double>()) < 1e-10);
                QCOMPARE(call.probes.at(*call.weakest_p).position + 1, wanted["baseline_weakest"].get<std::int64_t>());
                QCOMPARE(call.probes.at(*call.weakest_q).position + 1, wanted["weakest"].get<std::int64_t>());
                QCOMPARE(call.probes.at(*call.largest_drop).position + 1, wanted["largest_drop"].get<std::int64_t>());
            }
            QCOMPARE(complete, want["calls"].size());
        }
    }

    /// The spans that the capture recorded are where the recogniser finds the calls of the history.
    void the_history_has_the_calls_of_its_spans()
    {
        const TracePtr base = open(FLIPSCOPE_SOURCE "/resources/samples/baseline.h5");
        QVERIFY(base);
        const auto calls = read_calls(base, TokenTexts({base}));
        std::vector<std::pair<std::int64_t, std::int64_t>> found, spans;
        std::size_t i = 0;
        for (const auto& span : base->spans) {
            if (span.kind != "tool_call")
                continue;
            spans.emplace_back(span.start, span.end);
            const Call& call = calls->in_history.calls.at(i++);
            const auto label = nlohmann::json::parse(span.label);
            QCOMPARE(call.name(), label["name"].get<std::string>());
            for (const auto& [key, value] : label["arguments"].items()) {
                const Argument* argument = call.tolerant.find("$." + key);
                QVERIFY(argument);
                QCOMPARE(argument->value, value.get<std::string>());
            }
        }
        for (const Call& call : calls->in_history.calls)
            found.emplace_back(call.tokens.begin, call.tokens.end);
        QCOMPARE(found.size(), std::size_t(32));
        QVERIFY(found == spans);
    }
};

void TestRealCalls::check_run(const nlohmann::json& expected, const RunCalls& calls)
{
    QCOMPARE(calls.continuations.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto& want = expected[i];
        const auto& continuation = calls.continuations[i];
        const auto where = fmt::format("prefix {}", continuation.prefix_tokens);
        QCOMPARE(continuation.prefix_tokens, want["prefix"].get<std::int64_t>());
        QVERIFY2(continuation.rows == want["rows"].size(), where.c_str());
        for (std::size_t k = 0; k < continuation.rows; ++k) {
            const auto& row = calls.rows[continuation.first_row + k];
            const auto& wanted = want["rows"][k];
            QVERIFY2(outcome_word(row.outcome) == wanted["outcome"], where.c_str());
            if (!wanted.contains("path"))
                continue;
            QCOMPARE(row.path, wanted["path"].get<std::string>());
            if (wanted["baseline_value"].is_string())
                QCOMPARE(row.baseline_value.value_or("?"), wanted["baseline_value"].get<std::string>());
            if (wanted["value"].is_string())
                QCOMPARE(row.value.value_or("?"), wanted["value"].get<std::string>());
            QCOMPARE(row.value.has_value(), !wanted["value"].is_null());
        }
        const auto& first = want["first_divergence"];
        QVERIFY2(continuation.divergence.has_value() == !first.is_null(), where.c_str());
        if (!continuation.divergence)
            continue;
        const auto& d = *continuation.divergence;
        QCOMPARE(d.position, first["position"].get<std::int64_t>());
        QCOMPARE(d.baseline.id, first["baseline_id"].get<std::int32_t>());
        QCOMPARE(d.run.id, first["id"].get<std::int32_t>());
        QVERIFY2(inside_word(d.inside()) == first["inside"], where.c_str());
        if (first["baseline_margin"].is_null())
            QVERIFY(std::isnan(d.baseline.margin));
        else
            QVERIFY2(std::fabs(d.baseline.margin - first["baseline_margin"].get<double>()) < 1e-12, where.c_str());
        if (!first["margin"].is_null())
            QVERIFY2(std::fabs(d.run.margin - first["margin"].get<double>()) < 1e-12, where.c_str());
    }
}

QTEST_GUILESS_MAIN(TestRealCalls)
#include "tst_real_calls.moc"
