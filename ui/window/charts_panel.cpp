// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/charts_panel.h"

#include "ui/charts/probe_chart_view.h"
#include "ui/charts/probe_points.h"
#include "ui/charts/window_chart.h"
#include "ui/views/selection.h"
#include "ui/window/view_controls.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QTabBar>
#include <QTabWidget>
#include <QThreadPool>
#include <QVBoxLayout>

#include <algorithm>
#include <new>
#include <utility>

namespace flipscope {

ChartsPanel::ChartsPanel(Session* session, QWidget* parent) : QWidget(parent), m_session(session)
{
    m_tabs = new QTabWidget(this);
    m_tabs->setObjectName(QStringLiteral("charts"));
    m_tabs->setAccessibleName(tr("Charts"));
    m_tabs->setDocumentMode(true);
    m_tabs->tabBar()->setAccessibleName(tr("Charts"));
    m_tabs->tabBar()->setExpanding(false);
    m_tabs->addTab(makeWindowPage(), tr("Per window"));
    m_tabs->setTabToolTip(0, tr("A line for each run, one point a window, with intervals where the metric has them"));
    makeProbePage(ProbePlot::Kind::Position, tr("KL by position"),
                  tr("KL(P‖Q) of every probe on a log axis; probes with KL 0 and ties have bands of their own"));
    makeProbePage(ProbePlot::Kind::Distribution, tr("Distribution"),
                  tr("How the KL(P‖Q) of the probes is spread: histogram and cumulative share"));
    makeProbePage(ProbePlot::Kind::Margin, tr("Margin"),
                  tr("How sure the baseline was (best minus second best logit) against KL(P‖Q): "
                     "tells ties and single steps of the stored format from real changes"));
    makeProbePage(ProbePlot::Kind::Agreement, tr("Agreement"),
                  tr("Share of probes with the baseline's top token, looking back one window"));
    m_stale.fill(true, m_tabs->count());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_tabs);

    m_later.setSingleShot(true);
    m_later.setInterval(0);
    connect(&m_later, &QTimer::timeout, this, [this] {
        if (isVisible()) // else it is when it is painted
            flush();
    });
    connect(m_tabs, &QTabWidget::currentChanged, this, &ChartsPanel::later);
    connect(&session->path(), &DrilldownPath::changed, this, &ChartsPanel::later);
}

/// What the charts over single probes need of each table is made in the background, once the window shows something:
/// then the first look at one of them does not wait.
void ChartsPanel::prepareLater()
{
    std::vector<TablePtr> tables;
    for (const SessionRun& run : m_session->runs())
        if (run.table && !m_prepared.contains(run.table.get()))
            tables.push_back(run.table);
    const SessionRun* base = m_session->baseline();
    if (tables.empty() || base == nullptr || m_session->busy())
        return;
    m_prepared.clear();
    for (const SessionRun& run : m_session->runs())
        m_prepared.insert(run.table.get());
    QThreadPool::globalInstance()->start([tables = std::move(tables), type = stored_type(*base->trace)] {
        try {
            for (const TablePtr& table : tables) {
                probePoints(table, type);
                sortedKl(table);
            }
        } catch (const std::bad_alloc&) { // made once more where it is looked at, and nothing may be thrown from here
        }
    });
}

void ChartsPanel::later()
{
    m_waiting = true;
    m_later.start();
}

void ChartsPanel::flush()
{
    if (!std::exchange(m_waiting, false))
        return;
    m_later.stop();
    update(m_tabs->currentIndex());
    m_windows->setCurrentColumn(m_column);
    followPath();
    prepareLater();
}

/// A chart that is painted before its turn, in a screenshot or because it was covered, is right all the same; so is one
/// that a wheel turns on, or that is asked about what lies under the mouse.
bool ChartsPanel::eventFilter(QObject* watched, QEvent* event)
{
    switch (event->type()) {
    case QEvent::Paint:
    case QEvent::ToolTip:
    case QEvent::Wheel:
    case QEvent::KeyPress:
    case QEvent::MouseMove:
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonRelease:
    case QEvent::MouseButtonDblClick:
        flush();
        break;
    default:
        break;
    }
    return QWidget::eventFilter(watched, event);
}

QWidget* ChartsPanel::makeWindowPage()
{
    auto* page = new QWidget(this);
    m_windows = new WindowChart(page);
    m_windows->setObjectName(QStringLiteral("windowChart"));
    m_windows->installEventFilter(this);
    m_lines = new QComboBox(page);
    m_lines->setObjectName(QStringLiteral("lineMetric"));
    m_lines->setAccessibleName(tr("Metric of the lines"));
    m_lines->addItem(tr("as in the heatmap"), QString());
    m_lines->setItemData(0, tr("Follows the metric that is chosen above the heatmap"), Qt::ToolTipRole);
    m_lines->setToolTip(tr("What the lines show: the metric of the heatmap, or another one under it"));
    for (const WindowMetric& metric : window_metrics()) {
        m_lines->addItem(metricTitle(metric), QString::fromStdString(metric.name));
        m_lines->setItemData(m_lines->count() - 1, QString::fromStdString(metric.description), Qt::ToolTipRole);
    }
    m_log = new QCheckBox(tr("&Log axis"), page);
    m_log->setObjectName(QStringLiteral("logAxis"));
    m_log->setToolTip(tr("A logarithmic axis, so that small and large values are seen together. "
                         "Values of 0, which have no logarithm, stand on the bottom line, marked ≤ 0"));
    auto* header = new QWidget(page);
    auto* row = new QHBoxLayout(header);
    row->setContentsMargins(8, 3, 8, 3);
    auto* label = new QLabel(tr("&Lines"), header);
    label->setBuddy(m_lines);
    row->addWidget(label);
    row->addWidget(m_lines);
    row->addWidget(m_log);
    row->addStretch();
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(header);
    layout->addWidget(m_windows, 1);
    connect(m_lines, &QComboBox::activated, this, [this] {
        m_stale[0] = true;
        later();
    });
    connect(m_log, &QCheckBox::toggled, m_windows, &WindowChart::setLogAxis);
    connect(m_windows, &WindowChart::columnHovered, this, &ChartsPanel::columnHovered);
    connect(m_windows, &WindowChart::pointActivated, this, &ChartsPanel::pointActivated);
    return page;
}

void ChartsPanel::makeProbePage(ProbePlot::Kind kind, const QString& title, const QString& toolTip)
{
    static const char* const names[] = {"positionChart", "distributionChart", "marginChart", "agreementChart"};
    auto* chart = new ProbeChartView(kind, this);
    chart->setObjectName(QLatin1String(names[static_cast<int>(kind)]));
    chart->installEventFilter(this);
    m_tabs->setTabToolTip(m_tabs->addTab(chart, title), toolTip);
    m_probes.append(chart);
    connect(chart, &ProbeChartView::probeActivated, this, &ChartsPanel::activate);
    connect(chart, &ProbeChartView::rangeRequested, m_session, &Session::setRange);
    connect(chart, &ProbeChartView::probeHovered, this, [this](int, qint64 position) {
        const auto column = std::ranges::find(m_shown.starts, position < 0 ? -1 : m_session->columnStart(position));
        emit columnHovered(column == m_shown.starts.end() ? -1 : static_cast<int>(column - m_shown.starts.begin()));
    });
}

WindowChart* ChartsPanel::windowChart()
{
    flush();
    return m_windows;
}

ProbeChartView* ChartsPanel::probeChart(ProbePlot::Kind kind)
{
    flush();
    return m_probes[static_cast<int>(kind)];
}

void ChartsPanel::refresh()
{
    m_stale.fill(true);
    m_shown = cut_to(m_session->heatmap(), m_session->range());
    later();
}

QVector<QColor> ChartsPanel::colors() const
{
    QVector<QColor> colors;
    for (const SessionRun* run : m_session->visibleRuns())
        colors.append(run->color);
    return colors;
}

int ChartsPanel::rowOf(int run) const
{
    const auto visible = m_session->visibleRuns();
    const auto it = std::ranges::find(visible, run, &SessionRun::id);
    return it == visible.end() ? -1 : static_cast<int>(it - visible.begin());
}

void ChartsPanel::update(int tab)
{
    if (tab < 0 || !m_stale[tab])
        return;
    m_stale[tab] = false;
    if (tab == 0) {
        updateWindows();
        return;
    }
    m_probes[tab - 1]->setData(m_session->probeChart(), colors());
}

void ChartsPanel::updateWindows()
{
    const auto chosen = find_window_metric(m_lines->currentData().toString().toStdString());
    m_shown = cut_to(chosen ? m_session->heatmap(**chosen) : m_session->heatmap(), m_session->range());
    m_windows->setGrid(m_shown, colors());
    m_windows->setLogAxis(m_log->isChecked());
}

void ChartsPanel::setCurrentColumn(int column)
{
    if (column == m_column)
        return;
    m_column = column;
    later();
}

void ChartsPanel::setHoveredColumn(int column)
{
    m_windows->setHoveredColumn(column);
    TokenRange range;
    if (column >= 0 && static_cast<std::size_t>(column) < m_shown.starts.size())
        range = {m_shown.starts[static_cast<std::size_t>(column)], m_shown.ends[static_cast<std::size_t>(column)]};
    for (ProbeChartView* chart : m_probes)
        chart->setHoveredRange(range);
}

void ChartsPanel::followPath()
{
    const int tab = m_tabs->currentIndex();
    if (tab <= 0)
        return;
    const Place& place = m_session->path().place();
    m_probes[tab - 1]->setCurrent(rowOf(place.run), place.probe);
}

void ChartsPanel::activate(int row, qint64 position)
{
    const auto visible = m_session->visibleRuns();
    if (row < 0 || static_cast<std::size_t>(row) >= visible.size())
        return;
    const int run = visible[static_cast<std::size_t>(row)]->id;
    m_session->path().go(position >= 0 ? placeAt(*m_session, run, position) : Place{run, -1, -1, -1});
}

void ChartsPanel::applyStyle()
{
    const ChartStyle style = ChartStyle::ofPalette();
    m_windows->setStyle(style);
    for (ProbeChartView* chart : m_probes)
        chart->setStyle(style);
}

} // namespace flipscope
