// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The Tool calls page in the real window, over calls with planted faults; its facts are those that were planted and
// those of `flipscope toolcalls --json`.
#include "tests/ui/window_fixture.h"

#include "ui/models/tool_call_model.h"
#include "ui/views/branch_view.h"
#include "ui/views/token_columns.h"
#include "ui/window/page_stack.h"
#include "ui/window/tool_calls_page.h"

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QProcess>
#include <QTableView>
#include <QTextBrowser>
#include <QToolButton>
#include <QUrl>

using namespace flipscope;
using namespace flipscope::test;

class TestToolCallsPage : public WindowFixture {
    Q_OBJECT

    const QString m_base = QStringLiteral(FLIPSCOPE_TEST_DATA "/toolcalls/planted-base.h5");
    const QString m_run = QStringLiteral(FLIPSCOPE_TEST_DATA "/toolcalls/planted-run.h5");

    ToolCallsPage* page() { return qobject_cast<ToolCallsPage*>(m_window->pages()->page("toolCallsPage")); }
    QString cellText(const QModelIndex& index) { return index.data().toString().section(QLatin1Char(' '), 1); }
    QString facts() { return page()->branches()->facts()->toPlainText(); }

    void openPlanted()
    {
        m_window->openFiles({m_base, m_run});
        QVERIFY(idle(session()));
        QCOMPARE(session().runs().size(), 2UL);
    }
    /// What the command line says.
    QJsonArray told()
    {
        QProcess process;
        process.start(FLIPSCOPE_BIN "/flipscope", {"toolcalls", m_base, m_run, "--json", "-"});
        if (!process.waitForFinished(60'000))
            return {};
        return QJsonDocument::fromJson(process.readAllStandardOutput())["runs"][0]["calls"].toArray();
    }
    /// What was planted, by whoever made the files.
    QJsonArray planted()
    {
        QFile file(QStringLiteral(FLIPSCOPE_TEST_DATA "/toolcalls/planted-expected.json"));
        return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).array() : QJsonArray();
    }

private slots:
    void init() { setUp(); }
    void cleanup() { tearDown(); }

    void case_02_one_key_leads_to_the_token_where_they_part()
    {
        openPlanted();
        QTest::keyClick(m_window.get(), Qt::Key_T);
        QCOMPARE(m_window->pages()->current(), QStringLiteral("toolCallsPage"));
        QCOMPARE(cellText(page()->table()->currentIndex()), QStringLiteral("argument differs"));
        // Tool, argument path, both values, position, tie or not: as planted.
        const QJsonObject first = planted()[0].toObject(), parting = first["first_divergence"].toObject();
        for (const QString& fact :
             {first["path"].toString(), first["baseline_value"].toString(), first["value"].toString(),
              QString::number(parting["position"].toInt()), QString::number(parting["baseline_id"].toInt()),
              QString::number(parting["id"].toInt()), QStringLiteral("run_command"),
              QString::number(parting["baseline_margin"].toDouble()), QStringLiteral("Probability")})
            QVERIFY2(facts().contains(fact), qPrintable(fact + QStringLiteral(" in ") + facts()));
        QVERIFY(!facts().contains("tie,") && (facts().contains("no tie") || facts().contains("one step")));
        // Both columns stand at the token where they part.
        TokenColumns* texts = page()->branches()->texts();
        QVERIFY(texts->currentUnit() >= 0);
        const ColumnUnit unit = texts->columns().units()[texts->currentUnit()];
        QCOMPARE(unit.key, parting["position"].toInt());
        QVERIFY(unit.differs);
        QCOMPARE(unit.a, QStringLiteral("␣ar"));
        QCOMPARE(unit.b, QStringLiteral("␣run"));
        QVERIFY(page()->branches()->tokens()->model()->rowCount() >= 2);
        // The window's selection is at the call.
        QCOMPARE(session().path().place().run, session().runs()[1].id);
        QVERIFY(session().path().place().token >= first["prefix"].toInt());
    }

    void cells_say_what_the_command_line_says()
    {
        openPlanted();
        m_window->pages()->showPage(QStringLiteral("toolCallsPage"));
        const QJsonArray calls = told();
        QVERIFY(!calls.isEmpty());
        const ToolCallModel* model = page()->model();
        QAbstractItemModelTester tester(page()->table()->model(),
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(model->rowCount(), calls.size());
        for (int row = 0; row < model->rowCount(); ++row) {
            const QModelIndex cell = model->index(row, ToolCallModel::FirstRun);
            QCOMPARE(cellText(cell).section(QLatin1Char(','), 0, 0), calls[row]["outcome"].toString());
            QCOMPARE(model->index(row, ToolCallModel::Tool).data().toString(), calls[row]["name"].toString());
            if (!calls[row]["path"].isNull())
                QVERIFY(cell.data(Qt::ToolTipRole).toString().contains(calls[row]["path"].toString()));
        }
        const QString summary = child<QTextBrowser>("toolCallsSummary")->toPlainText();
        QVERIFY2(summary.contains(QStringLiteral("calls:")), qPrintable(summary));
    }

    void next_and_previous_go_through_all_broken_calls_and_round()
    {
        openPlanted();
        m_window->pages()->showPage(QStringLiteral("toolCallsPage"));
        QTableView* table = page()->table();
        QAbstractItemModelTester tester(page()->branches()->tokens()->model(),
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        // Looking at the page moves nothing: the selection is the user's.
        QVERIFY(!table->currentIndex().isValid());
        QCOMPARE(session().path().place(), Place());
        QVERIFY2(facts().contains("press N"), qPrintable(facts()));
        QTest::keyClick(table, Qt::Key_N);
        const QModelIndex first = table->currentIndex();
        QVERIFY(first.isValid());
        int broken = 0;
        const QJsonArray calls = told();
        for (int i = 0; i < calls.size(); ++i)
            broken += calls[i]["outcome"].toString() == "same" ? 0 : 1;
        QSet<int> seen;
        for (int i = 0; i < broken; ++i) {
            QVERIFY(cellText(table->currentIndex()) != "same");
            seen.insert(table->currentIndex().row());
            QTest::keyClick(table, Qt::Key_N);
        }
        QCOMPARE(seen.size(), broken);
        QCOMPARE(table->currentIndex(), first);
        QTest::keyClick(table, Qt::Key_P);
        QVERIFY(table->currentIndex() != first);
        QTest::mouseClick(child<QToolButton>("nextBroken"), Qt::LeftButton);
        QCOMPARE(table->currentIndex(), first);
        child<QCheckBox>("brokenOnly")->click();
        QCOMPARE(table->model()->rowCount(), broken);
        child<QCheckBox>("brokenOnly")->click();
        QCOMPARE(table->model()->rowCount(), page()->model()->rowCount());
    }

    void the_first_broken_call_of_a_run_is_a_click_away()
    {
        openPlanted();
        m_window->pages()->showPage(QStringLiteral("toolCallsPage"));
        auto* summary = child<QTextBrowser>("toolCallsSummary");
        QVERIFY2(summary->toPlainText().contains("first broken"), qPrintable(summary->toPlainText()));
        emit summary->anchorClicked(QUrl(QStringLiteral("first:%1").arg(session().runs()[1].id)));
        const QJsonArray calls = told();
        int row = 0;
        while (calls[row]["outcome"].toString() == "same")
            ++row;
        QCOMPARE(page()->table()->currentIndex().row(), row);
        QCOMPARE(session().path().place().run, session().runs()[1].id);
    }

    void t_comes_back_to_the_call_that_was_looked_at()
    {
        openPlanted();
        QTest::keyClick(m_window.get(), Qt::Key_T);
        QTest::keyClick(page()->table(), Qt::Key_N);
        const QModelIndex second = page()->table()->currentIndex();
        const Place place = session().path().place();
        m_window->pages()->showPage(QStringLiteral("overviewPage"));
        session().path().go({});
        QTest::keyClick(m_window.get(), Qt::Key_T);
        QCOMPARE(page()->table()->currentIndex(), second);
        QCOMPARE(session().path().place(), place);
    }

    void a_same_call_says_so()
    {
        openPlanted();
        m_window->pages()->showPage(QStringLiteral("toolCallsPage"));
        const ToolCallModel* model = page()->model();
        for (int row = 0; row < model->rowCount(); ++row)
            if (cellText(model->index(row, ToolCallModel::FirstRun)) == "same") {
                page()->table()->setCurrentIndex(page()->table()->model()->index(row, ToolCallModel::FirstRun));
                QVERIFY2(facts().contains("same"), qPrintable(facts()));
                return;
            }
        QFAIL("no call is the same");
    }

    void a_vocabulary_that_comes_later_is_used()
    {
        // A baseline whose text was taken out: what its ids say comes with another file, opened afterwards.
        const QString bare = m_folder->filePath("bare.h5");
        QCOMPARE(QProcess::execute(FLIPSCOPE_BIN "/flipscope", {"convert", m_run, "-o", bare, "--drop-text"}), 0);
        m_window->openFiles({bare});
        QVERIFY(idle(session()));
        m_window->pages()->showPage(QStringLiteral("toolCallsPage"));
        m_window->openFiles({m_base});
        QVERIFY(idle(session()));
        QProcess process;
        process.start(FLIPSCOPE_BIN "/flipscope", {"toolcalls", bare, m_base, "--json", "-"});
        QVERIFY(process.waitForFinished(60'000));
        const QJsonArray calls = QJsonDocument::fromJson(process.readAllStandardOutput())["runs"][0]["calls"].toArray();
        QVERIFY(calls.size() > 10);
        QCOMPARE(page()->model()->rowCount(), calls.size());
        for (int row = 0; row < calls.size(); ++row)
            QCOMPARE(cellText(page()->model()->index(row, ToolCallModel::FirstRun)).section(QLatin1Char(','), 0, 0),
                     calls[row]["outcome"].toString());
    }

    void nothing_to_show_is_said()
    {
        QTest::keyClick(m_window.get(), Qt::Key_T);
        openUsual(); // traces without continuations
        m_window->pages()->showPage(QStringLiteral("toolCallsPage"));
        QVERIFY(child<QLabel>("whyNoCalls")->isVisible());
        QVERIFY(child<QLabel>("whyNoCalls")->text().contains("no tool calls"));
        session().closeAll();
        QVERIFY(page()->model()->rowCount() == 0);
    }
};

FLIPSCOPE_GUI_TEST(TestToolCallsPage)
#include "tst_tool_calls_page.moc"
