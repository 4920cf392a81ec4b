// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether two traces are what they seem to be: each check on a pair made to have the fault, and on one without it.
#include "core/analysis/checks/checks.h"
#include "core/analysis/compute.h"
#include "core/formats/answers/lists_in_memory.h"
#include "core/trace/open.h"
#include "tests/core/analysis/made_traces.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace flipscope;

namespace {

bool has(const Findings& findings, std::string_view code)
{
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.code == code; });
}

std::string text_of(const Findings& findings, std::string_view code)
{
    for (const Finding& f : findings)
        if (f.code == code)
            return f.text;
    return {};
}

std::vector<std::vector<float>> random_rows(std::size_t rows, std::size_t columns, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 3);
    std::vector<std::vector<float>> all(rows, std::vector<float>(columns));
    for (auto& row : all)
        for (float& v : row)
            v = normal(random);
    return all;
}

std::vector<std::int64_t> places(std::int64_t n)
{
    std::vector<std::int64_t> p;
    for (std::int64_t i = 0; i < n; ++i)
        p.push_back(i);
    return p;
}

TracePtr trace_of(const std::string& name, const std::vector<std::vector<float>>& rows,
                  std::vector<std::pair<std::string, std::string>> run = {})
{
    Trace t = made::trace(name, made::ids(rows.size() + 4), places(static_cast<std::int64_t>(rows.size())));
    made::set_rows(t.probes, rows);
    t.run = std::move(run);
    return std::make_shared<const Trace>(std::move(t));
}

Findings findings_of(const TracePtr& p, const TracePtr& q)
{
    const auto engine = make_cpu_engine(1);
    const auto table = compute_table(p, q, *engine, {false, false});
    return table ? (*table)->alignment.findings : Findings{{Finding::Level::Warning, "error", table.error().message}};
}

} // namespace

class Checks : public QObject {
    Q_OBJECT

private slots:
    void case_7_two_factors_differ();
    void case_9_engines_that_differ();
    void case_36_rows_one_position_late();
    void case_38_rows_that_do_not_follow_the_text();
    void case_42_temperature();
    void prompts_and_templates();
    void settings_without_effect();
    void nothing_to_say();
};

void Checks::case_7_two_factors_differ()
{
    const auto rows = random_rows(3, 50, 1);
    const auto p = trace_of("a", rows, {{"engine", "vllm"}, {"tensor_parallel", "1"}, {"version", "0.4.0"}});
    const auto q = trace_of("b", rows, {{"engine", "vllm"}, {"tensor_parallel", "4"}, {"version", "0.4.1"}});
    const auto r = trace_of("c", rows, {{"engine", "vllm"}, {"tensor_parallel", "1"}, {"version", "0.4.1"}});
    QVERIFY(text_of(findings_of(p, q), "factors-differ").starts_with("2 factors differ: tensor_parallel, version;"));
    QVERIFY(!has(findings_of(p, r), "factors-differ")); // one is what a comparison is about
    // How a capture was called tells runs apart, and makes no number.
    const auto s = trace_of("d", rows, {{"command", "run -o s.h5"}, {"capture_config", "{}"}, {"version", "0.4.0"}});
    const auto t = trace_of("e", rows, {{"command", "run -o t.h5"}, {"capture_config", "[]"}, {"version", "0.4.1"}});
    QVERIFY(!has(findings_of(s, t), "factors-differ"));
}

void Checks::case_9_engines_that_differ()
{
    const auto rows = random_rows(3, 50, 1);
    const auto p = trace_of("a", rows, {{"engine", "vllm"}}), q = trace_of("b", rows, {{"engine", "llama.cpp"}});
    QVERIFY(text_of(findings_of(p, q), "engines-differ").find("(vllm and llama.cpp)") != std::string::npos);
    QVERIFY(!has(findings_of(p, p), "engines-differ"));
}

void Checks::case_36_rows_one_position_late()
{
    // The best token of row t is the token at t instead of t + 1.
    Trace late = made::trace("late", made::ids(44), places(40));
    Trace right = made::trace("right", made::ids(44), places(40));
    auto a = random_rows(40, 1000, 2), b = a;
    for (std::size_t t = 0; t < 40; ++t) {
        a[t][static_cast<std::size_t>(late.tokens.ids[t])] = 30;
        b[t][static_cast<std::size_t>(right.tokens.ids[t + 1])] = 30;
    }
    made::set_rows(late.probes, a);
    made::set_rows(right.probes, b);
    const auto p = std::make_shared<const Trace>(right), q = std::make_shared<const Trace>(late);
    const std::string text = text_of(findings_of(p, q), "off-by-one");
    QVERIFY2(text.starts_with("The likeliest tokens of late fit the token before"), text.c_str());
    QVERIFY(text.find("one position late") != std::string::npos);
    QVERIFY(!has(findings_of(p, p), "off-by-one"));
}

void Checks::case_38_rows_that_do_not_follow_the_text()
{
    const auto rows = random_rows(5, 50, 3);
    auto repeated = rows;
    repeated[2] = repeated[1];
    const std::string said = text_of(findings_of(trace_of("a", rows), trace_of("b", repeated)), "duplicate-rows");
    QVERIFY2(said.starts_with("1 of 5 rows of b are copies of the row before (first at position 2)"), said.c_str());
    const std::vector<std::vector<float>> constant(5, rows[0]);
    QVERIFY(has(findings_of(trace_of("a", rows), trace_of("b", constant)), "constant-rows"));
    auto zeros = rows;
    zeros[3].assign(50, 0.0F);
    QVERIFY(
        text_of(findings_of(trace_of("a", rows), trace_of("b", zeros)), "flat-rows").starts_with("1 row of b is flat"));
    QVERIFY(!has(findings_of(trace_of("a", rows), trace_of("b", rows)), "duplicate-rows"));
    QVERIFY(!has(findings_of(trace_of("a", rows), trace_of("b", rows)), "flat-rows"));
}

void Checks::case_42_temperature()
{
    const auto rows = random_rows(12, 200, 4);
    auto scaled = rows;
    for (auto& row : scaled)
        for (float& v : row)
            v /= 0.7F;
    const std::string text =
        text_of(findings_of(trace_of("raw", rows), trace_of("t07", scaled)), "looks-like-temperature");
    QVERIFY2(text.find("those of raw times 1.43") != std::string::npos, text.c_str());
    QVERIFY(text.find("temperature 0.7 was applied") != std::string::npos);
    // The other way round the baseline is the processed one.
    QVERIFY(text_of(findings_of(trace_of("t07", scaled), trace_of("raw", rows)), "looks-like-temperature")
                .find("of t07 are those of raw") != std::string::npos);
    // As lists of log probabilities, normalised.
    const auto listed = [&](const std::string& name, const std::vector<std::vector<float>>& from) {
        std::vector<std::int32_t> ids;
        std::vector<float> logprobs;
        for (const auto& row : from) {
            double sum = 0;
            for (const float v : row)
                sum += std::exp(static_cast<double>(v));
            std::vector<std::pair<float, std::int32_t>> best;
            for (std::size_t i = 0; i < row.size(); ++i)
                best.emplace_back(-row[i], static_cast<std::int32_t>(i));
            std::sort(best.begin(), best.end());
            for (std::size_t i = 0; i < 10; ++i) {
                ids.push_back(best[i].second);
                logprobs.push_back(static_cast<float>(-best[i].first - std::log(sum)));
            }
        }
        Trace t = made::trace(name, made::ids(from.size() + 4), places(static_cast<std::int64_t>(from.size())));
        t.probes.kind = ProbeSet::Kind::TopK;
        t.probes.k = 10;
        t.probes.lists = lists_in_memory(10, ids, logprobs);
        return std::make_shared<const Trace>(std::move(t));
    };
    QVERIFY(has(findings_of(listed("raw", rows), listed("t07", scaled)), "looks-like-temperature"));
    // Noise is no temperature.
    auto noisy = rows;
    std::mt19937 random(5);
    std::normal_distribution<float> normal(0, 0.5F);
    for (auto& row : noisy)
        for (float& v : row)
            v += normal(random);
    QVERIFY(!has(findings_of(trace_of("raw", rows), trace_of("noisy", noisy)), "looks-like-temperature"));
}

void Checks::prompts_and_templates()
{
    Trace a = made::trace("a", made::ids(8), places(3)), b = a;
    a.tokens.prompt_sha256 = "1";
    b.tokens.prompt_sha256 = "2";
    a.tokens.chat_template_sha256 = "3";
    b.tokens.chat_template_sha256 = "4";
    a.tokens.tokenizer = "x";
    Findings findings = check_statements(a, b);
    QVERIFY(has(findings, "prompt-differs") && has(findings, "template-differs"));
    QVERIFY(!has(findings, "tokenizer-differs")); // one of them states none
    a.tokens.ids[0] = b.tokens.ids[0] = -1;
    findings = check_statements(a, b);
    QVERIFY(has(findings, "prompt-assumed"));
    a.run = b.run = {{"prompt_text_xxh128", "5"}};
    QVERIFY(!has(check_statements(a, b), "prompt-assumed"));
}

void Checks::settings_without_effect()
{
    const auto rows = random_rows(3, 50, 1);
    const auto p = trace_of("a", rows, {{"kv_cache_dtype", "f16"}}),
               q = trace_of("b", rows, {{"kv_cache_dtype", "q4_0"}});
    QVERIFY(has(findings_of(p, q), "same-data"));
    QVERIFY(!has(findings_of(p, p), "same-data"));
}

void Checks::nothing_to_say()
{
    // Real runs of one engine, against their baseline.
    const auto base = open_trace(FLIPSCOPE_SOURCE "/resources/samples/baseline.h5");
    QVERIFY(base);
    for (const char* name : {"baseline_repeat", "kv_q4_0", "w_q2_k", "flash_attn"}) {
        const auto run = open_trace(std::string(FLIPSCOPE_SOURCE "/resources/samples/") + name + ".h5");
        QVERIFY(run);
        const Findings findings = findings_of(*base, *run);
        for (const char* code : {"engines-differ", "off-by-one", "duplicate-rows", "flat-rows", "constant-rows",
                                 "looks-like-temperature", "prompt-differs", "same-data"})
            QVERIFY2(!has(findings, code), code);
    }
}

QTEST_GUILESS_MAIN(Checks)
#include "tst_checks.moc"
