// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the manual's pictures of the window: `manual_pictures FOLDER [light|dark|contrast] [all]`, with `all` those of
// every other view too, to be looked at. Captures need the Python of FLIPSCOPE_PYTHON, else python3. Not part of ctest.
#include "tests/ui/ui_fixture.h"

#include "ui/capture/capture_dialog.h"
#include "ui/charts/chart_style.h"
#include "ui/window/figures.h"
#include "ui/window/limits_dialog.h"
#include "ui/window/main_window.h"
#include "ui/window/page_stack.h"
#include "ui/window/reading_dialog.h"
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
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QToolButton>

#include <algorithm>

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
    click(window.findChild<QToolButton*>(QStringLiteral("compareSwap"))); // A was the run that was looked at
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

/// With the sample open and computed.
bool showSample(MainWindow& window)
{
    window.resize(1440, 900);
    window.show();
    window.openFiles(sampleFiles());
    return test::idle(*window.session(), 60'000);
}

/// The pages of the centre, each with what its own manual page tells.
bool pages(const QDir& folder)
{
    MainWindow window;
    if (!showSample(window))
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
    FigureSpec chart = figureOf(session, FigureSpec::Chart::Position);
    chart.size = {1000, 490};
    ok = exportFigure(chart, folder.filePath(QStringLiteral("chart-position.png"))).has_value() && ok;
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

/// Says what a person would have there, while the picture is taken.
void write(QWidget* parent, const char* field, const QString& text)
{
    parent->findChild<QLineEdit*>(QLatin1String(field))->setText(text);
}

void fillEngine(CaptureDialog* dialog, const QDir& place, const char* name, const char* options)
{
    dialog->findChild<QTabWidget*>(QStringLiteral("captureSource"))->setCurrentIndex(1);
    auto* engine = dialog->findChild<QComboBox*>(QStringLiteral("captureEngine"));
    engine->setCurrentText(QStringLiteral("simulated"));
    write(dialog, "captureMore", QLatin1String(options));
    write(dialog, "capturePromptFile", place.filePath(QStringLiteral("agent.txt")));
    write(dialog, "captureOut", place.filePath(QLatin1String(name)));
    write(dialog, "captureInterpreter", {});
}

/// File → Capture as it is filled in for a server, and a capture of the simulated engine that is under way.
bool captures(const QDir& folder)
{
    const QTemporaryDir temporary;
    const QDir place(temporary.path());
    QFile prompt(place.filePath(QStringLiteral("agent.txt")));
    if (!prompt.open(QIODevice::WriteOnly))
        return false;
    for (int i = 0; i < 500; ++i)
        prompt.write(QStringLiteral("Look at interface %1, then say what you see.\n").arg(i % 24).toUtf8());
    prompt.close();
    MainWindow window;
    window.resize(1440, 900);
    window.show();
    window.findChild<QAction*>(QStringLiteral("captureTrace"))->trigger();
    auto* dialog = window.findChild<CaptureDialog*>();
    write(dialog, "captureAddress", QStringLiteral("http://gpu-server:8000"));
    dialog->findChild<QComboBox*>(QStringLiteral("captureModel"))->setCurrentText(QStringLiteral("Qwen/Qwen3-8B-FP8"));
    write(dialog, "captureTopK", QStringLiteral("50"));
    write(dialog, "capturePromptFile", QStringLiteral("/home/you/prompts/agent.json"));
    write(dialog, "captureOut", QStringLiteral("/home/you/traces/qwen3-8b-fp8.h5"));
    dialog->findChild<QSpinBox*>(QStringLiteral("captureContinuations"))->setValue(256);
    const auto picture = [&](QWidget* widget, const char* name) {
        settle();
        return widget->grab().save(folder.filePath(QLatin1String(name) + QStringLiteral(".png")));
    };
    bool ok = picture(dialog, "capture");
    dialog->findChild<QSpinBox*>(QStringLiteral("captureContinuations"))->setValue(0);
    fillEngine(dialog, place, "baseline.h5", "--vocab 512");
    click(dialog->findChild<QPushButton*>(QStringLiteral("captureStart")));
    const auto running = [&] { return dialog->job()->isRunning(); };
    if (!QTest::qWaitFor([&] { return !running() && window.session()->baseline() != nullptr; }, 60'000) ||
        !test::idle(*window.session(), 60'000))
        return false;
    window.session()->setWindowTokens(2048);
    fillEngine(dialog, place, "noisy.h5", "--vocab 512 --noise 0.4 --chunk 256 --delay 0.1");
    click(dialog->findChild<QPushButton*>(QStringLiteral("captureStart")));
    const auto rows = [&] {
        const HeatmapGrid grid = window.session()->heatmap();
        return grid.rows.empty()
                   ? 0
                   : std::ranges::count(grid.rows[0].cells, HeatmapCell::State::Value, &HeatmapCell::state);
    };
    if (!QTest::qWaitFor([&] { return rows() >= 6 || !running(); }, 60'000) || !running())
        return false;
    write(dialog, "capturePromptFile", QStringLiteral("/home/you/prompts/agent.txt"));
    write(dialog, "captureOut", QStringLiteral("/home/you/traces/noisy.h5"));
    ok = picture(dialog, "capture-running") && ok;
    dialog->hide();
    ok = picture(&window, "capture-live") && ok;
    dialog->job()->stop();
    return QTest::qWaitFor([&] { return !running(); }, 20'000) && ok;
}

/// What the manual has no picture of, to be looked at in every theme and scale.
bool others(const QDir& folder)
{
    MainWindow window;
    if (!showSample(window))
        return false;
    Session& session = *window.session();
    bool ok = true;
    const auto picture = [&](QWidget* widget, const QString& name) {
        settle();
        ok = widget->grab().save(folder.filePath(QStringLiteral("look-") + name + QStringLiteral(".png"))) && ok;
    };
    Place place;
    place.run = named(session, "kv_q4_0")->id;
    place.windowStart = 4096;
    place.probe = 4351;
    place.token = 4352;
    session.path().go(place);
    auto* charts = window.findChild<QTabWidget*>(QStringLiteral("charts"));
    for (int i = 1; i < charts->count(); ++i) {
        charts->setCurrentIndex(i);
        picture(charts, QStringLiteral("charts-%1").arg(i));
    }
    charts->setCurrentIndex(1);
    for (QDockWidget* dock : window.findChildren<QDockWidget*>()) {
        dock->show();
        dock->raise();
        if (dock->objectName() == QLatin1String("printoutsDock"))
            window.openFiles({QStringLiteral(FLIPSCOPE_TEST_DATA "/answers/kl_divergence.txt")});
        test::idle(session, 60'000);
        picture(dock, dock->objectName());
    }
    session.setPartition(Partition::Segments);
    ColourScale scale = session.colourScale();
    scale.kind = ColourScale::Kind::Log;
    session.setColourScale(scale);
    session.setMetric(QStringLiteral("kl_pq_mean"));
    picture(&window, QStringLiteral("segments"));
    for (const char* name : {"exportFigure", "preferences", "commandPalette", "manualPage", "manual", "about"}) {
        const auto before = window.findChildren<QDialog*>();
        window.findChild<QAction*>(QLatin1String(name))->trigger();
        for (QDialog* dialog : window.findChildren<QDialog*>())
            if (!before.contains(dialog)) {
                picture(dialog, QLatin1String(name));
                delete dialog;
            }
    }
    ReadingDialog reading(&session, {-1,
                                     QStringLiteral("/home/you/rows.npy"),
                                     QStringLiteral("rows.npy: two raw bytes an element; say what they are (--dtype)."),
                                     {}});
    reading.show();
    write(&reading, "stride", QStringLiteral("0")); // a field that makes no sense, and what is said of it
    picture(&reading, QStringLiteral("reading"));
    LimitsDialog limits(&session);
    limits.show();
    picture(&limits, QStringLiteral("limits"));
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
    applyTheme(arguments.contains(QStringLiteral("dark"))       ? ThemeChoice::Dark
               : arguments.contains(QStringLiteral("contrast")) ? ThemeChoice::HighContrast
                                                                : ThemeChoice::Light);
    QLocale::setDefault(QLocale(QLocale::English));
    bool ok = firstSteps(folder);
    ok = pages(folder) && ok;
    ok = captures(folder) && ok;
    if (arguments.contains(QStringLiteral("all")))
        ok = others(folder) && ok;
    return ok ? 0 : 1;
}
