// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/colormap.h"
#include "ui/models/number_text.h"
#include "ui/views/notes_panel.h"
#include "ui/window/figures.h"
#include "ui/window/heatmap_panel.h"
#include "ui/window/help.h"
#include "ui/window/main_window.h"
#include "ui/window/page_stack.h"
#include "ui/window/samples.h"
#include "ui/window/start_page.h"
#include "ui/window/theme.h"
#include "ui/window/tool_calls_page.h"
#include "ui/window/view_controls.h"

#include <QActionGroup>
#include <QDir>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>
#include <QStatusBar>
#include <QTableView>

namespace flipscope {

namespace {

const QString openFolderKey = QStringLiteral("open/folder");

QString lastFolder()
{
    const QString stored = QSettings().value(openFolderKey).toString();
    return QFileInfo(stored).isDir() ? stored : QDir::homePath();
}

/// An action that can be found by tests and scripts, and says what it does.
QAction* add(QMenu* menu, const QString& text, const QString& name, const QString& help,
             const QKeySequence& shortcut = {})
{
    QAction* action = menu->addAction(text);
    action->setObjectName(name);
    action->setToolTip(help);
    action->setShortcut(shortcut);
    menu->setToolTipsVisible(true);
    return action;
}

} // namespace

void MainWindow::makeMenus()
{
    makeFileMenu();
    makeViewMenu();
    makeGoMenu();
    makeHelpMenu();
}

void MainWindow::makeFileMenu()
{
    QMenu* file = menuBar()->addMenu(tr("&File"));
    connect(add(file, tr("&Open …"), QStringLiteral("open"),
                tr("Choose trace files or a saved session; the first trace of an empty window becomes the baseline"),
                QKeySequence::Open),
            &QAction::triggered, this, &MainWindow::chooseFiles);
    connect(add(file, tr("Open &folder …"), QStringLiteral("openFolder"), tr("Open every trace that lies in a folder"),
                Qt::CTRL | Qt::SHIFT | Qt::Key_O),
            &QAction::triggered, this, &MainWindow::chooseFolder);
    m_sample = add(file, tr("Open &sample"), QStringLiteral("openSample"),
                   tr("A small real session: a baseline and four runs of one model, with tool calls"));
    connect(m_sample, &QAction::triggered, this, &MainWindow::openSample);
    connect(add(file, tr("Ca&pture …"), QStringLiteral("captureTrace"),
                tr("Record a trace from a server or an engine of this machine, and watch it fill in")),
            &QAction::triggered, this, &MainWindow::showCapture);
    m_recentMenu = file->addMenu(tr("&Recent files"));
    m_recentMenu->setObjectName(QStringLiteral("recentMenu"));
    connect(file, &QMenu::aboutToShow, this, &MainWindow::fillRecent);
    file->addSeparator();
    makeSessionMenu(file);
    file->addSeparator();
    m_reload = add(file, tr("Re&load"), QStringLiteral("reload"), tr("Read all files again and compute what changed"),
                   Qt::Key_F5);
    connect(m_reload, &QAction::triggered, m_session, &Session::reload);
    m_verify = add(file, tr("&Verify"), QStringLiteral("verify"),
                   tr("Computes everything again from the rows and compares with what was computed before"));
    connect(m_verify, &QAction::triggered, m_session, &Session::verify);
    m_stop = add(file, tr("S&top"), QStringLiteral("stop"), tr("Stop reading and computing; what is done stays"),
                 Qt::Key_Escape);
    connect(m_stop, &QAction::triggered, m_session, &Session::cancel);
    file->addSeparator();
    m_exportFigure = add(file, tr("&Export figure …"), QStringLiteral("exportFigure"),
                         tr("Write the heatmap, a chart or the comparison as PNG, SVG, PDF or CSV"),
                         Qt::CTRL | Qt::SHIFT | Qt::Key_E);
    connect(m_exportFigure, &QAction::triggered, this, &MainWindow::exportFigure);
    m_exportNumbers = add(file, tr("Export &numbers …"), QStringLiteral("exportNumbers"),
                          tr("Write windows, probes, cells or notes as CSV, or all statistics as JSON"));
    connect(m_exportNumbers, &QAction::triggered, this, &MainWindow::exportNumbers);
    m_print = add(file, tr("&Print …"), QStringLiteral("print"),
                  tr("Print what is looked at: the heatmap, or the comparison"), QKeySequence::Print);
    connect(m_print, &QAction::triggered, this, &MainWindow::printFigure);
    m_copyFigure =
        add(file, tr("&Copy figure"), QStringLiteral("copyFigure"),
            tr("Put what is looked at on the clipboard, as a picture and as SVG"), Qt::CTRL | Qt::SHIFT | Qt::Key_C);
    connect(m_copyFigure, &QAction::triggered, this, &MainWindow::copyFigure);
    m_copyMarkdown =
        add(file, tr("Copy as &Markdown table"), QStringLiteral("copyMarkdown"),
            tr("Put the cells of the heatmap, or the paired statistics, on the clipboard as a table for a text"));
    connect(m_copyMarkdown, &QAction::triggered, this, &MainWindow::copyMarkdown);
    file->addSeparator();
    m_closeAll = add(file, tr("Close &all"), QStringLiteral("closeAll"), tr("Close all traces; files stay as they are"),
                     Qt::CTRL | Qt::SHIFT | Qt::Key_W);
    connect(m_closeAll, &QAction::triggered, m_session, &Session::closeAll);
    connect(add(file, tr("&Quit"), QStringLiteral("quit"), tr("Close this window; the program ends with its last one"),
                QKeySequence::Quit),
            &QAction::triggered, this, &QWidget::close);
    fillRecent();
}

void MainWindow::fillRecent()
{
    m_recentMenu->clear();
    const auto entries = recent::entries();
    for (qsizetype i = 0; i < entries.size(); ++i) {
        const RecentEntry& entry = entries[i];
        QString title = recent::title(entry);
        title.replace(QLatin1Char('&'), QStringLiteral("&&"));
        QAction* action = add(m_recentMenu, title, QStringLiteral("recent%1").arg(i + 1), entry.join(QLatin1Char('\n')),
                              QKeySequence(Qt::ALT | static_cast<Qt::Key>(Qt::Key_1 + i)));
        connect(action, &QAction::triggered, this, [this, entry] { openSet(entry); });
    }
    m_recentMenu->setEnabled(!entries.isEmpty());
    m_recentMenu->addSeparator();
    connect(
        m_recentMenu->addAction(tr("&Forget these")), &QAction::triggered, this,
        [this] {
            recent::clear();
            fillRecent();
            m_start->refresh();
        },
        Qt::QueuedConnection); // the menu is filled anew, which deletes the very action
}

void MainWindow::makeViewMenu()
{
    QMenu* view = menuBar()->addMenu(tr("&View"));
    m_byMenu = view->addMenu(tr("&By"));
    m_windowMenu = view->addMenu(tr("&Window size"));
    m_metricMenu = view->addMenu(tr("&Metric"));
    m_scaleMenu = view->addMenu(tr("&Colour scale"));
    for (QMenu* menu : {m_byMenu, m_windowMenu, m_metricMenu, m_scaleMenu})
        menu->setToolTipsVisible(true);
    view->addSeparator();
    m_docksMenu = view->addMenu(tr("&Panels"));
    for (QDockWidget* dock : std::as_const(m_docks))
        m_docksMenu->addAction(dock->toggleViewAction());
    connect(add(view, tr("&Reset layout"), QStringLiteral("resetLayout"),
                tr("Put all panels back where they were at first")),
            &QAction::triggered, this, &MainWindow::resetLayout);
    QMenu* theme = view->addMenu(tr("&Theme"));
    auto* themes = new QActionGroup(this);
    const auto addTheme = [&](const QString& text, const QString& name, ThemeChoice choice, const QString& help) {
        QAction* action = add(theme, text, name, help);
        action->setCheckable(true);
        action->setChecked(storedTheme() == choice);
        themes->addAction(action);
        connect(action, &QAction::triggered, this, [choice] {
            storeTheme(choice);
            applyTheme(choice);
        });
    };
    addTheme(tr("As the &system"), QStringLiteral("themeSystem"), ThemeChoice::System,
             tr("Light or dark as the desktop is"));
    addTheme(tr("&Light"), QStringLiteral("themeLight"), ThemeChoice::Light, tr("Dark letters on light ground"));
    addTheme(tr("&Dark"), QStringLiteral("themeDark"), ThemeChoice::Dark, tr("Light letters on dark ground"));
    addTheme(tr("&High contrast"), QStringLiteral("themeContrast"), ThemeChoice::HighContrast,
             tr("White and yellow on black, for weak eyes"));
    connect(add(view, tr("Pre&ferences …"), QStringLiteral("preferences"),
                tr("Theme, first window size, colours, what computes, and the cache"), Qt::CTRL | Qt::Key_Comma),
            &QAction::triggered, this, &MainWindow::showPreferences);
    connect(view, &QMenu::aboutToShow, this, &MainWindow::fillViewMenus);
    fillViewMenus();
}

void MainWindow::fillViewMenus()
{
    const auto choice = [this](QMenu* menu, const QString& text, bool checked, auto&& act) {
        QAction* action = menu->addAction(text);
        action->setCheckable(true);
        action->setChecked(checked);
        connect(action, &QAction::triggered, this, std::forward<decltype(act)>(act));
        return action;
    };
    m_byMenu->clear();
    const auto by = [&](const QString& text, const QString& name, Partition partition, const QString& help) {
        QAction* action = choice(m_byMenu, text, m_session->partition() == partition,
                                 [this, partition] { m_session->setPartition(partition); });
        action->setObjectName(name);
        const QString why = m_session->whyNotBy(partition);
        action->setEnabled(why.isEmpty());
        action->setToolTip(why.isEmpty() ? help : why);
    };
    by(tr("&Windows of equally many tokens"), QStringLiteral("byWindows"), Partition::Windows,
       tr("Each column is equally long"));
    by(tr("&Segments"), QStringLiteral("bySegments"), Partition::Segments,
       tr("Each column is a piece of the prompt: system, user, assistant, thinking, tool or tool call"));
    by(tr("&Turns"), QStringLiteral("byTurns"), Partition::Turns,
       tr("Each column goes from one message of the user to the next"));

    m_windowMenu->clear();
    m_windowMenu->setEnabled(m_session->partition() == Partition::Windows);
    choice(m_windowMenu, tr("&Choose by length"), m_session->windowChosen(), [this] {
        m_session->setWindowTokens(0);
    })->setToolTip(tr("The usual 8,000 tokens, or fewer where the history is short"));
    m_windowMenu->addSeparator();
    for (const qint64 size : offeredWindowSizes())
        choice(m_windowMenu, tr("%1 tokens").arg(groupedText(size)), m_session->windowTokens() == size,
               [this, size] { m_session->setWindowTokens(size); });
    m_windowMenu->addSeparator();
    connect(m_windowMenu->addAction(tr("&Other …")), &QAction::triggered, this, &MainWindow::otherWindowSize);

    m_metricMenu->clear();
    QString family;
    for (const WindowMetric& metric : window_metrics()) {
        const QString name = QString::fromStdString(metric.name);
        const QString itsFamily = metric.counts_flips ? QStringLiteral("flips") : name.section(QLatin1Char('_'), 0, -2);
        if (!family.isEmpty() && itsFamily != family)
            m_metricMenu->addSeparator();
        family = itsFamily;
        choice(m_metricMenu, metricTitle(metric), &m_session->metric() == &metric, [this, name] {
            m_session->setMetric(name);
        })->setToolTip(QString::fromStdString(metric.description));
    }

    m_scaleMenu->clear();
    const ColourScale& scale = m_session->colourScale();
    const auto kind = [&](const QString& text, ColourScale::Kind value, const QString& help) {
        choice(m_scaleMenu, text, scale.kind == value, [this, value] {
            ColourScale changed = m_session->colourScale();
            changed.kind = value;
            m_session->setColourScale(changed);
        })->setToolTip(help);
    };
    kind(tr("&Linear"), ColourScale::Kind::Linear, tr("Twice the value is twice as far along the scale"));
    kind(tr("Lo&garithmic"), ColourScale::Kind::Log,
         tr("Each tenfold is one step, so that small values differ too; 0 has the first colour"));
    kind(tr("By &rank"), ColourScale::Kind::Percentile,
         tr("As many cells in each step of colour, whatever their values (percentiles)"));
    m_scaleMenu->addSeparator();
    for (const QString& map : colormapNames())
        choice(m_scaleMenu, map, scale.map == map, [this, map] {
            ColourScale changed = m_session->colourScale();
            changed.map = map;
            m_session->setColourScale(changed);
        });
    m_scaleMenu->addSeparator();
    connect(m_scaleMenu->addAction(tr("L&imits …")), &QAction::triggered, m_heatmap->controls(),
            &ViewControls::editLimits);
}

/// From anywhere to the page of tool calls; there, to the next one.
void MainWindow::goToBrokenCall()
{
    if (m_session->runs().empty())
        return;
    const bool there = m_pages->current() == QLatin1String("toolCallsPage");
    m_pages->showPage(QStringLiteral("toolCallsPage"));
    auto* page = qobject_cast<ToolCallsPage*>(m_pages->page(QStringLiteral("toolCallsPage")));
    if (there)
        page->nextBroken();
    else
        page->goToCurrent();
    page->table()->setFocus();
}

void MainWindow::makeGoMenu()
{
    QMenu* go = menuBar()->addMenu(tr("&Go"));
    if (m_pages->actions().size() > 1) {
        go->addActions(m_pages->actions());
        go->addSeparator();
    }
    m_down = add(go, tr("&Down to what is worst"), QStringLiteral("goDown"),
                 tr("From the run to its worst window, from there to the worst probe, and on to the token"),
                 Qt::CTRL | Qt::Key_Return);
    connect(m_down, &QAction::triggered, m_heatmap, &HeatmapPanel::goDown);
    m_up = add(go, tr("&Up"), QStringLiteral("goUp"),
               tr("From the token to the probe, from there to the window, and on to the run"), Qt::Key_Backspace);
    connect(m_up, &QAction::triggered, &m_session->path(), &DrilldownPath::up);
    connect(add(go, tr("Next broken &tool call"), QStringLiteral("goBrokenCall"),
                tr("The next tool call that a run breaks, on the page of tool calls"), Qt::Key_T),
            &QAction::triggered, this, &MainWindow::goToBrokenCall);
    go->addSeparator();
    m_back = add(go, tr("&Back"), QStringLiteral("goBack"), tr("Where you were before"), Qt::ALT | Qt::Key_Left);
    connect(m_back, &QAction::triggered, &m_session->path(), &DrilldownPath::back);
    m_forward = add(go, tr("&Forward"), QStringLiteral("goForward"), tr("Where you were before you went back"),
                    Qt::ALT | Qt::Key_Right);
    connect(m_forward, &QAction::triggered, &m_session->path(), &DrilldownPath::forward);
    go->addSeparator();
    m_bookmark = add(go, tr("Book&mark here"), QStringLiteral("bookmarkHere"),
                     tr("Keep the position that is looked at, with a note"), Qt::CTRL | Qt::Key_D);
    connect(m_bookmark, &QAction::triggered, m_notes, &NotesPanel::bookmarkHere);
}

void MainWindow::makeHelpMenu()
{
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    connect(add(help, tr("&Manual of this view"), QStringLiteral("manualPage"),
                tr("The page of the manual about what has the focus"), QKeySequence::HelpContents),
            &QAction::triggered, this, &MainWindow::showManualOfView);
    connect(add(help, tr("&Commands …"), QStringLiteral("commandPalette"),
                tr("Find any entry of these menus by typing"), Qt::CTRL | Qt::SHIFT | Qt::Key_P),
            &QAction::triggered, this, &MainWindow::showCommands);
    connect(add(help, tr("&Keys and numbers"), QStringLiteral("manual"), tr("All keys, and what every number means"),
                Qt::CTRL | Qt::Key_F1),
            &QAction::triggered, this, [this] { showManual(this); });
    connect(add(help, tr("&About Flipscope"), QStringLiteral("about"),
                tr("Version, licences, and what a report of a fault needs")),
            &QAction::triggered, this, [this] { showAbout(this, *m_session); });
}

void MainWindow::updateActions()
{
    const bool open = m_session->baseline() != nullptr;
    const bool compared = open && !m_session->visibleRuns().empty();
    const bool sample = !sampleFiles().isEmpty();
    m_sample->setEnabled(sample);
    m_sample->setText(sample ? tr("Open &sample") : tr("Open &sample (not installed)"));
    for (QAction* action : {m_reload, m_closeAll, m_saveSession, m_saveSessionAs})
        action->setEnabled(open);
    for (QAction* action : {m_exportFigure, m_exportNumbers, m_print, m_copyFigure, m_copyMarkdown})
        action->setEnabled(compared);
    m_verify->setEnabled(compared && !m_session->busy());
    m_stop->setEnabled(m_session->busy());
    DrilldownPath& path = m_session->path();
    m_up->setEnabled(path.place().depth() != Place::Depth::Top);
    m_down->setEnabled(compared && path.place().depth() != Place::Depth::Token);
    m_back->setEnabled(path.canBack());
    m_forward->setEnabled(path.canForward());
    m_bookmark->setEnabled(path.place().windowStart >= 0);
}

// --- what the menus do ---

void MainWindow::chooseFiles()
{
    auto* dialog = new QFileDialog(this, tr("Open traces"), lastFolder(),
                                   tr("Traces and sessions (*.h5 *.hdf5 *.flipscope);;All files (*)"));
    dialog->setObjectName(QStringLiteral("openDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    connect(dialog, &QFileDialog::filesSelected, this, [this](const QStringList& files) {
        if (files.isEmpty())
            return;
        QSettings().setValue(openFolderKey, QFileInfo(files.front()).absolutePath());
        openFiles(files);
    });
    dialog->open();
}

void MainWindow::chooseFolder()
{
    auto* dialog = new QFileDialog(this, tr("Open all traces of a folder"), lastFolder());
    dialog->setObjectName(QStringLiteral("openFolderDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& folder) {
        QSettings().setValue(openFolderKey, folder);
        openFiles({folder});
    });
    dialog->open();
}

void MainWindow::openSample()
{
    openSet(sampleFiles());
}

void MainWindow::openSet(const QStringList& paths)
{
    if (paths.isEmpty())
        return;
    m_session->closeAll();
    openFiles(paths);
}

void MainWindow::otherWindowSize()
{
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Window size"));
    dialog->setLabelText(tr("Tokens of context in one column"));
    dialog->setInputMode(QInputDialog::IntInput);
    dialog->setIntRange(1, 100'000'000);
    dialog->setIntValue(static_cast<int>(m_session->windowTokens()));
    connect(dialog, &QInputDialog::intValueSelected, m_session, &Session::setWindowTokens);
    dialog->open();
}

void MainWindow::exportNumbers()
{
    struct Kind {
        QString filter;
        NumbersKind kind;
    };
    const QVector<Kind> kinds{{tr("Windows of all runs (*.csv)"), NumbersKind::Windows},
                              {tr("Probes of all runs (*.csv)"), NumbersKind::Probes},
                              {tr("Cells of the heatmap (*.csv)"), NumbersKind::Heatmap},
                              {tr("All statistics as JSON (*.json)"), NumbersKind::Json},
                              {tr("Notes and bookmarks (*.csv)"), NumbersKind::Notes}};
    QStringList filters;
    for (const Kind& kind : kinds)
        filters << kind.filter;
    auto* dialog = new QFileDialog(this, tr("Export numbers"), lastFolder());
    dialog->setObjectName(QStringLiteral("exportNumbersDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters(filters);
    dialog->setDefaultSuffix(QStringLiteral("csv"));
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) {
        dialog->setDefaultSuffix(filter.contains(QLatin1String("json")) ? QStringLiteral("json")
                                                                        : QStringLiteral("csv"));
    });
    connect(dialog, &QFileDialog::fileSelected, this, [this, dialog, kinds](const QString& path) {
        for (const Kind& kind : kinds) {
            if (kind.filter != dialog->selectedNameFilter())
                continue;
            if (const auto written = writeNumbers(*m_session, kind.kind, path); written)
                statusBar()->showMessage(tr("Written: %1").arg(path), 6000);
            else
                tellProblem(written.error());
        }
    });
    dialog->open();
}

} // namespace flipscope
