// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Every dialect over streams written by hand: good ones, each kind of fault, and cut at every byte.
#include "streams.h"

#include <QtTest>
#include <set>

using namespace flipscope;
using namespace streams;

class TestDialects : public QObject {
    Q_OBJECT

    static std::vector<Case> all_cases()
    {
        std::vector<Case> all = tagged_cases();
        for (const auto* more : {&token_cases(), &plain_cases()})
            all.insert(all.end(), more->begin(), more->end());
        return all;
    }

    static void add_rows()
    {
        QTest::addColumn<int>("index");
        int index = 0;
        for (const Case& c : all_cases())
            QTest::newRow(fmt::format("{}: {}", c.dialect, c.name).c_str()) << index++;
    }

private slots:
    void streams_data() { add_rows(); }
    void streams()
    {
        QFETCH(int, index);
        const Case c = all_cases().at(static_cast<std::size_t>(index));
        const Dialect* dialect = find_dialect(c.dialect);
        QVERIFY(dialect);
        const TokenStream stream = tokenised(c.text, *dialect);
        QCOMPARE(stream.bytes, std::string(c.text));
        const Recognised found = recognise(stream, *dialect);
        QCOMPARE(QString::fromStdString(shown(found)), QString::fromUtf8(c.expected));
        QCOMPARE(QString::fromStdString(broken_invariant(stream, found)), QString());
        for (const Call& call : found.calls)
            if (call.status != CallStatus::Good)
                QVERIFY2(!call.strict.note.empty() && call.strict.note.back() == '.', call.strict.note.c_str());
    }

    void detection_data() { add_rows(); }
    void detection()
    {
        QFETCH(int, index);
        const Case c = all_cases().at(static_cast<std::size_t>(index));
        const TokenStream stream = tokenised(c.text, *find_dialect(c.dialect));
        const TokenStream* one = &stream;
        const Dialect* found = detect_dialect({&one, 1});
        if (c.detected)
            QCOMPARE(QByteArray(found ? found->name.data() : "none"), QByteArray(c.dialect));
    }

    void there_are_enough()
    {
        std::set<std::string> with_cases;
        for (const Case& c : all_cases())
            with_cases.insert(c.dialect);
        QCOMPARE(with_cases.size(), dialects().size());
        QVERIFY2(all_cases().size() >= 120, fmt::format("{} streams", all_cases().size()).c_str());
    }

    void cut_at_every_byte_data()
    {
        QTest::addColumn<QString>("dialect");
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("opened"); // from so many bytes on something is there
        const auto row = [](const char* dialect, const char* text, int opened) {
            QTest::newRow(dialect) << dialect << text << opened;
        };
        row("hermes",
            "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"\u6771 \\u00e9 "
            "</tool_call>\",\"b\":[1,{}]}}</tool_call>",
            11);
        row("qwen3-coder",
            "<tool_call>\n<function=f>\n<parameter=a>\nx\ny\n</parameter>\n<parameter=b>\n[1]\n</parameter>\n</"
            "function>\n"
            "</tool_call>",
            25);
        row("deepseek-v3",
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{\"a\": \"`\", \"b\": "
            "-1e3}\n```<｜tool▁call▁end｜>",
            27);
        row("gemma4", "<|tool_call>call:f{a:<|\"|>}<|\"|>,b:{c:true}}<tool_call|>", 12);
        row("harmony", "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\":[null]}<|call|>", 26);
    }
    /// From the opening marker on there is one call, unclosed up to the last byte, and the name and the values that
    /// were written so far are beginnings of the whole ones.
    void cut_at_every_byte()
    {
        QFETCH(QString, dialect);
        QFETCH(QString, text);
        QFETCH(int, opened);
        const Dialect& d = *find_dialect(dialect.toStdString());
        const std::string whole = text.toStdString();
        const Recognised complete = recognise(tokenised(whole, d), d);
        QCOMPARE(complete.calls.size(), std::size_t(1));
        QCOMPARE(complete.calls[0].status, CallStatus::Good);
        for (std::size_t n = 0; n < whole.size(); ++n) {
            const TokenStream stream = tokenised(whole.substr(0, n), d);
            const Recognised found = recognise(stream, d);
            const auto where = fmt::format("cut at {}: {}", n, shown(found));
            QVERIFY2(broken_invariant(stream, found).empty(), where.c_str());
            if (n < static_cast<std::size_t>(opened)) {
                QVERIFY2(found.calls.size() <= 1, where.c_str());
                continue;
            }
            QVERIFY2(found.calls.size() == 1 && found.calls[0].status == CallStatus::Unclosed, where.c_str());
            const Call& call = found.calls[0];
            QVERIFY2(complete.calls[0].name().starts_with(call.name()), where.c_str());
            for (const auto& argument : call.arguments()) {
                const Argument* same = complete.calls[0].tolerant.find(argument.path);
                if (same && argument.complete && argument.type == same->type &&
                    argument.type != Argument::Type::Untyped)
                    QVERIFY2(equal_value(*same, argument), where.c_str());
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestDialects)
#include "tst_dialects.moc"
