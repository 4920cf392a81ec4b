// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The probe table: its model, its filter line, and how it is linked with the session.
#include "tests/ui/views_fixture.h"

#include "ui/models/number_text.h"
#include "ui/models/probe_filter.h"
#include "ui/models/probe_table_model.h"
#include "ui/views/probe_table.h"

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QClipboard>
#include <QElapsedTimer>
#include <QFile>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>

#include <cmath>
#include <limits>

using namespace flipscope;
using namespace flipscope::test;

namespace {

constexpr double noValue = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

ProbeMetrics probe(std::int64_t position, double kl, double margin = 1)
{
    ProbeMetrics m{};
    m.position = position;
    m.kl_pq = kl;
    m.margin = margin;
    m.valid = std::isnan(kl) ? 0 : 1;
    m.rank = 1;
    m.argmax_p = m.argmax_q = -1;
    m.flip_top1 = -1;
    m.outside_p = m.outside_q = m.kept_p = m.kept_q = m.id_overlap = noValue;
    return m;
}

TablePtr tableOf(std::vector<ProbeMetrics> probes)
{
    auto table = std::make_shared<MetricsTable>();
    for (const ProbeMetrics& m : probes)
        table->alignment.probes.push_back({m.position, 0, 0});
    table->probes = std::move(probes);
    return table;
}

QVector<qint64> positions(const ProbeTableModel& model)
{
    QVector<qint64> all;
    for (int row = 0; row < model.rowCount(); ++row)
        all << model.probe(row).position;
    return all;
}

int column(const char* name)
{
    return ProbeTableModel::columnNamed(QString::fromLatin1(name));
}

QVector<qint64> passing(const QString& line, const std::vector<ProbeMetrics>& probes)
{
    const auto filter = ProbeFilter::parse(line);
    QVector<qint64> all;
    if (!filter) {
        qCritical("%s", qPrintable(filter.error()));
        return {-1};
    }
    for (const ProbeMetrics& m : probes) {
        const auto text = [](const QString& needle, const ProbeMetrics& at) {
            return needle == QStringLiteral("arp") && at.position == 64;
        };
        if (filter->accepts(m, text))
            all << m.position;
    }
    return all;
}

/// Compares a model over a session's own table with a file of reference values.
void compareWithReference(const QString& base, const QString& run, const QString& csv)
{
    QFile file(csv);
    QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(csv));
    Session session;
    session.open({base, run});
    QVERIFY(idle(session, 120000));
    ProbeTable table(&session);
    const ProbeTableModel& model = *table.model();
    const QStringList names = QString::fromLatin1(file.readLine()).trimmed().split(QLatin1Char(','));
    int compared = 0;
    while (!file.atEnd()) {
        const QStringList cells = QString::fromLatin1(file.readLine()).trimmed().split(QLatin1Char(','));
        const int row = model.rowOf(cells[0].toLongLong());
        QVERIFY2(row >= 0, qPrintable(cells[0]));
        for (int i = 0; i < names.size(); ++i) {
            const int c = ProbeTableModel::columnNamed(names[i]);
            QVERIFY2(c >= 0, qPrintable(names[i]));
            const double have = model.index(row, c).data(ProbeTableModel::SortRole).toDouble();
            const double want = cells[i].toDouble();
            const bool good = std::abs(have - want) <= std::max(1e-9 * std::abs(want), 1e-12);
            QVERIFY2(good, qPrintable(QStringLiteral("%1 at %2: %3, not %4")
                                          .arg(names[i], cells[0])
                                          .arg(have, 0, 'g', 17)
                                          .arg(want, 0, 'g', 17)));
            ++compared;
        }
    }
    QVERIFY(compared > 500);
    // Worst first: the order of the table is that of KL.
    for (int row = 1; row < model.rowCount(); ++row)
        QVERIFY(model.probe(row - 1).kl_pq >= model.probe(row).kl_pq);
}

} // namespace

class ProbeTableTest : public QObject {
    Q_OBJECT

private slots:
    void cleanup() { VERIFY_NO_WARNINGS(); }

    void numbers_as_text()
    {
        QCOMPARE(groupedText(41376), QStringLiteral("41,376"));
        QCOMPARE(groupedText(-1), QStringLiteral("-1"));
        QCOMPARE(realText(0), QStringLiteral("0"));
        QCOMPARE(realText(0.21406), QStringLiteral("0.2141"));
        QCOMPARE(realText(1.2071e-5), QStringLiteral("1.207e-5"));
        QCOMPARE(realText(inf), QStringLiteral("∞"));
        QCOMPARE(realText(noValue), QStringLiteral("–"));
        const std::pair<double, const char*> shares[] = {{0, "0 %"},         {0.0003, "0.03 %"}, {0.017, "1.7 %"},
                                                         {0.0996, "10 %"},   {0.5, "50 %"},      {0.9951, "99.5 %"},
                                                         {0.9999, "99.9 %"}, {1, "100 %"}};
        for (const auto& [share, text] : shares)
            QCOMPARE(shareText(share), QString::fromLatin1(text));
        QCOMPARE(shareText(std::nan("")), QString());
        QCOMPARE(exactText(0.1), QStringLiteral("0.10000000000000001"));
        QCOMPARE(exactText(-inf), QStringLiteral("-inf"));
        QCOMPARE(probabilityText(0.5), QStringLiteral("0.5000"));
        QCOMPARE(probabilityText(1e-9), QStringLiteral("< 0.0001"));
        QCOMPARE(rangeText(8000, 16000), QStringLiteral("8k–16k"));
        QCOMPARE(rangeText(7168, 7680), QStringLiteral("7,168–7,680"));
    }

    void sorts_with_nan_and_inf()
    {
        ProbeTableModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setTable(tableOf({probe(0, 0.5), probe(32, noValue), probe(64, inf), probe(96, 2), probe(128, 0.5)}), {});
        QCOMPARE(positions(model), (QVector<qint64>{64, 96, 0, 128, 32})); // the default: KL, worst first, NaN last
        model.sort(column("kl_pq"), Qt::AscendingOrder);
        QCOMPARE(positions(model), (QVector<qint64>{0, 128, 96, 64, 32})); // NaN last here too
        model.sort(column("position"), Qt::DescendingOrder);
        QCOMPARE(positions(model), (QVector<qint64>{128, 96, 64, 32, 0}));
        QVERIFY(!model.index(3, column("kl_pq")).data(ProbeTableModel::SortRole).isValid());
        QCOMPARE(model.index(2, column("kl_pq")).data(ProbeTableModel::SortRole).toDouble(), inf);
        QCOMPARE(model.index(2, column("kl_pq")).data().toString(), QStringLiteral("∞"));
        QVERIFY(model.index(3, column("kl_pq")).data(Qt::ToolTipRole).toString().contains(QStringLiteral("invalid")));
    }

    void sorting_keeps_what_an_index_means()
    {
        ProbeTableModel model;
        model.setTable(tableOf({probe(0, 3), probe(32, 1), probe(64, 2)}), {});
        const QPersistentModelIndex kept = model.index(0, 2); // position 0
        model.sort(column("position"), Qt::DescendingOrder);
        QCOMPARE(kept.row(), 2);
        QCOMPARE(kept.column(), 2);
        QCOMPARE(kept.data(ProbeTableModel::PositionRole).toLongLong(), 0);
    }

    void case_53_direction_and_unit_in_every_header()
    {
        const ProbeTableModel model;
        const int kl = column("kl_pq");
        QVERIFY(kl > 0);
        const QString title = model.headerData(kl, Qt::Horizontal).toString();
        QVERIFY2(title.contains(QStringLiteral("KL(P‖Q)")) && title.contains(QStringLiteral("nats")),
                 qPrintable(title));
        const QString tip = model.headerData(kl, Qt::Horizontal, Qt::ToolTipRole).toString();
        const ProbeColumn* metric = find_probe_column("kl_pq");
        QVERIFY(metric);
        QVERIFY(tip.contains(QString::fromUtf8(metric->description.data(), qsizetype(metric->description.size()))));
        QVERIFY(tip.contains(QStringLiteral("unit: nats")));
        for (const ProbeColumn& any : probe_columns())
            QVERIFY2(column(std::string(any.name).c_str()) >= 0, std::string(any.name).c_str());
    }

    void filter_grammar_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QVector<qint64>>("expected");
        using P = QVector<qint64>;
        QTest::newRow("empty") << "  " << P{0, 32, 64, 96, 8000};
        QTest::newRow("flip") << "flip" << P{32, 64};
        QTest::newRow("not flip") << "!flip" << P{0, 96, 8000};
        QTest::newRow("tied") << "tied" << P{64};
        QTest::newRow("two conditions") << "flip tied" << P{64};
        QTest::newRow("invalid") << "invalid" << P{96};
        QTest::newRow("greater") << "kl_pq>0.1" << P{32, 64, 8000};
        QTest::newRow("spaces") << "kl_pq  >=  0.1" << P{0, 32, 64, 8000};
        QTest::newRow("case") << "KL_PQ>0.1 FLIP" << P{32, 64};
        QTest::newRow("infinite") << "kl_pq=inf" << P{64};
        QTest::newRow("less: no NaN") << "kl_pq<0.2" << P{0};
        QTest::newRow("unequal: no NaN") << "kl_pq!=0.1" << P{32, 64, 8000};
        QTest::newRow("opposite: no NaN") << "!kl_pq>0.1" << P{0};
        QTest::newRow("position") << "64" << P{64};
        QTest::newRow("grouped") << "8,000" << P{8000};
        QTest::newRow("range") << "32-96" << P{32, 64, 96};
        QTest::newRow("thousands") << "1k-8k" << P{8000};
        QTest::newRow("open") << "64-" << P{64, 96, 8000};
        QTest::newRow("dots") << "0..32" << P{0, 32};
        QTest::newRow("not the range") << "!32-96" << P{0, 8000};
        QTest::newRow("text") << "arp" << P{64};
        QTest::newRow("quoted") << "\"arp\" flip" << P{64};
        QTest::newRow("not the text") << "!\"arp\" flip" << P{32};
    }

    void filter_grammar()
    {
        QFETCH(QString, line);
        QFETCH(QVector<qint64>, expected);
        std::vector<ProbeMetrics> probes{probe(0, 0.1), probe(32, 0.5), probe(64, inf), probe(96, noValue),
                                         probe(8000, 2)};
        probes[1].flip = probes[2].flip = probes[2].tied = 1;
        QCOMPARE(passing(line, probes), expected);
    }

    void filter_errors_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("says");
        QTest::newRow("unknown column") << "kl>0.1"
                                        << "There is no column “kl”: use kl_pq, kl_qp";
        QTest::newRow("no number") << "kl_pq>abc"
                                   << "“abc” in “kl_pq>abc” is not a number";
        QTest::newRow("nothing") << "kl_pq>"
                                 << "“kl_pq>” needs a number";
        QTest::newRow("nan") << "kl_pq=nan"
                             << "not a number";
        QTest::newRow("no comparison") << "kl_pq"
                                       << "“kl_pq” needs a comparison";
        QTest::newRow("quote") << "flip \"arp"
                               << "The quote in “\"arp” is not closed";
        QTest::newRow("empty quotes") << "\"\""
                                      << "nothing between the quotes";
        QTest::newRow("backwards") << "900-100"
                                   << "end before they start";
        QTest::newRow("too large") << "99999999999999999999"
                                   << "too large";
    }

    void filter_errors()
    {
        QFETCH(QString, line);
        QFETCH(QString, says);
        const auto filter = ProbeFilter::parse(line);
        QVERIFY(!filter);
        QVERIFY2(filter.error().contains(says), qPrintable(filter.error()));
        QVERIFY(filter.error().endsWith(QLatin1Char('.')));
    }

    void filter_never_crashes()
    {
        quint32 state = 12345;
        const QString letters = QStringLiteral("ab!\"<>=-.,k0189 _kl_pqflip∞–\t");
        for (int i = 0; i < 20000; ++i) {
            QString line;
            for (quint32 n = state % 12; line.size() < qsizetype(n);) {
                state = state * 1664525 + 1013904223;
                line += letters[qsizetype(state >> 8) % letters.size()];
            }
            state = state * 1664525 + 1013904223;
            const auto filter = ProbeFilter::parse(line);
            QVERIFY(filter || !filter.error().isEmpty());
        }
    }

    void reference_values_of_the_sample()
    {
        compareWithReference(QStringLiteral(FLIPSCOPE_SOURCE "/resources/samples/baseline.h5"),
                             QStringLiteral(FLIPSCOPE_SOURCE "/resources/samples/kv_q4_0.h5"),
                             QStringLiteral(FLIPSCOPE_TEST_DATA "/views/baseline__kv_q4_0_every_4th.csv"));
    }

    void reference_values_of_the_whole_trace()
    {
        const QString folder = QStringLiteral(FLIPSCOPE_SHARED "/traces/smollm2/");
        if (!QFile::exists(folder))
            QSKIP("the wider collection of traces is not beside this checkout");
        compareWithReference(folder + QStringLiteral("baseline.h5"), folder + QStringLiteral("kv_q4_0.h5"),
                             folder + QStringLiteral("reference/baseline__kv_q4_0.csv"));
    }

    void follows_the_session_both_ways()
    {
        QTemporaryDir dir;
        Session session;
        session.open(writeViews(dir.path()));
        QVERIFY(idle(session));
        ProbeTable table(&session);
        table.resize(900, 400);
        table.show();
        const QAbstractItemModelTester tester(table.model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(table.model()->rowCount(), 25);
        // Worst first: the infinite one, then the flips by position, the invalid one last.
        QCOMPARE(positions(*table.model()).mid(0, 4), (QVector<qint64>{111, 47, 63, 207}));
        QCOMPARE(positions(*table.model()).last(), 95);
        QCOMPARE(table.findChild<QLabel*>(QStringLiteral("count"))->text(), QStringLiteral("25 probes"));

        const int run = session.visibleRuns().front()->id;
        QTableView* view = table.view();
        const QRect cell = view->visualRect(table.model()->index(2, column("position")));
        QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, cell.center());
        Place want{run, 0, 63, -1};
        want.windowStart = 63 / session.windowTokens() * session.windowTokens();
        QCOMPARE(session.path().place(), want);

        QCOMPARE(table.model()->rowCount(), 25); // a click takes no rows away
        QTest::keyClick(view, Qt::Key_Down);     // the next worst
        QTRY_COMPARE(session.path().place().probe, 207);
        QTest::keyClick(view, Qt::Key_Return); // down to the token it predicts
        QCOMPARE(session.path().place().token, 208);
        QTest::keyClick(view, Qt::Key_Backspace);
        QCOMPARE(session.path().place().token, -1);
        QCOMPARE(session.path().place().probe, 207);

        // Another view goes elsewhere.
        session.path().go({run, -1, 47, -1});
        QCOMPARE(view->currentIndex().data(ProbeTableModel::PositionRole).toLongLong(), 47);
        QCOMPARE(session.path().place().windowStart, -1); // following never goes on by itself
        session.path().go({run, -1, -1, -1});
        QVERIFY(!view->selectionModel()->hasSelection());
    }

    void filter_line_and_window()
    {
        QTemporaryDir dir;
        Session session;
        session.open(writeViews(dir.path()));
        QVERIFY(idle(session));
        session.setWindowTokens(64);
        ProbeTable table(&session);
        auto* filter = table.findChild<QLineEdit*>(QStringLiteral("probeFilter"));
        auto* message = table.findChild<QLabel*>(QStringLiteral("message"));
        auto* windowOnly = table.findChild<QCheckBox*>(QStringLiteral("windowOnly"));
        auto* count = table.findChild<QLabel*>(QStringLiteral("count"));
        QVERIFY(!windowOnly->isEnabled());
        QTest::keyClicks(filter, QStringLiteral("flip"));
        QCOMPARE(positions(*table.model()), (QVector<qint64>{47, 63, 207}));
        QCOMPARE(count->text(), QStringLiteral("3 of 25 probes"));
        filter->setText(QStringLiteral("kl_p>1"));
        QVERIFY(!message->isHidden());
        QVERIFY2(message->text().contains(QStringLiteral("no column “kl_p”")), qPrintable(message->text()));
        QCOMPARE(table.model()->rowCount(), 3); // the rows before the mistake
        filter->setText(QStringLiteral("\"run\""));
        // The top of the run after a swap is " run", and so is the history's token at 3, 13, 23 ... (fed or next).
        QVERIFY(positions(*table.model()).contains(47));
        QVERIFY(positions(*table.model()).contains(63));
        QVERIFY(!positions(*table.model()).contains(15)); // fed "\t"... see viewsId: 15 is 4, 16 is 5
        QVERIFY(message->isHidden());
        filter->clear();
        QCOMPARE(table.model()->rowCount(), 25);

        const int run = session.visibleRuns().front()->id;
        session.path().go({run, 64, -1, -1});
        QVERIFY(windowOnly->isEnabled());
        QVERIFY(windowOnly->isChecked());
        QCOMPARE(positions(*table.model()), (QVector<qint64>{111, 79, 127, 95}));
        session.path().go({run, 64, 79, -1}); // a probe of it
        QCOMPARE(table.model()->rowCount(), 4);
        windowOnly->click();
        QCOMPARE(table.model()->rowCount(), 25);
        session.path().go({run, 128, -1, -1});
        QCOMPARE(table.model()->rowCount(), 25); // as it was wanted
        windowOnly->click();
        QCOMPARE(table.model()->rowCount(), 4);
        filter->setText(QStringLiteral("flip"));
        QCOMPARE(table.model()->rowCount(), 0);
        QCOMPARE(message->text(), QStringLiteral("No probe of this window passes the filter."));
        session.path().go({run, -1, -1, -1});
        QVERIFY(!windowOnly->isEnabled());
        QCOMPARE(table.model()->rowCount(), 3);
    }

    void copies_and_exports_what_is_shown()
    {
        QTemporaryDir dir;
        Session session;
        session.open(writeViews(dir.path()));
        QVERIFY(idle(session));
        ProbeTable table(&session);
        table.show();
        table.view()->setFocus();
        table.view()->selectRow(1); // 47
        QTest::keyClick(table.view(), Qt::Key_C, Qt::ControlModifier);
        const QStringList lines = QGuiApplication::clipboard()->text().split(QLatin1Char('\n'));
        QCOMPARE(lines.size(), 3);
        const QStringList names = lines[0].split(QLatin1Char('\t')), cells = lines[1].split(QLatin1Char('\t'));
        QCOMPARE(names.size(), cells.size());
        QCOMPARE(names.first(), QStringLiteral("position"));
        QCOMPARE(cells.first(), QStringLiteral("47"));
        QCOMPARE(cells[names.indexOf(QStringLiteral("top_q"))], QStringLiteral("␣run"));
        QVERIFY(std::abs(cells[names.indexOf(QStringLiteral("kl_pq"))].toDouble() - std::log(2.0) / 4) < 1e-14);
        QVERIFY(!names.contains(QStringLiteral("differing"))); // hidden

        table.findChild<QLineEdit*>(QStringLiteral("probeFilter"))->setText(QStringLiteral("flip"));
        const QString path = dir.filePath(QStringLiteral("probes.csv"));
        const auto written = table.writeCsv(path);
        QVERIFY2(written, written ? "" : written.error().message.c_str());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QStringList rows = QString::fromUtf8(file.readAll()).trimmed().split(QLatin1Char('\n'));
        QCOMPARE(rows.size(), 4);
        QVERIFY(rows[0].startsWith(QStringLiteral("run,position,")));
        QCOMPARE(rows[0].count(QLatin1Char(',')), qsizetype(probe_columns().size()));
        QVERIFY(rows[1].startsWith(QStringLiteral("run,47,")));
        QVERIFY(rows[3].startsWith(QStringLiteral("run,207,")));
        const auto refused = table.writeCsv(dir.filePath(QStringLiteral("no/such/folder/probes.csv")));
        QVERIFY(!refused);
    }

    void says_why_it_is_empty()
    {
        QTemporaryDir dir;
        Session session;
        ProbeTable table(&session);
        auto* message = table.findChild<QLabel*>(QStringLiteral("message"));
        QCOMPARE(message->text(), QStringLiteral("Open two traces to compare them."));
        QVERIFY(!table.findChild<QToolButton*>(QStringLiteral("csv"))->isEnabled());
        const QStringList files = writeViews(dir.path());
        session.open({files[0]});
        QVERIFY(idle(session));
        QCOMPARE(message->text(), QStringLiteral("Open another trace to compare it with base."));
        session.open({files[1]});
        QVERIFY(idle(session));
        QVERIFY(message->isHidden());
        session.closeAll();
        QCOMPARE(table.model()->rowCount(), 0);
    }

    void columns_by_menu()
    {
        QTemporaryDir dir;
        Session session;
        session.open(writeViews(dir.path()));
        QVERIFY(idle(session));
        ProbeTable table(&session);
        QMenu* menu = table.findChild<QToolButton*>(QStringLiteral("columnMenu"))->menu();
        QCOMPARE(menu->actions().size(), ProbeTableModel::columns().size());
        QVERIFY(table.view()->isColumnHidden(column("entropy_p")));
        QVERIFY(!table.view()->isColumnHidden(column("tv")));
        for (QAction* action : menu->actions()) {
            if (action->objectName() == QStringLiteral("entropy_p"))
                action->trigger();
        }
        QVERIFY(!table.view()->isColumnHidden(column("entropy_p")));
        table.resize(900, 400);
        table.show();
        QHeaderView* header = table.view()->horizontalHeader();
        QTest::mouseClick(header->viewport(), Qt::LeftButton, {},
                          {header->sectionViewportPosition(0) + header->sectionSize(0) / 2, header->height() / 2});
        QCOMPARE(table.model()->sortColumn(), column("position"));
    }

    void hundred_thousand_rows()
    {
        std::vector<ProbeMetrics> probes;
        for (int i = 0; i < 100000; ++i) {
            probes.push_back(probe(i, std::fmod(i * 0.618, 1.0)));
            probes.back().flip = i % 10 == 0;
        }
        ProbeTableModel model;
        QTableView view;
        view.setModel(&model);
        view.resize(900, 500);
        view.show();
        QElapsedTimer clock;
        clock.start();
        model.setTable(tableOf(std::move(probes)), {});
        QCoreApplication::processEvents();
        const qint64 loaded = clock.restart();
        model.sort(column("margin"), Qt::AscendingOrder);
        model.sort(column("kl_pq"), Qt::DescendingOrder);
        const qint64 sorted = clock.restart();
        model.setFilter(*ProbeFilter::parse(QStringLiteral("flip kl_pq>0.5")));
        const qint64 filtered = clock.restart();
        for (int i = 0; i < 50; ++i) {
            view.scrollTo(model.index(i * 90, 0));
            QCoreApplication::processEvents();
        }
        const qint64 scrolled = clock.elapsed();
        qInfo("100,000 rows: load %lld ms, two sorts %lld ms, filter %lld ms, 50 scrolls %lld ms", loaded, sorted,
              filtered, scrolled);
        QVERIFY(loaded < 2000 && sorted < 2000 && filtered < 1000 && scrolled < 5000); // far above what is seen
    }
};

FLIPSCOPE_GUI_TEST(ProbeTableTest)
#include "tst_probe_table.moc"
