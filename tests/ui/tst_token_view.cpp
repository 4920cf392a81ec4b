// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The token view: exact bytes, colours, walking through it, and how it is linked with the session.
#include "tests/ui/views_fixture.h"

#include "ui/charts/colormap.h"
#include "ui/models/history_search.h"
#include "ui/models/token_glyphs.h"
#include "ui/views/token_area.h"
#include "ui/views/token_gutter.h"
#include "ui/views/token_view.h"

#include <QElapsedTimer>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>

#include <cmath>

using namespace flipscope;
using namespace flipscope::test;

namespace {

using Kind = GlyphRun::Kind;

/// A history of any bytes.
TracePtr traceOf(const std::vector<std::string>& tokens)
{
    auto trace = std::make_shared<Trace>();
    trace->tokens.text.offsets.push_back(0);
    for (const std::string& token : tokens) {
        trace->tokens.ids.push_back(static_cast<std::int32_t>(trace->tokens.ids.size()));
        trace->tokens.text.bytes += token;
        trace->tokens.text.offsets.push_back(trace->tokens.text.bytes.size());
    }
    return trace;
}

/// Everything a line shows.
QString textOf(const TokenLayout::Line& line)
{
    QString text;
    for (const auto& piece : line.pieces) {
        for (const auto& run : piece.runs)
            text += run.text;
    }
    return text;
}

struct Opened {
    QTemporaryDir dir;
    Session session;
    std::unique_ptr<TokenView> view;
    int run = -1;

    explicit Opened(bool text = true)
    {
        session.open(writeViews(dir.path(), text));
        if (!idle(session) || session.visibleRuns().empty() || !session.visibleRuns().front()->table)
            qFatal("the made traces did not open");
        run = session.visibleRuns().front()->id;
        view = std::make_unique<TokenView>(&session);
        view->resize(700, 420);
        view->show();
        if (!QTest::qWaitForWindowExposed(view.get()))
            qFatal("no window");
    }
};

} // namespace

class TokenViewTest : public QObject {
    Q_OBJECT

private slots:
    void cleanup() { VERIFY_NO_WARNINGS(); }

    void exact_bytes_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QStringList>("texts");
        QTest::addColumn<QList<int>>("kinds");
        const auto kinds = [](std::initializer_list<Kind> all) {
            QList<int> list;
            for (const Kind kind : all)
                list << static_cast<int>(kind);
            return list;
        };
        using B = QByteArray;
        using S = QStringList;
        QTest::newRow("word") << B(" arp") << S{QStringLiteral("␣"), QStringLiteral("arp")}
                              << kinds({Kind::Space, Kind::Text});
        QTest::newRow("spaces") << B("a   b") << S{QStringLiteral("a"), QStringLiteral("␣␣␣"), QStringLiteral("b")}
                                << kinds({Kind::Text, Kind::Space, Kind::Text});
        QTest::newRow("whole character") << B("caf\xC3\xA9 \xE2\x9C\x93")
                                         << S{QStringLiteral("café"), QStringLiteral("␣"), QStringLiteral("✓")}
                                         << kinds({Kind::Text, Kind::Space, Kind::Text});
        QTest::newRow("a picture in the text itself")
            << B("\xE2\x8F\x8E") << S{QStringLiteral("⏎")} << kinds({Kind::Text});
        QTest::newRow("first half") << B("\xE2\x9C") << S{QStringLiteral("‹E2 9C›")} << kinds({Kind::Bytes});
        QTest::newRow("second half") << B("\x93!") << S{QStringLiteral("‹93›"), QStringLiteral("!")}
                                     << kinds({Kind::Bytes, Kind::Text});
        QTest::newRow("overlong") << B("\xC0\xAF") << S{QStringLiteral("‹C0 AF›")} << kinds({Kind::Bytes});
        QTest::newRow("lead, then letter")
            << B("\xE2"
                 "A")
            << S{QStringLiteral("‹E2›"), QStringLiteral("A")} << kinds({Kind::Bytes, Kind::Text});
        QTest::newRow("line feed") << B("}\n") << S{QStringLiteral("}"), QStringLiteral("⏎")}
                                   << kinds({Kind::Text, Kind::Control});
        QTest::newRow("tab") << B("\t") << S{QStringLiteral("⇥")} << kinds({Kind::Control});
        QTest::newRow("nothing") << B() << S{} << kinds({});
    }

    void exact_bytes()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QStringList, texts);
        QFETCH(QList<int>, kinds);
        QStringList seenTexts;
        QList<int> seenKinds;
        for (const GlyphRun& run : glyphRuns({bytes.constData(), static_cast<std::size_t>(bytes.size())})) {
            seenTexts << run.text;
            seenKinds << static_cast<int>(run.kind);
        }
        QCOMPARE(seenTexts, texts);
        QCOMPARE(seenKinds, kinds);
    }

    void control_characters_are_seen()
    {
        for (int c = 0; c < 0x20; ++c) {
            const char byte = static_cast<char>(c);
            const auto runs = glyphRuns({&byte, 1});
            QCOMPARE(runs.size(), 1U);
            QVERIFY2(!runs[0].text.trimmed().isEmpty() && runs[0].text[0].isPrint(), qPrintable(QString::number(c)));
            QCOMPARE(runs[0].kind, Kind::Control);
            QCOMPARE(runs[0].breaksLine, c == '\n');
        }
    }

    void case_31_joins_the_parts_of_a_character()
    {
        // 😊 in four tokens of one byte, then a stray byte.
        const HistoryText history(traceOf({"a", "\xF0", "\x9F", "\x98", "\x8A", "b", "\x93"}), nullptr);
        for (qint64 t = 1; t <= 4; ++t) {
            const auto joined = history.joined(t);
            QVERIFY(joined);
            QCOMPARE(joined->first, 1);
            QCOMPARE(joined->last, 4);
            QCOMPARE(joined->text, QStringLiteral("😊"));
        }
        for (const qint64 whole : {0, 5, 6, 7, -1})
            QVERIFY(!history.joined(whole));
    }

    void lines_break_at_feeds_and_width()
    {
        const TracePtr trace = traceOf({"one", " two\n", "a\n\nb", "", std::string(200, 'x'), "\n", "end"});
        TokenLayout layout{QFont(QStringLiteral("monospace"))};
        layout.setHistory(HistoryText(trace, nullptr));
        layout.setWidth(400);
        QStringList texts;
        for (int p = 0; p < layout.paragraphCount(); ++p) {
            for (const auto& line : layout.lines(p)) {
                texts << textOf(line);
                for (const auto& piece : line.pieces)
                    QVERIFY(piece.x + piece.width <= 400.001);
            }
        }
        QCOMPARE(texts.mid(0, 3), (QStringList{QStringLiteral("one␣two⏎"), QStringLiteral("a⏎"), QStringLiteral("⏎")}));
        QCOMPARE(texts.last(), QStringLiteral("end"));
        QCOMPARE(texts.join(QString()),
                 QStringLiteral("one␣two⏎a⏎⏎b") + QString(200, QLatin1Char('x')) + QStringLiteral("⏎end"));
        QCOMPARE(layout.spotOf(0), (TokenLayout::Spot{0, 0}));
        QCOMPARE(layout.spotOf(2), (TokenLayout::Spot{1, 0}));
        QCOMPARE(layout.moved(layout.lastSpot(), 5), layout.lastSpot());
        QCOMPARE(layout.moved({0, 0}, -3), (TokenLayout::Spot{0, 0}));
        for (int n = 1; n < texts.size(); ++n) {
            QCOMPARE(layout.moved(layout.moved({0, 0}, n), -n), (TokenLayout::Spot{0, 0}));
            QCOMPARE(textOf(layout.line(layout.moved({0, 0}, n))), texts[n]);
        }
    }

    void finds_text_across_tokens()
    {
        const HistorySearch search(HistoryText(traceOf({"Sh", "ow", " ", "ARP", " sh", "", "ow a", "rp"}), nullptr));
        using M = HistorySearch::Match;
        QCOMPARE(search.find(QStringLiteral("show arp")), (std::vector<M>{{0, 3}, {4, 7}}));
        QCOMPARE(search.find(QStringLiteral("ow a")), (std::vector<M>{{1, 3}, {6, 6}}));
        QVERIFY(search.find(QStringLiteral("nowhere")).empty());
        QVERIFY(search.find(QString()).empty());
        QCOMPARE(search.find(QStringLiteral("#3")), (std::vector<M>{{3, 3}}));
    }

    void headings_of_spans()
    {
        const std::vector<Span> spans{{0, 50, "system", ""},
                                      {50, 90, "assistant", ""},
                                      {50, 60, "thinking", ""},
                                      {64, 90, "chunk", ""},
                                      {70, 80, "tool_call", ""}};
        QCOMPARE(spanStarting(spans, 0, 10), &spans[0]);
        QCOMPARE(spanStarting(spans, 1, 10), nullptr);
        QCOMPARE(spanStarting(spans, 45, 55), &spans[2]);
        QCOMPARE(spanStarting(spans, 61, 69), nullptr);   // a chunk of the prefill means nothing to the text
        QCOMPARE(spanStarting(spans, 65, 90), &spans[4]); // it ends on the same line
        QCOMPARE(spansAt(spans, 75), (std::vector<const Span*>{&spans[1], &spans[4]}));
        QVERIFY(spansAt(spans, 95).empty());
    }

    void colours_follow_the_metric()
    {
        Opened o;
        TokenView& view = *o.view;
        // The probe at 47 is about token 48.
        QVERIFY(!view.mark(47).fill.isValid());
        QVERIFY(view.mark(48).fill.isValid());
        QVERIFY(view.mark(48).flip);
        QVERIFY(!view.mark(16).flip);
        QVERIFY(view.mark(16).fill.isValid()); // a probe without divergence
        QVERIFY(view.mark(96).invalid);
        QVERIFY(!view.mark(96).fill.isValid());
        QVERIFY(view.mark(204).flip); // dense, at 203
        QVERIFY(view.mark(203).fill.isValid());
        o.session.setMetric(QStringLiteral("tv_mean"));
        ColourScale scale;
        scale.automatic = false;
        scale.low = 0;
        scale.high = 0.5;
        o.session.setColourScale(scale);
        QCOMPARE(view.mark(48).fill, colormapColor(scale.map, 0.5)); // TV 1/4
        QCOMPARE(view.mark(16).fill, colormapColor(scale.map, 0.0));
        o.session.setMetric(QStringLiteral("kl_pq_mean"));
        QCOMPARE(view.mark(112).fill, colormapColor(scale.map, 1.0)); // infinite
        const double t = std::log(2.0) / 4 / 0.5;
        QCOMPARE(view.mark(48).fill, colormapColor(scale.map, t));
    }

    void paints_the_colours()
    {
        Opened o;
        o.session.setMetric(QStringLiteral("tv_mean"));
        TokenArea* area = o.view->area();
        const QImage image = area->viewport()->grab().toImage();
        QVERIFY(!area->tokenRect(48).isNull());
        // In the picture's own pixels, whatever the scale factor.
        const QRectF rect(area->tokenRect(48).topLeft() * image.devicePixelRatio(),
                          area->tokenRect(48).size() * image.devicePixelRatio());
        const QColor fill = o.view->mark(48).fill;
        int same = 0;
        for (int x = int(rect.left()) + 1; x < int(rect.right()); ++x) {
            for (int y = int(rect.top()) + 1; y < int(rect.bottom()); ++y)
                same += image.pixelColor(x, y) == fill;
        }
        QVERIFY2(same > rect.width() * rect.height() / 4, qPrintable(QString::number(same)));
    }

    void mouse_selects()
    {
        Opened o;
        TokenArea* area = o.view->area();
        const qint64 width = o.session.windowTokens();
        const QPoint at = area->tokenRect(48).center().toPoint();
        QCOMPARE(area->tokenAt(at), 48);
        QTest::mouseClick(area->viewport(), Qt::LeftButton, {}, at);
        QCOMPARE(o.session.path().place(), (Place{o.run, 47 / width * width, 47, 48}));
        QCOMPARE(area->current(), 48);
        QTest::mouseClick(area->viewport(), Qt::LeftButton, {}, area->tokenRect(50).center().toPoint());
        QCOMPARE(o.session.path().place(), (Place{o.run, 0, -1, 50})); // no probe predicts it
        QCOMPARE(area->tokenAt(QPointF(2, 2)), -1);                    // the gutter
    }

    void keyboard_walks()
    {
        Opened o;
        TokenArea* area = o.view->area();
        area->setFocus();
        o.session.path().go({o.run, -1, 47, -1});
        QCOMPARE(area->current(), 48);
        QTest::keyClick(area, Qt::Key_Right);
        QCOMPARE(area->current(), 49);
        QTRY_COMPARE(o.session.path().place().token, 49);
        QTest::keyClick(area, Qt::Key_Left);
        QTest::keyClick(area, Qt::Key_Left);
        QCOMPARE(area->current(), 47);
        QTest::keyClick(area, Qt::Key_End);
        QCOMPARE(area->current(), 399);
        QVERIFY(!area->tokenRect(399).isNull());
        QTest::keyClick(area, Qt::Key_Right);
        QCOMPARE(area->current(), 399);
        QTest::keyClick(area, Qt::Key_Home);
        QCOMPARE(area->current(), 0);
        QTest::keyClick(area, Qt::Key_Down); // a line has ten tokens
        QCOMPARE(area->current(), 10);
        QTest::keyClick(area, Qt::Key_Up);
        QCOMPARE(area->current(), 0);
        QTest::keyClick(area, Qt::Key_PageDown);
        QVERIFY(area->current() > 50);
        QTest::keyClick(area, Qt::Key_PageUp);
        QCOMPARE(area->current(), 0);
        QTRY_COMPARE(o.session.path().place().token, 0);
    }

    void flips_one_after_the_other()
    {
        Opened o;
        TokenArea* area = o.view->area();
        area->setFocus();
        QList<qint64> seen;
        for (int i = 0; i < 5; ++i) {
            QTest::keyClick(area, Qt::Key_N);
            seen << o.session.path().place().token;
        }
        QCOMPARE(seen, (QList<qint64>{48, 64, 204, 208, 208})); // 203 is a dense probe
        QCOMPARE(o.view->status(), QStringLiteral("no flip after this"));
        QTest::keyClick(area, Qt::Key_P);
        QCOMPARE(o.session.path().place().probe, 203);
        QCOMPARE(o.view->status(), QStringLiteral("token 204 of 400 · flip 3/4"));
        QVERIFY(!area->tokenRect(204).isNull());
        QTest::keyClick(area, Qt::Key_Backspace);
        QCOMPARE(o.session.path().place().token, -1);
    }

    void goes_to_a_position()
    {
        Opened o;
        TokenArea* area = o.view->area();
        area->setFocus();
        QTest::keyClick(area, Qt::Key_G, Qt::ControlModifier);
        auto* edit = o.view->findChild<QLineEdit*>(QStringLiteral("barEdit"));
        auto* note = o.view->findChild<QLabel*>(QStringLiteral("barNote"));
        QVERIFY(edit->isVisible());
        edit->setText(QStringLiteral("4,000"));
        QTest::keyClick(edit, Qt::Key_Return);
        QCOMPARE(note->text(), QStringLiteral("There is no token 4,000: the history goes from 0 to 399."));
        edit->setText(QStringLiteral("here"));
        QTest::keyClick(edit, Qt::Key_Return);
        QCOMPARE(note->text(), QStringLiteral("“here” is not a position: give a number."));
        edit->setText(QStringLiteral("208"));
        QTest::keyClick(edit, Qt::Key_Return);
        QVERIFY(!edit->isVisible());
        QCOMPARE(o.session.path().place().token, 208);
        QCOMPARE(o.session.path().place().probe, 207);
        QVERIFY(!area->tokenRect(208).isNull());
    }

    void finds()
    {
        Opened o;
        TokenArea* area = o.view->area();
        area->setFocus();
        QTest::keyClick(area, Qt::Key_F, Qt::ControlModifier);
        auto* edit = o.view->findChild<QLineEdit*>(QStringLiteral("barEdit"));
        auto* note = o.view->findChild<QLabel*>(QStringLiteral("barNote"));
        QTest::keyClicks(edit, QStringLiteral("the run"));
        QCOMPARE(note->text(), QStringLiteral("1 of 40"));
        QTest::keyClick(edit, Qt::Key_Return);
        QCOMPARE(area->current(), 2);
        QTest::keyClick(edit, Qt::Key_Return);
        QCOMPARE(area->current(), 12);
        QTest::keyClick(edit, Qt::Key_Return, Qt::ShiftModifier);
        QCOMPARE(area->current(), 2);
        edit->setText(QStringLiteral("✓")); // in two tokens
        QTest::keyClick(edit, Qt::Key_Return);
        QCOMPARE(area->current(), 4);
        QTest::keyClick(edit, Qt::Key_Escape);
        QVERIFY(!edit->isVisible());
        QTest::keyClick(area, Qt::Key_F3);
        QCOMPARE(area->current(), 14);
        QTest::keyClick(area, Qt::Key_F3, Qt::ShiftModifier);
        QCOMPARE(area->current(), 4);
        QTest::keyClick(area, Qt::Key_F, Qt::ControlModifier);
        edit->setText(QStringLiteral("nowhere"));
        QTest::keyClick(edit, Qt::Key_Return);
        QCOMPARE(note->text(), QStringLiteral("not found"));
    }

    void tooltip_tells_which_probe()
    {
        Opened o;
        const QString tip = o.view->toolTipOf(48);
        for (const char* part : {"Token 48", "id 7", "bytes 74 68 65", "probe at 47", "0.1733 nats", "␣arp → ␣run"})
            QVERIFY2(tip.contains(QString::fromUtf8(part)), qPrintable(tip));
        QVERIFY(o.view->toolTipOf(50).contains(QStringLiteral("No probe at 49")));
        QVERIFY(o.view->toolTipOf(0).contains(QStringLiteral("first token")));
        QVERIFY(o.view->toolTipOf(96).contains(QStringLiteral("invalid")));
        QVERIFY(o.view->toolTipOf(204).contains(QStringLiteral("dense probe at 203")));
        QVERIFY(o.view->toolTipOf(208).contains(QStringLiteral("assistant › tool_call")));
        QVERIFY(o.view->toolTipOf(54).contains(QStringLiteral("‹E2 9C›")));
        QVERIFY(o.view->toolTipOf(54).contains(QStringLiteral("tokens 54 to 55 together are ✓")));
        QVERIFY(o.view->toolTipOf(55).contains(QStringLiteral("tokens 54 to 55 together are ✓")));
        QVERIFY(!o.view->toolTipOf(56).contains(QStringLiteral("together")));
    }

    void ids_where_no_trace_has_text()
    {
        Opened o(false);
        TokenArea* area = o.view->area();
        QCOMPARE(area->history().label(3), QStringLiteral("#1"));
        QCOMPARE(area->history().label(48), QStringLiteral("#7"));
        QVERIFY(!area->tokenRect(48).isNull());
        QVERIFY(o.view->mark(48).flip);
        QVERIFY(o.view->toolTipOf(48).contains(QStringLiteral("#0 → #1")));
        QVERIFY(textOf(area->layout().lines(0).front()).startsWith(QStringLiteral("#7 #0 #7 #1 ")));
    }

    void empty_and_alone()
    {
        QTemporaryDir dir;
        Session session;
        TokenView view(&session);
        view.resize(500, 300);
        view.show();
        for (const Qt::Key key : {Qt::Key_Left, Qt::Key_Down, Qt::Key_End, Qt::Key_N, Qt::Key_P, Qt::Key_PageDown,
                                  Qt::Key_Return, Qt::Key_F3})
            QTest::keyClick(view.area(), key);
        view.hideBar();
        QTest::mouseClick(view.area()->viewport(), Qt::LeftButton, {}, {100, 20});
        QCOMPARE(view.area()->tokenAt({100, 20}), -1);
        session.open({writeViews(dir.path()).front()});
        QVERIFY(idle(session));
        // The text is there; nothing to compare it with yet.
        QCOMPARE(view.area()->history().size(), 400);
        QVERIFY(!view.mark(48).fill.isValid());
        QTest::keyClick(view.area(), Qt::Key_End);
        QCOMPARE(view.area()->current(), 399);
        session.closeAll();
        QCOMPARE(view.area()->history().size(), 0);
        view.grab();
    }

    void case_71_mouse_hits_the_right_token_at_any_width()
    {
        Opened o;
        TokenArea* area = o.view->area();
        for (const int width : {220, 333, 512, 901, 1400}) {
            o.view->resize(width, 420);
            QCoreApplication::processEvents();
            int hits = 0;
            for (qint64 token = 0; token < 120; ++token) {
                const QRectF rect = area->tokenRect(token);
                if (rect.isNull() || rect.bottom() > area->viewport()->height())
                    continue;
                QCOMPARE(area->tokenAt(rect.center()), token);
                ++hits;
            }
            QVERIFY(hits > 10);
        }
    }

    void hundred_thousand_tokens()
    {
        QTemporaryDir dir;
        ViewsTrace base;
        base.name = QStringLiteral("base");
        base.tokens = 100000;
        base.stride = 32;
        ViewsTrace run = base;
        run.name = QStringLiteral("run");
        run.swapsAt = {31, 49983, 99999};
        Session session;
        session.open({write(dir.path(), base), write(dir.path(), run)});
        QVERIFY(idle(session, 60000));
        QElapsedTimer clock;
        clock.start();
        TokenView view(&session);
        view.resize(900, 500);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        view.grab();
        const qint64 shown = clock.restart();
        QVERIFY(view.area()->layout().laidOutParagraphs() < 200); // of 10,000
        QScrollBar* bar = view.area()->verticalScrollBar();
        for (int i = 1; i <= 100; ++i) {
            bar->setValue(bar->maximum() / 100 * i);
            view.area()->viewport()->grab();
        }
        const qint64 scrolled = clock.restart();
        bar->setValue(bar->maximum());
        QVERIFY(!view.area()->tokenRect(99999).isNull());
        view.area()->setFocus();
        QTest::keyClick(view.area(), Qt::Key_Home);
        QTest::keyClick(view.area(), Qt::Key_N);
        QTest::keyClick(view.area(), Qt::Key_N);
        QCOMPARE(view.area()->current(), 49984);
        QVERIFY(!view.area()->tokenRect(49984).isNull());
        const qint64 jumped = clock.elapsed();
        qInfo("100,000 tokens: shown after %lld ms, 100 scrolls with repaint %lld ms, jumps %lld ms", shown, scrolled,
              jumped);
        QVERIFY(shown < 3000 && scrolled < 10000 && jumped < 2000); // far above what is seen
    }
};

FLIPSCOPE_GUI_TEST(TokenViewTest)
#include "tst_token_view.moc"
