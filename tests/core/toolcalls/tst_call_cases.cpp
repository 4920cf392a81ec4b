// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Faults that users of such tools met, each with its number, and what compare_calls() makes of sequences of calls.
#include "core/trace/writer.h"
#include "made_calls.h"
#include "streams.h"

#include <QElapsedTimer>
#include <QtTest>
#include <cmath>

using namespace flipscope;
using made::Continuation;

namespace {

std::string call(const std::string& name, const std::string& arguments)
{
    return "<tool_call>{\"name\":\"" + name + "\",\"arguments\":" + arguments + "}</tool_call>";
}

const std::string end_of_turn = "<|im_end|>";

/// Outcomes of a pair of continuations from one prefix.
std::string outcomes(const std::string& baseline, const std::string& run, const std::string& parsed = {},
                     RunCallsPtr* result = nullptr, const Dialect* dialect = nullptr)
{
    made::Tokeniser tokeniser;
    (void)tokeniser.ids(baseline + run); // both vocabularies hold everything
    auto p = made::trace(tokeniser, "baseline", "some history", {{3, baseline, {}}});
    auto q = made::trace(tokeniser, "run", "some history", {{3, run, parsed}});
    const auto calls = made::compare(std::move(p), std::move(q), dialect);
    if (result)
        *result = calls;
    std::string text;
    for (const auto& row : calls->rows)
        text += (text.empty() ? "" : ", ") + std::string(outcome_word(row.outcome));
    return text;
}

Recognised read(const char* dialect, const std::string& text)
{
    const Dialect& d = *find_dialect(dialect);
    return recognise(streams::tokenised(text, d), d);
}

const std::string fed_answer = "<|im_end|>{{{<|im_start|>tool\nok<|im_end|>\n<|im_start|>assistant\n}}}";

} // namespace

class TestCallCases : public QObject {
    Q_OBJECT
private slots:
    void case_17_the_turn_ends_instead_of_calling()
    {
        made::Tokeniser tokeniser;
        const std::string with = "I look.\n" + call("f", "{}") + end_of_turn, without = "I look.\n" + end_of_turn;
        (void)tokeniser.ids(with);
        auto p = made::trace(tokeniser, "baseline", "some history", {{3, with, {}}});
        auto q = made::trace(tokeniser, "run", "some history", {{3, without, {}}});
        const std::int32_t call_id = p.generations[0].ids[2], end_id = q.generations[0].ids[2];
        made::set_list(p.generations[0], 2, {{call_id, -0.25F}, {end_id, -1.5F}});
        made::set_list(q.generations[0], 2, {{end_id, -0.5F}, {call_id, -1.0F}});
        const auto calls = made::compare(std::move(p), std::move(q));
        QCOMPARE(calls->rows.size(), std::size_t(1));
        QCOMPARE(calls->rows[0].outcome, Outcome::Missing);
        const auto& d = *calls->continuations[0].divergence;
        QCOMPARE(d.position, 3 + 2);
        QCOMPARE(d.run.text, end_of_turn); // by its name
        QCOMPARE(d.baseline.text, std::string("<tool_call>"));
        QCOMPARE(d.inside(), Inside::Delimiter);
        QCOMPARE(d.baseline.p_baseline_id, std::exp(-0.25));
        QCOMPARE(d.run.p_baseline_id, std::exp(-1.0));
        QCOMPARE(d.run.p_id, std::exp(-0.5));
        QCOMPARE(d.run.margin, 0.5);
        QCOMPARE(calls->summary.text, std::string("1 call: 1 missing; 0 of 1 calls found"));
    }

    void case_19_an_end_tag_inside_a_string()
    {
        const auto found = read("hermes", call("write", "{\"content\":\"a </tool_call> and \\\"b\\\"\"}"));
        QCOMPARE(found.calls.size(), std::size_t(1));
        QCOMPARE(found.calls[0].status, CallStatus::Good);
        QCOMPARE(found.calls[0].arguments().at(0).value, std::string("a </tool_call> and \"b\""));
    }

    void case_20_unclosed_parameter()
    {
        const auto cut = read("qwen3-coder", "<tool_call>\n<function=read>\n<parameter=path>\n/var/lo");
        QCOMPARE(cut.calls.at(0).status, CallStatus::Unclosed);
        QCOMPARE(cut.calls[0].arguments().at(0).value, std::string("/var/lo")); // up to the last token
        QVERIFY(!cut.calls[0].arguments()[0].complete);
        const auto closed =
            read("qwen3-coder", "<tool_call>\n<function=read>\n<parameter=path>\n/var/log\n</function>\n"
                                "</tool_call>");
        QCOMPARE(closed.calls.at(0).status, CallStatus::Unclosed);
        QVERIFY(closed.calls[0].tolerant.accepted && !closed.calls[0].strict.accepted);
        QCOMPARE(closed.calls[0].arguments().at(0).value, std::string("/var/log"));
    }

    void case_21_doubled_end_tag()
    {
        const auto found = read("qwen3-coder", "<tool_call>\n<function=read>\n<parameter=path>\n/a\n</parameter>\n"
                                               "</parameter>\n</function>\n</tool_call>");
        QCOMPARE(found.calls.at(0).status, CallStatus::Malformed);
        QVERIFY(found.calls[0].readings_differ);
        QVERIFY(!found.calls[0].strict.accepted && found.calls[0].tolerant.accepted);
        QCOMPARE(found.calls[0].strict.note, std::string("</parameter> is doubled."));
        QCOMPARE(found.calls[0].tolerant.arguments.at(0).value, std::string("/a"));
    }

    /// No row of logits is read, however long the history.
    void case_23_late_in_a_long_history()
    {
        made::Tokeniser tokeniser;
        std::string history;
        while (history.size() < 4 * 20'043)
            history += "abcd";
        const std::string good = call("f", "{\"command\":\"show arp\"}"), bad = call("f", "{\"command\":\"show run\"}");
        (void)tokeniser.ids(good + bad);
        auto p = made::trace(tokeniser, "baseline", history, {{20'043, good, {}}});
        auto q = made::trace(tokeniser, "run", history, {{20'043, bad, {}}});
        QElapsedTimer timer;
        timer.start();
        const auto calls = made::compare(std::move(p), std::move(q));
        QVERIFY(timer.elapsed() < 1000);
        QCOMPARE(calls->rows.at(0).outcome, Outcome::ArgumentDiffers);
        QCOMPARE(calls->rows[0].path, std::string("$.command"));
        // <tool_call>, {"name":"f","arguments":{"command":"show  in pieces of four bytes
        QCOMPARE(calls->continuations[0].divergence->inside(), Inside::Value);
        QVERIFY(calls->continuations[0].divergence->position > 20'043);
    }

    void case_25_parser_disagrees()
    {
        const std::string good = call("bash", "{\"command\":\"ls\"}") + end_of_turn;
        const std::string mangled =
            "[{\"function\":{\"name\":\"bash\",\"arguments\":\"{\\\"command=ls\\\": \\\"\\\"}\"}}]";
        RunCallsPtr calls;
        QCOMPARE(outcomes(good, good, mangled, &calls), std::string("parser disagrees"));
        QCOMPARE(calls->rows[0].parser_note, std::string("The server parsed bash($['command=ls'] = )."));
        QVERIFY(!calls->continuations[0].divergence); // the model did not diverge
        QCOMPARE(outcomes(good, good, "[{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}]"), std::string("same"));
        QCOMPARE(outcomes(good, good, "[]"), std::string("parser disagrees"));
        QCOMPARE(outcomes(good, good, "null"), std::string("parser disagrees"));
        QCOMPARE(outcomes(good, good, "{broken"), std::string("parser disagrees"));
        QCOMPARE(outcomes(good, good, ""), std::string("same")); // not stated
        // Both at once are kept apart: the model's own divergence is the outcome, the parser's fault a mark beside it.
        QCOMPARE(outcomes(good, call("bash", "{\"command\":\"rm\"}"), mangled, &calls),
                 std::string("argument differs"));
        QVERIFY(calls->rows[0].parser_disagrees);
        QCOMPARE(calls->summary.text,
                 std::string("1 call: 1 argument differs; the parser disagrees with 1 of the others too"));
    }

    void case_25_values_without_types()
    {
        const Dialect* coder = find_dialect("qwen3-coder");
        const std::string raw =
            "<tool_call>\n<function=f>\n<parameter=n>\n5\n</parameter>\n<parameter=o>\n{\"a\": [true]}\n"
            "</parameter>\n</function>\n</tool_call>";
        QCOMPARE(outcomes(raw, raw, "[{\"name\":\"f\",\"arguments\":\"{\\\"n\\\":5,\\\"o\\\":{\\\"a\\\":[true]}}\"}]",
                          nullptr, coder),
                 std::string("same"));
        QCOMPARE(outcomes(raw, raw, "[{\"name\":\"f\",\"arguments\":{\"n\":\"5\",\"o\":\"{\\\"a\\\": [true]}\"}}]",
                          nullptr, coder),
                 std::string("same")); // a server without a schema leaves text
        QCOMPARE(outcomes(raw, raw, "[{\"name\":\"f\",\"arguments\":{\"n\":6}}]", nullptr, coder),
                 std::string("parser disagrees"));
    }

    void case_26_a_tag_in_prose_is_a_mention()
    {
        const auto found = read("hermes", "Wrap it in <tool_call> and </tool_call> tags.");
        QVERIFY(found.calls.empty());
        QCOMPARE(found.mentions.size(), std::size_t(1));
        QCOMPARE(found.mentions[0].status, CallStatus::Mention);
        QCOMPARE(found.sections.size(), std::size_t(1)); // one piece of prose, nothing cut off
    }

    void case_27_no_call_at_all()
    {
        made::Tokeniser tokeniser;
        std::vector<Continuation> with, without;
        for (int i = 0; i < 5; ++i) {
            with.push_back({i, call("f", "{\"i\":" + std::to_string(i) + "}") + end_of_turn, {}});
            without.push_back({i, "I would look it up." + end_of_turn, {}});
            (void)tokeniser.ids(with.back().text + without.back().text);
        }
        auto p = made::trace(tokeniser, "baseline", "a history of some length", with);
        auto q = made::trace(tokeniser, "run", "a history of some length", without);
        const auto calls = made::compare(std::move(p), std::move(q));
        QCOMPARE(calls->summary.text, std::string("5 calls: 5 missing; 0 of 5 calls found"));
        QCOMPARE(calls->summary.found, 0);
        QCOMPARE(calls->summary.baseline_calls, 5);
        QCOMPARE(calls->run->continuations[4].stream.bytes, std::string("I would look it up.<|im_end|>"));
    }

    void case_40_segments_come_from_tokens()
    {
        const std::string text = "<think>maybe <tool_call>{}</think>\nNow.\n" + call("f", "{}") + "Done.";
        const TokenStream stream = streams::tokenised(text, *find_dialect("hermes"));
        const auto found = recognise(stream, *find_dialect("hermes"));
        std::vector<std::pair<Section::Kind, std::string>> sections;
        for (const auto& section : found.sections) {
            sections.emplace_back(section.kind, stream.text(section.bytes));
            QCOMPARE(stream.tokens_of(section.bytes), section.tokens);
        }
        const std::vector<std::pair<Section::Kind, std::string>> wanted = {
            {Section::Kind::Thinking, "<think>maybe <tool_call>{}</think>"},
            {Section::Kind::Prose, "\nNow.\n"},
            {Section::Kind::Call, call("f", "{}")},
            {Section::Kind::Prose, "Done."}};
        QVERIFY(sections == wanted);
    }

    void sequences_are_aligned_not_indexed()
    {
        const std::string a = call("f", "{\"a\":1}"), b = call("g", "{\"b\":2}"), c = call("h", "{\"c\":3}");
        QCOMPARE(outcomes(a + b + c, b + c), std::string("missing, same, same"));
        QCOMPARE(outcomes(b + c, a + b + c), std::string("extra, same, same"));
        QCOMPARE(outcomes(a + b + c, a + call("x", "{}") + c), std::string("same, other tool, same"));
        QCOMPARE(outcomes(a + b, a + a + b), std::string("same, repeated, same"));
        QCOMPARE(outcomes(a + b, a + a + a + a), std::string("same, other tool, repeated, repeated"));
        QCOMPARE(outcomes(a, call("f", "{}")), std::string("arguments empty"));
        QCOMPARE(outcomes(a, call("f", "{\"a\":1.0}")), std::string("same")); // one number
        QCOMPARE(outcomes(a, call("f", "{\"a\":\"1\"}")), std::string("argument differs"));
        QCOMPARE(outcomes(a, "no"), std::string("missing"));
        QCOMPARE(outcomes("no", a), std::string("extra"));
        QCOMPARE(outcomes("no", "neither"), std::string());
    }

    void differing_arguments_are_named()
    {
        RunCallsPtr calls;
        outcomes(call("f", "{\"a\":{\"b\":[1,2]},\"c\":\"x\"}"), call("f", "{\"c\":\"x\",\"a\":{\"b\":[1,3]}}"), {},
                 &calls);
        QCOMPARE(calls->rows[0].path, std::string("$.a.b[1]"));
        QCOMPARE(*calls->rows[0].baseline_value, std::string("2"));
        QCOMPARE(*calls->rows[0].value, std::string("3"));
        outcomes(call("f", "{\"a\":1}"), call("f", "{\"a\":\"1\"}"), {}, &calls);
        QCOMPARE(*calls->rows[0].baseline_value, std::string("1"));
        QCOMPARE(*calls->rows[0].value, std::string("\"1\""));
        outcomes(call("f", "{\"a\":1}"), call("f", "{\"a\":1,\"b\":2}"), {}, &calls);
        QCOMPARE(calls->rows[0].path, std::string("$.b"));
        QVERIFY(!calls->rows[0].baseline_value);
    }

    void closed_loops_recover_or_not()
    {
        const std::string a = call("f", "{\"a\":1}"), b = call("f", "{\"a\":2}"), c = call("f", "{\"a\":3}");
        const auto loop = [&](const std::string& x, const std::string& y, const std::string& z) {
            return x + fed_answer + y + fed_answer + z + end_of_turn;
        };
        RunCallsPtr calls;
        QCOMPARE(outcomes(loop(a, b, c), loop(b, b, c), {}, &calls), std::string("argument differs, same, same"));
        QVERIFY(calls->continuations[0].closed_loop);
        QCOMPARE(calls->continuations[0].recovers, std::optional(true));
        QCOMPARE(calls->continuations[0].recovers_after_call, std::optional<std::size_t>(0));
        QCOMPARE(calls->rows[0].recovers, std::optional(true));
        QCOMPARE(calls->summary.text, std::string("3 calls: 2 same, 1 argument differs; recovers after call 0"));
        outcomes(loop(a, b, c), loop(a, c, a), {}, &calls);
        QCOMPARE(calls->continuations[0].recovers, std::optional(false));
        QCOMPARE(calls->summary.recovers, std::optional(false));
        outcomes(loop(a, b, c), loop(a, b, a), {}, &calls); // the last of all: nothing after it tells
        QVERIFY(!calls->continuations[0].recovers);
        // A call that was fed is not the run's.
        QCOMPARE(outcomes(loop(a, b, c), a + "<|im_end|>{{{" + b + "<|im_end|>}}}" + c),
                 std::string("same, missing, same"));
    }

    void the_length_limit_is_no_divergence()
    {
        made::Tokeniser tokeniser;
        (void)tokeniser.ids("abcdefgh");
        auto p = made::trace(tokeniser, "baseline", "some history", {{3, "abcdefgh", {}, "length"}});
        auto q = made::trace(tokeniser, "run", "some history", {{3, "abcd", {}, "length"}});
        QVERIFY(!made::compare(p, q)->continuations[0].divergence);
        q.generations[0].finish_reason = "stop";
        const auto calls = made::compare(p, q);
        QCOMPARE(calls->continuations[0].divergence->position, 4);
        QCOMPARE(calls->continuations[0].divergence->run.id, -1);
    }

    void continuations_are_matched_by_prefix()
    {
        made::Tokeniser tokeniser;
        const std::string a = call("f", "{\"a\":1}"), b = call("f", "{\"a\":2}");
        (void)tokeniser.ids(a + b);
        auto p = made::trace(tokeniser, "baseline", "some history", {{1, a, {}}, {2, b, {}}, {2, a, {}}});
        auto q = made::trace(tokeniser, "run", "some history", {{2, a, {}}, {2, b, {}}, {3, a, {}}});
        p.generations[1].group = q.generations[1].group = "x"; // b and b
        p.generations[2].group = "y";
        q.generations[0].group = "z";
        const auto calls = made::compare(std::move(p), std::move(q));
        QCOMPARE(calls->continuations.size(), std::size_t(2));
        QCOMPARE(calls->summary.count(Outcome::Same), 2);
        QCOMPARE(calls->summary.unmatched_in_baseline, 1);
        QCOMPARE(calls->summary.unmatched_in_run, 1);
        QCOMPARE(calls->findings.size(), std::size_t(1));
    }

    void other_histories_are_refused()
    {
        made::Tokeniser tokeniser;
        const auto p = std::make_shared<const Trace>(made::trace(tokeniser, "baseline", "some history", {}));
        const auto q = std::make_shared<const Trace>(made::trace(tokeniser, "run", "another one.", {}));
        const TokenTexts texts({p, q});
        const auto compared = compare_calls(read_calls(p, texts), read_calls(q, texts));
        QVERIFY(!compared);
        QCOMPARE(compared.error().kind, ErrorKind::NotComparable);
    }

    void ties_and_steps()
    {
        // bfloat16 logits of 16 to 32 are 0.125 apart; -20.3 and -20.425 round as float32.
        const auto one = [](LogitType type, float first, float second) {
            made::Tokeniser tokeniser;
            (void)tokeniser.ids("aaaabbbb");
            auto p = made::trace(tokeniser, "baseline", "some history", {{3, "aaaa", {}}});
            auto q = made::trace(tokeniser, "run", "some history", {{3, "bbbb", {}}});
            p.probes.positions = {0};
            p.probes.rows = rows_in_memory(type, 4, std::vector<std::byte>(4 * size_of(type)));
            made::set_list(p.generations[0], 0, {{p.generations[0].ids[0], first}, {q.generations[0].ids[0], second}});
            return *made::compare(std::move(p), std::move(q))->continuations[0].divergence;
        };
        QVERIFY(one(LogitType::BF16, -1.3F, -1.425F).one_step());
        QVERIFY(!one(LogitType::F32, -1.3F, -1.425F).one_step());
        QVERIFY(!one(LogitType::BF16, -1.3F, -1.43F).one_step());
        QVERIFY(one(LogitType::F16, -1.3F, -1.315625F).one_step()); // 2^-6
        QVERIFY(one(LogitType::BF16, -1.3F, -1.3F).tied());
        QVERIFY(!one(LogitType::BF16, -1.3F, -1.3F).one_step());
    }

    void ten_thousand_calls()
    {
        made::Tokeniser tokeniser;
        std::vector<Continuation> p_text, q_text;
        for (int i = 0; i < 10'000; ++i) {
            const std::string n = std::to_string(i);
            p_text.push_back({i, call("run_command", "{\"command\":\"show interface " + n + "\"}") + end_of_turn, {}});
            q_text.push_back(
                {i,
                 call("run_command", "{\"command\":\"show interface " + n + (i % 7 ? "" : ".1") + "\"}") + end_of_turn,
                 {}});
            (void)tokeniser.ids(p_text.back().text + q_text.back().text);
        }
        const std::string history(4 * 10'001, 'h');
        const auto p = std::make_shared<const Trace>(made::trace(tokeniser, "baseline", history, p_text));
        const auto q = std::make_shared<const Trace>(made::trace(tokeniser, "run", history, q_text));
        const TokenTexts texts({p, q});
        QElapsedTimer timer;
        timer.start();
        const auto base = read_calls(p, texts), run = read_calls(q, texts);
        const auto read_ms = timer.restart();
        const auto calls = *compare_calls(base, run);
        const auto compare_ms = timer.elapsed();
        qInfo("10,000 calls: both sides read in %lld ms, compared in %lld ms", read_ms, compare_ms);
        QCOMPARE(calls->summary.count(Outcome::ArgumentDiffers), 1429);
        QCOMPARE(calls->summary.rows, 10'000);
        QVERIFY(read_ms < 4000 && compare_ms < 1000);
    }

    /// All in one continuation: pairs are found piece by piece.
    void a_very_long_loop()
    {
        std::string p, q;
        for (int i = 0; i < 3000; ++i) {
            p += call("f", "{\"i\":" + std::to_string(i) + "}");
            q += call("f", "{\"i\":" + std::to_string(i == 5 ? -1 : i) + "}");
        }
        QElapsedTimer timer;
        timer.start();
        RunCallsPtr calls;
        outcomes(p, q, {}, &calls);
        qInfo("3,000 calls in a row: %lld ms", timer.elapsed());
        QCOMPARE(calls->summary.count(Outcome::ArgumentDiffers), 1);
        QCOMPARE(calls->summary.count(Outcome::Same), 2999);
        QVERIFY(timer.elapsed() < 3000);
    }
};

QTEST_GUILESS_MAIN(TestCallCases)
#include "tst_call_cases.moc"
