// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Segments, turns, and statistics over them.
#include "core/analysis/analysis.h"
#include "core/analysis/floor.h"
#include "core/analysis/heatmap.h"
#include "core/analysis/partition.h"
#include "core/report/report.h"
#include "core/trace/open.h"
#include "tests/core/analysis/made_traces.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

using namespace flipscope;

namespace {

/// 100 tokens: system, two turns, the first with thinking and a tool call inside the answer; ten tokens in no segment.
TracePtr history()
{
    Trace trace = made::trace("base", made::ids(100), {});
    trace.spans = {{0, 10, "system", ""},
                   {10, 20, "user", ""},
                   {20, 50, "assistant", ""},
                   {22, 30, "thinking", ""},
                   {40, 48, "tool_call", "{\"name\":\"show\"}"},
                   {50, 60, "tool", ""},
                   {60, 64, "user", ""},
                   {64, 70, "user", ""},
                   {70, 90, "assistant", ""},
                   {0, 50, "chunk", ""},
                   {50, 100, "chunk", ""}};
    std::ranges::stable_sort(trace.spans, {}, &Span::start);
    return std::make_shared<Trace>(trace);
}

std::string words(const std::vector<Piece>& pieces)
{
    std::string text;
    for (const Piece& piece : pieces)
        text += fmt::format("{}-{} {}; ", piece.start, piece.end, piece.kind.empty() ? "none" : piece.kind);
    return text;
}

TablePtr table_of(std::vector<ProbeMetrics> probes)
{
    auto table = std::make_shared<MetricsTable>();
    table->probes = std::move(probes);
    return table;
}

} // namespace

class TestPartition : public QObject {
    Q_OBJECT
private slots:
    void segments_are_the_innermost_spans()
    {
        const auto pieces = pieces_of(*history(), Partition::Segments);
        QVERIFY(pieces);
        QCOMPARE(words(*pieces), std::string("0-10 system; 10-20 user; 20-22 assistant; 22-30 thinking; "
                                             "30-40 assistant; 40-48 tool_call; 48-50 assistant; 50-60 tool; "
                                             "60-64 user; 64-70 user; 70-90 assistant; 90-100 none; "));
        QCOMPARE((*pieces)[5].label, std::string("{\"name\":\"show\"}"));
    }

    void case_5_turns_begin_with_the_user()
    {
        const auto pieces = pieces_of(*history(), Partition::Turns);
        QVERIFY(pieces);
        QCOMPARE(words(*pieces), std::string("0-10 before; 10-60 turn; 60-100 turn; ")); // two messages in a row: one
        QCOMPARE((*pieces)[2].label, std::string("turn 2"));
    }

    void a_trace_without_spans_says_so()
    {
        const Trace bare = made::trace("bare", made::ids(10), {});
        const auto segments = pieces_of(bare, Partition::Segments);
        QVERIFY(!segments);
        QVERIFY(segments.error().message.find("bare.h5") != std::string::npos);
        Trace no_user = made::trace("monologue", made::ids(10), {});
        no_user.spans = {{0, 10, "assistant", ""}};
        QVERIFY(pieces_of(no_user, Partition::Segments));
        QVERIFY(!pieces_of(no_user, Partition::Turns));
    }

    void probes_belong_to_the_token_that_they_predict()
    {
        const auto pieces = *pieces_of(*history(), Partition::Segments);
        std::vector<ProbeMetrics> probes;
        for (int t = 0; t < 100; ++t)
            probes.push_back(made::probe(t, 1));
        std::size_t sum = 0;
        for (const Piece& piece : pieces)
            sum += probes_predicting(probes, piece, 100).size();
        QCOMPARE(sum, 100u); // every probe once, the one of the last token too
        const auto call = probes_predicting(probes, pieces[5], 100);
        QCOMPARE(call.front().position, 39); // predicts token 40
        QCOMPARE(call.back().position, 46);
        QCOMPARE(piece_of(pieces, 39, 100), 5);
        QCOMPARE(piece_of(pieces, 47, 100), 6);
        QCOMPARE(piece_of(pieces, 99, 100), 11);
        QCOMPARE(piece_of(pieces, -5, 100), -1);
    }

    void case_5_statistics_per_turn()
    {
        // The second turn breaks, the first does not: a statistic over all hides which.
        std::vector<ProbeMetrics> probes;
        for (int t = 0; t < 100; t += 10)
            probes.push_back(made::probe(t, t >= 60 ? 2 : 0, t >= 60));
        const TracePtr base = history();
        auto run = std::make_shared<Trace>(made::trace("run", made::ids(100), {}));
        HistoryExtent extent;
        extent.include(*base);
        extent.last_position = 90;
        Analysis analysis;
        analysis.baseline = base;
        analysis.window_tokens = 50;
        analysis.runs.push_back(analyze_table(run, table_of(probes), 50, extent));
        QVERIFY(add_pieces(analysis, Partition::Turns, 100));
        const auto& turns = analysis.runs[0].pieces;
        QCOMPARE(turns.size(), 3u);
        QCOMPARE(turns[0].n, 1); // 0 predicts 1
        QCOMPARE(turns[1].n, 5); // 10..50 predict 11..51
        QCOMPARE(turns[1].flips, 0);
        QCOMPARE(turns[2].n, 4);
        QCOMPARE(turns[2].flip_rate, 1.0);
        QCOMPARE(turns[2].kl_pq.mean, 2.0);
        const auto json = analysis_json(analysis);
        QCOMPARE(json["runs"][0]["turns"][2]["label"].get<std::string>(), std::string("turn 2"));
        QCOMPARE(json["runs"][0]["turns"][2]["flips"].get<int>(), 4);
        const std::string csv = windows_csv(analysis);
        QVERIFY2(csv.find(",kind,label\n") != std::string::npos && csv.find(",turn,turn 2\n") != std::string::npos,
                 csv.c_str());
        QVERIFY(analysis_text(analysis).find("turn 2") != std::string::npos);
        // The same numbers in the heatmap.
        const std::vector<HeatmapInput> inputs{{"run", analysis.runs[0].table, ""}};
        const auto grid = make_heatmap(*base, inputs, **find_window_metric("flip_rate"), Partition::Turns,
                                       analysis.pieces, default_margin, extent);
        QCOMPARE(grid.starts, (std::vector<std::int64_t>{0, 10, 60}));
        QCOMPARE(grid.rows[0].cells[2].value, 1.0);
        QCOMPARE(grid.rows[0].cells[1].n, 5);
        QVERIFY(heatmap_csv(grid).find(",turn,turn 2\n") != std::string::npos);
        QCOMPARE(cut_to(grid, {60, 61}).pieces.size(), 1u);
    }

    void case_5_turns_of_a_real_session()
    {
        const std::filesystem::path folder = FLIPSCOPE_SHARED "/traces/smollm2";
        if (!std::filesystem::exists(folder / "kv_q4_0.h5"))
            QSKIP("no shared traces here");
        const auto base = open_trace(folder / "baseline.h5"), run = open_trace(folder / "kv_q4_0.h5");
        QVERIFY(base && run);
        const auto engine = make_cpu_engine(1);
        const auto table = compute_table(*base, *run, *engine, {.use_cache = false});
        QVERIFY(table);
        HistoryExtent extent;
        extent.include(**base);
        Analysis analysis;
        analysis.baseline = *base;
        analysis.runs.push_back(analyze_table(*run, *table, 8000, extent));
        QVERIFY(add_pieces(analysis, Partition::Turns, extent.n_tokens));
        // Counted with Python from reference/baseline__kv_q4_0.csv and the spans of baseline.h5.
        const std::int64_t wanted[][3]{{0, 10, 1},    {326, 54, 3},  {2054, 73, 7},
                                       {4386, 36, 1}, {5562, 65, 4}, {7618, 1, 0}};
        QCOMPARE(analysis.pieces.size(), std::size(wanted));
        for (std::size_t i = 0; i < std::size(wanted); ++i) {
            QCOMPARE(analysis.pieces[i].start, wanted[i][0]);
            QCOMPARE(analysis.runs[0].pieces[i].n, wanted[i][1]);
            QCOMPARE(analysis.runs[0].pieces[i].flips, wanted[i][2]);
        }
    }

    void kinds_of_segments_are_pooled()
    {
        std::vector<ProbeMetrics> probes;
        for (int t = 0; t < 100; ++t)
            probes.push_back(made::probe(t, 1, t >= 39 && t <= 46));
        Analysis analysis;
        analysis.baseline = history();
        auto run = std::make_shared<Trace>(made::trace("run", made::ids(100), {}));
        HistoryExtent extent;
        extent.include(*analysis.baseline);
        analysis.runs.push_back(analyze_table(run, table_of(probes), 50, extent));
        QVERIFY(add_pieces(analysis, Partition::Segments, 100));
        const auto json = analysis_json(analysis)["runs"][0]["kinds"];
        QCOMPARE(json["tool_call"]["flip_rate"].get<double>(), 1.0);
        QCOMPARE(json["tool_call"]["n"].get<int>(), 8);
        QCOMPARE(json["assistant"]["flips"].get<int>(), 0);
        QCOMPARE(json["assistant"]["n"].get<int>(), 2 + 10 + 2 + 20);
        QCOMPARE(json["none"]["n"].get<int>(), 11); // ten tokens, and the probe of the last one
    }

    void names()
    {
        for (const Partition by : {Partition::Windows, Partition::Segments, Partition::Turns})
            QCOMPARE(*parse_partition(name_of(by)), by);
        QVERIFY(!parse_partition("chapter"));
    }

    void case_9_and_77_what_lies_above_the_floor()
    {
        const auto of = [](double kl, std::int64_t flips) {
            std::vector<ProbeMetrics> probes;
            for (int t = 0; t < 10; ++t)
                probes.push_back(made::probe(t, kl, t < flips));
            return summarize(probes, 0, 10);
        };
        const AboveFloor above = above_floor(of(0.0124, 3), of(0.0115, 1)); // the figures of case 77
        QVERIFY(std::abs(above.kl_pq_mean - 0.0009) < 1e-12);
        QVERIFY(std::abs(above.flip_rate - 0.2) < 1e-12);
        QVERIFY(std::isnan(above_floor(of(1, 0), summarize({}, 0, 10)).kl_pq_mean));
        Trace a = made::trace("a", {}, {}), b = a;
        QVERIFY(engine_warning(a, b).empty()); // nobody stated anything
        a.run = {{"engine", "vllm"}};
        b.run = {{"engine", "hipfire"}};
        const std::string warning = engine_warning(a, b);
        QVERIFY2(warning.find("hipfire") != std::string::npos && warning.find("vllm") != std::string::npos,
                 warning.c_str());
        b.run = a.run;
        QVERIFY(engine_warning(a, b).empty());
    }
};

QTEST_GUILESS_MAIN(TestPartition)
#include "tst_partition.moc"
