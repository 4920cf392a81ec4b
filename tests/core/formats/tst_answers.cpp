// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Recorded answers of real servers. Expected values: tests/data/make_answer_values.py, which reads them with Python's
// own json.
#include "core/analysis/alignment.h"
#include "core/analysis/compute.h"
#include "core/formats/answers/answer.h"
#include "core/report/report.h"
#include "core/text/token_text.h"
#include "core/trace/open.h"
#include "core/trace/writer.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace flipscope;
using Json = nlohmann::json;

namespace {

std::string data(const std::string& name)
{
    return FLIPSCOPE_TEST_DATA "/answers/" + name;
}

const Json& expected()
{
    static const Json json = Json::parse(std::ifstream(data("expected.json")));
    return json;
}

bool has_finding(const Trace& trace, std::string_view code)
{
    return std::any_of(trace.findings.begin(), trace.findings.end(), [&](const Finding& f) { return f.code == code; });
}

struct Listed {
    std::vector<std::int32_t> ids;
    std::vector<float> logprobs;
};

Listed list_at(const ProbeSet& set, std::int64_t position)
{
    Listed list;
    const auto at = std::find(set.positions.begin(), set.positions.end(), position);
    if (at == set.positions.end())
        return list;
    list.ids.resize(static_cast<std::size_t>(set.k));
    list.logprobs.resize(list.ids.size());
    if (!set.lists->read(at - set.positions.begin(), 1, list.ids, list.logprobs))
        return {};
    while (!list.ids.empty() && list.ids.back() < 0) {
        list.ids.pop_back();
        list.logprobs.pop_back();
    }
    return list;
}

/// Whether an id is what the JSON names: itself, or a text.
bool is_token(const Trace& trace, std::int32_t id, const Json& named)
{
    if (named.is_number())
        return id == named.get<std::int32_t>();
    return trace.vocabulary && id >= 0 && static_cast<std::size_t>(id) < trace.vocabulary->text.size() &&
           trace.vocabulary->text[static_cast<std::size_t>(id)] == named.get<std::string>();
}

void compare_list(const Trace& trace, const Listed& list, const Json& entries)
{
    QCOMPARE(list.ids.size(), entries.size());
    std::vector<bool> used(list.ids.size());
    for (const Json& entry : entries) { // of equal values any order will do
        bool found = false;
        for (std::size_t i = 0; i < list.ids.size() && !found; ++i)
            if (!used[i] && list.logprobs[i] == entry[1].get<float>() && is_token(trace, list.ids[i], entry[0]))
                found = used[i] = true;
        QVERIFY2(found, entry.dump().c_str());
    }
    QVERIFY(std::is_sorted(list.logprobs.rbegin(), list.logprobs.rend()));
}

} // namespace

class Answers : public QObject {
    Q_OBJECT

private slots:
    void recorded_answers_hold_what_their_json_says_data();
    void recorded_answers_hold_what_their_json_says();
    void what_is_no_answer_is_refused_data();
    void what_is_no_answer_is_refused();
    void prompt_lists_and_generated_lists_are_kept_apart();
    void two_answers_are_compared_up_to_where_they_part();
    void an_answer_survives_writing();
    void info_says_what_can_be_done();
};

void Answers::recorded_answers_hold_what_their_json_says_data()
{
    QTest::addColumn<QString>("name");
    for (const auto& [name, values] : expected().items())
        QTest::newRow(name.c_str()) << QString::fromStdString(name);
}

void Answers::recorded_answers_hold_what_their_json_says()
{
    QFETCH(const QString, name);
    const Json& e = expected()[name.toStdString()];
    const auto opened = open_trace(data(name.toStdString()));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const Trace& trace = **opened;

    std::int64_t n_prompt = e.value("n_prompt", Json()).is_number() ? e["n_prompt"].get<std::int64_t>() : 1;
    if (e["prompt_ids"].is_array()) {
        n_prompt = static_cast<std::int64_t>(e["prompt_ids"].size());
        for (std::size_t i = 0; i < e["prompt_ids"].size(); ++i)
            QCOMPARE(trace.tokens.ids[i], e["prompt_ids"][i].get<std::int32_t>());
    }
    if (e["prompt"].is_array())
        for (std::size_t place = 1; place < e["prompt"].size(); ++place)
            compare_list(trace, list_at(trace.probes, static_cast<std::int64_t>(place) - 1), e["prompt"][place]);

    const Json& rows = e["generated"];
    for (std::size_t j = 0; j < rows.size(); ++j) {
        const std::int64_t position = n_prompt - 1 + static_cast<std::int64_t>(j);
        if (rows[j]["list"].is_array()) {
            const bool in_probes =
                std::binary_search(trace.probes.positions.begin(), trace.probes.positions.end(), position);
            QVERIFY(in_probes || !trace.dense.empty());
            compare_list(trace, list_at(in_probes ? trace.probes : trace.dense[0], position), rows[j]["list"]);
        }
        QVERIFY(!trace.generations.empty());
        const Generation& g = trace.generations[0];
        QCOMPARE(g.prefix_tokens, n_prompt);
        QCOMPARE(g.ids.size(), rows.size());
        if (!rows[j]["taken"].is_null())
            QVERIFY2(is_token(trace, g.ids[j], rows[j]["taken"]), rows[j]["taken"].dump().c_str());
    }
    if (!trace.generations.empty()) {
        QCOMPARE(trace.generations[0].finish_reason, e["finish"].get<std::string>());
        const std::string calls = trace.generations[0].parsed_tool_calls;
        QVERIFY((calls.empty() ? Json::array() : Json::parse(calls)) == e["calls"]);
    }
    QCOMPARE(has_finding(trace, "no-logprobs"), rows.empty() || !rows[0]["list"].is_array());
    for (const Finding& finding : trace.findings)
        QVERIFY2(finding.text.ends_with('.') && finding.text.find('\n') == std::string::npos, finding.text.c_str());
}

void Answers::what_is_no_answer_is_refused_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("reason");
    QTest::newRow("error of llama-server") << "llamacpp_error_toolong.json"
                                           << "error message, not an answer (\"request (15334 tokens) exceeds";
    QTest::newRow("error of vLLM") << "vllm_error_too_many_logprobs.json"
                                   << "error message, not an answer";
    QTest::newRow("error in place of a stream") << "llamacpp_chat_tools_stream_logprobs_error.json"
                                                << "logprobs is not supported with tools + stream";
    QTest::newRow("404") << "vllm_server_info.json"
                         << "error message, not an answer (\"Not Found\")";
    QTest::newRow("request") << "vllm_chat_logprobs.json.request.json"
                             << "is a request to a server";
    QTest::newRow("tokenize") << "llamacpp_tokenize.json"
                              << "tokens of a text";
    QTest::newRow("vllm tokenize") << "vllm_tokenize.json"
                                   << "tokens of a text";
    QTest::newRow("detokenize") << "vllm_detokenize.json"
                                << "text of a prompt";
    QTest::newRow("models") << "vllm_models.json"
                            << "no answer of a model server with log probabilities";
    QTest::newRow("version") << "vllm_version.json"
                             << "it has \"version\"";
}

void Answers::what_is_no_answer_is_refused()
{
    QFETCH(const QString, name);
    QFETCH(const QString, reason);
    const auto opened = open_trace(data(name.toStdString()));
    QVERIFY(!opened);
    QVERIFY2(QString::fromStdString(opened.error().message).contains(reason), opened.error().message.c_str());
    QVERIFY(opened.error().message.ends_with('.'));
}

void Answers::prompt_lists_and_generated_lists_are_kept_apart()
{
    const auto opened = open_trace(data("vllm_completions_prompt_logprobs.json"));
    QVERIFY(opened);
    const Trace& trace = **opened;
    QCOMPARE(trace.probes.size(), 48); // positions 0 … 46 of the prompt, and what follows its last token
    QCOMPARE(trace.probes.scoring, std::string("prefill"));
    QCOMPARE(trace.tokens.ids.size(), std::size_t{49});
    QCOMPARE(trace.generated_from, 48);
    QCOMPARE(*trace.setting("engine"), std::string("vllm"));
    QCOMPARE(*trace.setting("engine_version"), std::string("0.32.0"));
    QCOMPARE(trace.probes.k, 4); // three and the token that stood there

    const auto raw = open_trace(data("llamacpp_completion_k5.json"));
    QVERIFY(raw);
    QCOMPARE((*raw)->probes.values, std::string("raw"));
    QVERIFY(has_finding(**raw, "prompt-not-stated"));
    QVERIFY(has_finding(**raw, "generated-only"));

    const auto grammar = open_trace(data("llamacpp_completion_grammar.json"));
    QVERIFY(grammar);
    QVERIFY(has_finding(**grammar, "taken-outside"));
}

void Answers::two_answers_are_compared_up_to_where_they_part()
{
    // llama.cpp and vLLM on the same prompt of 34 tokens: "Here's a simplified" and then "overview"/"representation".
    // The one names ids, the other texts; ids of the one's prompt are not stated.
    const auto p = open_trace(data("llamacpp_chat_logprobs.json")), q = open_trace(data("vllm_chat_tools_auto.json"));
    QVERIFY(p && q);
    const auto same = align(**p, **p);
    QVERIFY(same);
    QCOMPARE(same->probes.size(), std::size_t{8});
    QVERIFY(same->top_k);
    // Real ids are never matched with made-up ones: the answers part at once, and the first probe alone is common.
    const auto mixed = align(**p, **q);
    QVERIFY2(mixed, mixed ? "" : mixed.error().message.c_str());
    QCOMPARE(mixed->common_tokens, 34);
    QCOMPARE(mixed->probes.size(), std::size_t{1});

    const auto a = open_trace(data("llamacpp_completion_k5.json")),
               b = open_trace(data("llamacpp_completion_stream.sse"));
    QVERIFY(a && b);
    const auto engine = make_cpu_engine(1);
    const auto table = compute_table(*a, *b, *engine, {false, false});
    QVERIFY2(table, table ? "" : table.error().message.c_str());
    QCOMPARE((*table)->probes.size(), std::size_t{1});
    // Cells 29418, 7663 and the rest, by hand: the third of b is 1357, the fourth of a, so it is a cell as well.
    const double pa[] = {-0.8594602942466736, -3.1516966819763184, -3.7683186531066895};
    const double qb[] = {-0.7178343534469604, -3.3195130825042725, -3.8355913162231445};
    double kl = 0, rest_p = 1, rest_q = 1;
    for (int i = 0; i < 3; ++i) {
        kl += std::exp(pa[i]) * (pa[i] - qb[i]);
        rest_p -= std::exp(pa[i]);
        rest_q -= std::exp(qb[i]);
    }
    kl += rest_p * std::log(rest_p / rest_q);
    QVERIFY(std::fabs((*table)->probes[0].kl_pq - kl) < 1e-7);
    QCOMPARE(int((*table)->probes[0].flip), 0);
}

void Answers::an_answer_survives_writing()
{
    const QTemporaryDir folder;
    const std::string path = folder.filePath("copy.h5").toStdString();
    const auto original = open_trace(data("vllm_chat_tools_auto.json"));
    QVERIFY(original);
    const auto written = write_trace(path, **original);
    QVERIFY2(written, written ? "" : written.error().message.c_str());
    const auto copy = open_trace(path);
    QVERIFY2(copy, copy ? "" : copy.error().message.c_str());
    QCOMPARE((*copy)->generated_from, (*original)->generated_from);
    QCOMPARE((*copy)->tokens.ids, (*original)->tokens.ids);
    QCOMPARE(*(*copy)->setting("token_ids"), std::string("made up from texts"));
    const auto a = list_at((*original)->probes, 40), b = list_at((*copy)->probes, 40);
    QCOMPARE(a.ids, b.ids);
    QCOMPARE(a.logprobs, b.logprobs);
    const TokenTexts texts({*copy});
    QCOMPARE(texts.label(a.ids[0]), TokenTexts({*original}).label(a.ids[0]));
}

void Answers::info_says_what_can_be_done()
{
    const auto lists = open_trace(data("vllm_completions_prompt_logprobs.json"));
    const auto text = open_trace(data("vllm_chat_tools_none.json"));
    QVERIFY(lists && text);
    const auto a = info_json(**lists), b = info_json(**text);
    QCOMPARE(QString::fromStdString(a["kind"]), QString("OpenAI completions answer"));
    QVERIFY(QString::fromStdString(a["can"].dump()).contains("lower bounds"));
    QVERIFY(QString::fromStdString(b["cannot"].dump()).contains("holds no probes"));
    QVERIFY(QString::fromStdString(info_text(**lists)).contains("lists of 4"));
}

QTEST_GUILESS_MAIN(Answers)
#include "tst_answers.moc"
