// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/alignment.h"
#include "core/trace/opened.h"
#include "core/trace/shift.h"
#include "tests/core/analysis/made_traces.h"

#include <QtTest>

#include <algorithm>

using namespace flipscope;

namespace {

const Finding* finding(const Alignment& a, const char* code)
{
    const auto found =
        std::find_if(a.findings.begin(), a.findings.end(), [&](const Finding& f) { return f.code == code; });
    return found == a.findings.end() ? nullptr : &*found;
}

bool says(const std::string& text, const std::vector<const char*>& parts)
{
    return std::all_of(parts.begin(), parts.end(), [&](const char* p) { return text.find(p) != std::string::npos; });
}

Trace with_rows(std::string name, std::vector<std::int64_t> positions, std::size_t width)
{
    const std::size_t n = positions.size();
    Trace t = made::trace(std::move(name), made::ids(100), std::move(positions));
    made::set_rows(t.probes, std::vector(n, std::vector<float>(width, 0.5f)));
    return t;
}

} // namespace

class TestAlignment : public QObject {
    Q_OBJECT
private slots:
    void equal_histories_match_all()
    {
        const Trace p = with_rows("base", {31, 63, 95}, 8), q = with_rows("run", {31, 63, 95}, 8);
        const auto a = align(p, q);
        QVERIFY(a.has_value());
        QCOMPARE(a->probes.size(), 3u);
        QCOMPARE(a->common_tokens, 100);
        QCOMPARE(a->vocab, 8);
        QVERIFY(a->equal_types && !a->top_k);
        QVERIFY(a->findings.empty());
    }
    void ids_that_nobody_knows_agree_and_it_is_said()
    {
        Trace p = with_rows("base", {31, 63}, 8), q = with_rows("run", {31, 63}, 8);
        q.tokens.ids[5] = unknown_id;
        auto a = align(p, q);
        QVERIFY(a.has_value());
        QVERIFY(finding(*a, "unknown-ids"));
        QVERIFY(says(finding(*a, "unknown-ids")->text, {"1 of the 100 token ids of run are not known"}));
        q.tokens.ids.assign(100, unknown_id);
        a = align(p, q);
        QVERIFY(a.has_value() && a->probes.size() == 2);
        QVERIFY(says(finding(*a, "unknown-ids")->text, {"No token id of run is known"}));
        q.tokens.ids[99] = 1; // what is known counts: 3 + 99 * 7 = 696
        QVERIFY(says(align(p, q).error().message, {"position 99", "696", "1 (text"}));
    }
    void histories_in_chunks_must_be_cut_alike()
    {
        Trace p = with_rows("base", {31, 63}, 8), q = with_rows("run", {31, 63}, 8);
        p.spans = {{0, 50, "chunk", ""}, {50, 100, "chunk", ""}};
        auto a = align(p, q);
        QVERIFY(a.has_value());
        QVERIFY(says(finding(*a, "chunked-context")->text, {"base was fed in 2 chunks", "run states no chunks"}));
        q.spans = p.spans;
        QVERIFY(!finding(*align(p, q), "chunked-context"));
        q.spans = {{0, 40, "chunk", ""}, {40, 80, "chunk", ""}, {80, 100, "chunk", ""}};
        QCOMPARE(align(p, q).error().kind, ErrorKind::NotComparable);
        QVERIFY(says(align(p, q).error().message, {"begins a chunk at token 40"}));
    }
    void other_token_names_position_ids_and_texts()
    {
        Trace p = made::trace("base", {1, 2, 3, 4}, {1}), q = made::trace("kv8", {1, 2, 9, 4}, {1});
        p.tokens.text = made::strings({"a", "b", " show", "d"});
        const auto a = align(p, q);
        QCOMPARE(a.error().kind, ErrorKind::NotComparable);
        QVERIFY2(says(a.error().message, {"position 2", "3 “␣show” in base", "9 (text not stored) in kv8"}),
                 a.error().message.c_str());
        q.vocabulary = std::make_shared<Vocabulary>(
            Vocabulary{made::strings({"0", "1", "2", "3", "4", "5", "6", "7", "8", "\xE2\x9C"}), {}});
        QVERIFY(says(align(p, q).error().message, {"9 “‹E2 9C›” in kv8"}));
    }
    void doubled_first_token_offers_a_shift()
    {
        const auto ids = made::ids(50);
        std::vector<std::int32_t> longer = ids;
        longer.insert(longer.begin(), ids.front());
        const Trace p = made::trace("base", ids, {10}), q = made::trace("run", longer, {10});
        const std::string run_longer = align(p, q).error().message;
        QVERIFY2(says(run_longer, {"position 1,", "run has one extra token at its start", "shift by one"}),
                 run_longer.c_str());
        const std::string base_longer = align(q, p).error().message;
        QVERIFY2(says(base_longer, {"run has one extra token at its start"}), base_longer.c_str());
        // Another token somewhere is no shift.
        auto other = ids;
        other[7] += 1;
        QVERIFY(!says(align(p, made::trace("x", other, {10})).error().message, {"shift"}));
    }
    void common_prefix_is_compared_and_said()
    {
        const Trace p = made::trace("base", made::ids(100), {31, 63, 95}),
                    q = made::trace("run", made::ids(60), {31, 59});
        Trace longer = p, shorter = q;
        made::set_rows(longer.probes, std::vector(3, std::vector<float>(4, 0.f)));
        made::set_rows(shorter.probes, std::vector(2, std::vector<float>(4, 0.f)));
        const auto a = align(longer, shorter);
        QVERIFY(a.has_value());
        QCOMPARE(a->common_tokens, 60);
        QCOMPARE(a->probes.size(), 1u);
        QCOMPARE(a->only_in_baseline, 2);
        QCOMPARE(a->only_in_run, 1);
        QVERIFY(finding(*a, "common-prefix"));
        QVERIFY(says(finding(*a, "common-prefix")->text, {"100", "60"}));
        QVERIFY(says(finding(*a, "unmatched-probes")->text, {"1 probe ", "2 of base", "1 of run"}));
    }
    void probes_are_matched_by_position_never_by_row()
    {
        const auto a = align(with_rows("base", {10, 20, 30, 40}, 4), with_rows("run", {5, 20, 25, 40}, 4));
        QVERIFY(a.has_value());
        QCOMPARE(a->probes.size(), 2u);
        QCOMPARE(a->probes[0].position, 20);
        QCOMPARE(a->probes[0].baseline_row, 1);
        QCOMPARE(a->probes[0].run_row, 1);
        QCOMPARE(a->probes[1].position, 40);
        QCOMPARE(a->probes[1].baseline_row, 3);
        QCOMPARE(a->probes[1].run_row, 3);
    }
    void no_common_position_is_refused()
    {
        const auto a = align(with_rows("base", {10, 20}, 4), with_rows("run", {11, 21}, 4));
        QCOMPARE(a.error().kind, ErrorKind::NotComparable);
        QVERIFY(says(a.error().message, {"no probe", "2 probes"}));
    }
    void padded_vocabulary_is_said()
    {
        const auto a = align(with_rows("base", {10}, 6), with_rows("run", {10}, 9));
        QVERIFY(a.has_value());
        QCOMPARE(a->vocab, 6);
        QVERIFY(says(finding(*a, "padded-vocab")->text, {"6 ids in base", "9 in run"}));
    }
    void dense_probes_match_over_all_groups()
    {
        Trace p = with_rows("base", {10}, 4), q = with_rows("run", {10}, 4);
        ProbeSet first, second, whole;
        first.positions = {50, 51};
        second.positions = {51, 60};
        whole.positions = {51, 60, 61};
        p.dense = {first, second};
        q.dense = {whole};
        const auto a = align(p, q);
        QCOMPARE(a->dense.size(), 2u);
        QCOMPARE(a->dense[0].position, 51);
        QCOMPARE(a->dense[0].baseline_set, 0);
        QCOMPARE(a->dense[0].baseline_row, 1);
        QCOMPARE(a->dense[0].run_row, 0);
        QCOMPARE(a->dense[1].baseline_set, 1);
        QCOMPARE(a->only_in_baseline, 0);
    }
    void other_scoring_is_said()
    {
        Trace p = with_rows("base", {10}, 4), q = with_rows("run", {10}, 4);
        p.probes.scoring = "prefill";
        q.probes.scoring = "decode";
        p.probes.temperature = 1.0;
        q.probes.temperature = 0.7;
        const auto a = align(p, q);
        QVERIFY(says(finding(*a, "scoring")->text, {"prefill", "decode"}));
        QVERIFY(says(finding(*a, "temperature")->text, {"1", "0.7"}));
        q.probes.scoring.clear();
        QVERIFY(!finding(*align(p, q), "scoring")); // not stated is no difference
    }
    void a_doubled_or_missing_bos_is_shifted_when_asked()
    {
        const auto ids = made::ids(50);
        std::vector<std::int32_t> longer = ids;
        longer.insert(longer.begin(), ids.front());
        Trace p = made::trace("base", ids, {9, 19}), q = made::trace("run", longer, {0, 10, 20});
        made::set_rows(p.probes, {{1, 2}, {3, 4}});
        made::set_rows(q.probes, {{9, 9}, {1, 2}, {3, 5}});
        q.tokens.text = made::strings(std::vector<std::string>(51, "x"));
        q.spans = {{0, 1, "system", ""}, {1, 51, "user", ""}};
        q.generations = {{}};
        q.generations[0].prefix_tokens = 51;
        QCOMPARE(shift_that_fits(p, q), -1);
        QCOMPARE(shift_that_fits(q, p), 1);
        QCOMPARE(shift_that_fits(p, p), 0);
        QVERIFY(probes_meet(p, q, -1) && !probes_meet(p, q, 0));
        QVERIFY(says(align(p, q).error().message, {"shift by one", "--shift-bos"}));

        const TracePtr less = shifted(q, -1);
        QCOMPARE(less->tokens.ids, ids);
        QCOMPARE(less->tokens.text.size(), 50u);
        QCOMPARE(std::string(less->tokens.text[49]), std::string("x"));
        QCOMPARE(less->probes.positions, (std::vector<std::int64_t>{9, 19})); // what stood before them is gone
        QCOMPARE(less->probes.rows->rows(), 2);
        QCOMPARE(less->spans.size(), 1u);
        QCOMPARE(less->spans[0].start, 0);
        QCOMPARE(less->generations[0].prefix_tokens, 50);
        QVERIFY(std::any_of(less->findings.begin(), less->findings.end(),
                            [](const Finding& f) { return f.code == "shifted"; }));
        QVERIFY(less->setting("positions_shifted"));
        QVERIFY(less->content_key != q.content_key);
        const auto a = align(p, *less);
        QVERIFY2(a, a ? "" : a.error().message.c_str());
        QCOMPARE(a->probes.size(), 2u);
        QCOMPARE(a->probes[1].run_row, 1);

        // The other way round: the run lacks what the baseline begins with.
        const TracePtr more = shifted(p, 1);
        QCOMPARE(more->tokens.ids.front(), unknown_id);
        QCOMPARE(more->probes.positions, (std::vector<std::int64_t>{10, 20}));
        const auto b = align(q, *more);
        QVERIFY2(b, b ? "" : b.error().message.c_str());
        QCOMPARE(b->probes.size(), 2u);
        QVERIFY(says(finding(*b, "unknown-ids")->text, {"first token of run"}) ||
                says(finding(*b, "unknown-ids")->text, {"first token of base"}));
    }
    void a_history_that_begins_twice_is_said()
    {
        const auto codes = [](Trace t, std::optional<std::string> text) {
            if (text)
                t.tokens.text = made::strings(std::vector<std::string>(t.tokens.ids.size(), *text));
            std::string all;
            const auto trace = opened(TracePtr(std::make_shared<const Trace>(std::move(t))), {});
            for (const Finding& f : (*trace)->findings)
                all += f.code + " ";
            return all;
        };
        std::vector<std::int32_t> twice = made::ids(30);
        twice.insert(twice.begin(), twice.front());
        QCOMPARE(codes(made::trace("t", twice, {}), "<s>"), std::string("doubled-bos "));
        QCOMPARE(codes(made::trace("t", twice, {}), "ha"), std::string()); // "haha" is a text
        QCOMPARE(codes(made::trace("t", twice, {}), std::nullopt), std::string("doubled-bos "));
        QCOMPARE(codes(made::trace("t", made::ids(30), {}), "<s>"), std::string());
        twice[20] = twice[0]; // it occurs elsewhere too
        QCOMPARE(codes(made::trace("t", twice, {}), std::nullopt), std::string());
    }
    void no_tokens_are_refused()
    {
        QCOMPARE(align(made::trace("a", {}, {}), made::trace("b", {1}, {0})).error().kind, ErrorKind::NotComparable);
    }
};

QTEST_GUILESS_MAIN(TestAlignment)
#include "tst_alignment.moc"
