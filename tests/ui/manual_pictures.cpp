// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the manual's pictures of the window on the sample: `manual_pictures FOLDER [dark]`. Not part of ctest.
#include "tests/ui/ui_fixture.h"

#include "ui/charts/chart_style.h"
#include "ui/window/main_window.h"
#include "ui/window/page_stack.h"
#include "ui/window/samples.h"
#include "ui/window/theme.h"

#include <QAction>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTabWidget>
#include <QTextBrowser>

using namespace flipscope;

namespace {

void settle()
{
    for (int i = 0; i < 20; ++i) {
        QCoreApplication::processEvents();
        QTest::qWait(20);
    }
}

const SessionRun* named(const Session& session, const char* name)
{
    for (const SessionRun& run : session.runs())
        if (run.name == QLatin1String(name))
            return &run;
    return nullptr;
}

void click(QWidget* widget)
{
    QTest::mouseClick(widget, Qt::LeftButton);
}

void choose(MainWindow& window, const char* box, const char* text)
{
    auto* combo = window.findChild<QComboBox*>(QLatin1String(box));
    combo->setCurrentText(QLatin1String(text));
    emit combo->activated(combo->currentIndex());
}

/// What first-steps.md tells, done as a person does it: a picture after each step.
bool firstSteps(const QDir& folder)
{
    MainWindow window;
    window.resize(1440, 980);
    window.show();
    int step = 0;
    const auto picture = [&](QWidget* widget) {
        settle();
        return widget->grab().save(folder.filePath(QStringLiteral("first-steps-%1.png").arg(++step)));
    };
    bool ok = picture(&window);
    click(window.findChild<QPushButton*>(QStringLiteral("startSample")));
    if (!test::idle(*window.session(), 60'000))
        return false;
    ok = picture(&window) && ok;
    window.findChild<QAction*>(QStringLiteral("toolCallsPageAction"))->trigger();
    settle();
    const SessionRun* run = named(*window.session(), "kv_q4_0");
    emit window.findChild<QTextBrowser*>(QStringLiteral("toolCallsSummary"))
        ->anchorClicked(QUrl(QStringLiteral("first:%1").arg(run->id)));
    ok = picture(&window) && ok;
    window.findChild<QAction*>(QStringLiteral("comparePageAction"))->trigger();
    choose(window, "compareA", "w_q2_k");
    choose(window, "compareB", "kv_q4_0");
    ok = picture(&window) && ok;
    window.findChild<QAction*>(QStringLiteral("exportFigure"))->trigger();
    auto* dialog = window.findChild<QDialog*>(QStringLiteral("exportDialog"));
    const QString file = QDir::temp().filePath(QStringLiteral("flipscope-compare.png"));
    QFile::remove(file);
    auto* path = dialog->findChild<QLineEdit*>(QStringLiteral("exportPath"));
    path->setText(QStringLiteral("/home/you/Pictures/flipscope-compare.png"));
    ok = picture(dialog) && ok;
    path->setText(file);
    dialog->findChild<QSpinBox*>(QStringLiteral("exportDpi"))->setValue(96);
    click(dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save));
    const QString sixth = folder.filePath(QStringLiteral("first-steps-6.png"));
    QFile::remove(sixth);
    return QFile::rename(file, sixth) && ok;
}

/// The pages of the centre, each with what its own manual page tells.
bool pages(const QDir& folder)
{
    MainWindow window;
    window.resize(1440, 900);
    window.show();
    window.openFiles(sampleFiles());
    if (!test::idle(*window.session(), 60'000))
        return false;
    Session& session = *window.session();
    const SessionRun *a = named(session, "kv_q4_0"), *b = named(session, "w_q2_k");
    if (a == nullptr || b == nullptr)
        return false;
    const auto picture = [&](const char* name) {
        settle();
        return window.grab().save(folder.filePath(QLatin1String(name) + QStringLiteral(".png")));
    };
    Place place; // where the KV cache in 4 bits flips
    place.run = a->id;
    place.windowStart = 4096;
    place.probe = 4351;
    place.token = 4352;
    session.path().go(place);
    bool ok = picture("window");
    session.setComparedRuns(a->id, b->id);
    place = {};
    place.run = b->id;
    place.windowStart = 0;
    session.path().go(place);
    for (QDockWidget* dock : window.findChildren<QDockWidget*>())
        if (dock->objectName() != QLatin1String("runsDock"))
            dock->hide();
    window.pages()->showPage(QStringLiteral("comparePage"));
    ok = picture("compare") && ok;
    auto* tabs = window.findChild<QTabWidget*>(QStringLiteral("compareTabs"));
    tabs->setCurrentIndex(2);
    ok = picture("compare-texts") && ok;
    tabs->setCurrentIndex(1);
    ok = picture("compare-settings") && ok;
    window.findChild<QAction*>(QStringLiteral("goBrokenCall"))->trigger();
    ok = picture("tool-calls") && ok;
    session.addBookmark({1024, b->id, "the first window where the weights are worse"});
    window.findChild<QDockWidget*>(QStringLiteral("notesDock"))->show();
    window.pages()->showPage(QStringLiteral("overviewPage"));
    ok = picture("notes") && ok;
    return ok;
}

} // namespace

int main(int argc, char** argv)
{
    test::isolate();
    qputenv("FLIPSCOPE_ENGINE", "cpu"); // no word on where a module was looked for
    QApplication app(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() < 2)
        return 2;
    const QDir folder(arguments[1]);
    loadExportFonts();
    applyTheme(arguments.value(2) == QLatin1String("dark") ? ThemeChoice::Dark : ThemeChoice::Light);
    QLocale::setDefault(QLocale(QLocale::English));
    const bool steps = firstSteps(folder);
    return pages(folder) && steps ? 0 : 1;
}
