// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/runs_panel.h"

#include "core/report/environment.h"
#include "ui/window/runs_delegate.h"
#include "ui/window/theme.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QColorDialog>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QMouseEvent>
#include <QSplitter>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace flipscope {

// --- RunsView ---

RunsView::RunsView(QWidget* parent) : QTreeView(parent)
{
    setObjectName(QStringLiteral("runsView"));
    setAccessibleName(tr("Runs"));
    setRootIsDecorated(false);
    setUniformRowHeights(true);
    setItemDelegate(new RunsDelegate(this));
    setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::DoubleClicked);
    setDragDropMode(QAbstractItemView::InternalMove);
    setDragDropOverwriteMode(false);
    setDefaultDropAction(Qt::MoveAction);
    setContextMenuPolicy(Qt::CustomContextMenu);
    setAllColumnsShowFocus(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFrameShape(QFrame::NoFrame);
}

bool RunsView::isButton(const QModelIndex& index)
{
    return index.column() == RunsModel::Star || index.column() == RunsModel::Colour ||
           index.column() == RunsModel::Shown;
}

void RunsView::mousePressEvent(QMouseEvent* event)
{
    const QModelIndex index = indexAt(event->position().toPoint());
    if (event->button() == Qt::LeftButton && index.isValid() && isButton(index)) {
        m_pressed = index;
        event->accept();
        return;
    }
    m_pressed = QModelIndex();
    QTreeView::mousePressEvent(event);
}

void RunsView::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_pressed.isValid())
        QTreeView::mouseMoveEvent(event);
}

void RunsView::mouseReleaseEvent(QMouseEvent* event)
{
    if (!m_pressed.isValid()) {
        QTreeView::mouseReleaseEvent(event);
        return;
    }
    const QModelIndex pressed = m_pressed;
    m_pressed = QModelIndex();
    if (indexAt(event->position().toPoint()) == pressed)
        emit cellPressed(pressed);
}

void RunsView::mouseDoubleClickEvent(QMouseEvent* event)
{
    const QModelIndex index = indexAt(event->position().toPoint());
    if (index.isValid() && isButton(index))
        mousePressEvent(event); // two quick clicks are two clicks
    else
        QTreeView::mouseDoubleClickEvent(event);
}

// --- RunsPanel ---

RunsPanel::RunsPanel(Session* session, QWidget* parent) : QWidget(parent), m_session(session)
{
    m_model = new RunsModel(session, this);
    m_view = new RunsView(this);
    m_view->setModel(m_model);
    QHeaderView* header = m_view->header();
    header->setStretchLastSection(false);
    header->setMinimumSectionSize(20);
    header->setSectionsMovable(false);
    header->setSectionResizeMode(QHeaderView::Fixed);
    header->setSectionResizeMode(RunsModel::Name, QHeaderView::Stretch);
    const auto widthOf = [this](const char* text) {
        return m_view->fontMetrics().horizontalAdvance(QString::fromUtf8(text)) + 10;
    };
    header->resizeSection(RunsModel::Star, 22);
    header->resizeSection(RunsModel::Colour, 20);
    header->resizeSection(RunsModel::Flips, widthOf("14.0 %"));
    header->resizeSection(RunsModel::Kl, widthOf("KL(P‖Q)"));
    header->resizeSection(RunsModel::Above, widthOf("above floor"));
    header->resizeSection(RunsModel::Shown, 24);

    m_settings = new QTreeWidget(this);
    m_settings->setObjectName(QStringLiteral("settingsDiffering"));
    m_settings->setAccessibleName(tr("Settings that differ"));
    m_settings->setHeaderLabels({tr("Setting"), tr("Value")});
    m_settings->setFrameShape(QFrame::NoFrame);
    m_settings->setSelectionMode(QAbstractItemView::NoSelection);
    m_settings->setIndentation(12);
    m_settings->setTextElideMode(Qt::ElideRight);

    auto* lower = new QWidget(this);
    auto* lowerLayout = new QVBoxLayout(lower);
    lowerLayout->setContentsMargins(0, 4, 0, 0);
    lowerLayout->setSpacing(2);
    auto* title = new QLabel(tr("Settings that differ"), lower);
    title->setContentsMargins(6, 0, 6, 0);
    QFont bold = title->font();
    bold.setBold(true);
    title->setFont(bold);
    lowerLayout->addWidget(title);
    lowerLayout->addWidget(m_settings);

    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->addWidget(m_view);
    splitter->addWidget(lower);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    splitter->setSizes({300, 200});
    splitter->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter);
    setMinimumWidth(270);

    makeActions();
    connect(m_view, &RunsView::cellPressed, this, &RunsPanel::act);
    connect(m_view, &QWidget::customContextMenuRequested, this, &RunsPanel::showMenu);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &RunsPanel::selectionChanged);
    connect(session, &Session::runsChanged, this, &RunsPanel::followPath);
    connect(session, &Session::runsChanged, this, &RunsPanel::updateSettings);
    connect(&session->path(), &DrilldownPath::changed, this, &RunsPanel::followPath);
    connect(&session->path(), &DrilldownPath::changed, this, &RunsPanel::updateSettings);
    followPath();
    updateSettings();
}

QAction* RunsPanel::addAction(const QString& text, const QKeySequence& shortcut, void (RunsPanel::*slot)())
{
    auto* action = new QAction(text, this);
    action->setShortcut(shortcut);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, slot);
    m_view->addAction(action);
    return action;
}

void RunsPanel::makeActions()
{
    m_baseline = addAction(tr("Set as &baseline"), Qt::CTRL | Qt::Key_B, &RunsPanel::baselineFromCurrent);
    m_baseline->setToolTip(tr("All other runs are measured from this one"));
    m_floor = addAction(tr("Name as noise &floor"), Qt::CTRL | Qt::SHIFT | Qt::Key_F, &RunsPanel::floorFromCurrent);
    m_floor->setObjectName(QStringLiteral("floor"));
    m_floor->setToolTip(
        tr("A repeat of the baseline, or the same model on a second engine: no run can be told from the "
           "baseline below it. Charts show it, and a column says what is above it."));
    m_toggle = addAction(tr("&Hide"), Qt::CTRL | Qt::Key_H, &RunsPanel::toggleCurrent);
    m_toggle->setToolTip(tr("Hidden runs have no row and no line, and are in no figure; they stay open"));
    m_rename = addAction(tr("&Rename"), {}, &RunsPanel::renameCurrent); // F2 is the view's own key
    m_rename->setToolTip(tr("Another name, in this window and in figures; the file keeps its own"));
    m_recolour = addAction(tr("&Colour …"), {}, &RunsPanel::recolourCurrent);
    m_recolour->setToolTip(tr("Another colour for the lines and points of this run"));
    m_up = addAction(tr("Move &up"), Qt::ALT | Qt::Key_Up, &RunsPanel::moveUp);
    m_up->setToolTip(tr("One row up in the heatmap and in lists"));
    m_down = addAction(tr("Move &down"), Qt::ALT | Qt::Key_Down, &RunsPanel::moveDown);
    m_down->setToolTip(tr("One row down in the heatmap and in lists"));
    m_copyPath = addAction(tr("Copy &path"), {}, &RunsPanel::copyPath);
    m_copyPath->setToolTip(tr("Put the path of the trace file on the clipboard"));
    m_hints = addAction(tr("How to rea&d it …"), {}, &RunsPanel::hintsForCurrent);
    m_hints->setToolTip(tr("Say what the file does not: axes, positions, ids, type, padding; it is read again"));
    m_hints->setObjectName(QStringLiteral("readingHints"));
    m_remove = addAction(tr("Re&move from the list"), QKeySequence::Delete, &RunsPanel::removeCurrent);
    m_remove->setToolTip(tr("Close this trace; the file stays as it is"));
}

int RunsPanel::currentRun() const
{
    const QModelIndex index = m_view->currentIndex();
    return index.isValid() ? index.data(RunsModel::IdRole).toInt() : -1;
}

void RunsPanel::updateActions()
{
    const SessionRun* run = m_session->run(currentRun());
    const bool base = run != nullptr && run->state == SessionRun::State::Baseline;
    for (QAction* action : {m_rename, m_recolour, m_up, m_down, m_copyPath, m_hints, m_remove})
        action->setEnabled(run != nullptr);
    m_baseline->setEnabled(run != nullptr && !base);
    m_toggle->setEnabled(run != nullptr && !base);
    m_floor->setEnabled(run != nullptr && !base);
    m_floor->setText(run != nullptr && run == m_session->floorRun() ? tr("No noise &floor")
                                                                    : tr("Name as noise &floor"));
    m_toggle->setText(run != nullptr && run->hidden ? tr("S&how") : tr("&Hide"));
}

void RunsPanel::act(const QModelIndex& index)
{
    const int id = index.data(RunsModel::IdRole).toInt();
    const SessionRun* run = m_session->run(id);
    if (run == nullptr)
        return;
    if (index.column() == RunsModel::Star)
        m_session->setBaseline(id);
    else if (index.column() == RunsModel::Colour)
        recolour(id);
    else if (index.column() == RunsModel::Shown)
        m_session->setHidden(id, !run->hidden);
}

void RunsPanel::showMenu(const QPoint& pos)
{
    if (!m_view->indexAt(pos).isValid())
        return;
    updateActions();
    QMenu menu(this);
    menu.setToolTipsVisible(true);
    menu.addActions({m_baseline, m_floor, m_toggle, m_rename, m_recolour});
    addCompareMenu(menu);
    menu.addSeparator();
    menu.addActions({m_up, m_down});
    menu.addSeparator();
    menu.addActions({m_copyPath, m_hints, m_remove});
    menu.exec(m_view->viewport()->mapToGlobal(pos));
}

void RunsPanel::addCompareMenu(QMenu& menu)
{
    QMenu* with = menu.addMenu(tr("Compare &with"));
    with->setObjectName(QStringLiteral("compareWith"));
    const SessionRun* current = m_session->run(currentRun());
    const bool usable = current != nullptr && current->state != SessionRun::State::Baseline;
    for (const SessionRun& run : m_session->runs()) {
        if (!usable || run.id == current->id || run.state == SessionRun::State::Baseline)
            continue;
        QString name = run.name;
        QAction* action = with->addAction(name.replace(QLatin1Char('&'), QStringLiteral("&&")));
        connect(action, &QAction::triggered, this,
                [this, a = current->id, b = run.id] { emit compareRequested(a, b); });
    }
    with->setEnabled(!with->isEmpty());
}

void RunsPanel::renameCurrent()
{
    const QModelIndex index = m_view->currentIndex();
    if (index.isValid())
        m_view->edit(index.siblingAtColumn(RunsModel::Name));
}

void RunsPanel::baselineFromCurrent()
{
    m_session->setBaseline(currentRun());
}

void RunsPanel::floorFromCurrent()
{
    const SessionRun* floor = m_session->floorRun();
    m_session->setFloor(floor != nullptr && floor->id == currentRun() ? -1 : currentRun());
}

void RunsPanel::toggleCurrent()
{
    if (const SessionRun* run = m_session->run(currentRun()))
        m_session->setHidden(run->id, !run->hidden);
}

void RunsPanel::recolourCurrent()
{
    recolour(currentRun());
}

void RunsPanel::recolour(int id)
{
    const SessionRun* run = m_session->run(id);
    if (run == nullptr)
        return;
    auto* dialog = new QColorDialog(run->color, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Colour of %1").arg(run->name));
    connect(dialog, &QColorDialog::colorSelected, this, [this, id](const QColor& c) { m_session->setColor(id, c); });
    dialog->open();
}

void RunsPanel::moveUp()
{
    const int id = currentRun();
    if (id >= 0 && m_model->rowOf(id) > 0)
        m_session->move(id, m_model->rowOf(id) - 1);
    m_view->setCurrentIndex(m_model->index(m_model->rowOf(id), RunsModel::Name));
}

void RunsPanel::moveDown()
{
    const int id = currentRun();
    if (id >= 0)
        m_session->move(id, m_model->rowOf(id) + 1);
    m_view->setCurrentIndex(m_model->index(m_model->rowOf(id), RunsModel::Name));
}

void RunsPanel::removeCurrent()
{
    const int row = m_view->currentIndex().row();
    m_session->remove(currentRun());
    const int rows = m_model->rowCount();
    if (rows > 0) {
        m_following = true; // keep a current row for the keyboard, go nowhere
        m_view->selectionModel()->setCurrentIndex(m_model->index(std::min(row, rows - 1), RunsModel::Name),
                                                  QItemSelectionModel::NoUpdate);
        m_following = false;
    }
}

void RunsPanel::copyPath()
{
    if (const SessionRun* run = m_session->run(currentRun()))
        QApplication::clipboard()->setText(QString::fromStdString(run->trace->path.string()));
}

void RunsPanel::hintsForCurrent()
{
    emit hintsRequested(currentRun());
}

void RunsPanel::selectionChanged(const QModelIndex& current)
{
    updateActions();
    if (m_following || !current.isValid())
        return;
    const SessionRun* run = m_session->run(current.data(RunsModel::IdRole).toInt());
    if (run == nullptr || run->state == SessionRun::State::Baseline || run->hidden)
        return;
    Place place;
    place.run = run->id;
    place.windowStart = m_session->path().place().windowStart; // the same window of the other run
    if (m_session->path().place().run != run->id)
        m_session->path().go(place);
}

void RunsPanel::followPath()
{
    const int row = m_model->rowOf(m_session->path().place().run);
    m_following = true;
    if (row >= 0) {
        const QModelIndex index = m_model->index(row, RunsModel::Name);
        m_view->selectionModel()->setCurrentIndex(index,
                                                  QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    } else {
        // The list may have a current row of its own (the baseline, say), which no other view shows.
        const SessionRun* current = m_session->run(currentRun());
        if (current != nullptr && current->state != SessionRun::State::Baseline && !current->hidden)
            m_view->clearSelection();
    }
    m_following = false;
    updateActions();
}

void RunsPanel::updateSettings()
{
    m_view->setColumnHidden(RunsModel::Above, m_session->floorRun() == nullptr);
    // Against the baseline for the run that is looked at; over all runs otherwise.
    std::vector<TracePtr> traces;
    QStringList names;
    const SessionRun* base = m_session->baseline();
    const int selected = m_session->path().place().run;
    if (base != nullptr) {
        traces.push_back(base->trace);
        names << base->name;
        for (const SessionRun* run : m_session->visibleRuns()) {
            if (selected >= 0 && run->id != selected)
                continue;
            traces.push_back(run->trace);
            names << run->name;
        }
    }
    m_settings->clear();
    if (traces.size() < 2)
        return;
    showDifferences(environment_difference(traces), names);
}

QTreeWidgetItem* RunsPanel::addDifference(QTreeWidgetItem* stage, const std::string& key, const QStringList& names,
                                          const std::vector<std::string>& values)
{
    auto* item = new QTreeWidgetItem(stage, {QString::fromStdString(key)});
    item->setFirstColumnSpanned(true);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const QString value = QString::fromStdString(values[i]);
        auto* row = new QTreeWidgetItem(item, {names[static_cast<qsizetype>(i)], value.simplified()});
        row->setToolTip(1, value);
        row->setToolTip(0, names[static_cast<qsizetype>(i)]);
        if (value == QLatin1String("not stated") || value == QLatin1String("not installed"))
            row->setForeground(1, mutedTextColor());
    }
    return item;
}

void RunsPanel::showDifferences(const EnvironmentDifference& difference, const QStringList& names)
{
    for (const StageDifference& here : difference.stages) {
        const auto title = title_of(here.stage);
        auto* stage =
            new QTreeWidgetItem(m_settings, {QString::fromUtf8(title.data(), static_cast<qsizetype>(title.size()))});
        stage->setFirstColumnSpanned(true);
        QFont bold = stage->font(0);
        bold.setBold(true);
        stage->setFont(0, bold);
        for (const SettingDifference& setting : here.settings)
            addDifference(stage, setting.key, names, setting.values)->setExpanded(true);
        stage->setExpanded(true);
        if (here.packages.empty())
            continue;
        auto* packages = new QTreeWidgetItem(
            stage, {here.packages.size() == 1 ? tr("1 package") : tr("%1 packages").arg(here.packages.size())});
        packages->setFirstColumnSpanned(true);
        for (const PackageDifference& package : here.packages)
            addDifference(packages, package.name, names, package.values)->setExpanded(true);
    }
    if (difference.empty())
        new QTreeWidgetItem(m_settings, {tr("none that the traces state")});
}

} // namespace flipscope
