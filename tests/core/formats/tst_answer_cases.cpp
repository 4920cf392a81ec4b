// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What servers do to log probabilities in the field: answers written by hand, values known by hand.
#include "core/analysis/alignment.h"
#include "core/formats/answers/answers_reader.h"
#include "core/text/token_text.h"

#include <QTest>

#include <cmath>
#include <sstream>

using namespace flipscope;

namespace {

Result<TracePtr> read(const std::string& text, const std::shared_ptr<const Vocabulary>& vocabulary = {})
{
    std::istringstream in(text);
    return answers::read_answers(in, "answer.json", {vocabulary, {}, {}, 0});
}

const Finding* finding(const Trace& trace, std::string_view code)
{
    for (const Finding& f : trace.findings)
        if (f.code == code)
            return &f;
    return nullptr;
}

/// Legacy completions of four tokens with top_logprobs as given.
std::string legacy(const std::string& tokens, const std::string& values, const std::string& tops)
{
    return R"({"object":"text_completion","choices":[{"index":0,"text":"x","logprobs":{"tokens":[)" + tokens +
           R"(],"token_logprobs":[)" + values + R"(],"top_logprobs":[)" + tops +
           R"(]}}],"usage":{"prompt_tokens":3,"completion_tokens":4}})";
}

std::string chat(const std::string& content)
{
    return R"({"object":"chat.completion","choices":[{"index":0,"message":{"content":"x"},"logprobs":{"content":[)" +
           content + R"(]}}],"usage":{"prompt_tokens":3}})";
}

std::vector<float> values_of(const ProbeSet& set, std::int64_t row)
{
    std::vector<std::int32_t> ids(static_cast<std::size_t>(set.k));
    std::vector<float> logprobs(ids.size());
    if (!set.lists->read(row, 1, ids, logprobs))
        return {};
    std::erase_if(logprobs, [](float v) { return std::isnan(v); });
    return logprobs;
}

std::vector<std::int32_t> ids_of(const ProbeSet& set, std::int64_t row)
{
    std::vector<std::int32_t> ids(static_cast<std::size_t>(set.k));
    std::vector<float> logprobs(ids.size());
    if (!set.lists->read(row, 1, ids, logprobs))
        return {};
    std::erase(ids, -1);
    return ids;
}

} // namespace

class AnswerCases : public QObject {
    Q_OBJECT

private slots:
    void case_30_texts_that_fall_together();
    void case_31_pieces_of_an_emoji();
    void case_32_token_id_placeholders();
    void case_33_forms_of_no_value();
    void case_36_rows_missing_and_off_by_one();
    void case_38_all_probabilities_one();
    void case_40_tokens_cover_the_thinking();
    void case_42_processed_values_are_marked();
    void case_44_effective_k();
    void logits_are_refused();
    void ids_from_a_vocabulary();
    void sglang_rows();
    void ollama_stream();
    void a_walk_of_requests();
    void different_prompts_are_refused();
    void wrapped_requests_state_the_prompt();
    void ids_of_the_prompt_are_lent();
    void json_of_all_shapes_data();
    void json_of_all_shapes();
};

void AnswerCases::case_30_texts_that_fall_together()
{
    // k = 3; the second list lost an entry, and in the third the taken token has another value than in the list.
    const auto opened = read(legacy(R"("a","b","c","d")", "-0.5,-0.6,-0.7,-0.8",
                                    R"({"a":-0.5,"x":-2,"y":-3},{"b":-0.6,"x":-2},{"c":-0.9,"x":-2,"y":-3},)"
                                    R"({"d":-0.8,"x":-2,"y":-3})"));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const Trace& trace = **opened;
    QCOMPARE(trace.probes.positions, (std::vector<std::int64_t>{2, 5})); // 3 and 4 are lossy
    QVERIFY(finding(trace, "collapsed-texts"));
    QVERIFY(finding(trace, "contradiction"));
    QVERIFY(finding(trace, "ids-made-up"));
    QCOMPARE(trace.generations[0].ids.size(), std::size_t{4}); // tokens stay
    QVERIFY(trace.tokens.ids.back() >= 1 << 20);               // and never look like real ids
}

void AnswerCases::case_31_pieces_of_an_emoji()
{
    const std::string lost = R"({"token":"\ufffd","logprob":-0.1,"bytes":[239,191,189],"top_logprobs":[)"
                             R"({"token":"\ufffd","logprob":-0.1,"bytes":[239,191,189]},)"
                             R"({"token":"a","logprob":-3,"bytes":[97]}]})";
    const auto broken = read(chat(lost + "," + lost + "," + lost + "," + lost));
    QVERIFY2(broken, broken ? "" : broken.error().message.c_str());
    QVERIFY(finding(**broken, "bytes-lost"));
    const auto& ids = (*broken)->tokens.ids;
    QVERIFY(ids[3] != ids[4]);                                     // never matched by text
    QCOMPARE(ids_of((*broken)->probes, 0).size(), std::size_t{2}); // "a" and the token taken, by an id of its own
    QVERIFY(ids_of((*broken)->probes, 0)[0] != ids_of((*broken)->probes, 1)[0]);

    const auto piece = [](int byte) {
        return QString(R"({"token":"\ufffd","logprob":-0.1,"bytes":[%1],"top_logprobs":[]})").arg(byte).toStdString();
    };
    const auto whole = read(chat(piece(240) + "," + piece(159) + "," + piece(152) + "," + piece(138)));
    QVERIFY(whole);
    QVERIFY(!finding(**whole, "bytes-lost"));
    QCOMPARE((*whole)->tokens.text.bytes, std::string("😊"));

    const auto escaped = read(legacy(R"("bytes:\\xf0\\x9f","\\x98\\x8a")", "-0.1,-0.2",
                                     R"({"\\xf0\\x9f":-0.1,"b":-4},{"\\x98\\x8a":-0.2,"b":-4})"));
    QVERIFY(escaped);
    QCOMPARE((*escaped)->tokens.text.bytes, std::string("😊"));
}

void AnswerCases::case_32_token_id_placeholders()
{
    const auto opened = read(chat(
        R"({"token":"token_id:1234","logprob":-0.1,"bytes":null,"top_logprobs":[{"token":"token_id:1234","logprob":-0.1,)"
        R"("bytes":[116,111,107,101,110,95,105,100,58,49,50,51,52]},{"token":"token_id:7","logprob":-3,"bytes":null}]})"));
    QVERIFY(opened);
    QCOMPARE((*opened)->tokens.ids.back(), 1234);
    QCOMPARE(ids_of((*opened)->probes, 0), (std::vector<std::int32_t>{1234, 7}));
    QVERIFY(!finding(**opened, "ids-made-up"));
    QVERIFY((*opened)->tokens.text.empty()); // "token_id:1234" is no text
    // The dict's key is the id.
    const auto prompt = read(R"({"object":"text_completion","choices":[{"index":0,"text":"","logprobs":null,)"
                             R"("prompt_token_ids":[5,1234],"prompt_logprobs":[null,{"1234":{"logprob":-0.5,"rank":1,)"
                             R"("decoded_token":"x"},"9":{"logprob":-2,"rank":2,"decoded_token":"y"}}]}]})");
    QVERIFY2(prompt, prompt ? "" : prompt.error().message.c_str());
    QCOMPARE(ids_of((*prompt)->probes, 0), (std::vector<std::int32_t>{1234, 9}));
}

void AnswerCases::case_33_forms_of_no_value()
{
    const auto entry = [](const char* token, const char* value) {
        return std::string(R"({"token":")") + token + R"(","bytes":null,"logprob":)" + value + "}";
    };
    std::string top;
    int n = 0;
    for (const char* value :
         {"-0.5", "-Infinity", "NaN", "null", "-9999.0", "-1000", "-100", "\"-inf\"", "Infinity", "-1e999999"}) {
        if (std::string_view(value) == "-1e999999")
            continue; // no number at all: the JSON itself is refused, see json_of_all_shapes
        top += (n == 0 ? "" : ",") + entry(("t" + std::to_string(n)).c_str(), value);
        ++n;
    }
    const auto opened = read(chat(R"({"token":"t0","logprob":-0.5,"bytes":null,"top_logprobs":[)" + top + "]}"));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    QCOMPARE(values_of((*opened)->probes, 0), (std::vector<float>{-0.5F}));
    const Finding* f = finding(**opened, "no-value");
    QVERIFY(f);
    for (const char* form : {"8 entries", "2 as -Infinity", "1 as NaN", "1 as null", "1 as -9999", "1 as -1000",
                             "1 as -100", "1 as Infinity"})
        QVERIFY2(QString::fromStdString(f->text).contains(form), f->text.c_str());
}

void AnswerCases::case_36_rows_missing_and_off_by_one()
{
    const auto prompt = [](const std::string& rows) {
        return R"({"object":"text_completion","choices":[{"index":0,"text":"","logprobs":null,"prompt_token_ids":)"
               R"([1,11,12,13,14],"prompt_logprobs":[)" +
               rows + "]}]}";
    };
    const auto row = [](int id) {
        return QString(R"({"%1":{"logprob":-0.5,"rank":1},"99":{"logprob":-2,"rank":2}})").arg(id).toStdString();
    };
    // n rows, the first one and one where a cached prefix ended are null
    const auto usual = read(prompt("null," + row(11) + ",null," + row(13) + "," + row(14)));
    QVERIFY2(usual, usual ? "" : usual.error().message.c_str());
    QCOMPARE((*usual)->probes.positions, (std::vector<std::int64_t>{0, 2, 3}));
    QVERIFY(!finding(**usual, "off-by-one"));
    // n - 1 rows: the first null is missing
    const auto shorter = read(prompt(row(11) + "," + row(12) + "," + row(13) + "," + row(14)));
    QVERIFY(shorter);
    QCOMPARE((*shorter)->probes.positions, (std::vector<std::int64_t>{0, 1, 2, 3}));
    QCOMPARE(ids_of((*shorter)->probes, 3), (std::vector<std::int32_t>{14, 99}));
    QVERIFY(finding(**shorter, "off-by-one"));
    // n + 1 rows: one more null before the first
    const auto longer = read(prompt("null,null," + row(11) + "," + row(12) + "," + row(13) + "," + row(14)));
    QVERIFY(longer);
    QCOMPARE((*longer)->probes.positions, (std::vector<std::int64_t>{0, 1, 2, 3}));
    QVERIFY(finding(**longer, "off-by-one"));
    // Legacy lists, off by one from their tokens: the values tell.
    const auto legacy_off = read(legacy(R"("a","b","c","d")", "-0.5,-0.6,-0.7,-0.8",
                                        R"({"b":-0.6,"x":-2},{"c":-0.7,"x":-2},{"d":-0.8,"x":-2})"));
    QVERIFY(legacy_off);
    QCOMPARE((*legacy_off)->probes.positions, (std::vector<std::int64_t>{3, 4, 5}));
    QVERIFY(finding(**legacy_off, "off-by-one"));
}

void AnswerCases::case_38_all_probabilities_one()
{
    std::string zeros, constant;
    for (int i = 0; i < 200; ++i) {
        const std::string token = "\"t" + std::to_string(i) + "\"";
        const auto item = [&](const char* value) {
            return std::string(i == 0 ? "" : ",") + R"({"token":)" + token + R"(,"bytes":null,"logprob":)" + value +
                   R"(,"top_logprobs":[{"token":)" + token + R"(,"bytes":null,"logprob":)" + value + "}]}";
        };
        zeros += item("0.0");
        constant += item("-1.25");
    }
    const auto all_one = read(chat(zeros));
    QVERIFY(!all_one);
    QVERIFY(QString::fromStdString(all_one.error().message).contains("all probabilities are 1"));
    const auto same = read(chat(constant));
    QVERIFY(!same);
    QVERIFY(QString::fromStdString(same.error().message).contains("one and the same log probability (-1.25)"));
}

void AnswerCases::case_40_tokens_cover_the_thinking()
{
    const auto opened = read(
        R"({"object":"chat.completion","choices":[{"index":0,"message":{"content":"Yes","reasoning_content":"hm"},)"
        R"("logprobs":{"content":[{"id":5,"token":"<think>","logprob":-0.1,"top_logprobs":[]},)"
        R"({"id":6,"token":"hm","logprob":-0.2,"top_logprobs":[]},{"id":7,"token":"</think>","logprob":-0.3,)"
        R"("top_logprobs":[]},{"id":8,"token":"Yes","logprob":-0.4,"top_logprobs":[]}]}}],"usage":{"prompt_tokens":2}})");
    QVERIFY(opened);
    QCOMPARE((*opened)->generations[0].ids, (std::vector<std::int32_t>{5, 6, 7, 8}));
    QCOMPARE((*opened)->generations[0].text.bytes, std::string("<think>hm</think>Yes"));
}

void AnswerCases::case_42_processed_values_are_marked()
{
    const auto opened =
        read(R"({"content":"ab","stop":true,"tokens_evaluated":3,"generation_settings":{"temperature":0.7,)"
             R"("post_sampling_probs":true,"n_probs":2},"completion_probabilities":[{"id":5,"token":"a","bytes":[97],)"
             R"("prob":0.5,"top_probs":[{"id":5,"token":"a","bytes":[97],"prob":0.5},{"id":6,"token":"b","bytes":[98],)"
             R"("prob":0.25},{"id":7,"token":"c","bytes":[99],"prob":0}]}]})");
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    QCOMPARE((*opened)->probes.values, std::string("processed"));
    QCOMPARE((*opened)->probes.temperature, std::optional(0.7));
    QCOMPARE(values_of((*opened)->probes, 0), (std::vector<float>{std::log(0.5F), static_cast<float>(std::log(0.25))}));
    const auto unknown = read(chat(R"({"token":"a","logprob":-1,"top_logprobs":[{"token":"a","logprob":-1}]})"));
    QVERIFY(unknown);
    QVERIFY(finding(**unknown, "values-not-stated"));
}

void AnswerCases::case_44_effective_k()
{
    std::string top;
    for (int i = 0; i < 50; ++i)
        top += QString(R"(%1{"id":%2,"token":"t%2","logprob":%3})")
                   .arg(i == 0 ? "" : ",")
                   .arg(i)
                   .arg(i < 20 ? QString::number(-2.0 - 0.5 * i) : QString("-Infinity"))
                   .toStdString();
    const auto opened = read(chat(R"({"id":0,"token":"t0","logprob":-2,"top_logprobs":[)" + top + "]}"));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    QCOMPARE((*opened)->probes.k, 20);
    QCOMPARE(values_of((*opened)->probes, 0).size(), std::size_t{20});
}

void AnswerCases::logits_are_refused()
{
    const auto opened = read(chat(R"({"id":0,"token":"a","logprob":17.25,"top_logprobs":[{"id":0,"token":"a",)"
                                  R"("logprob":17.25}]})"));
    QVERIFY(!opened);
    QVERIFY(QString::fromStdString(opened.error().message).contains("these are logits"));
    const auto twice = read(chat(R"({"id":0,"token":"a","logprob":-0.1,"top_logprobs":[{"id":0,"token":"a",)"
                                 R"("logprob":-0.1},{"id":1,"token":"b","logprob":-0.2}]})"));
    QVERIFY(!twice);
    QVERIFY(QString::fromStdString(twice.error().message).contains("adds up to a probability of 1.7"));
}

void AnswerCases::ids_from_a_vocabulary()
{
    auto vocabulary = std::make_shared<Vocabulary>();
    vocabulary->text.bytes = "abb";
    vocabulary->text.offsets = {0, 1, 2, 3}; // "b" twice: nobody can tell which
    const auto opened = read(chat(R"({"token":"a","logprob":-0.5,"top_logprobs":[{"token":"a","logprob":-0.5},)"
                                  R"({"token":"b","logprob":-2}]})"),
                             vocabulary);
    QVERIFY(opened);
    QCOMPARE((*opened)->tokens.ids.back(), 0);
    const auto ids = ids_of((*opened)->probes, 0);
    QCOMPARE(ids[0], 0);
    QVERIFY(ids[1] >= 1 << 20);
    QVERIFY(finding(**opened, "ids-from-vocabulary"));
}

void AnswerCases::sglang_rows()
{
    const auto opened = read(
        R"({"text":" x","output_ids":[7],"meta_info":{"id":"r","prompt_tokens":4,"completion_tokens":1,)"
        R"("finish_reason":{"type":"length","length":1},"input_token_logprobs":[[null,5,null],[-0.5,6,null],[-inf,8," y"]],)"
        R"("input_top_logprobs":[null,[[-0.5,6,null],[-1.5,9,null]],[[-0.25,3,null],[-2.5,4,null]]],)"
        R"("output_token_logprobs":[[-0.125,7," x"]],"output_top_logprobs":[[[-0.125,7," x"],[-3,1,null]]]}})");
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const Trace& trace = **opened;
    QCOMPARE(trace.tokens.ids, (std::vector<std::int32_t>{-1, 5, 6, 8, 7})); // logprob_start_len left one out
    QCOMPARE(trace.probes.positions, (std::vector<std::int64_t>{1, 2, 3}));
    QCOMPARE(ids_of(trace.probes, 1), (std::vector<std::int32_t>{3, 4}));
    QCOMPARE(values_of(trace.probes, 2), (std::vector<float>{-0.125F, -3}));
    QCOMPARE(trace.generations[0].finish_reason, std::string("length"));
}

void AnswerCases::ollama_stream()
{
    const auto line = [](const char* text, const char* value, const char* more) {
        return std::string(R"({"model":"m","created_at":"2026-11-30T10:00:00Z","response":")") + text +
               R"(","logprobs":[{"token":")" + text + R"(","logprob":)" + value + R"(,"top_logprobs":[{"token":")" +
               text + R"(","logprob":)" + value + R"(}]}],)" + more + "}\n";
    };
    const auto opened =
        read(line("a", "-0.5", R"("done":false)") + line("b", "-0.25",
                                                         R"("done":true,"done_reason":"stop","context":[9,8,4,5],)"
                                                         R"("prompt_eval_count":2,"eval_count":2)"));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    QCOMPARE((*opened)->tokens.ids, (std::vector<std::int32_t>{9, 8, 4, 5}));
    QCOMPARE((*opened)->probes.positions, (std::vector<std::int64_t>{1, 2}));
    QCOMPARE((*opened)->generations[0].text.bytes, std::string("ab"));
    QCOMPARE(*(*opened)->setting("engine"), std::string("ollama"));
}

void AnswerCases::a_walk_of_requests()
{
    const auto probe = [](int n, const char* prompt, int id) {
        return QString(
                   R"({"content":"x","stop":true,"tokens_evaluated":%1,"prompt":"%2","completion_probabilities":)"
                   R"([{"id":%3,"token":"x","logprob":-0.5,"top_logprobs":[{"id":%3,"token":"x","logprob":-0.5}]}]})")
                   .arg(n)
                   .arg(prompt)
                   .arg(id)
                   .toStdString() +
               "\n";
    };
    const auto opened = read(probe(32, "ab", 1) + probe(64, "abcd", 2) + probe(96, "abcdef", 3));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    QCOMPARE((*opened)->probes.positions, (std::vector<std::int64_t>{31, 63, 95}));
    QCOMPARE((*opened)->generations.size(), std::size_t{3});
}

void AnswerCases::different_prompts_are_refused()
{
    const auto answer = [](const char* prompt) {
        return QString(
                   R"({"content":"x","stop":true,"tokens_evaluated":3,"prompt":"%1","completion_probabilities":[]})")
            .arg(prompt)
            .toStdString();
    };
    const auto opened = read(answer("one") + answer("two"));
    QVERIFY(!opened);
    QVERIFY(QString::fromStdString(opened.error().message).contains("different prompts (answer 2"));
}

void AnswerCases::wrapped_requests_state_the_prompt()
{
    const auto opened = read(R"({"request":{"prompt":[5,6,7],"n_probs":9},"response":{"content":"x","stop":true,)"
                             R"("tokens_evaluated":3,"completion_probabilities":[{"id":1,"token":"x","logprob":-0.5,)"
                             R"("top_logprobs":[{"id":1,"token":"x","logprob":-0.5}]}]}})");
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    QCOMPARE((*opened)->tokens.ids, (std::vector<std::int32_t>{5, 6, 7, 1}));
    QVERIFY(finding(**opened, "effective-k"));
}

void AnswerCases::ids_of_the_prompt_are_lent()
{
    const std::string answer =
        chat(R"({"token":"a","id":4,"logprob":-0.5,"top_logprobs":[{"token":"a","id":4,"logprob":-0.5}]})");
    const auto with = [&](const std::string& text, std::vector<std::int32_t> prompt, std::int64_t n_vocab = 0) {
        std::istringstream in(text);
        return answers::read_answers(in, "answer.json", {{}, std::move(prompt), "ids.txt", n_vocab});
    };
    const auto opened = with(answer, {7, 8, 9, 10}, 20); // usage says: 3 tokens
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    QCOMPARE((*opened)->tokens.ids, (std::vector<std::int32_t>{7, 8, 9, 4}));
    QVERIFY(!finding(**opened, "prompt-not-stated"));
    QCOMPARE((*opened)->probes.n_vocab, 20);
    const auto shorter = with(answer, {7, 8});
    QVERIFY(!shorter && shorter.error().message.find("3 tokens, of which ids.txt holds only 2") != std::string::npos);
    const auto small = with(answer, {7, 8, 9}, 4);
    QVERIFY(!small && small.error().message.find("token 4, which a vocabulary of 4 ids") != std::string::npos);
    const auto other = with(R"({"request":{"prompt":[5,6,7]},"response":)" + answer + "}", {5, 6, 8});
    QVERIFY2(!other && other.error().message.find("token 7 at position 2") != std::string::npos,
             other ? "" : other.error().message.c_str());
}

void AnswerCases::json_of_all_shapes_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("reason"); // empty = opens
    const QByteArray good =
        QByteArray::fromStdString(chat(R"({"token":"a","logprob":-1,"top_logprobs":[{"token":"a","logprob":-1}]})"));
    QTest::newRow("byte order mark") << QByteArray("\xef\xbb\xbf") + good << "";
    QTest::newRow("array of answers") << "[" + good + "]"
                                      << "";
    QTest::newRow("cut off") << good.left(good.size() / 2) << "ends in the middle of its JSON";
    QTest::newRow("a second one cut off") << good + "\n" + good.left(50) << "";
    QTest::newRow("half a surrogate pair") << QByteArray(good).replace("\"a\"", "\"\\ud83d\"") << "";
    QTest::newRow("a number out of range") << QByteArray(good).replace("-1,", "-1e999999,") << "is no sound JSON";
    QTest::newRow("deep") << "{\"a\":" + QByteArray(100000, '[') << "nested deeper than 64 levels";
    QTest::newRow("two values without a comma") << QByteArray("{\"a\" 1}") << "is no sound JSON";
    QTest::newRow("empty object") << QByteArray("{}") << "it has no members";
    QTest::newRow("no object") << QByteArray("[]") << "is JSON, but no answer";
    QTest::newRow("an impossible prompt")
        << QByteArray(good).replace("\"prompt_tokens\":3", "\"prompt_tokens\":999999999999") << "more than any context";
    QTest::newRow("events with errors") << QByteArray("data: {\"error\":{\"message\":\"overloaded\"}}\n\n")
                                        << "\"overloaded\"";
    QTest::newRow("events") << "event: x\r\ndata: " + good + "\r\n\r\ndata: [DONE]\r\n"
                            << "";
}

void AnswerCases::json_of_all_shapes()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, reason);
    const auto opened = read(text.toStdString());
    QCOMPARE(bool(opened), reason.isEmpty());
    if (!opened)
        QVERIFY2(QString::fromStdString(opened.error().message).contains(reason), opened.error().message.c_str());
}

QTEST_GUILESS_MAIN(AnswerCases)
#include "tst_answer_cases.moc"
