// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Cases that users of such tools met, through the whole window: rows are made by hand, so that every flip, tie and step
// is known. The others of their kind are in tst_charts, tst_columns, tst_token_jumps and tst_tool_calls_page.
#include "tests/ui/window_fixture.h"

#include "ui/charts/figure.h"
#include "ui/views/token_view.h"
#include "ui/window/figures.h"
#include "ui/window/page_stack.h"
#include "ui/window/view_controls.h"

#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabBar>
#include <QTextBrowser>
#include <QTreeWidget>
#include <QUrl>

#include <cstring>
#include <map>

using namespace flipscope;
using namespace flipscope::test;

namespace {

using Leaders = std::map<std::int32_t, float>; ///< logits of some ids; all others are 0

/// bfloat16 rows at every `stride`-th position: where nothing is said, the history's next token leads by far.
struct HandMade {
    QString name;
    QStringList tokens;
    std::int64_t stride = 1;
    std::map<std::int64_t, Leaders> rows = {};
    std::vector<std::pair<std::string, std::string>> settings = {};
};

QString writeMade(const QString& folder, const HandMade& made)
{
    constexpr std::int64_t vocab = 64;
    Trace trace;
    trace.run_name = made.name.toStdString();
    trace.run = made.settings;
    trace.tokens.text.offsets.push_back(0);
    QStringList known;
    for (const QString& token : made.tokens) {
        if (!known.contains(token))
            known << token;
        trace.tokens.ids.push_back(static_cast<std::int32_t>(known.indexOf(token)));
        trace.tokens.text.bytes += token.toStdString();
        trace.tokens.text.offsets.push_back(trace.tokens.text.bytes.size());
    }
    auto vocabulary = std::make_shared<Vocabulary>();
    vocabulary->text.offsets.push_back(0);
    for (std::int64_t id = 0; id < vocab; ++id) {
        vocabulary->text.bytes += id < known.size() ? known[id].toStdString() : "<" + std::to_string(id) + ">";
        vocabulary->text.offsets.push_back(vocabulary->text.bytes.size());
    }
    trace.vocabulary = vocabulary;
    const auto n = static_cast<std::int64_t>(trace.tokens.ids.size());
    std::vector<std::uint16_t> rows;
    for (std::int64_t t = 0; t < n; t += made.stride) {
        trace.probes.positions.push_back(t);
        std::vector<float> row(static_cast<std::size_t>(vocab), 0);
        const auto next = static_cast<std::size_t>(trace.tokens.ids[static_cast<std::size_t>(std::min(t + 1, n - 1))]);
        if (!made.rows.contains(t))
            row[next] = 20;
        else
            for (const auto& [id, logit] : made.rows.at(t))
                row[static_cast<std::size_t>(id)] = logit;
        for (const float value : row) { // all of them are bfloat16 already
            std::uint32_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            rows.push_back(static_cast<std::uint16_t>(bits >> 16));
        }
    }
    std::vector<std::byte> bytes(rows.size() * sizeof(std::uint16_t));
    std::memcpy(bytes.data(), rows.data(), bytes.size());
    trace.probes.n_vocab = vocab;
    trace.probes.rows = rows_in_memory(LogitType::BF16, vocab, std::move(bytes));
    const QString path = QDir(folder).filePath(made.name + QStringLiteral(".h5"));
    if (const auto written = write_trace(path.toStdString(), trace); !written)
        qFatal("%s", written.error().message.c_str());
    return path;
}

QStringList words(int count)
{
    QStringList tokens;
    for (int i = 0; i < count; ++i)
        tokens << QStringLiteral(" w%1").arg(i % 16);
    return tokens;
}

} // namespace

class TestCases : public WindowFixture {
    Q_OBJECT

    TokenView* tokens() { return m_window->findChild<TokenView*>(); }
    void open(const HandMade& baseline, const HandMade& run)
    {
        m_window->openFiles({writeMade(m_folder->path(), baseline), writeMade(m_folder->path(), run)});
        QVERIFY(idle(session()));
        QCOMPARE(session().visibleRuns().size(), 1UL);
        QVERIFY(session().visibleRuns()[0]->table != nullptr);
        QCoreApplication::processEvents();
    }

private slots:
    void init() { setUp(); }
    void cleanup() { tearDown(); }

    // What resources/manual/first-steps.md tells: each step is one action.
    void first_steps_of_a_new_user()
    {
        QTest::mouseClick(child<QPushButton>("startSample"), Qt::LeftButton);
        QVERIFY(idle(session(), 60'000));
        QCOMPARE(session().runs().size(), 5UL);
        // Where the INT4 KV cache first breaks a tool call, and which token did it: as the command line says.
        auto* tabs = child<QTabBar>("pageTabs");
        QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(2).center());
        QCOMPARE(m_window->pages()->current(), QStringLiteral("toolCallsPage"));
        QCOMPARE(session().path().place(), Place());
        const int kv = run("kv_q4_0")->id;
        emit child<QTextBrowser>("toolCallsSummary")->anchorClicked(QUrl(QStringLiteral("first:%1").arg(kv)));
        QProcess process;
        process.start(FLIPSCOPE_BIN "/flipscope",
                      {"toolcalls", QString::fromStdString(session().baseline()->trace->path),
                       QString::fromStdString(run("kv_q4_0")->trace->path), "--json", "-"});
        QVERIFY(process.waitForFinished(60'000));
        const QJsonArray calls = QJsonDocument::fromJson(process.readAllStandardOutput())["runs"][0]["calls"].toArray();
        int first = 0;
        while (calls[first]["outcome"].toString() == "same")
            ++first;
        const QString facts = child<QTextBrowser>("branchFacts")->toPlainText();
        const QJsonValue parting = calls[first]["first_divergence"];
        for (const QString& fact :
             {calls[first]["outcome"].toString(), calls[first]["name"].toString(),
              QLocale(QLocale::English).toString(parting["position"].toInt()),
              QString::number(parting["baseline_id"].toInt()), QString::number(parting["id"].toInt())})
            QVERIFY2(facts.contains(fact), qPrintable(fact + QStringLiteral(" in ") + facts));
        QCOMPARE(session().path().place().run, kv);
        // Beside the weights.
        QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(1).center());
        for (const auto& [box, name] : {std::pair("compareA", "w_q2_k"), std::pair("compareB", "kv_q4_0")}) {
            auto* combo = child<QComboBox>(box);
            combo->setCurrentText(name);
            emit combo->activated(combo->currentIndex());
        }
        QCOMPARE(session().comparedRuns().first->name, QStringLiteral("w_q2_k"));
        QVERIFY(child<QTextBrowser>("comparisonCard")->toPlainText().contains("McNemar"));
        // And the figure.
        action("exportFigure")->trigger();
        auto* dialog = child<QDialog>("exportDialog");
        const QString file = m_folder->filePath("figure.png");
        dialog->findChild<QLineEdit*>("exportPath")->setText(file);
        QTest::mouseClick(dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save), Qt::LeftButton);
        QVERIFY2(!QImage(file).isNull(), qPrintable(dialog->findChild<QLabel*>("exportProblem")->text()));
    }

    // 31 tokens that part inside a JSON key, by one step of bfloat16.
    void case_11_a_key_that_splits()
    {
        QStringList history = words(24);
        history << " {\""
                << "ver"
                << "dict"
                << "\":\""
                << "ok"
                << "\"}"
                << "\n";
        QCOMPARE(history.size(), 31);
        const std::int32_t dict = 18, colon = 19; // after 16 words, ` {"` and `ver`
        HandMade cold{.name = "no-cache",
                      .tokens = history,
                      .rows = {{25, {{dict, 16.125F}, {colon, 16}}}},
                      .settings = {{"kv_cache", "off"}}};
        HandMade warm{.name = "cache",
                      .tokens = history,
                      .rows = {{25, {{dict, 16}, {colon, 16.125F}}}},
                      .settings = {{"kv_cache", "on"}}};
        open(cold, warm);
        // Down from the top: run, worst window, worst probe, token.
        for (int i = 0; i < 4; ++i)
            QTest::keyClick(m_window.get(), Qt::Key_Return, Qt::ControlModifier);
        QCOMPARE(session().path().place().probe, 25);
        QCOMPARE(session().path().place().token, 26);
        // The key as tokens: what follows, and what the run would have said.
        const QString tip = tokens()->toolTipOf(26);
        QVERIFY2(tip.contains("dict") && tip.contains("&quot;:&quot;") && tip.contains("flip:"), qPrintable(tip));
        // And as text: one word over two tokens.
        tokens()->showFind();
        QTest::keyClicks(tokens()->findChild<QLineEdit*>("barEdit"), "\"verdict\"");
        QCOMPARE(tokens()->findChild<QLabel*>("barNote")->text().section(' ', -1), QStringLiteral("1"));
        tokens()->hideBar();
        // A single step is told from a change of mind.
        QVERIFY2(tokens()->status().contains("flip 1/1"), qPrintable(tokens()->status()));
        tokens()->setFlipStops(FlipStops::Clear);
        QVERIFY2(tokens()->status().contains("no flips but ties and single steps"), qPrintable(tokens()->status()));
        const QString caption = figureCaption(figureOf(session(), FigureSpec::Chart::Margin)).join('\n');
        QVERIFY2(caption.contains("1 by one step"), qPrintable(caption));
    }

    // A prefix-cache hit that changes the top token where two logits are equal.
    void case_15_a_tie_is_shown_as_one()
    {
        const HandMade cold{.name = "cold",
                            .tokens = words(32),
                            .rows = {{9, {{3, 20}, {7, 20}}}},
                            .settings = {{"cache_state", "cold"}}};
        const HandMade warm{.name = "warm",
                            .tokens = words(32),
                            .rows = {{9, {{3, 20}, {7, 20.125F}}}},
                            .settings = {{"cache_state", "warm"}}};
        open(cold, warm);
        auto* settings = m_window->runsPanel()->settings();
        QCOMPARE(settings->findItems("cache_state", Qt::MatchExactly | Qt::MatchRecursive).size(), 1);
        for (int i = 0; i < 4; ++i)
            QTest::keyClick(m_window.get(), Qt::Key_Return, Qt::ControlModifier);
        QCOMPARE(session().path().place().probe, 9);
        const QString tip = tokens()->toolTipOf(10); // the lowest id wins in the baseline
        QVERIFY2(tip.contains("w3") && tip.contains("w7") && tip.contains("(tied)"), qPrintable(tip));
        const QString caption = figureCaption(figureOf(session(), FigureSpec::Chart::Margin)).join('\n');
        QVERIFY2(caption.contains("1 by a tie"), qPrintable(caption));
    }

    // Ties, single steps and real flips, told apart and counted apart.
    void case_16_ties_steps_and_real_flips()
    {
        const HandMade base{.name = "base",
                            .tokens = words(128),
                            .stride = 4,
                            .rows = {{8, {{3, 20}, {5, 20}}},       // a tie: the lower id wins
                                     {40, {{3, 20}, {5, 20}}},      // the same on both sides
                                     {64, {{7, 20.125F}, {2, 20}}}, // one step of 16 to 32
                                     {96, {{1, 25}, {9, 20}}}}};    // five nats
        const HandMade run{.name = "run",
                           .tokens = words(128),
                           .stride = 4,
                           .rows = {{8, {{3, 20}, {5, 20.125F}}},
                                    {40, {{3, 20}, {5, 20}}},
                                    {64, {{7, 20}, {2, 20.125F}}},
                                    {96, {{1, 20}, {9, 25}}}}};
        open(base, run);
        session().setWindowTokens(64); // 16 probes each
        const auto& cells = [this]() -> const std::vector<HeatmapCell>& { return heatmap()->grid().rows[0].cells; };
        QCOMPARE(cells()[0].flips, 1);
        QCOMPARE(cells()[1].flips, 2);
        // Only flips above a margin, as chosen in the controls over the heatmap.
        auto* metric = child<QComboBox>("metric");
        metric->setCurrentIndex(metric->findData("flips_above_margin"));
        emit metric->activated(metric->currentIndex());
        auto* margin = child<QDoubleSpinBox>("margin");
        QVERIFY(margin->isVisible());
        const auto shown = [&](double nats) {
            margin->setValue(nats);
            return std::pair(cells()[0].value, cells()[1].value);
        };
        QCOMPARE(shown(0), std::pair(0.0, 2 / 16.0)); // a tie has no margin
        QCOMPARE(shown(0.125), std::pair(0.0, 1 / 16.0));
        QCOMPARE(shown(4.875), std::pair(0.0, 1 / 16.0));
        QCOMPARE(shown(5), std::pair(0.0, 0.0));
        tokens()->setFlipStops(FlipStops::Clear);
        QVERIFY2(tokens()->status().contains("1 flip but ties and single steps"), qPrintable(tokens()->status()));
        const QString caption = figureCaption(figureOf(session(), FigureSpec::Chart::Margin)).join('\n');
        QVERIFY2(caption.contains("1 by a tie") && caption.contains("1 by one step"), qPrintable(caption));
        const auto* model = m_window->runsPanel()->model();
        const QString tip = model->index(1, RunsModel::Flips).data(Qt::ToolTipRole).toString();
        QVERIFY2(tip.startsWith("3 of 32") && tip.contains("1 of them with a tie"), qPrintable(tip));
    }

    // Drawing and mouse agree at any scale of the screen (ctest runs this at 1, 1.25 and 1.5).
    void case_71_the_mouse_hits_what_is_drawn()
    {
        openUsual();
        const QImage picture = m_window->grab().toImage();
        const qreal ratio = picture.devicePixelRatio();
        QCOMPARE(ratio, m_window->devicePixelRatio());
        QSignalSpy hovered(heatmap(), &HeatmapView::cellHovered);
        for (int row = 0; row < 3; ++row)
            for (int column = 0; column < 8; ++column) {
                const QRectF cell = heatmap()->cellRect(row, column);
                const QPointF corner = heatmap()->mapTo(m_window.get(), cell.topLeft() + QPointF(4, 4));
                QCOMPARE(picture.pixelColor((corner * ratio).toPoint()).name(),
                         heatmap()->cellColor(row, column).name());
                const QPointF other = cell.bottomRight() - QPointF(3, 3);
                QMouseEvent move(QEvent::MouseMove, other, heatmap()->mapToGlobal(other), Qt::NoButton, Qt::NoButton,
                                 Qt::NoModifier);
                QApplication::sendEvent(heatmap(), &move);
                QVERIFY(!hovered.isEmpty());
                QCOMPARE(hovered.last(), QList<QVariant>({row, column}));
                QTest::mouseClick(heatmap(), Qt::LeftButton, {}, (cell.topLeft() + QPointF(3, 3)).toPoint());
                QCOMPARE(heatmap()->currentRow(), row);
                QCOMPARE(heatmap()->currentColumn(), column);
            }
    }
};

FLIPSCOPE_GUI_TEST(TestCases)
#include "tst_cases.moc"
