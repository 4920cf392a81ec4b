// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Base files of llama.cpp, and the statistics that llama-perplexity prints over them.
#include "core/analysis/llamacpp_statistics.h"
#include "core/base/file.h"
#include "core/formats/llamacpp_base.h"
#include "core/trace/writer.h"
#include "format_files.h"

#include <cmath>
#include <cstring>

using namespace flipscope;
using namespace format_files;

namespace {

bool near(double value, double wanted, double tolerance)
{
    if (std::fabs(value - wanted) <= tolerance)
        return true;
    qWarning("%.9g, wanted %.9g", value, wanted);
    return false;
}

bool near(const Uncertain& u, const nlohmann::json& wanted, double relative)
{
    return near(u.value, wanted[0], relative * std::max(1.0, std::fabs(wanted[0].get<double>()))) &&
           near(u.error, wanted[1], relative * std::max(1.0, std::fabs(wanted[1].get<double>())));
}

LlamacppStatistics statistics_of(const Trace& base, const Trace& run)
{
    const auto alignment = align(base, run);
    if (!alignment)
        qFatal("%s", alignment.error().message.c_str());
    const auto statistics = llamacpp_statistics(base, run, *alignment);
    if (!statistics)
        qFatal("%s", statistics.error().message.c_str());
    return *statistics;
}

/// The run of run.kld before it was encoded.
Trace exact_run(const Trace& base)
{
    Trace run = base;
    const std::string raw = bytes_of(data("run.f32"));
    std::vector<std::byte> rows(raw.size());
    std::memcpy(rows.data(), raw.data(), raw.size());
    run.run_name = "run";
    run.probes.rows = rows_in_memory(LogitType::F32, base.probes.n_vocab, std::move(rows));
    std::erase_if(run.run, [](const auto& setting) { return setting.first == "codec"; });
    return run;
}

bool agrees(const LlamacppStatistics& s, const nlohmann::json& wanted, double relative)
{
    bool good = s.n == wanted["n"].get<std::int64_t>() && near(s.ppl_q, wanted["ppl_q"], relative) &&
                near(s.ppl_base, wanted["ppl_base"], relative) && near(s.ln_ratio, wanted["ln_ratio"], relative) &&
                near(s.ratio, wanted["ratio"], relative) && near(s.kld_mean, wanted["kld_mean"], relative) &&
                near(s.dp_mean, wanted["dp_mean"], relative) && near(s.dp_rms, wanted["dp_rms"], relative) &&
                near(s.same_top, wanted["same_top"], 1e-12) && near(s.correlation, wanted["correlation"], relative) &&
                near(s.difference.value, wanted["difference"], relative * s.ppl_q.value);
    for (std::size_t i = 0; i < s.kld.size(); ++i)
        good = good && near(s.kld[i], wanted["kld"][i], relative) && near(s.dp[i], wanted["dp"][i], relative);
    return good;
}

/// The number that stands behind `label` in the tool's printout, and the one behind ±.
Uncertain printed(const std::string& text, const std::string& label)
{
    const auto at = text.find(label);
    if (at == std::string::npos)
        return {std::nan(""), std::nan("")};
    const auto colon = text.find(':', at + label.size() - 1);
    Uncertain u;
    std::size_t used = 0;
    u.value = std::stod(text.substr(colon + 1), &used);
    const auto plus = text.find("±", colon);
    if (plus != std::string::npos && plus < text.find('\n', colon))
        u.error = std::stod(text.substr(plus + 2));
    return u;
}

} // namespace

class TestLlamacppBase : public QObject {
    Q_OBJECT
private slots:
    void golden_files_decode_as_listed_data()
    {
        QTest::addColumn<int>("floor");
        QTest::newRow("16 nats") << 16;
        QTest::newRow("24 nats") << 24;
    }
    void golden_files_decode_as_listed()
    {
        QFETCH(int, floor);
        const auto trace = open_trace(data("golden-" + std::to_string(floor) + ".kld"));
        QVERIFY2(trace.has_value(), trace ? "" : trace.error().message.c_str());
        const Trace& t = **trace;
        QCOMPARE(t.tokens.ids, (std::vector<std::int32_t>{0, 1, 2, 3}));
        QCOMPARE(t.probes.positions, (std::vector<std::int64_t>{2}));
        QVERIFY(rows_are(*t.probes.rows, expected()["golden-" + std::to_string(floor)]["rows"]));
        const auto values = all_values(*t.probes.rows);
        // The figures of the format's description: the floor under token 3, whose exact value is -23.4607735.
        QVERIFY(near(values[3], floor == 16 ? -16.4607735 : -23.4607735, 1e-6));
        // 24 nats are only known where a row reaches further than 16.
        QCOMPARE(*t.setting("codec"), std::string(floor == 16 ? llamacpp_codec_16 : llamacpp_codec_24));
        QVERIFY(contains(finding(t, "codec-limited")->text, floor == 16 ? "floored at 16 nats" : "floored at 24 nats"));
    }
    void formulas_of_one_token()
    {
        const auto trace = open_trace(data("golden-16.kld"));
        std::vector<float> base;
        for (const double v : all_values(*(*trace)->probes.rows))
            base.push_back(static_cast<float>(v));
        const std::vector<float> run = {1.25F, 1.75F, 3, -4, .5F};
        const LlamacppToken t = llamacpp_token(base, run, 3);
        QVERIFY(near(t.kld, 0.00979753, 2e-7)); // float32 terms; token 3 is below e^-16 and left out
        QVERIFY(near(t.nll, 7.43390751, 5e-7));
        QVERIFY(near(t.nll_base, 16.4607735, 1e-6));
        QVERIFY(t.same_top);
    }
    void everything_the_file_states()
    {
        const auto& e = expected()["base"];
        const auto trace = open_trace(data("base.kld"));
        QVERIFY2(trace.has_value(), trace ? "" : trace.error().message.c_str());
        const Trace& t = **trace;
        QCOMPARE(t.tokens.ids, e["tokens"].get<std::vector<std::int32_t>>());
        QCOMPARE(t.probes.positions, e["positions"].get<std::vector<std::int64_t>>());
        QCOMPARE(t.probes.n_vocab, 101); // odd: a pad behind each row
        const auto values = all_values(*t.probes.rows);
        const std::size_t rows[] = {0, 31, 123};
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t v = 0; v < 101; ++v)
                QCOMPARE(values[rows[r] * 101 + v], e["rows"][r][v].get<double>());
        QCOMPARE(t.spans.size(), 4u);
        QVERIFY(t.spans[3].kind == "chunk" && t.spans[3].start == 192 && t.spans[3].end == 256);
        QCOMPARE(*t.setting("context_length"), std::string("64"));
        QCOMPARE(t.run_name, std::string("base"));
        QVERIFY(is_llamacpp_base(t));
        for (const char* code : {"codec-limited", "chunks", "bos-unknown", "not-stated"})
            QVERIFY2(finding(t, code), code);
        for (const Finding& f : t.findings)
            QVERIFY2(is_one_sentence(f.text), f.text.c_str());
    }
    void bos_is_put_in_place_where_it_is_told()
    {
        OpenHints hints;
        hints.bos = 1;
        const auto trace = open_trace(data("base.kld"), hints);
        for (std::size_t c = 0; c < 4; ++c) {
            QCOMPARE((*trace)->tokens.ids[c * 64], 1);
            QCOMPARE((*trace)->tokens.ids[c * 64 + 1], expected()["base"]["tokens"][c * 64 + 1].get<int>());
        }
        QVERIFY(finding(**trace, "bos") && !finding(**trace, "bos-unknown"));
        hints.bos = 101;
        QVERIFY(contains(refusal(data("base.kld"), hints), "outside of its vocabulary"));
    }
    void case_48_floored_rows_are_marked_and_small_negative_kl_is_kept()
    {
        const auto trace = open_trace(data("base.kld"));
        const auto values = all_values(*(*trace)->probes.rows);
        double largest = 0;
        for (std::size_t r = 0; r < 124; ++r) {
            double sum = 0;
            for (std::size_t v = 0; v < 101; ++v)
                sum += std::exp(values[r * 101 + v]);
            largest = std::max(largest, std::fabs(sum - 1));
        }
        QVERIFY(largest < 2e-3); // not renormalised: kept as the file has it
        // The same logits through another codec: noise on both sides of zero, and nothing is clamped away.
        const auto other = open_trace(data("base-24.kld"));
        const auto s = statistics_of(**trace, **other);
        QVERIFY(s.kld[12] < 0 && s.kld[12] > -1e-3);
        QVERIFY(std::fabs(s.kld_mean.value) < 1e-4);
        QVERIFY(contains(llamacpp_text(s), "Codec-limited"));
    }
    void statistics_over_exact_rows()
    {
        const auto base = open_trace(data("base.kld"));
        const auto s = statistics_of(**base, exact_run(**base));
        QVERIFY(!s.run_is_codec);
        QVERIFY(agrees(s, expected()["base"]["exact"], 2e-6));
        QCOMPARE(s.chunks.size(), 4u);
        QVERIFY(near(s.chunks.back().kld.value, s.kld_mean.value, 0));
    }
    void statistics_of_base_against_base()
    {
        const auto base = open_trace(data("base.kld")), run = open_trace(data("run.kld"));
        const auto s = statistics_of(**base, **run);
        QVERIFY(s.run_is_codec);
        QVERIFY(agrees(s, expected()["base"]["codec"], 2e-6));
        QVERIFY(contains(llamacpp_text(s), "rounded copy"));
    }
    void invalid_rows_are_counted_and_left_out()
    {
        const auto base = open_trace(data("base-nan.kld")), run = open_trace(data("run.kld"));
        QVERIFY2(base.has_value(), base ? "" : base.error().message.c_str());
        QVERIFY(finding(**base, "odd-rows"));
        const auto s = statistics_of(**base, **run);
        QCOMPARE(s.n, 123);
        QCOMPARE(s.n_invalid, 1);
        QVERIFY(std::isfinite(s.kld_mean.value));
    }
    void compressed_files_open_data()
    {
        QTest::addColumn<QString>("file");
        QTest::newRow("gzip, two members") << "base.kld.gz";
        QTest::newRow("zstd, two frames") << "base.kld.zst";
    }
    void compressed_files_open()
    {
        QFETCH(QString, file);
        const auto path = data(file.toStdString());
        QVERIFY(looks_like_trace(path));
        const auto packed = open_trace(path), plain = open_trace(data("base.kld"));
        QVERIFY2(packed.has_value(), packed ? "" : packed.error().message.c_str());
        QCOMPARE((*packed)->path, path);
        QCOMPARE((*packed)->run_name, std::string("base"));
        QCOMPARE((*packed)->content_key, (*plain)->content_key);
        QVERIFY((*packed)->stamp == *stamp_of(path));
        QCOMPARE(all_values(*(*packed)->probes.rows), all_values(*(*plain)->probes.rows));
        const QTemporaryDir folder;
        const std::string whole = bytes_of(path);
        const auto cut = write(folder, file.toStdString(), whole.substr(0, whole.size() / 2));
        QVERIFY2(contains(refusal(cut), "cut short"), refusal(cut).c_str());
        std::string damaged = whole;
        damaged[whole.size() / 2] = static_cast<char>(~damaged[whole.size() / 2]);
        damaged[whole.size() / 2 + 1] = static_cast<char>(~damaged[whole.size() / 2 + 1]);
        QVERIFY(is_one_sentence(refusal(write(folder, "damaged", damaged))));
    }
    void case_50_wrong_vocabulary_is_refused_and_a_short_file_opens_to_its_last_whole_row()
    {
        const std::string why = refusal(data("base-wrong-vocab.kld"));
        QVERIFY2(contains(why, "vocabulary of 107 ids") && is_one_sentence(why), why.c_str());
        const auto cut = open_trace(data("base-cut.kld"));
        QVERIFY2(cut.has_value(), cut ? "" : cut.error().message.c_str());
        QCOMPARE((*cut)->probes.size(), expected()["base"]["cut_rows"].get<std::int64_t>());
        QVERIFY(contains(finding(**cut, "incomplete")->text,
                         "inside chunk 3 of 4, after 10 of its 31 rows: whole 2 chunks"));
        const auto whole = open_trace(data("base.kld"));
        const auto s = statistics_of(**whole, **cut);
        QCOMPARE(s.n, 72);
        QCOMPARE(s.chunks.size(), 3u);
    }
    void case_51_other_ids_or_chunks_are_refused_with_the_first_difference()
    {
        const QTemporaryDir folder;
        std::string other = bytes_of(data("run.kld"));
        other[20 + 4 * 70] = static_cast<char>(other[20 + 4 * 70] ^ 1); // another piece of the text at token 70
        const auto base = open_trace(data("base.kld")), run = open_trace(write(folder, "run.kld", other));
        const auto alignment = align(**base, **run);
        QVERIFY(!alignment && contains(alignment.error().message, "position 70"));
        // The same text in chunks of another length answers other contexts.
        Trace shorter = **base;
        shorter.spans = {{0, 32, "chunk", ""}, {32, 64, "chunk", ""}};
        const auto cut_otherwise = align(**base, shorter);
        QVERIFY(!cut_otherwise && contains(cut_otherwise.error().message, "begins a chunk at token 32"));
    }
    void broken_files_are_refused_in_one_sentence()
    {
        const QTemporaryDir folder;
        const std::string whole = bytes_of(data("base.kld"));
        for (const std::size_t size : {8u, 19u, 20u, 500u, 1100u}) {
            const std::string why = refusal(write(folder, "short.kld", whole.substr(0, size)));
            QVERIFY2(is_one_sentence(why), why.c_str());
        }
        for (const std::size_t field : {8u, 12u, 16u})
            for (const std::int32_t n : {0, -1, 1, 3, 0x7fffffff, 5}) {
                std::string changed = whole;
                std::memcpy(changed.data() + field, &n, 4);
                const auto trace = open_trace(write(folder, "changed.kld", changed));
                QVERIFY(trace.has_value() || is_one_sentence(trace.error().message));
            }
        QVERIFY(contains(refusal(write(folder, "kin", "_logits2" + whole.substr(8))), "relative of llama.cpp"));
    }
    void the_printout_of_a_real_run()
    {
        const auto folder = trace_files::shared("llamacpp-kld");
        if (!std::filesystem::exists(folder))
            QSKIP("The real base files are not beside this checkout.");
        const auto base = open_trace(folder / "base_f16_c128x3.kld.gz"),
                   run = open_trace(folder / "run_Q4_K_M_c128x3.kld.zst");
        QVERIFY2(base.has_value() && run.has_value(),
                 !base ? base.error().message.c_str() : run.error().message.c_str());
        const auto s = statistics_of(**base, **run);
        const std::string text = bytes_of(folder / "kl_divergence_Q4_K_M.txt"), ours = llamacpp_text(s);
        QCOMPARE(s.n, 189);
        // Decoded from the base file alone: to the last digit.
        const auto line = [&](const std::string& label) {
            const auto at = text.find(label);
            return text.substr(at, text.find('\n', at) - at);
        };
        QVERIFY2(contains(ours, line("Mean PPL(base)")), ours.c_str());
        // Where the run is a rounded copy of what the tool saw: 1e-4, of PPL its share.
        for (const char* label : {"Mean ln(PPL(Q)/PPL(base))", "Mean PPL(Q)/PPL(base)", "Mean    KLD", "Maximum KLD",
                                  "99.9%   KLD", "99.0%   KLD", "95.0%   KLD", "90.0%   KLD", "Median  KLD",
                                  "10.0%   KLD", " 5.0%   KLD", " 1.0%   KLD", " 0.1%   KLD", "Minimum KLD"}) {
            const Uncertain ours_now = printed(ours, label), tools = printed(text, label);
            QVERIFY2(near(ours_now.value, tools.value, 1e-4) && near(ours_now.error, tools.error, 1e-4), label);
        }
        for (const char* label : {"Mean PPL(Q)  ", "Mean PPL(Q)-PPL(base)"}) {
            const Uncertain ours_now = printed(ours, label), tools = printed(text, label);
            QVERIFY2(near(ours_now.value, tools.value, 1e-4 * 16) && near(ours_now.error, tools.error, 1e-4 * 16),
                     label);
        }
        for (const char* label : {"Mean    Δp", "Maximum Δp", "99.9%   Δp", "99.0%   Δp", "95.0%   Δp", "90.0%   Δp",
                                  "75.0%   Δp", "Median  Δp", "25.0%   Δp", "10.0%   Δp", " 5.0%   Δp", " 1.0%   Δp",
                                  " 0.1%   Δp", "Minimum Δp", "RMS Δp    "}) {
            const Uncertain ours_now = printed(ours, label), tools = printed(text, label);
            QVERIFY2(near(ours_now.value, tools.value, 0.005) && near(ours_now.error, tools.error, 0.005), label);
        }
        QVERIFY(contains(ours, line("Same top p:")));
        QVERIFY(contains(ours, line("Cor(ln")));
        // The other printout, of the run that wrote the file, has the PPL of the logits before they were encoded.
        QVERIFY(contains(bytes_of(folder / "save_all_logits_base.txt"), "PPL = 15.1671"));
        QVERIFY(near(s.ppl_base.value, 15.1671, 2e-4));
    }
};

QTEST_GUILESS_MAIN(TestLlamacppBase)
#include "tst_llamacpp_base.moc"
