// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Traces written anew: rounded, cut, joined, without text.
#include "core/formats/llamacpp_base.h"
#include "core/trace/convert.h"
#include "core/trace/merge.h"
#include "core/trace/rounding.h"
#include "core/trace/writer.h"
#include "format_files.h"

#include <cmath>
#include <cstring>

using namespace flipscope;
using namespace format_files;

namespace {

Trace made()
{
    Trace t;
    t.path = "made.h5";
    t.run_name = "made";
    t.tokens.ids = {5, 6, 7, 8, 9, 10, 11, 12};
    t.tokens.text.bytes = "abcdefgh";
    t.tokens.text.offsets = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    t.spans = {{0, 3, "system", "secret"}, {3, 8, "user", ""}};
    t.probes.positions = {1, 3, 5, 7};
    // The second row's best two are apart by less than a step of bfloat16 (0.125 at 16 to 32), the third's of float16.
    const std::vector<float> rows = {1, 2, 3, 20.0F, 20.03F, 4, 16.001F, 16.002F, 0, -1, -2, -3};
    std::vector<std::byte> raw(rows.size() * 4);
    std::memcpy(raw.data(), rows.data(), raw.size());
    t.probes.n_vocab = 3;
    t.probes.rows = rows_in_memory(LogitType::F32, 3, std::move(raw));
    t.launch_log = "host";
    return t;
}

/// Converts, and reads what was written.
struct Done {
    QTemporaryDir folder;
    std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "out.h5";
    Result<Conversion> conversion;
    Result<TracePtr> trace;

    Done(const Trace& from, const ConvertOptions& options)
        : conversion(convert_trace(path, from, options)),
          trace(conversion ? open_trace(path) : Result<TracePtr>(tl::unexpected(conversion.error())))
    {
    }
};

} // namespace

class TestConvert : public QObject {
    Q_OBJECT
private slots:
    void rounding_is_that_of_ieee_754()
    {
        // Known pairs: ties to even, the largest, the smallest, overflow.
        QCOMPARE(narrow(1.0, LogitType::F16), std::uint16_t(0x3c00));
        QCOMPARE(narrow(1.00048828125, LogitType::F16), std::uint16_t(0x3c00)); // a tie: the even one
        QCOMPARE(narrow(1.00048828126, LogitType::F16), std::uint16_t(0x3c01));
        QCOMPARE(narrow(1.00048828125 + 1e-12, LogitType::F16),
                 std::uint16_t(0x3c01)); // through float it would be a tie
        QCOMPARE(narrow(1.00146484375, LogitType::F16), std::uint16_t(0x3c02));
        QCOMPARE(narrow(65519.99, LogitType::F16), std::uint16_t(0x7bff));
        QCOMPARE(narrow(65520, LogitType::F16), std::uint16_t(0x7c00));
        QCOMPARE(narrow(-5.960464477539063e-08, LogitType::F16), std::uint16_t(0x8001)); // 2^-24
        QCOMPARE(narrow(2.98e-08, LogitType::F16), std::uint16_t(0x0000));
        QCOMPARE(narrow(6.097555160522461e-05, LogitType::F16), std::uint16_t(0x03ff));
        QCOMPARE(narrow(6.103e-05, LogitType::F16), std::uint16_t(0x0400)); // into the normal numbers
        QCOMPARE(narrow(1.00390625, LogitType::BF16), std::uint16_t(0x3f80));
        QCOMPARE(narrow(1.01171875, LogitType::BF16), std::uint16_t(0x3f82));
        QCOMPARE(narrow(1.00390625 + 1e-12, LogitType::BF16), std::uint16_t(0x3f81));
        QCOMPARE(narrow(-HUGE_VAL, LogitType::BF16), std::uint16_t(0xff80));
        QVERIFY(std::isnan(f16_to_float(narrow(std::nan(""), LogitType::F16))));
        QVERIFY(std::isnan(bf16_to_float(narrow(std::nan(""), LogitType::BF16))));
        // Every float16 stays what it is.
        for (std::uint32_t bits = 0; bits < 0x7c00; ++bits)
            QCOMPARE(narrow(f16_to_float(static_cast<std::uint16_t>(bits)), LogitType::F16),
                     static_cast<std::uint16_t>(bits));
    }
    void the_loss_is_stated()
    {
        ConvertOptions options;
        options.type = LogitType::BF16;
        const Done done(made(), options);
        QVERIFY2(done.trace.has_value(), done.trace ? "" : done.trace.error().message.c_str());
        // 20.03 becomes 20 (a tie whose lowest id is 0), 16.001 and 16.002 become 16.
        QCOMPARE(done.conversion->loss->flips, 2);
        QCOMPARE(done.conversion->loss->rows, 4);
        QVERIFY(std::fabs(done.conversion->loss->max_abs_error - 0.03) < 1e-6);
        const Trace& t = **done.trace;
        QVERIFY(t.probes.rows->type() == LogitType::BF16);
        QCOMPARE(t.probes.top1, (std::vector<std::int32_t>{2, 1, 1, 0})); // from before
        QVERIFY(std::fabs(t.probes.lse[0] - std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0))) < 1e-12);
        QCOMPARE(all_values(*t.probes.rows), (std::vector<double>{1, 2, 3, 20, 20, 4, 16, 16, 0, -1, -2, -3}));
        options.type = LogitType::F16;
        QCOMPARE(Done(made(), options).conversion->loss->flips, 1);
    }
    void what_does_not_fit_is_refused_or_counted()
    {
        Trace t = made();
        std::vector<float> rows(12, -1e6F);
        rows[0] = rows[3] = rows[6] = rows[9] = 1;
        std::vector<std::byte> raw(48);
        std::memcpy(raw.data(), rows.data(), 48);
        t.probes.rows = rows_in_memory(LogitType::F32, 3, raw);
        ConvertOptions options;
        options.type = LogitType::F16;
        QCOMPARE(Done(t, options).conversion->loss->overflows, 8);
        rows[4] = 1e6F;
        std::memcpy(raw.data(), rows.data(), 48);
        t.probes.rows = rows_in_memory(LogitType::F32, 3, raw);
        const Done refused(t, options);
        QVERIFY(!refused.conversion && is_one_sentence(refused.conversion.error().message));
        QVERIFY(!std::filesystem::exists(refused.path));
    }
    void a_range_of_positions_stays()
    {
        ConvertOptions options;
        options.begin = 3;
        options.end = 6;
        const Done done(made(), options);
        const Trace& t = **done.trace;
        QCOMPARE(t.probes.positions, (std::vector<std::int64_t>{3, 5}));
        QCOMPARE(t.tokens.ids.size(), 7u); // up to the token that the last probe may predict
        QCOMPARE(t.tokens.text.size(), 7u);
        QCOMPARE(t.spans.back().end, 7);
        QCOMPARE(all_values(*t.probes.rows), (std::vector<double>{20.0F, 20.03F, 4, 16.001F, 16.002F, 0}));
        options.begin = options.end = 6;
        QVERIFY(!Done(made(), options).conversion);
        options.begin = 4, options.end = 5;
        QVERIFY(is_one_sentence(Done(made(), options).conversion.error().message));
    }
    void the_best_k_stay()
    {
        ConvertOptions options;
        options.top_k = 2;
        const Done done(made(), options);
        QVERIFY2(done.trace.has_value(), done.trace ? "" : done.trace.error().message.c_str());
        const ProbeSet& set = (*done.trace)->probes;
        QVERIFY(set.kind == ProbeSet::Kind::TopK && set.k == 2 && set.n_vocab == 3);
        std::vector<std::int32_t> ids(8);
        std::vector<float> logprobs(8);
        QVERIFY(set.lists->read(0, 4, ids, logprobs).has_value());
        QCOMPARE(ids, (std::vector<std::int32_t>{2, 1, 1, 0, 1, 0, 0, 1}));
        const double lse = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0));
        QVERIFY(std::fabs(logprobs[0] - (3 - lse)) < 1e-6 && std::fabs(logprobs[1] - (2 - lse)) < 1e-6);
    }
    void text_is_left_out()
    {
        ConvertOptions options;
        options.drop_text = true;
        const Done done(made(), options);
        const Trace& t = **done.trace;
        QVERIFY(t.tokens.text.empty() && !t.vocabulary && t.launch_log.empty() && t.spans[0].label.empty());
        QCOMPARE(t.tokens.ids, made().tokens.ids);
        const std::string bytes = bytes_of(done.path);
        QVERIFY(!contains(bytes, "secret") && !contains(bytes, "abcdefgh"));
        QVERIFY(contains(done.conversion->notes.back(), "whoever has the tokenizer"));
    }
    void parts_of_one_run_are_joined()
    {
        const auto shared = [](Trace t) { return std::make_shared<const Trace>(std::move(t)); };
        Trace late = made(), early = made();
        late.probes.positions = {4, 6, 0, 2}; // as two files would have them: increasing each
        std::sort(late.probes.positions.begin(), late.probes.positions.end());
        early.tokens.ids.resize(8);
        early.run = {{"gpu", "A"}};
        late.run = {{"engine", "X"}, {"gpu", "B"}};
        const auto merged = merge_traces(std::vector<TracePtr>{shared(early), shared(late)});
        QVERIFY2(merged.has_value(), merged ? "" : merged.error().message.c_str());
        QCOMPARE(merged->probes.positions, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
        const auto values = all_values(*merged->probes.rows);
        QCOMPARE(values[0],
                 1.0); // position 0 is the first row of the second part, 1 of the first, 2 the second's second
        QCOMPARE(values[3], 1.0);
        QCOMPARE(values[2 * 3 + 1], double(20.03F));
        QCOMPARE(values[7 * 3], -1.0);
        QCOMPARE(*merged->setting("gpu"), std::string("A"));
        QCOMPARE(*merged->setting("engine"), std::string("X"));
        QVERIFY(finding(*merged, "settings-differ"));
        QVERIFY(is_one_sentence(merge_traces(std::vector<TracePtr>{shared(early), shared(early)}).error().message));
        late.tokens.ids[2] = 99;
        QVERIFY(
            contains(merge_traces(std::vector<TracePtr>{shared(early), shared(late)}).error().message, "position 2"));
    }
    void an_imported_base_file_stays_one()
    {
        const auto base = open_trace(data("base.kld"));
        const Done done(**base, {});
        QVERIFY2(done.trace.has_value(), done.trace ? "" : done.trace.error().message.c_str());
        QVERIFY(is_llamacpp_base(**done.trace));
        QVERIFY(finding(**done.trace, "codec-limited"));
        QCOMPARE((*done.trace)->spans.size(), 4u);
        QCOMPARE(all_values(*(*done.trace)->probes.rows), all_values(*(*base)->probes.rows));
        ConvertOptions options;
        options.type = LogitType::F16;
        const Done rounded(**base, options);
        QVERIFY(!is_llamacpp_base(**rounded.trace));
        QVERIFY(finding(**rounded.trace, "codec-limited"));
        QVERIFY(contains(*(*rounded.trace)->setting("codec"), "then rounded to float16"));
    }
};

QTEST_GUILESS_MAIN(TestConvert)
#include "tst_convert.moc"
