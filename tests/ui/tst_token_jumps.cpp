// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Jumps in the token view: kinds of flips, the largest KL, regular expressions, letters.
#include "tests/ui/views_fixture.h"

#include "ui/models/flip_stops.h"
#include "ui/models/history_search.h"
#include "ui/views/token_view.h"

#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include <cmath>

using namespace flipscope;
using namespace flipscope::test;
using M = HistorySearch::Match;

namespace {

struct Opened {
    QTemporaryDir dir;
    Session session;
    std::unique_ptr<TokenView> view;

    Opened()
    {
        session.open(writeViews(dir.path()));
        if (!idle(session) || session.visibleRuns().empty() || !session.visibleRuns().front()->table)
            qFatal("the made traces did not open");
        view = std::make_unique<TokenView>(&session);
        view->resize(900, 420);
        view->show();
        if (!QTest::qWaitForWindowExposed(view.get()))
            qFatal("no window");
    }
    qint64 token() { return session.path().place().token; }
};

TracePtr historyOf(const std::vector<std::string>& tokens)
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

} // namespace

class TokenJumpsTest : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { VERIFY_NO_WARNINGS(); }

    void case_2_next_flip_in_a_tool_call()
    {
        Opened o; // flips at 47, 63, 203 (dense) and 207; the tool call is 205..225
        o.view->setFlipStops(FlipStops::ToolCall);
        QVERIFY2(o.view->status().contains("1 flip in a tool call"), qPrintable(o.view->status()));
        QTest::keyClick(o.view->area(), Qt::Key_N);
        QCOMPARE(o.token(), 208);
        QCOMPARE(o.session.path().place().probe, 207);
        // What both sides say there, as text.
        const QString tip = o.view->toolTipOf(208);
        QVERIFY2(tip.contains("arp") && tip.contains("run") && tip.contains("tool_call"), qPrintable(tip));
        QTest::keyClick(o.view->area(), Qt::Key_N);
        QVERIFY2(o.view->status().contains("no flip after this"), qPrintable(o.view->status()));
    }

    void flips_above_a_margin()
    {
        Opened o; // the baseline's best two have probabilities 1/2 and 1/4: a margin of ln 2
        o.view->setFlipStops(FlipStops::AboveMargin);
        QTest::keyClick(o.view->area(), Qt::Key_N);
        QCOMPARE(o.token(), 48);
        o.session.setMargin(0.7); // ln 2 is 0.693
        QVERIFY2(o.view->status().contains("no flips above 0.7 nats"), qPrintable(o.view->status()));
        auto* box = o.view->findChild<QComboBox*>(QStringLiteral("flipStops"));
        QVERIFY(box != nullptr && box->currentIndex() == box->findData(static_cast<int>(FlipStops::AboveMargin)));
    }

    void ties_and_steps_can_be_passed_over()
    {
        auto table = std::make_shared<MetricsTable>();
        for (int i = 0; i < 4; ++i) {
            ProbeMetrics p{};
            p.position = i * 10;
            p.valid = 1;
            p.flip = i > 0;
            p.tied = i == 1;
            p.margin = i == 2 ? 0.125 : 3;
            p.p_top = 0.5;
            p.lse_p = 20 + std::log(2.0);
            p.kl_pq = i == 3 ? 0.5 : 2 - i;
            table->probes.push_back(p);
        }
        const ProbeLookup probes(table);
        Trace history;
        history.probes.rows = rows_in_memory(LogitType::BF16, 1, std::vector<std::byte>(2));
        QCOMPARE(flipStops(probes, FlipStops::All, history, 0.5), (std::vector<qint64>{10, 20, 30}));
        QCOMPARE(flipStops(probes, FlipStops::Clear, history, 0.5), (std::vector<qint64>{30}));
        QCOMPARE(flipStops(probes, FlipStops::AboveMargin, history, 0.5), (std::vector<qint64>{10, 30}));
        QCOMPARE(largestKl(probes), std::optional<qint64>(0));
        QVERIFY(!largestKl(ProbeLookup()));
    }

    void largest_kl()
    {
        Opened o; // 111 is infinite
        QTest::keyClick(o.view->area(), Qt::Key_L);
        QCOMPARE(o.token(), 112);
        o.session.path().go({});
        o.view->findChild<QToolButton*>(QStringLiteral("largestKl"))->click();
        QCOMPARE(o.token(), 112);
    }

    void regular_expressions()
    {
        const HistorySearch search(HistoryText(
            historyOf({"Gigabit", "Ethernet", "0", "/0/1", ".201", " \xE2\x9C", "\x93 Caf\xC3\xA9", "\nshow", " arp"}),
            nullptr));
        const auto found = [&](const char* pattern) { return search.findRegex(QString::fromUtf8(pattern)).value(); };
        QCOMPARE(found("ethernet\\d(/\\d)+\\.\\d+"), (std::vector<M>{{1, 4}}));
        QCOMPARE(found("^show (arp|run)$"), (std::vector<M>{{7, 8}}));
        QCOMPARE(found("✓"), (std::vector<M>{{5, 6}})); // a character of two tokens
        QCOMPARE(found("\\w{4}é|CAFÉ"), (std::vector<M>{{6, 6}}));
        QVERIFY(found("x*").empty()); // empty matches do not count
        QCOMPARE(found("\\d").size(), std::size_t(6));
        const auto wrong = search.findRegex(QStringLiteral("(arp"));
        QVERIFY(!wrong);
        QVERIFY2(wrong.error().startsWith("Not a regular expression"), qPrintable(wrong.error()));
        QVERIFY(HistorySearch().findRegex("a")->empty());
    }

    void regex_in_the_search_line()
    {
        Opened o;
        o.view->showFind();
        auto* edit = o.view->findChild<QLineEdit*>(QStringLiteral("barEdit"));
        auto* note = o.view->findChild<QLabel*>(QStringLiteral("barNote"));
        o.view->findChild<QToolButton*>(QStringLiteral("regex"))->click();
        QTest::keyClicks(edit, "the (arp|run)");
        QVERIFY2(note->text().contains(" of 80"), qPrintable(note->text())); // two in each of 40 lines
        QTest::keyClick(edit, Qt::Key_Return);
        QCOMPARE(o.token(), 0);
        edit->clear();
        QTest::keyClicks(edit, "(");
        QVERIFY2(note->text().startsWith("Not a regular expression"), qPrintable(note->text()));
    }

    void proportional_letters()
    {
        Opened o;
        o.session.path().go({o.session.visibleRuns().front()->id, -1, 207, 208});
        const QFont mono = o.view->area()->viewport()->font();
        QVERIFY(!o.view->area()->tokenRect(208).isNull());
        o.view->findChild<QToolButton*>(QStringLiteral("proportional"))->click();
        QVERIFY(o.view->area()->viewport()->font() != mono);
        QVERIFY(!o.view->area()->tokenRect(208).isNull()); // still on the screen
        QCOMPARE(o.view->area()->tokenAt(o.view->area()->tokenRect(208).center()), 208);
        (void)o.view->grab();
        o.view->setProportional(false);
        QCOMPARE(o.view->area()->viewport()->font(), mono);
        QVERIFY(!o.view->area()->tokenRect(208).isNull());
    }

    void next_flip_is_quick()
    {
        Opened o;
        (void)o.view->grab();
        QElapsedTimer timer;
        timer.start();
        QTest::keyClick(o.view->area(), Qt::Key_N);
        (void)o.view->grab();
        QVERIFY2(timer.elapsed() < 500, qPrintable(QString::number(timer.elapsed()))); // a machine under load
    }
};

FLIPSCOPE_GUI_TEST(TokenJumpsTest)
#include "tst_token_jumps.moc"
