// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/main_window.h"

#include "ui/models/heatmap_model.h"
#include "ui/models/number_text.h"
#include "ui/session/session_file.h"
#include "ui/views/breadcrumb_bar.h"
#include "ui/views/probe_panel.h"
#include "ui/views/probe_table.h"
#include "ui/views/token_view.h"
#include "ui/window/app_icon.h"
#include "ui/window/banner_bar.h"
#include "ui/window/heatmap_panel.h"
#include "ui/window/job_indicator.h"
#include "ui/window/page_stack.h"
#include "ui/window/preferences.h"
#include "ui/window/recent_files.h"
#include "ui/window/runs_panel.h"
#include "ui/window/start_page.h"

#include "ui/charts/heatmap_view.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QHeaderView>
#include <QMessageBox>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace flipscope {

namespace {

constexpr int layoutVersion = 2; // raised when docks are added or renamed
const QString geometryKey = QStringLiteral("window/geometry");
const QString layoutKey = QStringLiteral("window/layout");

QStringList localFiles(const QMimeData* data)
{
    QStringList files;
    for (const QUrl& url : data->urls())
        if (url.isLocalFile())
            files.append(url.toLocalFile());
    return files;
}

} // namespace

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent), m_session(new Session(this))
{
    setObjectName(QStringLiteral("mainWindow"));
    setWindowIcon(appIcon());
    setAcceptDrops(true);
    setDockNestingEnabled(true);
    setDocumentMode(true);
    setTabPosition(Qt::BottomDockWidgetArea, QTabWidget::North);
    makeCentre();
    makeDocks();
    makeStatusBar();
    makeMenus();
    m_firstLayout = saveState(0);
    m_session->setFirstWindow(preferences::firstWindow());
    ColourScale scale = m_session->colourScale();
    scale.map = preferences::colourMap();
    m_session->setColourScale(scale);
    restoreLayout();
    m_docksShown.clear();
    for (QDockWidget* dock : std::as_const(m_docks))
        if (!dock->isHidden())
            m_docksShown.append(dock);

    connect(m_session, &Session::runsChanged, this, &MainWindow::runsChanged);
    connect(m_session, &Session::viewChanged, this, &MainWindow::fillTable);
    connect(m_session, &Session::rangeChanged, this, &MainWindow::fillTable);
    connect(m_session, &Session::busyChanged, this, &MainWindow::updateActions);
    connect(m_session, &Session::busyChanged, m_start, &StartPage::setBusy);
    connect(&m_session->path(), &DrilldownPath::changed, this, &MainWindow::updateActions);
    showEmpty(true);
    runsChanged();
#ifndef __clang_analyzer__ // which takes what waits in Qt's queue for a leak
    QTimer::singleShot(0, m_session, &Session::prepareEngine);
#endif
}

MainWindow::~MainWindow()
{
    // Views look at the session until they are gone, and the session goes with the window's other children.
    disconnect(m_session, nullptr, this, nullptr);
    disconnect(&m_session->path(), nullptr, this, nullptr);
}

void MainWindow::makeCentre()
{
    m_centre = new QStackedWidget(this);
    m_start = new StartPage(m_centre);
    m_pages = new PageStack(pageKinds(), m_session, m_centre);
    m_heatmap = m_pages->findChild<HeatmapPanel*>();
    m_centre->addWidget(m_start);
    m_centre->addWidget(m_pages);

    // Above both: a file that could not be opened leaves the start page where it is.
    auto* all = new QWidget(this);
    m_banners = new BannerBar(m_session, all);
    auto* layout = new QVBoxLayout(all);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_banners);
    layout->addWidget(m_centre, 1);
    setCentralWidget(all);

    connect(m_start, &StartPage::openRequested, this, &MainWindow::chooseFiles);
    connect(m_start, &StartPage::openFolderRequested, this, &MainWindow::chooseFolder);
    connect(m_start, &StartPage::sampleRequested, this, &MainWindow::openSample);
    connect(m_start, &StartPage::recentRequested, this, &MainWindow::openSet);
}

QDockWidget* MainWindow::addDock(const QString& title, const QString& name, QWidget* widget, Qt::DockWidgetArea area)
{
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    dock->setWidget(widget);
    addDockWidget(area, dock);
    m_docks.append(dock);
    return dock;
}

void MainWindow::makeDocks()
{
    m_runs = new RunsPanel(m_session);
    connect(m_runs, &RunsPanel::compareRequested, this, [this](int a, int b) {
        m_session->setComparedRuns(a, b);
        m_pages->showPage(QStringLiteral("comparePage"));
    });
    addDock(tr("Runs"), QStringLiteral("runsDock"), m_runs, Qt::LeftDockWidgetArea);
    auto* probe =
        addDock(tr("Probe"), QStringLiteral("probeDock"), new ProbePanel(m_session, nullptr), Qt::RightDockWidgetArea);
    auto* tokens = addDock(tr("Tokens"), QStringLiteral("tokensDock"), new TokenView(m_session, nullptr),
                           Qt::BottomDockWidgetArea);
    auto* probeTable = new ProbeTable(m_session, nullptr);
    auto* probes =
        addDock(tr("Probes, worst first"), QStringLiteral("probesDock"), probeTable, Qt::BottomDockWidgetArea);
    connect(probes, &QDockWidget::visibilityChanged, probeTable, [probeTable](bool visible) {
        if (visible)
            probeTable->catchUp();
    });
    makeNotes();
    makePrintouts();
    makeTable();
    auto* table = addDock(tr("Heatmap as a table"), QStringLiteral("tableDock"), m_table, Qt::BottomDockWidgetArea);
    tabifyDockWidget(tokens, probes);
    tabifyDockWidget(probes, table);
    tabifyDockWidget(table, findChild<QDockWidget*>(QStringLiteral("notesDock")));
    tabifyDockWidget(table, findChild<QDockWidget*>(QStringLiteral("printoutsDock")));
    connect(table, &QDockWidget::visibilityChanged, this, [this](bool visible) {
        if (visible)
            tableShown();
    });
    table->hide();
    tokens->raise();
    probe->setMinimumWidth(280); // its tables read badly below that
    resize(QSize(1440, 900).boundedTo(screen()->availableSize() * 0.95));
}

void MainWindow::makeStatusBar()
{
    m_job = new JobIndicator(m_session, this);
    statusBar()->addWidget(new BreadcrumbBar(m_session, this), 1);
    statusBar()->addPermanentWidget(m_job);
}

// --- the heatmap as a table, for screen readers and for copying ---

void MainWindow::makeTable()
{
    m_tableModel = new HeatmapModel(this);
    m_table = new QTableView;
    m_table->setObjectName(QStringLiteral("heatmapTable"));
    m_table->setAccessibleName(tr("Heatmap as a table: runs are rows, windows are columns"));
    m_table->setModel(m_tableModel);
    m_table->viewport()->installEventFilter(this);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->horizontalHeader()->setDefaultSectionSize(70);
    m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + 8);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &MainWindow::tableChosen);
    connect(&m_session->path(), &DrilldownPath::changed, this, &MainWindow::tableFollows);
}

QTableView* MainWindow::heatmapTable()
{
    tableShown();
    return m_table;
}

void MainWindow::tableShown()
{
    if (m_tableStale)
        fillNow();
}

void MainWindow::fillTable()
{
    if (!m_table->visibleRegion().isEmpty()) // a dock behind another tab is visible for Qt, at a place that nobody sees
        fillNow();
    else
        m_tableStale = true;
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_table->viewport() && event->type() == QEvent::Paint)
        tableShown(); // without having been told of it
    return QMainWindow::eventFilter(watched, event);
}

/// The same columns as the picture.
void MainWindow::fillNow()
{
    m_tableStale = false;
    m_tableModel->setGrid(cut_to(m_session->heatmap(), m_session->range()));
    tableFollows();
}

void MainWindow::tableChosen(const QModelIndex& current)
{
    const auto visible = m_session->visibleRuns();
    if (m_tableFollowing || !current.isValid() || static_cast<std::size_t>(current.row()) >= visible.size())
        return;
    Place place;
    place.run = visible[static_cast<std::size_t>(current.row())]->id;
    place.windowStart = m_tableModel->grid().starts[static_cast<std::size_t>(current.column())];
    m_session->path().go(place);
}

void MainWindow::tableFollows()
{
    if (m_tableStale)
        return; // it will
    const Place& place = m_session->path().place();
    const auto visible = m_session->visibleRuns();
    const auto& starts = m_tableModel->grid().starts;
    const auto run = std::ranges::find(visible, place.run, &SessionRun::id);
    const auto start = std::ranges::find(starts, place.windowStart);
    m_tableFollowing = true;
    m_table->setCurrentIndex(
        run == visible.end() || start == starts.end()
            ? QModelIndex()
            : m_tableModel->index(static_cast<int>(run - visible.begin()), static_cast<int>(start - starts.begin())));
    m_tableFollowing = false;
}

// --- session to window ---

void MainWindow::openFiles(const QStringList& paths, const QString& baseline)
{
    const auto session = std::find_if(paths.begin(), paths.end(), isSessionFile);
    if (session != paths.end())
        openSession(*session); // which names its own traces
    else if (!paths.isEmpty() || !baseline.isEmpty())
        m_session->open(paths, baseline);
}

void MainWindow::runsChanged()
{
    const auto& runs = m_session->runs();
    const SessionRun* base = m_session->baseline();
    showEmpty(base == nullptr);
    if (base == nullptr && m_opener != nullptr && !m_opener->active())
        m_sessionPath.clear(); // everything was closed
    fillTable();
    updateActions();
    rememberFiles();
    if (base == nullptr)
        setWindowTitle(tr("Flipscope"));
    else if (runs.size() == 1)
        setWindowTitle(tr("%1 – Flipscope").arg(base->name));
    else
        setWindowTitle(tr("%1 against %2 – Flipscope")
                           .arg(runs.size() == 2 ? (&runs[0] == base ? runs[1].name : runs[0].name)
                                                 : counted(static_cast<qint64>(runs.size()) - 1, tr("run"), tr("runs")),
                                base->name));
}

void MainWindow::showEmpty(bool empty)
{
    if (empty == m_empty)
        return;
    m_empty = empty;
    if (empty) {
        m_docksShown.clear();
        for (QDockWidget* dock : std::as_const(m_docks)) {
            if (!dock->isHidden())
                m_docksShown.append(dock);
            dock->hide();
        }
        m_start->refresh();
    } else {
        for (QDockWidget* dock : std::as_const(m_docksShown))
            dock->show();
        arrangeDocks();
        m_heatmap->heatmap()->setFocus();
    }
    for (QAction* action : m_pages->actions())
        action->setEnabled(!empty);
    m_centre->setCurrentIndex(empty ? 0 : 1);
}

void MainWindow::rememberFiles()
{
    const SessionRun* base = m_session->baseline();
    if (base == nullptr || base->live) // a file that is being written gets another name
        return;
    RecentEntry paths{QString::fromStdString(base->trace->path.string())};
    for (const SessionRun& run : m_session->runs())
        if (run.id != base->id && !run.live)
            paths.append(QString::fromStdString(run.trace->path.string()));
    // A run that was removed from the list is no news.
    const bool news =
        std::any_of(paths.begin(), paths.end(), [&](const QString& p) { return !m_remembered.contains(p); });
    if (!news)
        return;
    m_remembered = paths;
    recent::remember(paths);
}

void MainWindow::tellProblem(const Error& error)
{
    auto* box = new QMessageBox(QMessageBox::Warning, tr("Flipscope"), QString::fromStdString(error.message),
                                QMessageBox::Ok, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

// --- layout, events ---

void MainWindow::restoreLayout()
{
    const QSettings settings;
    restoreGeometry(settings.value(geometryKey).toByteArray());
    m_arranged = restoreState(settings.value(layoutKey).toByteArray(), layoutVersion);
}

/// A share of the window for each dock, once: afterwards they are where a person left them.
void MainWindow::arrangeDocks()
{
    if (m_arranged)
        return;
    m_arranged = true;
    const auto dock = [this](const char* name) { return findChild<QDockWidget*>(QLatin1String(name)); };
    resizeDocks({dock("runsDock"), dock("probeDock")},
                {std::clamp(width() * 22 / 100, 270, 330), std::clamp(width() * 24 / 100, 290, 360)}, Qt::Horizontal);
    resizeDocks({dock("tokensDock")}, {std::clamp(height() * 25 / 100, 150, 280)}, Qt::Vertical);
}

void MainWindow::saveLayout() const
{
    QSettings settings;
    settings.setValue(geometryKey, saveGeometry());
    if (!m_empty) // the start page hides the docks; that is not what a person arranged
        settings.setValue(layoutKey, saveState(layoutVersion));
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (captures() && !qApp->isSavingSession()) { // a desktop that shuts down does not wait for answers
        event->ignore();
        askToStopCapture();
        return;
    }
    saveLayout();
    keepLastSession();
    m_session->cancel();
    event->accept();
}

void MainWindow::changeEvent(QEvent* event)
{
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_heatmap != nullptr) {
        m_session->followPalette();
        m_heatmap->applyStyle();
    }
    if (event->type() == QEvent::ActivationChange && isActiveWindow())
        m_session->checkFiles(); // network disks announce nothing
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!localFiles(event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QStringList files = localFiles(event->mimeData());
    if (files.isEmpty())
        return;
    event->acceptProposedAction();
    openFiles(files);
}

} // namespace flipscope
