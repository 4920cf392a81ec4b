// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/heatmap_panel.h"

#include "ui/charts/heatmap_view.h"
#include "ui/charts/window_chart.h"
#include "ui/session/navigation.h"
#include "ui/window/view_controls.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

namespace flipscope {

HeatmapPanel::HeatmapPanel(Session* session, QWidget* parent) : QWidget(parent), m_session(session)
{
    m_controls = new ViewControls(session, this);
    m_heatmap = new HeatmapView(this);
    m_heatmap->setObjectName(QStringLiteral("heatmap"));
    m_chart = new WindowChart(this);
    m_chart->setObjectName(QStringLiteral("windowChart"));
    auto* lower = new QWidget(this);
    auto* lowerLayout = new QVBoxLayout(lower);
    lowerLayout->setContentsMargins(0, 0, 0, 0);
    lowerLayout->setSpacing(0);
    makeChartHeader(lower);
    lowerLayout->addWidget(m_chartHeader);
    lowerLayout->addWidget(m_chart, 1);

    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setObjectName(QStringLiteral("heatmapSplitter"));
    splitter->addWidget(m_heatmap);
    splitter->addWidget(lower);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    splitter->setSizes({330, 220});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_controls);
    layout->addWidget(splitter, 1);

    connect(m_heatmap, &HeatmapView::currentCellChanged, this, &HeatmapPanel::cellChosen);
    connect(m_heatmap, &HeatmapView::cellActivated, this, &HeatmapPanel::cellActivated);
    connect(m_heatmap, &HeatmapView::upRequested, &session->path(), &DrilldownPath::up);
    connect(m_heatmap, &HeatmapView::cellHovered, this, [this](int row, int column) {
        m_chart->setHoveredColumn(column);
        emit cellHovered(row, column);
    });
    connect(m_chart, &WindowChart::columnHovered, m_heatmap, &HeatmapView::setHoveredColumn);
    connect(m_chart, &WindowChart::pointActivated, this, &HeatmapPanel::cellChosen);
    connect(session, &Session::runsChanged, this, &HeatmapPanel::updateGrid);
    connect(session, &Session::viewChanged, this, &HeatmapPanel::updateGrid);
    connect(&session->path(), &DrilldownPath::changed, this, &HeatmapPanel::followPath);
    applyStyle();
    updateGrid();
}

void HeatmapPanel::makeChartHeader(QWidget* parent)
{
    m_chartHeader = new QWidget(parent);
    m_lines = new QComboBox(m_chartHeader);
    m_lines->setObjectName(QStringLiteral("lineMetric"));
    m_lines->setAccessibleName(tr("Metric of the lines"));
    m_lines->addItem(tr("as in the heatmap"), QString());
    for (const WindowMetric& metric : window_metrics())
        m_lines->addItem(metricTitle(metric), QString::fromStdString(metric.name));
    m_log = new QCheckBox(tr("&Log axis"), m_chartHeader);
    m_log->setObjectName(QStringLiteral("logAxis"));
    m_log->setToolTip(tr("Values of 0, which have no logarithm, stand on the bottom line, marked ≤ 0"));
    auto* row = new QHBoxLayout(m_chartHeader);
    row->setContentsMargins(8, 3, 8, 3);
    auto* label = new QLabel(tr("&Lines"), m_chartHeader);
    label->setBuddy(m_lines);
    row->addWidget(label);
    row->addWidget(m_lines);
    row->addWidget(m_log);
    row->addStretch();
    connect(m_lines, &QComboBox::activated, this, &HeatmapPanel::updateChart);
    connect(m_log, &QCheckBox::toggled, this, [this](bool on) { m_chart->setLogAxis(on); });
}

void HeatmapPanel::applyStyle()
{
    const ChartStyle style = ChartStyle::ofPalette();
    m_heatmap->setStyle(style);
    m_chart->setStyle(style);
}

void HeatmapPanel::updateGrid()
{
    const HeatmapGrid grid = m_session->heatmap();
    m_heatmap->setGrid(grid, m_session->colourScale());
    updateChart();
    followPath();
}

void HeatmapPanel::updateChart()
{
    const auto chosen = find_window_metric(m_lines->currentData().toString().toStdString());
    QVector<QColor> colors;
    for (const SessionRun* run : m_session->visibleRuns())
        colors.append(run->color);
    m_chart->setGrid(chosen ? m_session->heatmap(**chosen) : m_session->heatmap(), colors);
    m_chart->setLogAxis(m_log->isChecked());
    m_chart->setCurrentColumn(m_heatmap->currentColumn());
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
    m_chart->setCurrentColumn(column);
}

} // namespace flipscope
