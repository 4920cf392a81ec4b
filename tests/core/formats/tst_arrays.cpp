// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Bare arrays: .npy, .npz and safetensors, with what a person says about them.
#include "core/analysis/alignment.h"
#include "format_files.h"

using namespace flipscope;
using namespace format_files;

namespace {

OpenHints with_ids()
{
    OpenHints hints;
    hints.tokens = data("ids.npy");
    hints.stride = 32;
    return hints;
}

TracePtr open(const std::string& name, const OpenHints& hints = with_ids())
{
    auto trace = open_trace(data(name), hints);
    if (!trace) {
        qWarning("%s", trace.error().message.c_str());
        return nullptr;
    }
    for (const Finding& f : (*trace)->findings)
        if (!is_one_sentence(f.text))
            qFatal("%s", f.text.c_str());
    return *trace;
}

const std::vector<std::int64_t> every_32 = {31, 63, 95, 127, 159};
const std::vector<std::int64_t> stated = {31, 63, 95, 127, 158};

} // namespace

class TestArrays : public QObject {
    Q_OBJECT
private slots:
    void tables_of_every_type_and_order_data()
    {
        QTest::addColumn<QString>("axes");
        for (const char* name : {"f16", "f32", "f64", "f16-big", "f32-big", "f64-big", "fortran", "fortran-big",
                                 "version-2", "version-3", "batch"})
            QTest::newRow(name) << QString();
        QTest::newRow("columns-first") << "vp";
    }
    void tables_of_every_type_and_order()
    {
        QFETCH(QString, axes);
        OpenHints hints = with_ids();
        hints.axes = axes.toStdString();
        const auto trace = open(std::string(QTest::currentDataTag()) + ".npy", hints);
        QVERIFY(trace);
        QVERIFY(rows_are(*trace->probes.rows, expected()["table"]));
        QCOMPARE(trace->probes.positions, every_32);
        QCOMPARE(trace->tokens.ids.size(), 160u);
        QCOMPARE(trace->tokens.ids[3], 13);
        // Rows one by one, and from the middle.
        std::vector<std::byte> row(static_cast<std::size_t>(trace->probes.rows->row_bytes()));
        QVERIFY(trace->probes.rows->read(2, 1, row).has_value());
        QCOMPARE(widen(row.data(), trace->probes.rows->type(), 3), 12.25);
        QVERIFY(!trace->probes.rows->read(5, 1, row).has_value());
    }
    void several_dimensions_may_count_probes()
    {
        OpenHints hints = with_ids();
        QVERIFY(contains(refusal(data("two-batches.npy"), hints), "2 × 5 × 7"));
        hints.axes = "ppv";
        hints.stride = 10;
        const auto trace = open("two-batches.npy", hints);
        QVERIFY(trace && trace->probes.size() == 10);
        QCOMPARE(all_values(*trace->probes.rows)[35], expected()["table"][0][0].get<double>() + 1);
        for (const char* wrong : {"pv", "ppp", "pvv", "1pv", "xpv", "pvp"}) {
            hints.axes = wrong;
            QVERIFY2(is_one_sentence(refusal(data("two-batches.npy"), hints)), wrong);
        }
    }
    void case_56_two_raw_bytes_are_bfloat16_only_when_told()
    {
        for (const char* name : {"v2.npy", "u2.npy"}) {
            QVERIFY(contains(refusal(data(name), with_ids()), "--dtype bfloat16"));
            OpenHints hints = with_ids();
            hints.type = LogitType::BF16;
            const auto trace = open(name, hints);
            QVERIFY(trace && trace->probes.rows->type() == LogitType::BF16);
            QVERIFY(rows_are(*trace->probes.rows, expected()["table-bf16"]));
            hints.type = LogitType::F32;
            QVERIFY(contains(refusal(data(name), hints), "two bytes"));
        }
        OpenHints hints = with_ids();
        hints.type = LogitType::BF16; // what the file states is not overruled
        QVERIFY(contains(refusal(data("f32.npy"), hints), "states float32"));
        hints.type =
            LogitType::F16; // two bytes read as the wrong type hold numbers that no model emits, and it is said
        const auto misread = open("v2.npy", hints);
        QVERIFY(misread);
    }
    void ids_come_from_arrays_text_json_and_traces()
    {
        OpenHints hints = with_ids();
        for (const char* file : {"ids.npy", "ids.txt", "ids.json", "stored.npz"}) {
            hints.tokens = data(file);
            const auto trace = open("f32.npy", hints);
            QVERIFY2(trace && trace->tokens.ids.size() == 160 && trace->tokens.ids[159] == 169, file);
            QVERIFY(finding(*trace, "borrowed-ids"));
        }
        for (const char* file : {"f32.npy", "none.txt", "expected.json", "base.kld.gz.none"}) {
            hints.tokens = data(file);
            QVERIFY2(is_one_sentence(refusal(data("f32.npy"), hints)), file);
        }
    }
    void what_nobody_tells_is_said()
    {
        const auto bare = open("f32.npy", {});
        QVERIFY(bare && finding(*bare, "unknown-ids") && finding(*bare, "positions-assumed") &&
                finding(*bare, "not-stated"));
        QCOMPARE(bare->tokens.ids, std::vector<std::int32_t>(6, unknown_id));
        // Two such files can be compared, with a warning.
        const auto alignment = align(*bare, *open("f64.npy", {}));
        QVERIFY(alignment && alignment->probes.size() == 5);
        OpenHints hints;
        hints.tokens = data("ids.npy");
        QVERIFY(contains(refusal(data("f32.npy"), hints), "5 rows for 160 tokens"));
        hints.positions = data("positions.npy");
        QCOMPARE(open("f32.npy", hints)->probes.positions, stated);
        hints.positions.clear();
        hints.first = 155;
        QCOMPARE(open("f32.npy", hints)->probes.positions.back(), 159);
        hints.first = 156; // the last row would stand behind the history
        QVERIFY(contains(refusal(data("f32.npy"), hints), "outside of the history"));
    }
    void padding_is_left_out()
    {
        OpenHints hints = with_ids();
        hints.vocabulary = 5;
        const auto trace = open("f16-big.npy", hints);
        QVERIFY(trace && trace->probes.n_vocab == 5);
        const auto values = all_values(*trace->probes.rows);
        for (std::size_t r = 0; r < 5; ++r)
            for (std::size_t v = 0; v < 5; ++v)
                QCOMPARE(values[r * 5 + v], expected()["table"][r][v].get<double>());
        hints.vocabulary = 8;
        QVERIFY(contains(refusal(data("f16.npy"), hints), "7 columns"));
    }
    void probabilities_are_refused_and_log_probabilities_named()
    {
        QVERIFY(contains(refusal(data("probabilities.npy"), with_ids()), "holds probabilities"));
        QVERIFY(finding(*open("log-probabilities.npy"), "log-probabilities"));
        QVERIFY(!finding(*open("f32.npy"), "log-probabilities"));
    }
    void archives_data()
    {
        QTest::addColumn<QString>("file");
        for (const char* name : {"stored.npz", "packed.npz", "zip64.npz"})
            QTest::newRow(name) << name;
    }
    void archives()
    {
        QFETCH(QString, file);
        const auto trace = open(file.toStdString(), {}); // ids and positions are members
        QVERIFY(trace);
        QVERIFY(rows_are(*trace->probes.rows, expected()["table"]));
        QCOMPARE(trace->probes.positions, stated);
        QCOMPARE(trace->tokens.ids.size(), 160u);
        QVERIFY(!finding(*trace, "unknown-ids"));
    }
    void one_of_several_arrays_is_named()
    {
        OpenHints hints = with_ids();
        QVERIFY(contains(refusal(data("several.npz"), hints), "name one with --array"));
        hints.array = "b";
        QCOMPARE(all_values(*open("several.npz", hints)->probes.rows)[0], expected()["table"][0][0].get<double>() + 1);
        hints.array = "c";
        QVERIFY(contains(refusal(data("several.npz"), hints), "a (<f8, 5 × 7)"));
        QVERIFY(contains(refusal(data("no-arrays.npz")), "without NumPy arrays"));
    }
    void tensors_data()
    {
        QTest::addColumn<QString>("rows");
        QTest::newRow("bf16.safetensors") << "table-bf16";
        QTest::newRow("f16.safetensors") << "table";
        QTest::newRow("f32.safetensors") << "table";
        QTest::newRow("rows.safetensors") << "table"; // a tensor per row
    }
    void tensors()
    {
        QFETCH(QString, rows);
        const std::string name = QTest::currentDataTag();
        const bool complete = name.starts_with("bf16") || name.starts_with("rows");
        const auto trace = open(name, complete ? OpenHints{} : with_ids());
        QVERIFY(trace);
        QVERIFY(rows_are(*trace->probes.rows, expected()[rows.toStdString()]));
        QCOMPARE(trace->probes.positions, complete ? stated : every_32);
        QCOMPARE(trace->tokens.ids.size(), 160u);
        if (name.starts_with("bf16"))
            QCOMPARE(*trace->setting("engine"), std::string("transformers"));
    }
    void hints_about_the_run_are_kept()
    {
        OpenHints hints = with_ids();
        hints.run_name = "mine";
        hints.scoring = "decode";
        hints.temperature = 0.7;
        hints.settings = {{"attention_backend", "triton"}};
        const auto trace = open("f32.npy", hints);
        QCOMPARE(trace->run_name, std::string("mine"));
        QCOMPARE(trace->probes.scoring, std::string("decode"));
        QCOMPARE(trace->probes.temperature, std::optional(0.7));
        QCOMPARE(*trace->setting("attention_backend"), std::string("triton"));
        QVERIFY(trace->content_key != open("f32.npy")->content_key);
    }
    void broken_files_are_refused_in_one_sentence_data()
    {
        QTest::addColumn<QString>("says");
        QTest::newRow("short.npy") << "cut short";
        QTest::newRow("objects.npy") << "Python objects";
        QTest::newRow("huge.npy") << "";
        QTest::newRow("integers.npy") << "<i8";
        QTest::newRow("empty.npy") << "is empty";
        QTest::newRow("short.safetensors") << "cut short";
        QTest::newRow("wrong-size.safetensors") << "do not fit";
        QTest::newRow("deep.safetensors") << "no JSON object";
    }
    void broken_files_are_refused_in_one_sentence()
    {
        QFETCH(QString, says);
        const std::string why = refusal(data(QTest::currentDataTag()), with_ids());
        QVERIFY2(is_one_sentence(why) && contains(why, says.toStdString()), why.c_str());
    }
    void headers_that_lie()
    {
        const QTemporaryDir folder;
        const std::string npy = bytes_of(data("f32.npy"));
        const auto with = [&](const std::string& from, const std::string& to) {
            std::string changed = npy;
            changed.replace(changed.find(from), from.size(), to);
            return refusal(write(folder, "changed.npy", changed), with_ids());
        };
        for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"(5, 7)", "(6, 7)"},
                                                                                       {"(5, 7)", "(-5,7)"},
                                                                                       {"(5, 7)", "(5 7) "},
                                                                                       {"<f4", "<c8"},
                                                                                       {"<f4", "<f9"},
                                                                                       {"<f4", "<f3"},
                                                                                       {"False", "Fals}"},
                                                                                       {"descr", "descX"},
                                                                                       {"'shape'", "'shape "},
                                                                                       {"{", "["}})
            QVERIFY2(is_one_sentence(with(from, to)), (to + ": " + with(from, to)).c_str());
        for (std::size_t size = 0; size < 130; size += 7)
            QVERIFY(is_one_sentence(refusal(write(folder, "short.npy", npy.substr(0, size)), with_ids())));
    }
};

QTEST_GUILESS_MAIN(TestArrays)
#include "tst_arrays.moc"
