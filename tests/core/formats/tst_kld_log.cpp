// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Printouts of llama-perplexity. Expected values stand in the printouts.
#include "core/analysis/kld_card.h"
#include "core/formats/kld_log.h"
#include "core/report/report.h"
#include "core/trace/open.h"
#include "tests/core/analysis/made_traces.h"

#include <QTest>

#include <cmath>
#include <sstream>

using namespace flipscope;

namespace {

Result<KldLog> read(const std::string& text)
{
    std::istringstream in(text);
    return read_kld_log(in, "log.txt");
}

double value(const KldLog& log, std::string_view label)
{
    const KldStatistic* s = log.find(label);
    return s == nullptr ? std::nan("") : s->value;
}

double uncertainty(const KldLog& log, std::string_view label)
{
    const KldStatistic* s = log.find(label);
    return s == nullptr || !s->uncertainty ? std::nan("") : *s->uncertainty;
}

bool has(const KldLog& log, std::string_view code)
{
    return std::any_of(log.findings.begin(), log.findings.end(), [&](const Finding& f) { return f.code == code; });
}

const std::string today = FLIPSCOPE_TEST_DATA "/answers/kl_divergence.txt";

} // namespace

class KldLogs : public QObject {
    Q_OBJECT

private slots:
    void a_printout_of_today();
    void what_encodings_and_pasting_do_to_it_data();
    void what_encodings_and_pasting_do_to_it();
    void printouts_of_2024();
    void labels_printed_twice();
    void chunks_without_a_final_block();
    void what_the_tool_ran_into();
    void it_is_no_trace();
    void other_texts_are_refused_data();
    void other_texts_are_refused();
    void our_numbers_stand_beside_it();
};

void KldLogs::a_printout_of_today()
{
    QVERIFY(is_kld_log(today));
    const auto log = open_kld_log(today);
    QVERIFY2(log, log ? "" : log.error().message.c_str());
    QVERIFY(log->has_final_block);
    QCOMPARE(log->n_ctx, 128);
    QCOMPARE(log->n_chunks, 3);
    QCOMPARE(log->n_chunks_printed, 3);
    QCOMPARE(log->statistics.size(), std::size_t{34});
    QCOMPARE(value(*log, "Mean PPL(Q)"), 16.111439);
    QCOMPARE(uncertainty(*log, "Mean PPL(Q)"), 3.983813);
    QCOMPARE(value(*log, "Cor(ln(PPL(Q)), ln(PPL(base)))"), 99.31);
    QCOMPARE(value(*log, "Mean PPL(Q)-PPL(base)"), 0.944271);
    QCOMPARE(value(*log, "Mean KLD"), 0.070087);
    QCOMPARE(uncertainty(*log, "Mean KLD"), 0.005691);
    QCOMPARE(value(*log, "99.9% KLD"), 0.557222);
    QCOMPARE(value(*log, "0.1% KLD"), 0.000124);
    QCOMPARE(value(*log, "Minimum KLD"), 0.000121);
    QCOMPARE(value(*log, "Mean Δp"), -1.824);
    QCOMPARE(value(*log, "0.1% Δp"), -45.579);
    QVERIFY(log->find("Mean Δp")->percent);
    QCOMPARE(value(*log, "RMS Δp"), 8.154);
    QCOMPARE(value(*log, "Same top p"), 85.185);
    QCOMPARE(uncertainty(*log, "Same top p"), 2.591);
    const auto json = kld_log_json(*log);
    QCOMPARE(json["statistics"][6]["label"].get<std::string>(), std::string("Mean KLD"));
    QCOMPARE(json["statistics"][6]["unit"].get<std::string>(), std::string("nats"));
    QVERIFY(QString::fromStdString(kld_log_text(*log)).contains("0.070087 ± 0.005691"));
}

void KldLogs::what_encodings_and_pasting_do_to_it_data()
{
    QTest::addColumn<QByteArray>("text");
    const QByteArray line = "====== KL divergence statistics ======\nMean    KLD:   0.070087 ±   0.005691\n"
                            "====== Token probability statistics ======\nRMS Δp    :  8.154 ± 1.046 %\n";
    QTest::newRow("as it is") << line;
    QTest::newRow("question marks") << QByteArray(line).replace("±", "?").replace("Δ", "?");
    QTest::newRow("underscore") << QByteArray(line).replace("±", "_");
    QTest::newRow("latin 1 read as utf-8") << QByteArray(line).replace("±", "Â±").replace("Δ", "Î”");
    QTest::newRow("replacement characters") << QByteArray(line).replace("±", "\xef\xbf\xbd");
    QTest::newRow("windows line ends") << QByteArray(line).replace("\n", "\r\n");
    QTest::newRow("quoted") << "> " + QByteArray(line).replace("\n", "\n> ");
    QTest::newRow("log prefix") << "0.03.126.001 I " + QByteArray(line).replace("\nM", "\n0.03.126.001 I M");
}

void KldLogs::what_encodings_and_pasting_do_to_it()
{
    QFETCH(const QByteArray, text);
    const auto log = read(text.toStdString());
    QVERIFY2(log, log ? "" : log.error().message.c_str());
    QCOMPARE(value(*log, "Mean KLD"), 0.070087);
    QCOMPARE(uncertainty(*log, "Mean KLD"), 0.005691);
    QCOMPARE(value(*log, "RMS Δp"), 8.154);
    QCOMPARE(uncertainty(*log, "RMS Δp"), 1.046);
}

void KldLogs::printouts_of_2024()
{
    const auto log = read("chunk        PPL          ln(PPL(Q)/PPL(base))          KL-Divergence           Same top\n"
                          "   1        4.3512     0.00044 ±   0.00114       0.00058 ±   0.00007    0.99216 ± 0.00554\n"
                          "\n===== KL-divergence statistics\nAverage:   0.000561 ±  0.000009\nMedian :   0.000279\n"
                          "Maximum:   0.185420\nKLD_99 :   0.004423\nKLD_95 :   0.001778\nKLD_90 :   0.001190\n"
                          "Minimum:  -0.000022\nKLD_01 :  -0.000003\nKLD_05 :   0.000000\nKLD_10 :   0.000008\n");
    QVERIFY2(log, log ? "" : log.error().message.c_str());
    QCOMPARE(value(*log, "Mean KLD"), 0.000561);
    QCOMPARE(uncertainty(*log, "Mean KLD"), 0.000009);
    QCOMPARE(value(*log, "99.0% KLD"), 0.004423);
    QCOMPARE(value(*log, "Minimum KLD"), -0.000022);
    QVERIFY(has(*log, "negative-minimum"));
    QCOMPARE(log->last_chunk->values.back().label, std::string("Same top p"));
    QCOMPARE(log->last_chunk->values.back().value, 0.99216);
}

void KldLogs::labels_printed_twice()
{
    const std::string before = "====== KL divergence statistics ======\nMaximum KLD:   0.5\n99.0%   KLD:   0.363201\n";
    const auto same = read(before + "99.0%   KLD:   0.363201\nMedian  KLD:   0.049188\n");
    QVERIFY(same);
    QCOMPARE(same->statistics.size(), std::size_t{3});
    QVERIFY(!has(*same, "label-twice"));
    const auto other = read(before + "99.0%   KLD:   0.216788\n");
    QVERIFY(other);
    QCOMPARE(value(*other, "99.0% KLD"), 0.363201);
    QVERIFY(has(*other, "label-twice"));
}

void KldLogs::chunks_without_a_final_block()
{
    const auto log = read(
        "chunk             PPL               ln(PPL(Q)/PPL(base))          KL Divergence              Δp RMS           "
        " "
        "Same top p\n"
        "   1       9.3228 ±    3.1019      -0.01302 ±    0.04770       0.07139 ±    0.01011     7.320 ±  1.439 %    "
        "84.127 ±  4.641 %\n"
        "   2       6.2821 ±    1.4383       0.05033 ±    0.03538       0.06768 ±    0.00791     9.246 ±  1.328 %    "
        "88.095 ±  2.897 %\n"
        "failed reading log-probs for chunk 3\n");
    QVERIFY2(log, log ? "" : log.error().message.c_str());
    QVERIFY(!log->has_final_block);
    QCOMPARE(value(*log, "Mean KLD"), 0.06768);
    QCOMPARE(value(*log, "Same top p"), 88.095);
    QVERIFY(has(*log, "no-final-block"));
    QVERIFY(has(*log, "base-cut-off"));
}

void KldLogs::what_the_tool_ran_into()
{
    const auto log =
        read("kl_divergence: inconsistent vocabulary (32000 vs 50257)\n"
             "====== KL divergence statistics ======\nMean    KLD:   16.069126 ±   0.1\nMaximum KLD:  nan\n");
    QVERIFY2(log, log ? "" : log.error().message.c_str());
    QVERIFY(has(*log, "other-vocabulary"));
    QVERIFY(has(*log, "not-finite"));
    QVERIFY(kld_log_json(*log)["statistics"][1]["value"].is_null());
}

void KldLogs::it_is_no_trace()
{
    const auto opened = open_trace(today);
    QVERIFY(!opened);
    QVERIFY(QString::fromStdString(opened.error().message).contains("is a printout of llama-perplexity"));
}

void KldLogs::other_texts_are_refused_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("prose") << QByteArray("KL divergence is a measure.\n1 2 3\n");
    QTest::newRow("a heading alone") << QByteArray("====== KL divergence statistics ======\n");
    QTest::newRow("colons") << QByteArray("a: 1\nb: 2\n::::\n=====\n===== statistics\n");
}

void KldLogs::other_texts_are_refused()
{
    QFETCH(const QByteArray, text);
    const auto log = read(text.toStdString());
    QVERIFY(!log);
    QVERIFY(log.error().message.ends_with('.'));
}

void KldLogs::our_numbers_stand_beside_it()
{
    MetricsTable table;
    for (int i = 0; i < 5; ++i) { // by hand: steps of a tenth of a nat, of a point of probability
        ProbeMetrics m = made::probe(i, 0.1 * (i + 1), i == 4);
        m.dp = 0.01 * (i - 2);
        m.nll_p = 1;
        m.nll_q = 1 + 0.5 * i;
        table.probes.push_back(m);
    }
    const auto ours = in_words_of_the_printout(table);
    const auto near = [&](const char* label, double wanted) {
        const auto s = std::ranges::find(ours, label, &KldStatistic::label);
        return s != ours.end() && std::fabs(s->value - wanted) < 1e-12 * std::max(1.0, std::fabs(wanted));
    };
    QVERIFY(near("Mean KLD", 0.3) && near("Maximum KLD", 0.5) && near("Minimum KLD", 0.1) && near("Median KLD", 0.3));
    QVERIFY(near("99.9% KLD", 0.4996) && near("90.0% KLD", 0.46) && near("5.0% KLD", 0.12));
    QVERIFY(near("Mean PPL(Q)", std::exp(2.0)) && near("Mean PPL(base)", std::exp(1.0)));
    QVERIFY(near("Mean ln(PPL(Q)/PPL(base))", 1) && near("Mean PPL(Q)/PPL(base)", std::exp(1.0)));
    QVERIFY(near("Mean Δp", 0) && near("25.0% Δp", -1) && near("RMS Δp", 100 * std::sqrt(2e-4)));
    QVERIFY(near("Same top p", 80));

    MetricsTable lists = table; // not every next token is in a list: no mean over those that are
    lists.alignment.top_k = true;
    for (const KldStatistic& s : in_words_of_the_printout(lists))
        QVERIFY2(s.section == "KL divergence" || s.label == "Same top p", s.label.c_str());

    const auto log = open_kld_log(today);
    QVERIFY(log);
    const auto card = kld_card({&*log}, {&table, nullptr});
    QCOMPARE(card.size(), std::size_t{34}); // every line of the printout has one of ours, and no other is there
    for (const KldCardLine& line : card) {
        QCOMPARE(line.cells.size(), std::size_t{3});
        QVERIFY2(!line.cells[0].empty(), line.label.c_str());
        QVERIFY2(line.cells[1].empty() == (line.label == "Cor(ln(PPL(Q)), ln(PPL(base)))"), line.label.c_str());
        QVERIFY(line.cells[2].empty());
    }
    const auto top = std::ranges::find(card, "Same top p", &KldCardLine::label);
    QCOMPARE(top->cells[0], std::string("85.185 ± 2.591 %"));
    QCOMPARE(top->cells[1], std::string("80 %"));
}

QTEST_GUILESS_MAIN(KldLogs)
#include "tst_kld_log.moc"
