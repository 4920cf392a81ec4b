// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The probe panel: what it says about a probe, read in the background.
#include "tests/ui/views_fixture.h"

#include "ui/models/probe_lookup.h"
#include "ui/models/token_shares_model.h"
#include "ui/views/probe_panel.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QLabel>
#include <QTableView>
#include <QToolButton>

#include <cmath>

using namespace flipscope;
using namespace flipscope::test;

namespace {

QString cell(const QAbstractItemModel* model, int row, int column)
{
    return model->index(row, column).data().toString();
}

QString number(const ProbePanel& panel, const char* name)
{
    for (const NumberRow& row : panel.numbers()) {
        if (row.name == QString::fromUtf8(name))
            return (row.value + QLatin1Char(' ') + row.unit).trimmed();
    }
    return QStringLiteral("no row ") + QString::fromUtf8(name);
}

} // namespace

class ProbePanelTest : public QObject {
    Q_OBJECT

private slots:
    void cleanup() { VERIFY_NO_WARNINGS(); }

    void both_sides_of_a_flip()
    {
        QTemporaryDir dir;
        Session session;
        session.open(writeViews(dir.path()));
        QVERIFY(idle(session));
        const int run = session.visibleRuns().front()->id;
        ProbePanel panel(&session);
        panel.resize(460, 700);
        panel.show();
        const QAbstractItemModelTester top(const_cast<TopTokensModel*>(panel.topTokens()),
                                           QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QAbstractItemModelTester terms(const_cast<KlTermsModel*>(panel.klTerms()),
                                             QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QAbstractItemModelTester runs(const_cast<RunsAtPositionModel*>(panel.runsHere()),
                                            QAbstractItemModelTester::FailureReportingMode::QtTest);
        session.path().go({run, -1, 47, -1});
        QCOMPARE(panel.heading(), QStringLiteral("Probe 47 (predicts token 48)"));
        QTRY_VERIFY(!panel.reading());
        using Top = TopTokensModel;
        const auto* tokens = panel.topTokens();
        QCOMPARE(tokens->rowCount(), 8);
        // Baseline: " arp" 1/2, " run" 1/4, ... ; the run has these two swapped.
        QCOMPARE(cell(tokens, 0, Top::TokenP), QStringLiteral("␣arp"));
        QCOMPARE(cell(tokens, 0, Top::ProbabilityP), QStringLiteral("0.5000"));
        QCOMPARE(cell(tokens, 0, Top::RankInQ), QStringLiteral("2"));
        QCOMPARE(cell(tokens, 0, Top::TokenQ), QStringLiteral("␣run"));
        QCOMPARE(cell(tokens, 0, Top::ProbabilityQ), QStringLiteral("0.5000"));
        QCOMPARE(cell(tokens, 0, Top::RankInP), QStringLiteral("2"));
        QCOMPARE(cell(tokens, 1, Top::TokenP), QStringLiteral("␣run"));
        QCOMPARE(cell(tokens, 1, Top::ProbabilityP), QStringLiteral("0.2500"));
        QCOMPARE(cell(tokens, 3, Top::TokenP), QStringLiteral("‹E2 9C›"));
        QCOMPARE(tokens->index(0, Top::TokenP).data(IdRole).toInt(), 0);
        QVERIFY(std::abs(tokens->index(1, Top::ProbabilityP).data(BarRole).toDouble() - 0.25) < 1e-12);
        // Token 48 is "the" (id 7): marked on both sides.
        QVERIFY(tokens->index(7, Top::TokenP).data(NextRole).toBool() ||
                tokens->index(6, Top::TokenP).data(NextRole).toBool());
        QVERIFY(!tokens->index(0, Top::TokenP).data(NextRole).toBool());
        QVERIFY(
            panel.findChild<QLabel*>(QStringLiteral("next"))->text().contains(QStringLiteral("the (id 7), p 0.0078")));
        // KL = 1/2 ln 2 - 1/4 ln 2 = ln 2 / 4. Its terms: p ln(p/q) - p + q.
        QCOMPARE(number(panel, "KL(P‖Q)"), QStringLiteral("0.1733 nats"));
        QCOMPARE(number(panel, "KL(Q‖P)"), QStringLiteral("0.1733 nats"));
        QCOMPARE(number(panel, "TV"), QStringLiteral("0.25"));
        QCOMPARE(number(panel, "Flip"), QStringLiteral("yes"));
        QCOMPARE(number(panel, "Margin of P"), QStringLiteral("0.6931 nats"));
        QCOMPARE(number(panel, "Rank in Q of P's top token"), QStringLiteral("2"));
        using Terms = KlTermsModel;
        const double first = 0.5 * std::log(2.0) - 0.25, second = -0.25 * std::log(2.0) + 0.25;
        QCOMPARE(cell(panel.klTerms(), 0, Terms::Token), QStringLiteral("␣arp"));
        QCOMPARE(cell(panel.klTerms(), 0, Terms::Share),
                 QStringLiteral("%1 %").arg(100 * first / (first + second), 0, 'f', 1));
        QCOMPARE(cell(panel.klTerms(), 1, Terms::Token), QStringLiteral("␣run"));
        QCOMPARE(cell(panel.klTerms(), 1, Terms::Share),
                 QStringLiteral("%1 %").arg(100 * second / (first + second), 0, 'f', 1));
        using Runs = RunsAtPositionModel;
        QCOMPARE(panel.runsHere()->rowCount(), 2);
        QCOMPARE(cell(panel.runsHere(), 0, Runs::Run), QStringLiteral("★ base"));
        QCOMPARE(cell(panel.runsHere(), 0, Runs::Top), QStringLiteral("␣arp"));
        QCOMPARE(cell(panel.runsHere(), 1, Runs::Run), QStringLiteral("run"));
        QCOMPARE(cell(panel.runsHere(), 1, Runs::Top), QStringLiteral("␣run"));
        QCOMPARE(cell(panel.runsHere(), 1, Runs::ProbabilityTop), QStringLiteral("0.5000"));
        QCOMPARE(cell(panel.runsHere(), 1, Runs::OfBaselineTop), QStringLiteral("0.2500"));
        QCOMPARE(cell(panel.runsHere(), 1, Runs::Kl), QStringLiteral("0.1733"));
        QCOMPARE(cell(panel.runsHere(), 1, Runs::Flip), QStringLiteral("flip"));
    }

    void other_runs_show_their_own_top_token()
    {
        QTemporaryDir dir;
        Session session;
        QStringList files = writeViews(dir.path());
        ViewsTrace other;
        other.name = QStringLiteral("other");
        other.swapsAt = {63};
        files << write(dir.path(), other);
        session.open(files);
        QVERIFY(idle(session));
        const auto runs = session.visibleRuns();
        QCOMPARE(runs.size(), 2U);
        ProbePanel panel(&session);
        session.path().go({runs[0]->id, -1, 63, -1});
        QTRY_COMPARE(cell(panel.runsHere(), 2, RunsAtPositionModel::ProbabilityTop), QStringLiteral("0.5000"));
        session.path().go({runs[0]->id, -1, 47, -1});
        QCOMPARE(cell(panel.runsHere(), 2, RunsAtPositionModel::Top), QStringLiteral("␣arp"));
        QCOMPARE(cell(panel.runsHere(), 2, RunsAtPositionModel::Flip), QString());
        session.setHidden(runs[1]->id, true);
        QCOMPARE(panel.runsHere()->rowCount(), 2);
    }

    void latest_request_wins()
    {
        QTemporaryDir dir;
        Session session;
        session.open(writeViews(dir.path()));
        QVERIFY(idle(session));
        const int run = session.visibleRuns().front()->id;
        ProbePanel panel(&session);
        for (int i = 0; i < 400; ++i)
            session.path().go({run, -1, 15 + 16 * (i % 25), -1});
        session.path().go({run, -1, 207, -1});
        QCOMPARE(panel.topTokens()->rowCount(), 0); // nothing of an earlier probe under this heading
        QTRY_VERIFY(!panel.reading());
        QCOMPARE(cell(panel.topTokens(), 0, TopTokensModel::TokenQ), QStringLiteral("␣run"));
        QTest::qWait(50);
        QCOMPARE(cell(panel.topTokens(), 0, TopTokensModel::TokenQ), QStringLiteral("␣run"));
        QCOMPARE(panel.heading(), QStringLiteral("Probe 207 (predicts token 208)"));
        session.path().go({run, -1, 15, -1});
        // The panel may go while a row is being read.
    }

    void case_55_invalid_infinite_and_dense()
    {
        QTemporaryDir dir;
        Session session;
        session.open(writeViews(dir.path()));
        QVERIFY(idle(session));
        const int run = session.visibleRuns().front()->id;
        ProbePanel panel(&session);
        session.path().go({run, -1, 95, -1});
        QVERIFY2(panel.message().contains(QStringLiteral("invalid")), qPrintable(panel.message()));
        QCOMPARE(number(panel, "KL(P‖Q)"), QStringLiteral("– nats"));
        QCOMPARE(number(panel, "Flip"), QStringLiteral("–"));
        QTRY_VERIFY(!panel.reading());
        session.path().go({run, -1, 111, -1});
        QCOMPARE(number(panel, "KL(P‖Q)"), QStringLiteral("∞ nats"));
        QTRY_VERIFY(!panel.reading());
        QCOMPARE(cell(panel.klTerms(), 0, KlTermsModel::Term), QStringLiteral("∞"));
        QCOMPARE(cell(panel.klTerms(), 0, KlTermsModel::Share), QStringLiteral("–"));
        session.path().go({run, -1, 203, -1});
        QVERIFY2(panel.message().contains(QStringLiteral("dense")), qPrintable(panel.message()));
        QCOMPARE(number(panel, "Flip"), QStringLiteral("yes"));
        QTRY_VERIFY(!panel.reading());
        QCOMPARE(cell(panel.topTokens(), 0, TopTokensModel::TokenQ), QStringLiteral("␣run"));
    }

    void says_why_it_is_empty()
    {
        QTemporaryDir dir;
        Session session;
        ProbePanel panel(&session);
        panel.show();
        QCOMPARE(panel.message(), QStringLiteral("Open two traces to compare them."));
        session.open(writeViews(dir.path()));
        QVERIFY(idle(session));
        QVERIFY2(panel.message().startsWith(QStringLiteral("Choose a probe")), qPrintable(panel.message()));
        const int run = session.visibleRuns().front()->id;
        session.path().go({run, 0, -1, 20});
        QCOMPARE(panel.message(), QStringLiteral("No probe predicts token 20."));
        session.path().go({run, 0, 20, -1});
        QCOMPARE(panel.message(), QStringLiteral("run has no probe at 20 that the baseline has too."));
        session.path().go({run, 0, 399, -1});
        QTRY_VERIFY(!panel.reading());
        QCOMPARE(panel.findChild<QLabel*>(QStringLiteral("next"))->text(),
                 QStringLiteral("The history ends here: it has no next token."));
        session.closeAll();
        QCOMPARE(panel.message(), QStringLiteral("Open two traces to compare them."));
    }

    void ids_where_no_trace_has_text()
    {
        QTemporaryDir dir;
        Session session;
        session.open(writeViews(dir.path(), false));
        QVERIFY(idle(session));
        ProbePanel panel(&session);
        session.path().go({session.visibleRuns().front()->id, -1, 47, -1});
        QTRY_VERIFY(!panel.reading());
        QCOMPARE(cell(panel.topTokens(), 0, TopTokensModel::TokenP), QStringLiteral("#0"));
        QCOMPARE(cell(panel.topTokens(), 0, TopTokensModel::TokenQ), QStringLiteral("#1"));
    }

    void copies_everything_as_text()
    {
        QTemporaryDir dir;
        Session session;
        session.open(writeViews(dir.path()));
        QVERIFY(idle(session));
        ProbePanel panel(&session);
        panel.show();
        session.path().go({session.visibleRuns().front()->id, -1, 47, -1});
        QTRY_VERIFY(!panel.reading());
        panel.copy();
        const QString text = QGuiApplication::clipboard()->text();
        for (const char* part :
             {"Probe 47 (predicts token 48)", "P = base (baseline), Q = run", "KL(P‖Q)\t0.1733\tnats",
              "␣arp #0\t0.5000\t2\t␣run #1\t0.5000\t2", "Runs at this position", "★ base"})
            QVERIFY2(text.contains(QString::fromUtf8(part)), qPrintable(text));
    }

    void top_k_is_labelled_a_lower_bound()
    {
        const QString folder = QStringLiteral(FLIPSCOPE_SHARED "/traces/");
        if (!QFile::exists(folder))
            QSKIP("the wider collection of traces is not beside this checkout");
        Session session;
        session.open({folder + QStringLiteral("smollm2/baseline.h5"), folder + QStringLiteral("variants/topk.h5")});
        QVERIFY(idle(session, 120000));
        QCOMPARE(session.visibleRuns().size(), 1U);
        const SessionRun* run = session.visibleRuns().front();
        QVERIFY2(run->table, qPrintable(run->problem));
        ProbePanel panel(&session);
        session.path().go({run->id, -1, qint64(run->table->probes.front().position), -1});
        QTRY_VERIFY(!panel.reading());
        QVERIFY2(panel.message().contains(QStringLiteral("lower bound")), qPrintable(panel.message()));
        QVERIFY(number(panel, "KL(P‖Q)").endsWith(QStringLiteral("nats (lower bound)")));
        QVERIFY(panel.topTokens()->rowCount() > 0);
    }
};

FLIPSCOPE_GUI_TEST(ProbePanelTest)
#include "tst_probe_panel.moc"
