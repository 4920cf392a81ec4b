// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Everything in a trace but its rows: identity, text, vocabulary, segments, settings, continuations, top-k lists.
#include "core/trace/writer.h"
#include "trace_files.h"

#include <sys/stat.h>

using namespace flipscope;
using namespace trace_files;

class TraceParts : public QObject {
    Q_OBJECT
private slots:
    void everything_data();
    void everything();
    void settings_of_every_type();
    void topk_lists_are_brought_into_order();
    void topk_ids_outside_the_vocabulary_are_an_error();
    void topk_values_that_are_no_log_probabilities_are_an_error();
    void what_is_optional_and_broken_is_left_out();
    void odd_paths_are_refused_with_a_sentence();
    void cancelled_while_opening();
};

namespace {

std::string piece(std::size_t id)
{
    return QByteArray::fromHex(QByteArray::fromStdString(expected()["pieces"][id].get<std::string>())).toStdString();
}

} // namespace

void TraceParts::everything_data()
{
    QTest::addColumn<QString>("file");
    QTest::newRow("variable strings") << "everything.h5";
    QTest::newRow("fixed strings, big-endian, odd widths") << "everything-fixed.h5";
}

void TraceParts::everything()
{
    QFETCH(QString, file);
    const auto opened = open_trace(data(file.toStdString()));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const Trace& t = **opened;
    QVERIFY2(t.findings.empty(), t.findings.empty() ? "" : t.findings[0].text.c_str());

    QCOMPARE(t.format, "flipscope-trace 1");
    QCOMPARE(t.created, "2026-11-30T12:00:00+00:00");
    QCOMPARE(t.producer, "make_traces 1");
    QCOMPARE(t.run_name, "all of it");
    QCOMPARE(t.tokens.tokenizer, "toy");
    QCOMPARE(t.tokens.chat_template_sha256, "c0ffee");
    QCOMPARE(t.tokens.prompt_sha256, "beef");
    QCOMPARE(t.tokens.ids, expected()["ids"].get<std::vector<std::int32_t>>());
    QCOMPARE(t.tokens.text.size(), 40u);
    for (std::size_t i = 0; i < 40; ++i)
        QCOMPARE(std::string(t.tokens.text[i]), piece(static_cast<std::size_t>(t.tokens.ids[i])));

    QVERIFY(t.vocabulary);
    QCOMPARE(t.vocabulary->text.size(), 64u);
    for (std::size_t i = 0; i < 64; ++i)
        QCOMPARE(std::string(t.vocabulary->text[i]), piece(i));
    QCOMPARE(t.vocabulary->special, (std::vector<std::int32_t>{0, 63}));

    QCOMPARE(t.spans.size(), 3u); // sorted by start
    QCOMPARE(t.spans[0].kind, "system");
    QCOMPARE(t.spans[0].label, "Übung");
    QCOMPARE(t.spans[1].start, 10);
    QCOMPARE(t.spans[1].end, 30);
    QCOMPARE(t.spans[1].label, "");
    QCOMPARE(t.spans[2].kind, "tool_call");
    QCOMPARE(t.spans[2].label, R"({"name":"f"})");

    QCOMPARE(t.probes.positions, expected()["positions"].get<std::vector<std::int64_t>>());
    QCOMPARE(t.probes.scoring, "decode");
    QCOMPARE(t.probes.values, "processed");
    QCOMPARE(t.probes.temperature, std::optional(0.5));
    QCOMPARE(t.probes.top1.size(), 5u);
    QCOMPARE(t.probes.top1[2], 0); // the tie's lowest id
    QCOMPARE(t.probes.lse.size(), 5u);
    QCOMPARE(t.probes.lse[0], 20.0);
    QCOMPARE(t.probes.lse[2], 20.5);
    QVERIFY(rows_are(*t.probes.rows, "bfloat16"));

    QCOMPARE(t.dense.size(), 2u);
    QCOMPARE(t.dense[0].name, "call-0");
    QCOMPARE(t.dense[0].positions, (std::vector<std::int64_t>{12, 13}));
    QCOMPARE(t.dense[1].kind, ProbeSet::Kind::TopK);
    QCOMPARE(t.dense[1].k, 2);

    QCOMPARE(t.packages, (std::vector<std::string>{"a==1", "b==2"}));
    QCOMPARE(t.launch_log, "line 1\nline 2");
    QCOMPARE(t.generations.size(), 3u);
    QCOMPARE(t.generations[0].group, "9"); // by prefix, then by number
    QCOMPARE(t.generations[1].group, "10");
    QCOMPARE(t.generations[2].prefix_tokens, 40);
    const Generation& g = t.generations[0];
    QCOMPARE(g.ids, (std::vector<std::int32_t>{4, 5, 6}));
    QCOMPARE(std::string(g.text[1]), piece(5));
    QCOMPARE(g.fed, (std::vector<std::uint8_t>{0, 1, 0}));
    QCOMPARE(g.k, 2);
    QCOMPARE(g.top_ids, (std::vector<std::int32_t>{4, -1, 5, 8, 6, 7}));
    QCOMPARE(g.top_logprobs, (std::vector<float>{-1, 0, -2, -3, -0.25f, -4}));
    QCOMPARE(g.sampler, R"({"temperature":0})");
    QCOMPARE(g.finish_reason, "stop");
    QCOMPARE(g.parsed_tool_calls, "[]");
}

void TraceParts::settings_of_every_type()
{
    const auto opened = open_trace(data("everything.h5"));
    QVERIFY(opened);
    const std::vector<std::pair<std::string, std::string>> wanted = {
        {"batch", "-3"},   {"cuda_graphs", "true"},          {"dropout", "0.1"},
        {"engine", "toy"}, {"latin", "caf\xef\xbf\xbd"},     {"layers", "1, 2, 3"},
        {"scale", "0.1"},  {"seed", "18446744073709551615"}, {"words", "a, b"}}; // what is empty states nothing
    QCOMPARE((*opened)->run, wanted);
    QCOMPARE(*(*opened)->setting("engine"), "toy");
    QVERIFY((*opened)->setting("nothing") == nullptr);
    QVERIFY((*opened)->setting("empty") == nullptr);
}

void TraceParts::topk_lists_are_brought_into_order()
{
    const auto opened = open_trace(data("topk.h5"));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const ProbeSet& p = (*opened)->probes;
    QCOMPARE(p.kind, ProbeSet::Kind::TopK);
    QCOMPARE(p.k, 3);
    QCOMPARE(p.n_vocab, 64);
    QVERIFY(!p.rows);
    std::vector<std::int32_t> ids(15);
    std::vector<float> logprobs(15);
    QVERIFY(p.lists->read(0, 5, ids, logprobs));
    // Best first, equal values in the file's order, missing entries last.
    QCOMPARE(ids, (std::vector<std::int32_t>{2, 3, 1, 4, 5, -1, 9, 8, 7, 0, 63, 1, 5, 6, 7}));
    QCOMPARE(logprobs, (std::vector<float>{-1, -2, -3, -1, -2, 0, -1, -1, -2, -1, -2, -3, -1, -2, -3}));
    QVERIFY(p.lists->read(3, 1, ids, logprobs));
    QCOMPARE(ids[1], 63);
    QVERIFY(!p.lists->read(4, 2, ids, logprobs));
}

void TraceParts::topk_ids_outside_the_vocabulary_are_an_error()
{
    const auto opened = open_trace(data("topk-bad-id.h5"));
    QVERIFY(opened);
    std::vector<std::int32_t> ids(2);
    std::vector<float> logprobs(2);
    const auto read = (*opened)->probes.lists->read(3, 1, ids, logprobs);
    QVERIFY(!read);
    QVERIFY2(contains(read.error().message, "row 3 names token 64"), read.error().message.c_str());
    QVERIFY(is_one_sentence(read.error().message));
}

void TraceParts::topk_values_that_are_no_log_probabilities_are_an_error()
{
    class Logits : public TopKSource {
    public:
        std::int64_t rows() const override { return 5; }
        std::int64_t k() const override { return 3; }
        Result<void> read(std::int64_t, std::int64_t count, std::span<std::int32_t> ids,
                          std::span<float> values) const override
        {
            for (std::size_t i = 0; i < static_cast<std::size_t>(count) * 3; ++i) {
                ids[i] = static_cast<std::int32_t>(i % 3);
                values[i] = 5 - static_cast<float>(i % 3); // e^5 + e^4 + e^3 = 223.1
            }
            return {};
        }
    };
    auto opened = open_trace(data("topk.h5"));
    QVERIFY(opened);
    Trace trace = **opened;
    QCOMPARE(trace.probes.lists->rows(), 5);
    trace.probes.lists = std::make_shared<Logits>();
    trace.probes.k = 3;
    QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath("logits.h5").toStdString();
    const auto written = write_trace(path, trace);
    QVERIFY2(written, written ? "" : written.error().message.c_str());
    opened = open_trace(path);
    QVERIFY(opened);
    std::vector<std::int32_t> ids(15);
    std::vector<float> values(15);
    const auto read = (*opened)->probes.lists->read(0, 5, ids, values);
    QVERIFY(!read);
    QVERIFY2(is_one_sentence(read.error().message), read.error().message.c_str());
    QVERIFY2(read.error().message.find("row 0 adds up to a probability of 223,") != std::string::npos,
             read.error().message.c_str());
}

void TraceParts::what_is_optional_and_broken_is_left_out()
{
    const auto opened = open_trace(data("broken-options.h5"));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const Trace& t = **opened;
    QVERIFY(rows_are(*t.probes.rows, "float32"));
    QVERIFY(t.probes.top1.empty());
    QVERIFY(t.probes.lse.empty());
    QVERIFY(t.tokens.text.empty());
    QVERIFY(!t.vocabulary);
    QCOMPARE(t.spans.size(), 1u);
    QVERIFY(t.packages.empty());
    QVERIFY(t.launch_log.empty());
    QCOMPARE(t.dense.size(), 1u);
    QCOMPARE(t.dense[0].name, "good");
    QCOMPARE(t.generations.size(), 1u);
    QVERIFY(t.generations[0].fed.empty());
    QVERIFY(t.generations[0].top_ids.empty());
    for (const char* part :
         {"text of the tokens", "/probes/top1", "/probes/lse", "vocabulary", "/spans", "packages", "launch log",
          "\"bad\"", "fed tokens in continuation 0", "top lists of continuation 0", "2 of 3 continuations"}) {
        const bool said = std::any_of(t.findings.begin(), t.findings.end(), [&](const Finding& f) {
            return f.code == "left-out" && contains(f.text, part) && is_one_sentence(f.text);
        });
        QVERIFY2(said, part);
    }
    QCOMPARE(t.findings.size(), 11u);
}

void TraceParts::odd_paths_are_refused_with_a_sentence()
{
    QTemporaryDir folder;
    const std::filesystem::path here = folder.path().toStdString();
    std::ofstream(here / "line\nbreak.h5") << "x";
    ::mkfifo((here / "pipe").c_str(), 0600);
    for (const auto& path :
         {here, here / "missing.h5", here / "line\nbreak.h5", here / "pipe", std::filesystem::path("/dev/zero"),
          std::filesystem::path(), here / "line\nbreak.h5" / "below"}) {
        const auto opened = open_trace(path);
        QVERIFY(!opened);
        QVERIFY2(is_one_sentence(opened.error().message), opened.error().message.c_str());
    }
    if (std::filesystem::exists("/proc/self/maps")) { // claims to be empty; others of its kind answer never
        const auto opened = open_trace("/proc/self/maps");
        QVERIFY(!opened);
        QCOMPARE(opened.error().message, "/proc/self/maps is empty.");
    }
    QCOMPARE(open_trace(here / "missing.h5").error().kind, ErrorKind::NotFound);
}

void TraceParts::cancelled_while_opening()
{
    std::stop_source stop;
    stop.request_stop();
    const auto opened = open_trace(data("everything.h5"), Job{stop.get_token(), {}});
    QVERIFY(!opened);
    QCOMPARE(opened.error().kind, ErrorKind::Cancelled);
}

QTEST_GUILESS_MAIN(TraceParts)
#include "tst_trace_parts.moc"
