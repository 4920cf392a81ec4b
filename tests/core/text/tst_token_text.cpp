// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/utf8.h"
#include "core/text/token_text.h"
#include "tests/core/analysis/made_traces.h"

#include <QtTest>

using namespace flipscope;

class TestTokenText : public QObject {
    Q_OBJECT
private slots:
    void visible_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("text");
        QTest::newRow("plain") << QByteArray("arp") << "arp";
        QTest::newRow("empty") << QByteArray("") << "";
        QTest::newRow("leading space") << QByteArray(" arp run") << "␣arp run";
        QTest::newRow("only spaces") << QByteArray("   ") << "␣␣␣";
        QTest::newRow("line feed") << QByteArray("\n\n") << "⏎⏎";
        QTest::newRow("tab") << QByteArray("\ta") << "⇥a";
        QTest::newRow("carriage return") << QByteArray("\r\n") << "␍⏎";
        QTest::newRow("null") << QByteArray("a\0b", 3) << "a␀b";
        QTest::newRow("escape") << QByteArray("\x1b[0m") << "␛[0m";
        QTest::newRow("delete") << QByteArray("\x7f") << "␡";
        QTest::newRow("whole character") << QByteArray("✓") << "✓";
        QTest::newRow("part of one") << QByteArray("\xE2\x9C") << "‹E2 9C›";
        QTest::newRow("rest of one") << QByteArray("\x93 ok") << "‹93› ok";
        QTest::newRow("overlong") << QByteArray("\xC0\x80") << "‹C0 80›";
        QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80") << "‹ED A0 80›";
        QTest::newRow("beyond") << QByteArray("\xF4\x90\x80\x80") << "‹F4 90 80 80›";
        QTest::newRow("emoji") << QByteArray("😊") << "😊";
        QTest::newRow("zero width") << QByteArray("a\xE2\x80\x8B"
                                                  "b")
                                    << "a‹ZWSP›b";
        QTest::newRow("right to left override") << QByteArray("\xE2\x80\xAE") << "‹RLO›";
        QTest::newRow("c1 control") << QByteArray("\xC2\x85") << "‹U+0085›";
    }
    void visible()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, text);
        QCOMPARE(QString::fromStdString(flipscope::visible(bytes.toStdString())), text);
    }
    void hex()
    {
        QCOMPARE(hex_bytes("\xE2\x9C\x93"), "E2 9C 93");
        QCOMPARE(hex_bytes(""), "");
    }
    void every_string_of_two_bytes_is_valid_utf8_afterwards()
    {
        for (int a = 0; a < 256; ++a)
            for (int b = 0; b < 256; ++b) {
                const std::string bytes{static_cast<char>(a), static_cast<char>(b)};
                const std::string text = flipscope::visible(bytes);
                for (std::size_t i = 0; i < text.size();) {
                    const Utf8Char c = utf8_at(text, i);
                    QVERIFY(c.length > 0 && c.code >= 0x20);
                    i += c.length;
                }
            }
    }
    void own_vocabulary_first_then_borrowed_then_history()
    {
        auto with_vocabulary = std::make_shared<Trace>(made::trace("base", {0, 1, 7}, {}));
        with_vocabulary->vocabulary =
            std::make_shared<Vocabulary>(Vocabulary{made::strings({"zero", " one", "<end>"}), {2}});
        auto bare = std::make_shared<Trace>(made::trace("run", {0, 1, 7}, {}));
        bare->tokens.text = made::strings({"zero", " one", "seven"});

        const TokenTexts borrowed(std::vector<TracePtr>{bare, with_vocabulary});
        QCOMPARE(borrowed.label(1), "␣one");
        QCOMPARE(borrowed.label(2), "<end>");
        QVERIFY(borrowed.special(2) && !borrowed.special(1));
        QCOMPARE(borrowed.label(7), "seven"); // beyond the vocabulary: the history knows it
        QCOMPARE(borrowed.label(8), "#8");
        QCOMPARE(borrowed.label(-1), "#-1");

        const TokenTexts alone(std::vector<TracePtr>{bare});
        QCOMPARE(alone.label(7), "seven");
        QCOMPARE(alone.label(2), "#2");
    }
    void other_history_lends_nothing()
    {
        auto run = std::make_shared<Trace>(made::trace("run", {0, 1}, {}));
        auto other = std::make_shared<Trace>(made::trace("other", {1, 0}, {}));
        other->vocabulary = std::make_shared<Vocabulary>(Vocabulary{made::strings({"x", "y"}), {0}});
        const TokenTexts texts(std::vector<TracePtr>{run, other});
        QCOMPARE(texts.label(0), "#0");
        QVERIFY(!texts.special(0));
    }
    void nothing_open()
    {
        QCOMPARE(TokenTexts().label(5), "#5");
        QVERIFY(!TokenTexts(std::vector<TracePtr>{}).bytes(5).has_value());
    }
    void widths()
    {
        QCOMPARE(display_width("KL(P‖Q)"), 7u);
        QCOMPARE(display_width("漢字"), 4u);
    }
};

QTEST_GUILESS_MAIN(TestTokenText)
#include "tst_token_text.moc"
