// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the manual's pictures of the window on the sample: `manual_pictures FOLDER [dark]`. Not part of ctest.
#include "tests/ui/ui_fixture.h"

#include "ui/charts/chart_style.h"
#include "ui/window/main_window.h"
#include "ui/window/page_stack.h"
#include "ui/window/samples.h"
#include "ui/window/theme.h"

#include <QDockWidget>
#include <QTabWidget>

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

} // namespace

int main(int argc, char** argv)
{
    test::isolate();
    QApplication app(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() < 2)
        return 2;
    const QDir folder(arguments[1]);
    loadExportFonts();
    applyTheme(arguments.value(2) == QLatin1String("dark") ? ThemeChoice::Dark : ThemeChoice::Light);
    QLocale::setDefault(QLocale(QLocale::English));
    MainWindow window;
    window.resize(1440, 900);
    window.show();
    window.openFiles(sampleFiles());
    if (!test::idle(*window.session(), 60'000))
        return 1;
    Session& session = *window.session();
    const SessionRun *a = named(session, "kv_q4_0"), *b = named(session, "w_q2_k");
    if (a == nullptr || b == nullptr)
        return 1;
    const auto picture = [&](const char* name) {
        settle();
        return window.grab().save(folder.filePath(QLatin1String(name) + QStringLiteral(".png")));
    };
    session.setComparedRuns(a->id, b->id);
    Place place;
    place.run = b->id;
    place.windowStart = 0;
    session.path().go(place);
    for (QDockWidget* dock : window.findChildren<QDockWidget*>())
        if (dock->objectName() != QLatin1String("runsDock"))
            dock->hide();
    window.pages()->showPage(QStringLiteral("comparePage"));
    bool ok = picture("compare");
    auto* tabs = window.findChild<QTabWidget*>(QStringLiteral("compareTabs"));
    tabs->setCurrentIndex(2);
    ok = picture("compare-texts") && ok;
    tabs->setCurrentIndex(1);
    ok = picture("compare-settings") && ok;
    window.pages()->showPage(QStringLiteral("toolCallsPage"));
    ok = picture("tool-calls") && ok;
    session.addBookmark({1024, b->id, "the first window where the weights are worse"});
    window.findChild<QDockWidget*>(QStringLiteral("notesDock"))->show();
    window.pages()->showPage(QStringLiteral("overviewPage"));
    ok = picture("notes") && ok;
    return ok ? 0 : 1;
}
