// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Commands, preferences, help, copies: through the real window; and that no widget is nameless to a screen reader.
#include "tests/ui/window_fixture.h"

#include "core/analysis/cache.h"
#include "core/base/memory_limit.h"
#include "core/report/report.h"
#include "ui/window/command_palette.h"
#include "ui/window/figures.h"
#include "ui/window/locate_dialog.h"
#include "ui/window/manual.h"
#include "ui/window/page_stack.h"
#include "ui/window/preferences.h"
#include "ui/window/reading_dialog.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QBuffer>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QPageSize>
#include <QPdfWriter>
#include <QPointer>
#include <QProcess>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QSpinBox>
#include <QStandardPaths>
#include <QStyle>
#include <QStyleOptionButton>
#include <QTabBar>
#include <QTextBrowser>
#include <QToolButton>

#include <cmath>

using namespace flipscope;
using namespace flipscope::test;

class TestComfort : public WindowFixture {
    Q_OBJECT

    CommandPalette* palette()
    {
        action("commandPalette")->trigger();
        return m_window->findChild<CommandPalette*>();
    }
    /// Widgets that a person can reach, and that have nothing to be announced by.
    static QStringList nameless(QWidget* root)
    {
        QStringList found;
        for (QWidget* widget : root->findChildren<QWidget*>()) {
            const bool inner = widget->objectName().startsWith(QLatin1String("qt_")) ||
                               qobject_cast<QScrollBar*>(widget) != nullptr ||
                               qobject_cast<QAbstractSpinBox*>(widget->parentWidget()) != nullptr ||
                               qobject_cast<QComboBox*>(widget->parentWidget()) != nullptr ||
                               qobject_cast<QLineEdit*>(widget->parentWidget()) != nullptr ||
                               qobject_cast<QTabBar*>(widget->parentWidget()) != nullptr ||
                               widget->inherits("QHeaderView") || widget->inherits("QDockWidgetTitleButton") ||
                               widget->inherits("QMenu") || widget->inherits("QComboBoxPrivateContainer") ||
                               widget->inherits("QComboBoxListView") || widget->inherits("QTableCornerButton") ||
                               (widget->parentWidget() != nullptr && widget->parentWidget()->inherits("QTableView") &&
                                qobject_cast<QAbstractButton*>(widget) != nullptr);
            const bool speaks =
                widget->focusPolicy() != Qt::NoFocus || qobject_cast<QAbstractButton*>(widget) != nullptr;
            if (inner || !speaks || widget->inherits("QSplitterHandle") || widget->inherits("QStackedWidget"))
                continue;
            QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
            const QString name = face != nullptr ? face->text(QAccessible::Name) : widget->accessibleName();
            if (name.trimmed().isEmpty())
                found << QStringLiteral("%1 %2 in %3")
                             .arg(QLatin1String(widget->metaObject()->className()), widget->objectName(),
                                  widget->parentWidget() != nullptr ? widget->parentWidget()->objectName() : QString());
        }
        return found;
    }

    /// As it reads: no accelerator, no "…".
    static QString plain(QString text) { return text.remove(QLatin1Char('&')).remove(QStringLiteral("…")).trimmed(); }
    static bool explains(const QString& tip, const QString& text)
    {
        return tip.trimmed().size() >= 8 && plain(tip) != plain(text);
    }
    /// Controls that do not say what they do, or only say again what stands on them.
    static QStringList unexplained(const QWidget* root)
    {
        QStringList found;
        const auto missing = [&](const QObject* object, const QString& text) {
            found << QStringLiteral("%1 %2 \"%3\"")
                         .arg(QLatin1String(object->metaObject()->className()), object->objectName(), text);
        };
        for (QWidget* widget : root->findChildren<QWidget*>()) {
            // Those of docks that lie on each other are the main window's own.
            if (auto* tabs = qobject_cast<QTabBar*>(widget);
                tabs != nullptr && qobject_cast<QMainWindow*>(tabs->parentWidget()) == nullptr)
                for (int i = 0; i < tabs->count(); ++i)
                    if (!explains(tabs->tabToolTip(i), tabs->tabText(i)))
                        missing(tabs, tabs->tabText(i));
            auto* button = qobject_cast<QAbstractButton*>(widget);
            const QWidget* parent = widget->parentWidget();
            const bool control = button != nullptr || qobject_cast<QComboBox*>(widget) != nullptr ||
                                 qobject_cast<QAbstractSpinBox*>(widget) != nullptr ||
                                 qobject_cast<QLineEdit*>(widget) != nullptr;
            // Parts of a control, whose tip shows over them too; Qt's own; and the path, which says the whole name.
            const bool inner = qobject_cast<const QComboBox*>(parent) != nullptr ||
                               qobject_cast<const QAbstractSpinBox*>(parent) != nullptr ||
                               qobject_cast<const QLineEdit*>(parent) != nullptr ||
                               qobject_cast<const QTabBar*>(parent) != nullptr || parent->inherits("QTableView") ||
                               widget->inherits("QDockWidgetTitleButton") ||
                               widget->objectName().startsWith(QLatin1String("qt_")) ||
                               parent->objectName() == QLatin1String("breadcrumbs");
            const auto* box = qobject_cast<const QDialogButtonBox*>(parent);
            const bool usual = box != nullptr && box->standardButton(button) != QDialogButtonBox::NoButton;
            if (control && !inner && !usual &&
                !explains(widget->toolTip(), button != nullptr ? button->text() : QString()))
                missing(widget, button != nullptr ? button->text() : widget->accessibleName());
        }
        return found;
    }
    static QStringList unexplainedActions(const QList<QAction*>& actions)
    {
        QStringList found;
        for (QAction* action : actions) {
            if (action->menu() != nullptr)
                found << unexplainedActions(action->menu()->actions());
            else if (!action->objectName().isEmpty() && !explains(action->toolTip(), action->text()))
                found << action->objectName();
        }
        return found;
    }

private slots:
    void init() { setUp(); }
    void cleanup() { tearDown(); }

    void the_palette_does_what_is_typed()
    {
        openUsual();
        const QPointer<CommandPalette> commands = palette(); // deleted when it closes
        QVERIFY(commands != nullptr && commands->isVisible());
        QVERIFY(commands->list()->count() > 40);
        QTest::keyClicks(commands->input(), "metric kl p99");
        QVERIFY(commands->list()->count() >= 2 && commands->list()->count() < 6);
        QTest::keyClick(commands->input(), Qt::Key_Return);
        QTRY_COMPARE(session().metric().name, std::string("kl_pq_p99"));
        QVERIFY(commands.isNull() || !commands->isVisible());
    }
    void the_palette_shows_keys_and_what_cannot_be_done()
    {
        CommandPalette* commands = palette(); // nothing is open
        QTest::keyClicks(commands->input(), "export figure");
        QCOMPARE(commands->list()->count(), 1);
        QVERIFY(commands->list()->item(0)->text().contains("Ctrl+Shift+E"));
        QVERIFY(!commands->list()->item(0)->flags().testFlag(Qt::ItemIsEnabled));
        QTest::keyClick(commands->input(), Qt::Key_Return);
        QVERIFY(commands->isVisible()); // not done
        commands->input()->clear();
        QTest::keyClicks(commands->input(), "theme");
        const int first = commands->list()->currentRow();
        QTest::keyClick(commands->input(), Qt::Key_Down);
        QCOMPARE(commands->list()->currentRow(), first + 1);
        commands->reject();
    }
    void the_cache_is_seen_and_cleared()
    {
        const auto cache = TableCache::of_user();
        QVERIFY(cache);
        QDir().mkpath(QString::fromStdString(cache->folder().string()));
        const auto put = [&](const char* name) {
            QFile file(QString::fromStdString((cache->folder() / name).string()));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(QByteArray(5000, 'x'));
        };
        cache->clear();
        put("aa.table");
        put("mine.txt");
        PreferencesDialog dialog(&session());
        dialog.show();
        QVERIFY(dialog.findChild<QLabel*>("preferencesCache")
                    ->text()
                    .contains(QString::fromStdString(cache->folder().string())));
        QVERIFY(cache->size() == 5000);
        QTest::mouseClick(dialog.findChild<QPushButton*>("preferencesClear"), Qt::LeftButton);
        QVERIFY(cache->size() == 0);
        QVERIFY(QFileInfo::exists(QString::fromStdString((cache->folder() / "mine.txt").string()))); // not ours
        QVERIFY(!dialog.findChild<QPushButton*>("preferencesClear")->isEnabled());
    }
    void the_first_window_is_what_was_chosen()
    {
        action("preferences")->trigger();
        auto* dialog = child<PreferencesDialog>("preferencesDialog");
        QVERIFY(dialog != nullptr);
        auto* box = dialog->findChild<QComboBox*>("preferencesWindow");
        box->setCurrentIndex(box->findData(qint64(256)));
        emit box->activated(box->currentIndex());
        openUsual();
        QCOMPARE(session().windowTokens(), 256);
        session().closeAll();
        openUsual();
        QCOMPARE(session().windowTokens(), 256);
        MainWindow other;
        QCOMPARE(other.session()->windowTokens(), 256);
        box->setCurrentIndex(0);
        emit box->activated(0);
        QCOMPARE(session().windowTokens(), 512); // chosen by the length again
    }
    void what_computes_is_told_by_the_environment()
    {
        QSettings().setValue("engine/choice", "cpu");
        QSettings().setValue("engine/gpu", 2);
        qunsetenv("CUDA_VISIBLE_DEVICES");
        preferences::applyEngine();
        QCOMPARE(qgetenv("FLIPSCOPE_ENGINE"), QByteArray("cpu"));
        QCOMPARE(qgetenv("CUDA_VISIBLE_DEVICES"), QByteArray("2"));
        qputenv("FLIPSCOPE_ENGINE", "reference"); // who set it wins
        preferences::applyEngine();
        QCOMPARE(qgetenv("FLIPSCOPE_ENGINE"), QByteArray("reference"));
        qunsetenv("FLIPSCOPE_ENGINE");
        qunsetenv("CUDA_VISIBLE_DEVICES");
        // Chosen in the dialog: all of them, or one, and the first is one too.
        QSettings().remove("engine");
        PreferencesDialog dialog(&session());
        auto* gpu = dialog.findChild<QSpinBox*>("preferencesGpu");
        QCOMPARE(gpu->text(), QStringLiteral("all GPUs"));
        preferences::applyEngine();
        QVERIFY(!qEnvironmentVariableIsSet("CUDA_VISIBLE_DEVICES"));
        gpu->setValue(0);
        QCOMPARE(gpu->text(), QStringLiteral("GPU 0"));
        preferences::applyEngine();
        QCOMPARE(qgetenv("CUDA_VISIBLE_DEVICES"), QByteArray("0"));
        qunsetenv("CUDA_VISIBLE_DEVICES");
        QSettings().remove("engine");
    }
    void memory_cache_and_colours_are_chosen()
    {
        qunsetenv("FLIPSCOPE_MEMORY");
        qunsetenv("FLIPSCOPE_CACHE");
        PreferencesDialog dialog(&session());
        dialog.show();
        auto* memory = dialog.findChild<QSpinBox*>("preferencesMemory");
        QCOMPARE(memory->text(), QStringLiteral("no limit"));
        memory->setValue(96);
        QCOMPARE(memory_limit(), std::int64_t{96} << 20);
        set_memory_limit(0);
        preferences::applyLimits(); // as at the next start
        QCOMPARE(memory_limit(), std::int64_t{96} << 20);
        // Another folder for what is computed from now on.
        const QString folder = m_folder->filePath("kept");
        QTest::mouseClick(dialog.findChild<QPushButton*>("preferencesCacheFolder"), Qt::LeftButton);
        auto* chooser = dialog.findChild<QFileDialog*>("cacheFolderDialog");
        QVERIFY(chooser != nullptr);
        emit chooser->fileSelected(folder);
        chooser->close();
        QVERIFY(dialog.findChild<QLabel*>("preferencesCache")->text().contains(folder));
        QCOMPARE(QString::fromStdString(TableCache::of_user()->folder().string()), folder);
        openUsual();
        // What is no folder keeps nothing, and that is said.
        QTest::mouseClick(dialog.findChild<QPushButton*>("preferencesCacheFolder"), Qt::LeftButton);
        chooser = dialog.findChildren<QFileDialog*>("cacheFolderDialog").last();
        emit chooser->fileSelected(m_files[0]);
        chooser->close();
        const QString said = dialog.findChild<QLabel*>("preferencesCache")->text();
        QVERIFY2(said.contains(m_files[0] + " is no folder that can be written to"), qPrintable(said));
        QTest::mouseClick(dialog.findChild<QPushButton*>("preferencesCacheUsual"), Qt::LeftButton);
        QVERIFY(!dialog.findChild<QLabel*>("preferencesCache")->text().contains(folder));
        QVERIFY(!dialog.findChild<QPushButton*>("preferencesCacheUsual")->isEnabled());
        auto* map = dialog.findChild<QComboBox*>("preferencesMap");
        map->setCurrentText("viridis");
        emit map->activated(map->currentIndex());
        QCOMPARE(session().colourScale().map, QStringLiteral("viridis"));
        QCOMPARE(MainWindow().session()->colourScale().map, QStringLiteral("viridis"));
        memory->setValue(0);
        QCOMPARE(memory_limit(), 0);
        QSettings().remove("view");
    }
    void boxes_to_check_are_seen_in_every_theme()
    {
        const auto luminance = [](const QColor& color) {
            const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
            return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
        };
        for (const ThemeChoice theme : {ThemeChoice::Dark, ThemeChoice::HighContrast}) {
            applyTheme(theme);
            QCheckBox box("Broken only");
            box.show();
            QStyleOptionButton option;
            option.initFrom(&box);
            const QRect indicator = box.style()->subElementRect(QStyle::SE_CheckBoxIndicator, &option, &box);
            const QImage image = box.grab().toImage();
            const double edge = luminance(image.pixelColor(indicator.left(), indicator.center().y())),
                         ground = luminance(QGuiApplication::palette().color(QPalette::Window));
            // 3 : 1, as the guidelines for accessible pages ask of parts of controls
            QVERIFY2((edge + 0.05) / (ground + 0.05) >= 3, qPrintable(QString::number(edge)));
        }
        applyTheme(ThemeChoice::Light);
    }
    void texts_of_the_preferences_fit()
    {
        PreferencesDialog dialog(&session());
        dialog.show();
        for (const QLabel* label : dialog.findChildren<QLabel*>()) {
            QVERIFY2(!label->text().contains('&') || label->buddy() != nullptr, qPrintable(label->text()));
            if (label->wordWrap())
                QVERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
        }
    }
    void high_contrast_is_black_and_white()
    {
        applyTheme(ThemeChoice::HighContrast);
        const QPalette p = QGuiApplication::palette();
        QCOMPARE(p.color(QPalette::Window), QColor(Qt::black));
        QCOMPARE(p.color(QPalette::WindowText), QColor(Qt::white));
        storeTheme(ThemeChoice::HighContrast);
        QVERIFY(storedTheme() == ThemeChoice::HighContrast);
    }
    void the_layout_comes_back()
    {
        openUsual();
        auto* dock = child<QDockWidget>("tokensDock");
        dock->setFloating(true);
        child<QDockWidget>("probeDock")->hide();
        action("resetLayout")->trigger();
        QVERIFY(!dock->isFloating() && dock->isVisible());
        QVERIFY(child<QDockWidget>("probeDock")->isVisible());
        QVERIFY(!child<QDockWidget>("notesDock")->isVisible());
    }
    void a_markdown_table_of_the_cells()
    {
        openUsual();
        action("copyMarkdown")->trigger();
        const QStringList lines = QApplication::clipboard()->text().trimmed().split('\n');
        QCOMPARE(lines.size(), 2 + 2 + 3);
        QVERIFY(lines[0].startsWith("Flip rate"));
        QCOMPARE(lines[2].count('|'), 1 + 1 + 8);
        QVERIFY2(lines[4].startsWith("| early | 0.0 % | 0.0 % | 31.2 % |"), qPrintable(lines[4])); // 5 of 16
        m_window->pages()->showPage("comparePage");
        action("copyMarkdown")->trigger();
        QVERIFY(QApplication::clipboard()->text().contains("| only A | 5 |"));
    }
    void f1_is_about_what_is_looked_at()
    {
        action("manualPage")->trigger(); // on the start page
        auto* text = child<QTextBrowser>("manualText");
        QVERIFY(text != nullptr && text->source().fileName() == "first-steps.md");
        openUsual();
        action("manualPage")->trigger();
        text = child<QTextBrowser>("manualText");
        QVERIFY(text != nullptr && text->source().fileName() == "window.md");
        m_window->pages()->showPage("comparePage");
        action("manualPage")->trigger();
        QCOMPARE(text->source().fileName(), QStringLiteral("compare.md"));
        QVERIFY(text->toPlainText().contains("McNemar"));
        for (const QString& page : QDir(manualFolder()).entryList({"*.md"}))
            QVERIFY2(showManualPage(m_window.get(), page), qPrintable(page));
        QVERIFY(!showManualPage(m_window.get(), "no-such-page.md"));
    }
    void what_is_looked_at_is_printed()
    {
        QVERIFY(!action("print")->isEnabled());
        openUsual();
        action("print")->trigger();
        auto* dialog = child<QDialog>("printDialog");
        QVERIFY(dialog != nullptr && dialog->isVisible());
        dialog->close();
        // A page of paper, whatever makes it.
        for (const bool landscape : {true, false}) {
            QBuffer buffer;
            QVERIFY(buffer.open(QIODevice::WriteOnly));
            {
                QPdfWriter page(&buffer);
                page.setPageSize(QPageSize(QPageSize::A4));
                page.setPageOrientation(landscape ? QPageLayout::Landscape : QPageLayout::Portrait);
                printFigure(figureOf(session(), FigureSpec::Chart::Heatmap), page);
            }
            QVERIFY(buffer.data().startsWith("%PDF"));
            QCOMPARE(buffer.data().count("/Type /Page\n"), 1);
            const QString tool = QStandardPaths::findExecutable("pdftotext");
            if (tool.isEmpty())
                QSKIP("The tools of poppler-utils are not installed.");
            QFile file(m_folder->filePath("page.pdf"));
            QVERIFY(file.open(QIODevice::WriteOnly) && file.write(buffer.data()) == buffer.size());
            file.close();
            QProcess process;
            process.start(tool, {"-layout", file.fileName(), "-"});
            QVERIFY(process.waitForFinished());
            const QString text = QString::fromUtf8(process.readAllStandardOutput());
            for (const char* words : {"early", "late", "Baseline: base", "50"})
                QVERIFY2(text.contains(words), qPrintable(text));
        }
    }
    void about_has_what_a_report_needs()
    {
        action("about")->trigger();
        auto* about = child<QMessageBox>("about");
        QVERIFY(about != nullptr);
        for (const char* words : {"Qt", "HDF5", "Inter", "GNU General Public License", "Platform"})
            QVERIFY2(about->informativeText().contains(words) || about->text().contains(words) ||
                         about->detailedText().contains(words),
                     words);
        about->close();
    }
    void every_control_says_what_it_does()
    {
        QCOMPARE(unexplained(m_window.get()).join("; "), QString()); // the start page
        openUsual();
        for (QDockWidget* dock : m_window->findChildren<QDockWidget*>())
            dock->show();
        for (const char* page : {"overviewPage", "comparePage", "toolCallsPage"}) {
            m_window->pages()->showPage(page);
            QCOMPARE(unexplained(m_window.get()).join("; "), QString());
        }
        QCOMPARE(unexplainedActions(m_window->menuBar()->actions()).join("; "), QString());
        QVERIFY(unexplainedActions(runs()->actions()).isEmpty());
        for (const char* name : {"partition", "metric", "colourScale", "lineMetric", "flipStops"}) {
            const auto* box = child<QComboBox>(name);
            for (int i = 0; i < box->count(); ++i)
                QVERIFY2(explains(box->itemData(i, Qt::ToolTipRole).toString(), box->itemText(i)), name);
        }
        const auto before = m_window->findChildren<QDialog*>();
        for (const char* name :
             {"exportFigure", "preferences", "commandPalette", "manual", "manualPage", "about", "captureTrace"})
            action(name)->trigger();
        child<QToolButton>("limits")->click();
        int dialogs = 0;
        for (QDialog* dialog : m_window->findChildren<QDialog*>())
            if (!before.contains(dialog)) {
                QCOMPARE(unexplained(dialog).join("; "), QString());
                ++dialogs;
            }
        QVERIFY(dialogs >= 8);
        const ReadingDialog reading(&session(), {run("early")->id, {}, {}, {}});
        QCOMPARE(unexplained(&reading).join("; "), QString());
        const LocateDialog locate(m_window->sessionOpener());
        QCOMPARE(unexplained(&locate).join("; "), QString());
    }
    void every_widget_has_a_name()
    {
        openUsual();
        QCOMPARE(nameless(m_window.get()).join(QLatin1String(", ")), QString());
        m_window->pages()->showPage("comparePage");
        QCOMPARE(nameless(m_window.get()).join(QLatin1String(", ")), QString());
        for (const char* name : {"exportFigure", "preferences", "commandPalette", "manual", "manualPage",
                                 "saveSessionAs", "captureTrace"}) {
            const auto before = m_window->findChildren<QDialog*>();
            action(name)->trigger();
            for (QDialog* dialog : m_window->findChildren<QDialog*>())
                if (!before.contains(dialog)) {
                    if (!dialog->inherits("QFileDialog")) // Qt's own
                        QCOMPARE(nameless(dialog).join(QLatin1String(", ")), QString());
                    delete dialog;
                }
        }
    }
};

FLIPSCOPE_GUI_TEST(TestComfort)
#include "tst_comfort.moc"
