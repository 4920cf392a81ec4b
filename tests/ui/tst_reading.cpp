// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Files that need to be told how they are read, histories that are shifted, printouts: through the real window.
#include "tests/ui/window_fixture.h"

#include "core/formats/kld_log.h"
#include "core/session/session_file.h"
#include "core/trace/convert.h"
#include "core/trace/open.h"
#include "core/trace/shift.h"
#include "ui/session/session_file.h"
#include "ui/window/banner_bar.h"
#include "ui/window/printouts_panel.h"
#include "ui/window/reading_dialog.h"

#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableWidget>
#include <QToolButton>

using namespace flipscope;
using namespace flipscope::test;

class TestReading : public WindowFixture {
    Q_OBJECT

    static QString data(const char* name) { return QStringLiteral(FLIPSCOPE_TEST_DATA "/%1").arg(QLatin1String(name)); }
    const Banner* banner(Banner::Action action)
    {
        for (const Banner& banner : session().banners())
            if (banner.action == action)
                return &banner;
        return nullptr;
    }
    /// Turns the pages of the bar until that one is shown, and clicks its button.
    void actOn(const QString& text)
    {
        BannerBar* bar = m_window->bannerBar();
        for (std::size_t i = 0; i < session().banners().size() && bar->text() != text; ++i)
            bar->findChild<QToolButton*>(QStringLiteral("bannerNext"))->click();
        QCOMPARE(bar->text(), text);
        auto* button = bar->findChild<QToolButton*>(QStringLiteral("bannerAction"));
        QVERIFY(button->isVisible());
        QTest::mouseClick(button, Qt::LeftButton);
    }
    static QPushButton* ok(ReadingDialog* dialog)
    {
        return dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
    }

private slots:
    void init() { setUp(); }
    void cleanup() { tearDown(); }

    void a_file_that_needs_a_hint_asks_for_it()
    {
        m_window->openFiles({data("formats/v2.npy")}); // two raw bytes: anything
        QVERIFY(idle(session()));
        QTRY_VERIFY(m_window->findChild<ReadingDialog*>());
        auto* dialog = m_window->findChild<ReadingDialog*>();
        QVERIFY(dialog->findChild<QLabel*>(QStringLiteral("readingWhy"))->text().contains("--dtype"));
        QVERIFY(banner(Banner::Action::Hints));
        dialog->findChild<QComboBox*>(QStringLiteral("type"))->setCurrentText(QStringLiteral("bfloat16"));
        dialog->findChild<QLineEdit*>(QStringLiteral("tokens"))->setText(data("formats/ids.txt"));
        dialog->findChild<QLineEdit*>(QStringLiteral("stride"))->setText(QStringLiteral("32"));
        ok(dialog)->click();
        QVERIFY(idle(session()));
        QCOMPARE(session().runs().size(), 1u);
        const SessionRun& run = session().runs()[0];
        QCOMPARE(run.trace->probes.rows->type(), LogitType::BF16);
        QCOMPARE(run.trace->probes.positions.front(), 31);
        QCOMPARE(run.trace->tokens.ids.size(), 160u);
        QVERIFY(!std::ranges::any_of(session().banners(), [](const Banner& b) { return !b.file.isEmpty(); }));
        QTRY_VERIFY(!m_window->findChild<ReadingDialog*>());

        // Read again, it is read like that; a session keeps it.
        session().reload();
        QVERIFY(idle(session()));
        QCOMPARE(session().runs()[0].trace->probes.positions.front(), 31);
        const QString saved = m_folder->filePath(QStringLiteral("it.flipscope"));
        m_window->saveSessionTo(saved);
        const auto file = read_session(saved.toStdString());
        QVERIFY2(file, file ? "" : file.error().message.c_str());
        QCOMPARE(file->files[0].hints, run.hints);
        session().closeAll();
        m_window->openFiles({saved});
        QVERIFY(idle(session()));
        QCOMPARE(session().runs().size(), 1u);
        QCOMPARE(session().runs()[0].trace->probes.rows->type(), LogitType::BF16);

        // With other hints it stays as it was where they do not fit, and changes where they do.
        OpenHints other = session().runs()[0].hints;
        other.axes = "vp1";
        session().setHints(session().runs()[0].id, other);
        QVERIFY(idle(session()));
        QVERIFY(session().runs()[0].hints.axes.empty());
        QVERIFY(std::ranges::any_of(session().banners(),
                                    [](const Banner& b) { return b.text.contains("could not be read like that"); }));
        other.axes.clear();
        other.first = 0;
        session().setHints(session().runs()[0].id, other);
        QVERIFY(idle(session()));
        QCOMPARE(session().runs()[0].trace->probes.positions.front(), 0);
    }

    void what_makes_no_sense_is_said_in_the_dialog()
    {
        ReadingDialog dialog(&session(), {-1, QStringLiteral("x.npy"), {}, {}}, m_window.get());
        const auto* problem = dialog.findChild<QLabel*>(QStringLiteral("readingProblem"));
        QVERIFY(ok(&dialog)->isEnabled());
        const auto refuses = [&](const char* field, const char* text, const char* words) {
            auto* line = dialog.findChild<QLineEdit*>(QLatin1String(field));
            const QString before = line->text();
            line->setText(QLatin1String(text));
            const bool refused = !ok(&dialog)->isEnabled() && problem->text().contains(QLatin1String(words));
            line->setText(before);
            return refused && ok(&dialog)->isEnabled();
        };
        QVERIFY(refuses("stride", "0", "stride"));
        QVERIFY(refuses("vocabulary", "many", "Ids that count"));
        QVERIFY(refuses("first", "-1", "first position"));
        QVERIFY(refuses("bos", "99999999999", "BOS"));
        QVERIFY(refuses("temperature", "0", "temperature"));
        dialog.findChild<QLineEdit*>(QStringLiteral("stride"))->setText(QStringLiteral("32"));
        QVERIFY(refuses("positions", "p.npy", "not both"));
        dialog.findChild<QComboBox*>(QStringLiteral("axes"))->setCurrentText(QStringLiteral("xy"));
        QVERIFY(!ok(&dialog)->isEnabled());
    }

    void a_doubled_bos_is_shifted_at_a_click()
    {
        // "early" as another stack would have recorded it: the first token twice, everything one later.
        const auto early = open_trace(m_files[1].toStdString());
        QVERIFY(early);
        Trace twice = *shifted(**early, 1);
        twice.tokens.ids[0] = twice.tokens.ids[1];
        twice.run_name = "twice";
        twice.run.clear();
        const QString path = m_folder->filePath(QStringLiteral("twice.h5"));
        const auto written = write_trace(path.toStdString(), twice);
        QVERIFY2(written, written ? "" : written.error().message.c_str());
        m_window->openFiles({m_files[0], m_files[1], path});
        QVERIFY(idle(session()));
        QCOMPARE(run("twice")->state, SessionRun::State::Failed);
        const Banner* offer = banner(Banner::Action::Shift);
        QVERIFY(offer);
        QVERIFY2(offer->text.contains("shift by one"), qPrintable(offer->text));
        actOn(QString(offer->text));
        QVERIFY(idle(session()));
        QCOMPARE(run("twice")->state, SessionRun::State::Ready);
        QCOMPARE(run("twice")->hints.shift, -1);
        QVERIFY(!banner(Banner::Action::Shift));
        QVERIFY(std::ranges::any_of(session().banners(),
                                    [](const Banner& b) { return b.text.contains("Shifted by one token, as asked"); }));
        QCOMPARE(run("twice")->table->probes.size(), run("early")->table->probes.size());
        for (std::size_t i = 0; i < run("twice")->table->probes.size(); ++i)
            QCOMPARE(run("twice")->table->probes[i].kl_pq, run("early")->table->probes[i].kl_pq);
        OpenHints back = run("twice")->hints;
        back.shift = 0;
        session().setHints(run("twice")->id, back);
        QVERIFY(idle(session()));
        QCOMPARE(run("twice")->state, SessionRun::State::Failed);
    }

    void a_printout_stands_beside_the_runs()
    {
        openUsual();
        auto* dock = child<QDockWidget>("printoutsDock");
        QVERIFY(dock->isHidden());
        const QString log = data("answers/kl_divergence.txt");
        m_window->openFiles({log});
        QVERIFY(idle(session()));
        QCOMPARE(session().runs().size(), m_files.size()); // it is no run
        QTRY_VERIFY(!dock->isHidden());
        auto* table = child<QTableWidget>("printoutsTable");
        QCOMPARE(table->columnCount(), 1 + static_cast<int>(session().visibleRuns().size()));
        const auto cell = [&](const char* label, int column) {
            for (int row = 0; row < table->rowCount(); ++row)
                if (table->verticalHeaderItem(row)->text() == QString::fromUtf8(label))
                    return table->item(row, column)->text();
            return QString();
        };
        QCOMPARE(cell("Mean KLD", 0), QStringLiteral("0.070087 ± 0.005691"));
        QCOMPARE(cell("Same top p", 0), QStringLiteral("85.185 ± 2.591 %"));
        // "early" has 5 flips in 125 probes.
        QCOMPARE(table->horizontalHeaderItem(1)->text(), QStringLiteral("early"));
        QCOMPARE(cell("Same top p", 1), QStringLiteral("96 %"));

        QFile file(log);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QApplication::clipboard()->setText(QString::fromUtf8(file.readAll()));
        child<QToolButton>("pastePrintout")->click();
        QCOMPARE(session().printouts().size(), 2u);
        QCOMPARE(cell("Mean KLD", 1), QStringLiteral("0.070087 ± 0.005691"));
        QApplication::clipboard()->setText(QStringLiteral("nothing of the kind"));
        child<QToolButton>("pastePrintout")->click();
        QCOMPARE(session().printouts().size(), 2u);
        QVERIFY(std::ranges::any_of(
            session().banners(), [](const Banner& b) { return b.text.contains("The clipboard holds no printout"); }));
        const SessionFile saved = sessionFileOf(session());
        QCOMPARE(saved.printouts.size(), 1u); // the pasted one has no file
        QCOMPARE(QString::fromStdString(saved.printouts[0].absolute.string()), log);
        table->setCurrentCell(0, 0);
        child<QToolButton>("removePrintout")->click();
        QCOMPARE(session().printouts().size(), 1u);
        session().closeAll();
        QVERIFY(session().printouts().empty());
    }

    void only_the_printout_that_is_chosen_is_removed()
    {
        openUsual();
        auto* remove = child<QToolButton>("removePrintout");
        QVERIFY(!remove->isEnabled());
        KldLog log = *open_kld_log(data("answers/kl_divergence.txt").toStdString());
        log.path.clear(); // as if pasted: that of an open file is the same one
        for (const char* name : {"first", "second"}) {
            log.name = name;
            session().addPrintout(log);
        }
        auto* table = child<QTableWidget>("printoutsTable");
        table->setCurrentCell(0, 3); // a run's: none of them is meant
        QVERIFY(!remove->isEnabled());
        table->setCurrentCell(2, 0);
        session().rename(run("late")->id, QStringLiteral("later")); // the table is filled anew
        QCOMPARE(table->currentColumn(), 0);
        QCOMPARE(table->currentRow(), 2);
        remove->click();
        QCOMPARE(session().printouts().size(), 1u);
        QCOMPARE(session().printouts()[0].name, std::string("second"));
    }

    void files_are_looked_for_beside_the_one_that_is_read()
    {
        openUsual();
        ReadingDialog dialog(&session(), {run("early")->id, {}, {}, {}});
        dialog.show();
        dialog.findChildren<QToolButton*>().first()->click();
        auto* chooser = dialog.findChild<QFileDialog*>();
        QVERIFY(chooser != nullptr);
        QCOMPARE(QFileInfo(chooser->directory().path()).canonicalFilePath(),
                 QFileInfo(m_folder->path()).canonicalFilePath());
    }

    void case_47_the_bias_of_lists_is_a_banner()
    {
        const auto early = open_trace(m_files[1].toStdString());
        QVERIFY(early);
        ConvertOptions how;
        how.top_k = 4;
        const QString path = m_folder->filePath(QStringLiteral("early-top4.h5"));
        QVERIFY(convert_trace(path.toStdString(), **early, how));
        m_window->openFiles({m_files[0], m_files[1], path});
        QVERIFY(idle(session()));
        QCOMPARE(session().visibleRuns().size(), 2u);
        QVERIFY(std::ranges::any_of(session().banners(), [](const Banner& b) {
            return b.text.contains("early (2) beside early: mean KL(P‖Q)") && b.text.contains("% under");
        }));
    }
};

FLIPSCOPE_GUI_TEST(TestReading)
#include "tst_reading.moc"
