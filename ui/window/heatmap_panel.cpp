// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/heatmap_panel.h"
#include "ui/session/call_results.h"

#include "ui/charts/heatmap_view.h"
#include "ui/session/navigation.h"
#include "ui/window/charts_panel.h"
#include "ui/window/view_controls.h"

#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace flipscope {

HeatmapPanel::HeatmapPanel(Session* session, QWidget* parent) : QWidget(parent), m_session(session)
{
    m_controls = new ViewControls(session, this);
    m_heatmap = new HeatmapView(this);
    m_heatmap->setObjectName(QStringLiteral("heatmap"));
    m_charts = new ChartsPanel(session, this);

    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setObjectName(QStringLiteral("heatmapSplitter"));
    splitter->addWidget(m_heatmap);
    splitter->addWidget(m_charts);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    splitter->setSizes({330, 250});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_controls);
    layout->addWidget(splitter, 1);

    connect(m_heatmap, &HeatmapView::currentCellChanged, this, &HeatmapPanel::cellChosen);
    connect(m_heatmap, &HeatmapView::cellActivated, this, &HeatmapPanel::cellActivated);
    connect(m_heatmap, &HeatmapView::upRequested, &session->path(), &DrilldownPath::up);
    connect(m_heatmap, &HeatmapView::cellHovered, this, [this](int row, int column) {
        m_charts->setHoveredColumn(column);
        emit cellHovered(row, column);
    });
    connect(m_charts, &ChartsPanel::columnHovered, m_heatmap, &HeatmapView::setHoveredColumn);
    connect(m_charts, &ChartsPanel::pointActivated, this, &HeatmapPanel::cellChosen);
    connect(session, &Session::runsChanged, this, &HeatmapPanel::updateGrid);
    connect(session, &Session::viewChanged, this, &HeatmapPanel::updateView);
    connect(session, &Session::rangeChanged, this, &HeatmapPanel::updateGrid);
    connect(m_heatmap, &HeatmapView::rangeRequested, session, &Session::setRange);
    connect(&session->path(), &DrilldownPath::changed, this, &HeatmapPanel::followPath);
    applyStyle();
    updateGrid();
    updateView();
}

WindowChart* HeatmapPanel::chart() const
{
    return m_charts->windowChart();
}

void HeatmapPanel::applyStyle()
{
    m_heatmap->setStyle(ChartStyle::ofPalette());
    m_charts->applyStyle();
}

void HeatmapPanel::updateGrid()
{
    showGrid();
    m_charts->refresh();
    followPath();
}

/// Other colours are no news for the charts.
void HeatmapPanel::updateView()
{
    const auto drawn =
        std::tuple(m_session->windowTokens(), m_session->partition(), m_session->margin(), m_session->metric().name);
    if (std::exchange(m_drawn, drawn) != drawn) {
        updateGrid();
        return;
    }
    showGrid();
    followPath();
}

void HeatmapPanel::showGrid()
{
    HeatmapGrid grid = cut_to(m_session->heatmap(), m_session->range());
    grid.marks = CallResults::of(m_session)->marks();
    m_heatmap->setGrid(grid, m_session->colourScale());
}

Place HeatmapPanel::placeOf(int row, int column) const
{
    const auto visible = m_session->visibleRuns();
    const HeatmapGrid& grid = m_heatmap->grid();
    Place place;
    if (row >= 0 && static_cast<std::size_t>(row) < visible.size())
        place.run = visible[static_cast<std::size_t>(row)]->id;
    if (place.run >= 0 && column >= 0 && static_cast<std::size_t>(column) < grid.starts.size())
        place.windowStart = grid.starts[static_cast<std::size_t>(column)];
    return place;
}

void HeatmapPanel::cellChosen(int row, int column)
{
    const Place cell = placeOf(row, column);
    const Place& now = m_session->path().place();
    if (cell.run != now.run || cell.windowStart != now.windowStart)
        m_session->path().go(cell);
}

void HeatmapPanel::cellActivated(int row, int column)
{
    const Place cell = placeOf(row, column);
    const Place& now = m_session->path().place();
    const bool inside = cell.run == now.run && cell.windowStart == now.windowStart;
    m_session->path().go(downFrom(*m_session, inside ? now : cell));
}

void HeatmapPanel::goDown()
{
    m_session->path().go(downFrom(*m_session, m_session->path().place()));
}

void HeatmapPanel::followPath()
{
    const Place& place = m_session->path().place();
    const auto visible = m_session->visibleRuns();
    const auto run = std::ranges::find(visible, place.run, &SessionRun::id);
    const auto& starts = m_heatmap->grid().starts;
    const auto start = std::ranges::find(starts, place.windowStart);
    const bool found = run != visible.end() && start != starts.end();
    const int row = found ? static_cast<int>(run - visible.begin()) : -1;
    const int column = found ? static_cast<int>(start - starts.begin()) : -1;
    if (row != m_heatmap->currentRow() || column != m_heatmap->currentColumn())
        m_heatmap->setCurrentCell(row, column);
    m_charts->setCurrentColumn(column);
}

} // namespace flipscope
