// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The window as a person uses it: keyboard, mouse, dialogs, drops. On the offscreen platform, over real files.
#include "tests/ui/window_fixture.h"

#include "core/report/report.h"
#include "ui/charts/colormap.h"
#include "ui/models/heatmap_model.h"
#include "ui/session/navigation.h"
#include "ui/window/banner_bar.h"

#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QToolButton>

using namespace flipscope;
using namespace flipscope::test;

namespace {

void drop(QWidget* target, const QStringList& files)
{
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& file : files)
        urls.append(QUrl::fromLocalFile(file));
    data.setUrls(urls);
    const QPoint at = target->rect().center();
    QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(target, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent dropped(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(target, &dropped);
    QVERIFY(dropped.isAccepted());
}

/// The mouse moves over a point of a widget, wherever that lies on the (small) screen of the offscreen platform.
void moveTo(QWidget* widget, const QPointF& point)
{
    QWidget* child = widget->childAt(point.toPoint());
    QWidget* target = child != nullptr ? child : widget;
    const QPointF local = target->mapFrom(widget, point);
    QMouseEvent move(QEvent::MouseMove, local, target->mapToGlobal(local), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(target, &move);
}

} // namespace

class WindowTest : public WindowFixture {
    Q_OBJECT
private slots:
    void init() { setUp(); }
    void cleanup() { tearDown(); }

    // --- opening ---

    void empty_window_offers_what_can_be_done()
    {
        QVERIFY(child<QWidget>("startPage")->isVisible());
        QVERIFY(child<QPushButton>("startOpen")->isVisible());
        QVERIFY(child<QPushButton>("startSample")->isVisible());
        QVERIFY(!child<QDockWidget>("runsDock")->isVisible());
        QVERIFY(!action("exportFigure")->isEnabled());
        QVERIFY(!action("reload")->isEnabled());
    }

    void opens_by_argument()
    {
        openUsual();
        QVERIFY(!child<QWidget>("startPage")->isVisible());
        QVERIFY(child<QDockWidget>("runsDock")->isVisible());
        QCOMPARE(heatmap()->rowLabels(),
                 QStringList({QStringLiteral("early"), QStringLiteral("late"), QStringLiteral("same")}));
        QVERIFY(m_window->windowTitle().contains(QStringLiteral("base")));
        QCOMPARE(m_window->windowIcon().pixmap(64).toImage().pixelColor(32, 4).alpha(), 255);
    }

    void opens_by_dialog()
    {
        action("open")->trigger();
        auto* dialog = child<QFileDialog>("openDialog");
        QVERIFY(dialog != nullptr);
        QVERIFY(QTest::qWaitForWindowExposed(dialog));
        dialog->setDirectory(m_folder->path());
        auto* name = dialog->findChild<QLineEdit*>();
        QVERIFY(name != nullptr);
        name->setText(QStringLiteral("\"base.h5\" \"early.h5\""));
        QTest::keyClick(name, Qt::Key_Return);
        QVERIFY(QTest::qWaitFor([&] { return session().runs().size() == 2; }));
        QVERIFY(idle(session()));
        QCOMPARE(heatmap()->rowLabels(), QStringList({QStringLiteral("early")}));
    }

    void opens_by_drop_of_files_and_of_a_folder()
    {
        drop(m_window.get(), {m_files[0], m_files[2]});
        QVERIFY(idle(session()));
        QCOMPARE(heatmap()->rowLabels(), QStringList({QStringLiteral("late")}));
        drop(m_window.get(), {m_folder->path()});
        QVERIFY(idle(session()));
        QCOMPARE(session().runs().size(), std::size_t(4));
    }

    void recent_files_open_again()
    {
        openUsual();
        QCOMPARE(recent::entries().size(), qsizetype(1));
        QCOMPARE(recent::entries().front(), m_files);
        action("closeAll")->trigger();
        QCoreApplication::processEvents();
        QVERIFY(child<QWidget>("startPage")->isVisible());
        auto* button = child<QPushButton>("startRecent");
        QVERIFY(button != nullptr);
        QVERIFY(button->text().contains(QStringLiteral("base.h5 and 3 more")));
        QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(idle(session()));
        QCOMPARE(session().runs().size(), std::size_t(4));
        QCOMPARE(session().baseline()->name, QStringLiteral("base"));
    }

    void unreadable_file_is_said_on_the_start_page()
    {
        m_window->openFiles({m_folder->filePath(QStringLiteral("missing.h5"))});
        QVERIFY(idle(session()));
        QVERIFY(m_window->bannerBar()->isVisible());
        QVERIFY(m_window->bannerBar()->text().contains(QStringLiteral("missing.h5")));
        QVERIFY(child<QWidget>("startPage")->isVisible());
        QTest::mouseClick(child<QToolButton>("bannerDismiss"), Qt::LeftButton);
        QVERIFY(!m_window->bannerBar()->isVisible());
    }

    // --- what is shown agrees with the numbers ---

    void labels_colours_and_data_agree_by_position()
    {
        openUsual();
        const HeatmapGrid& grid = heatmap()->grid();
        const auto json = analysis_json(analysisOf(session()));
        QCOMPARE(json["runs"].size(), std::size_t(3));
        std::vector<double> values;
        for (const HeatmapRow& row : grid.rows)
            for (const HeatmapCell& c : row.cells)
                if (c.state == HeatmapCell::State::Value)
                    values.push_back(c.value);
        const Normalizer normalizer(session().colourScale(), values);
        double lastBottom = -1;
        for (int r = 0; r < 3; ++r) {
            const auto& run = json["runs"][static_cast<std::size_t>(r)];
            QCOMPARE(heatmap()->rowLabels().at(r), QString::fromStdString(run["name"].get<std::string>()));
            QVERIFY(heatmap()->cellRect(r, 0).top() >= lastBottom - 1); // top first, as the labels
            lastBottom = heatmap()->cellRect(r, 0).bottom();
            for (int c = 0; c < 8; ++c) {
                const auto& window = run["windows"][static_cast<std::size_t>(c)];
                const double rate = window["flip_rate"].get<double>();
                QCOMPARE(grid.rows[static_cast<std::size_t>(r)].cells[static_cast<std::size_t>(c)].value, rate);
                const QColor wanted = colormapColor(session().colourScale().map, normalizer(rate));
                QCOMPARE(heatmap()->cellColor(r, c).rgb(), wanted.rgb());
            }
        }
        // And on the screen: the pixel near a corner of the cell, away from its text.
        const QImage picture = heatmap()->grab().toImage();
        const qreal ratio = picture.devicePixelRatio();
        for (const auto& [r, c] : {std::pair{0, 2}, std::pair{1, 5}, std::pair{1, 7}, std::pair{2, 4}}) {
            const QRectF rect = heatmap()->cellRect(r, c);
            const QPointF at = (rect.topLeft() + QPointF(rect.width() * 0.15, rect.height() * 0.15)) * ratio;
            QCOMPARE(picture.pixelColor(at.toPoint()).rgb(), heatmap()->cellColor(r, c).rgb());
        }
        QVERIFY(heatmap()->cellToolTip(0, 2).contains(QStringLiteral("16")));
    }

    // --- keyboard and selection ---

    void keyboard_goes_down_to_a_token_and_up_again()
    {
        openUsual();
        heatmap()->setFocus();
        QTest::keyClick(heatmap(), Qt::Key_Down); // the first arrow key lands on a cell
        QTRY_VERIFY(heatmap()->currentRow() >= 0);
        while (heatmap()->currentRow() < 1)
            QTest::keyClick(heatmap(), Qt::Key_Down);
        while (heatmap()->currentColumn() < 5)
            QTest::keyClick(heatmap(), Qt::Key_Right);
        const int late = run("late")->id;
        QCOMPARE(session().path().place(), (Place{.run = late, .windowStart = 2560}));

        QTest::keyClick(heatmap(), Qt::Key_Return);
        QCOMPARE(session().path().place().depth(), Place::Depth::Probe);
        const qint64 probe = session().path().place().probe;
        QCOMPARE(probe, *worstProbe(*run("late")->table, session().metric(), 2560, 3072));
        QTest::keyClick(heatmap(), Qt::Key_Return);
        QCOMPARE(session().path().place().token, probe + 1);

        QTest::keyClick(heatmap(), Qt::Key_Backspace);
        QCOMPARE(session().path().place().depth(), Place::Depth::Probe);
        QTest::keyClick(heatmap(), Qt::Key_Backspace);
        QCOMPARE(session().path().place(), (Place{.run = late, .windowStart = 2560}));
        QTest::keyClick(m_window.get(), Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(session().path().place().depth(), Place::Depth::Probe);
        QTest::keyClick(m_window.get(), Qt::Key_Right, Qt::AltModifier);
        QCOMPARE(session().path().place().depth(), Place::Depth::Window);
        QTest::keyClick(heatmap(), Qt::Key_Backspace);
        QCOMPARE(session().path().place(), (Place{.run = late}));
        QCOMPARE(heatmap()->currentRow(), -1);
    }

    void selection_is_shared()
    {
        openUsual();
        const QRectF rect = heatmap()->cellRect(0, 2);
        QTest::mouseClick(heatmap(), Qt::LeftButton, {}, rect.center().toPoint());
        const int early = run("early")->id;
        QCOMPARE(session().path().place(), (Place{.run = early, .windowStart = 1024}));
        QCOMPARE(runs()->currentIndex().data(RunsModel::IdRole).toInt(), early);
        QCOMPARE(m_window->heatmapTable()->currentIndex().row(), 0);
        QCOMPARE(m_window->heatmapTable()->currentIndex().column(), 2);

        clickCell(2, RunsModel::Name); // "late": the same window of another run
        QCOMPARE(session().path().place(), (Place{.run = run("late")->id, .windowStart = 1024}));
        QCOMPARE(heatmap()->currentRow(), 1);
        QCOMPARE(heatmap()->currentColumn(), 2);

        m_window->heatmapTable()->setCurrentIndex(m_window->heatmapTable()->model()->index(2, 7));
        QCOMPARE(heatmap()->currentRow(), 2);
        QCOMPARE(heatmap()->currentColumn(), 7);
        session().path().go({});
        QCOMPARE(heatmap()->currentRow(), -1);
        QVERIFY(!m_window->heatmapTable()->currentIndex().isValid());
    }

    void hover_is_linked()
    {
        openUsual();
        QSignalSpy hovered(heatmap(), &HeatmapView::cellHovered);
        const QPointF at = heatmap()->cellRect(1, 5).center();
        moveTo(heatmap(), at);
        QTRY_VERIFY(!hovered.isEmpty());
        QCOMPARE(hovered.last()[0].toInt(), 1);
        QCOMPARE(hovered.last()[1].toInt(), 5);
        QCOMPARE(heatmap()->cellAt(at), QPoint(1, 5));

        QSignalSpy column(chart(), &WindowChart::columnHovered);
        moveTo(chart(), chart()->pointAt(0, 2));
        QTRY_VERIFY(!column.isEmpty());
        QCOMPARE(column.last()[0].toInt(), 2);
    }

    // --- window size, metric, colours ---

    void view_changes_at_once()
    {
        openUsual();
        auto* size = child<QComboBox>("windowSize");
        size->lineEdit()->setFocus();
        size->lineEdit()->selectAll();
        QTest::keyClicks(size->lineEdit(), QStringLiteral("1,000"));
        QTest::keyClick(size->lineEdit(), Qt::Key_Return);
        QCOMPARE(session().windowTokens(), qint64(1000));
        QCOMPARE(heatmap()->grid().starts.size(), std::size_t(4));
        QCOMPARE(heatmap()->grid().rows[0].cells[1].flips, std::int64_t(5)); // 1024 … 1152 lie in 1000 … 2000

        size->lineEdit()->selectAll();
        QTest::keyClicks(size->lineEdit(), QStringLiteral("many"));
        QTest::keyClick(size->lineEdit(), Qt::Key_Return);
        QCOMPARE(session().windowTokens(), qint64(1000));
        QCOMPARE(size->currentText(), QStringLiteral("1,000"));

        auto* metric = child<QComboBox>("metric");
        const int kl = metric->findData(QStringLiteral("kl_pq_max"));
        metric->setCurrentIndex(kl);
        emit metric->activated(kl);
        QCOMPARE(heatmap()->grid().metric.name, std::string("kl_pq_max"));
        QVERIFY(heatmap()->grid().rows[0].cells[1].value > 1);
        QCOMPARE(heatmap()->grid().rows[2].cells[1].value, 0.0);

        auto* margin = child<QDoubleSpinBox>("margin");
        QVERIFY(!margin->isVisible());
        session().setMetric(QStringLiteral("flips_above_margin"));
        QVERIFY(margin->isVisible());
        QVERIFY(heatmap()->grid().rows[0].cells[1].value > 0);
        margin->setValue(10); // the planted tops lead by 5 to 6
        QCOMPARE(heatmap()->grid().rows[0].cells[1].value, 0.0);
    }

    void limits_of_the_colour_scale()
    {
        openUsual();
        child<QToolButton>("limits")->click();
        auto* dialog = child<QDialog>("limitsDialog");
        QVERIFY(dialog != nullptr);
        const auto fields = dialog->findChildren<QLineEdit*>();
        dialog->findChild<QAbstractButton*>()->click(); // "from the cells" off
        auto* ok = dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
        fields[0]->setText(QStringLiteral("50"));
        fields[1]->setText(QStringLiteral("20"));
        QVERIFY(!ok->isEnabled());
        fields[0]->setText(QStringLiteral("0"));
        fields[1]->setText(QStringLiteral("100"));
        QVERIFY(ok->isEnabled());
        ok->click();
        QCOMPARE(session().colourScale().automatic, false);
        QCOMPARE(session().colourScale().high, 1.0);
        QCOMPARE(heatmap()->cellColor(1, 5).rgb(), colormapColor(QStringLiteral("cividis"), 0.5).rgb());
    }

    void theme_changes_palette_and_charts()
    {
        openUsual();
        const QColor light = heatmap()->grab().toImage().pixelColor(2, 2);
        action("themeDark")->trigger();
        QVERIFY(paletteIsDark());
        QCoreApplication::processEvents();
        const QColor dark = heatmap()->grab().toImage().pixelColor(2, 2);
        QVERIFY(dark.lightness() < 100 && light.lightness() > 200);
        action("themeLight")->trigger();
        QVERIFY(!paletteIsDark());
    }

    // --- export ---

    void exports_a_figure()
    {
        openUsual();
        QTest::keyClick(m_window.get(), Qt::Key_E, Qt::ControlModifier | Qt::ShiftModifier);
        auto* dialog = child<QDialog>("exportDialog");
        QVERIFY(dialog != nullptr);
        auto* path = child<QLineEdit>("exportPath");
        auto* save = dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save);
        path->setText(m_folder->filePath(QStringLiteral("figure.xyz")));
        QVERIFY(!save->isEnabled());
        path->setText(m_folder->filePath(QStringLiteral("no/such/folder/figure.png")));
        save->click();
        QVERIFY(dialog->isVisible()); // and says why
        QVERIFY(!child<QLabel>("exportProblem")->text().isEmpty());
        const QString svg = m_folder->filePath(QStringLiteral("figure.svg"));
        path->setText(svg);
        QCOMPARE(child<QComboBox>("exportFormat")->currentData().toString(), QStringLiteral("svg"));
        save->click();
        QTRY_VERIFY(QFile::exists(svg));
        QFile file(svg);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        for (const char* label : {"early", "late", "same", "base"})
            QVERIFY2(text.contains(label), label);
    }

    void exports_numbers()
    {
        openUsual();
        action("exportNumbers")->trigger();
        auto* dialog = child<QFileDialog>("exportNumbersDialog");
        QVERIFY(dialog != nullptr);
        const QString csv = m_folder->filePath(QStringLiteral("windows.csv"));
        dialog->setDirectory(m_folder->path());
        dialog->findChild<QLineEdit*>()->setText(QStringLiteral("windows.csv"));
        QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
        QTRY_VERIFY(QFile::exists(csv));
        QFile file(csv);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll().count('\n'), 1 + 3 * 8); // heading, three runs of eight windows
    }

    void copies_the_figure()
    {
        openUsual();
        QTest::keyClick(m_window.get(), Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
        const QMimeData* data = QApplication::clipboard()->mimeData();
        QVERIFY(data->hasImage());
        QVERIFY(data->hasFormat(QStringLiteral("image/svg+xml")));
        QCOMPARE(QApplication::clipboard()->image().width(), 2400);
    }

    // --- the rest ---

    void help_and_about()
    {
        openUsual();
        action("manual")->trigger();
        QVERIFY(child<QDialog>("manual") != nullptr);
        child<QDialog>("manual")->close();
        action("about")->trigger();
        auto* about = child<QMessageBox>("about");
        QVERIFY(about != nullptr);
        QVERIFY(about->text().contains(session().engineText().toHtmlEscaped()));
        if (!session().engineNotice().isEmpty()) // why it is not the GPU
            QVERIFY(session().engineText().contains(QStringLiteral(": ")));
        about->close();
    }

    void small_window_has_nothing_cut_off()
    {
        m_window->resize(1100, 700);
        openUsual();
        QCOMPARE(m_window->size(), QSize(1100, 700)); // nothing forces it larger
        QVERIFY(heatmap()->width() > 300);
        QVERIFY(heatmap()->height() > 120);
    }
};

FLIPSCOPE_GUI_TEST(WindowTest)
#include "window_test.moc"
