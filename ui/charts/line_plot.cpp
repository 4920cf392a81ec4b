// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/line_plot.h"

#include "ui/charts/bare_chart.h"
#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

using State = HeatmapCell::State;

/// Longer lines are thinned to the least and the largest value of each bucket: nothing that sticks out is lost.
constexpr int most_points = 2048;

QList<QPointF> thinned(const QList<QPointF>& points)
{
    if (points.size() <= most_points)
        return points;
    QList<QPointF> kept;
    const qsizetype bucket = (points.size() + most_points / 2 - 1) / (most_points / 2);
    for (qsizetype i = 0; i < points.size(); i += bucket) {
        const auto end = points.begin() + std::min(i + bucket, points.size());
        const auto [low, high] = std::minmax_element(points.begin() + i, end,
                                                     [](const QPointF& a, const QPointF& b) { return a.y() < b.y(); });
        kept << *std::min(low, high);
        if (low != high)
            kept << *std::max(low, high);
    }
    return kept;
}

} // namespace

/// What lies behind and before the lines.
class LinePlot::Layer : public QGraphicsItem {
public:
    Layer(const LinePlot* plot, void (LinePlot::*paint)(QPainter&) const, double z) : m_plot(plot), m_paint(paint)
    {
        setZValue(z);
    }
    QRectF boundingRect() const override { return {QPointF(0, 0), m_plot->m_size}; }
    void paint(QPainter* p, const QStyleOptionGraphicsItem*, QWidget*) override
    {
        p->save();
        (m_plot->*m_paint)(*p);
        p->restore();
    }
    using QGraphicsItem::prepareGeometryChange;

private:
    const LinePlot* m_plot;
    void (LinePlot::*m_paint)(QPainter&) const;
};

LinePlot::LinePlot(QGraphicsScene* scene)
    : m_chart(new BareChart), m_back(new Layer(this, &LinePlot::paintBack, -1)),
      m_front(new Layer(this, &LinePlot::paintFront, 1))
{
    scene->addItem(m_back);
    scene->addItem(m_chart);
    scene->addItem(m_front);
}

void LinePlot::setGrid(const HeatmapGrid& grid, const QVector<QColor>& runColors)
{
    m_grid = grid;
    for (HeatmapRow& row : m_grid.rows)
        row.cells.resize(m_grid.starts.size());
    m_runColors = runColors;
    rebuild();
}

void LinePlot::setStyle(const ChartStyle& style)
{
    m_style = style;
    rebuild();
}

void LinePlot::setSize(const QSizeF& size)
{
    m_size = size;
    layOut();
}

void LinePlot::setLogAxis(bool log)
{
    if (m_log == log)
        return;
    m_log = log;
    rebuild();
}

void LinePlot::setCurrentColumn(int column)
{
    m_currentColumn = column;
}

const HeatmapCell& LinePlot::cell(int row, int column) const
{
    return m_grid.rows[static_cast<std::size_t>(row)].cells[static_cast<std::size_t>(column)];
}

bool LinePlot::hasInterval(const HeatmapCell& cell)
{
    return std::isfinite(cell.interval.low) && std::isfinite(cell.interval.high) &&
           cell.interval.high > cell.interval.low;
}

bool LinePlot::hasValue(int row, int column) const
{
    return row >= 0 && row < static_cast<int>(m_grid.rows.size()) && column >= 0 &&
           column < static_cast<int>(m_grid.starts.size()) && cell(row, column).state == State::Value &&
           std::isfinite(cell(row, column).value);
}

QColor LinePlot::colorOf(int row) const
{
    return row < m_runColors.size() && m_runColors[row].isValid() ? m_runColors[row] : m_style.runColor(row);
}

/// Range of the y axis: of the values, and of the intervals as far as the axis can show them.
void LinePlot::findRange()
{
    double least = std::numeric_limits<double>::infinity(), most = -least, leastPositive = least;
    m_hasFloor = false;
    for (int row = 0; row < static_cast<int>(m_grid.rows.size()); ++row) {
        for (int column = 0; column < static_cast<int>(m_grid.starts.size()); ++column) {
            if (!hasValue(row, column))
                continue;
            const HeatmapCell& c = cell(row, column);
            const bool interval = hasInterval(c);
            least = std::min(least, interval ? c.interval.low : c.value);
            most = std::max(most, interval ? c.interval.high : c.value);
            if (c.value > 0)
                leastPositive = std::min(leastPositive, c.value);
            else
                m_hasFloor = true;
        }
    }
    if (m_log) {
        if (!std::isfinite(leastPositive)) { // nothing above 0 at all
            leastPositive = 1e-8;
            most = 1;
        }
        const double low = std::log10(leastPositive), high = std::log10(std::max(most, leastPositive));
        // The floor stands a clear step below the smallest value that the axis does show.
        const double step = std::max(0.3, (high - low) / 8);
        m_low = m_hasFloor ? std::floor(low * 2) / 2 - step : low - 0.1;
        m_high = high + 0.1;
        return;
    }
    if (!std::isfinite(least)) {
        m_low = 0;
        m_high = 1;
        return;
    }
    // From zero, but for overlaps, which crowd below 100 %.
    const bool overlap = m_grid.metric.name == "top5_overlap";
    const bool fromZero = least >= 0 && (!overlap || least < 0.5 * most);
    const double room = 0.06 * (most - (fromZero ? 0 : least));
    m_low = fromZero || (least == 0 && most == 0) ? 0 : least - room;
    m_high = most > m_low ? most + room : m_low + 1;
    if (m_grid.metric.share && m_high > 1 && most <= 1)
        m_high = std::max(1.0, most);
}

double LinePlot::axisValue(double value) const
{
    if (!m_log)
        return value;
    return value > 0 ? std::max(std::log10(value), m_low) : m_low;
}

double LinePlot::yOf(double value) const
{
    const double y = std::clamp(axisValue(value), m_low, m_high);
    return m_chart->at(0, y).y();
}

double LinePlot::xOf(double column) const
{
    return m_chart->at(column, m_low).x();
}

QPointF LinePlot::pointAt(int row, int column) const
{
    return hasValue(row, column) ? QPointF(xOf(column + 0.5), yOf(cell(row, column).value)) : QPointF();
}

int LinePlot::columnAt(const QPointF& point) const
{
    const auto columns = static_cast<int>(m_grid.starts.size());
    if (columns == 0 || !m_plot.contains(point))
        return -1;
    const double at = (point.x() - m_plot.left()) / m_plot.width() * columns;
    return std::clamp(static_cast<int>(std::floor(at)), 0, columns - 1);
}

int LinePlot::nearestRow(const QPointF& point) const
{
    const int column = columnAt(point);
    int nearest = -1;
    double best = std::numeric_limits<double>::infinity();
    for (int row = 0; column >= 0 && row < static_cast<int>(m_grid.rows.size()); ++row) {
        if (!hasValue(row, column))
            continue;
        const double distance = std::abs(pointAt(row, column).y() - point.y());
        if (distance < best) {
            best = distance;
            nearest = row;
        }
    }
    return nearest;
}

QString LinePlot::toolTipAt(const QPointF& point) const
{
    const int row = nearestRow(point);
    return row < 0 ? QString() : chart_text::toolTip(m_grid, row, columnAt(point));
}

void LinePlot::rebuild()
{
    findRange();
    QVector<ChartLine> lines;
    for (int row = 0; row < static_cast<int>(m_grid.rows.size()); ++row)
        addLines(row, lines);
    m_chart->setLines(lines);
    layOut();
}

/// One series per piece without a gap: Qt Charts would draw a line across it.
void LinePlot::addLines(int row, QVector<ChartLine>& lines) const
{
    const auto columns = static_cast<int>(m_grid.starts.size());
    QPen pen(colorOf(row), columns > 400 ? 1.2 : 1.8);
    pen.setJoinStyle(Qt::RoundJoin);
    for (int column = 0; column < columns; ++column) {
        QList<QPointF> points;
        for (; hasValue(row, column); ++column)
            points << QPointF(column + 0.5, axisValue(cell(row, column).value));
        if (points.size() < 2)
            continue; // alone between gaps: a marker
        if (m_grid.rows[static_cast<std::size_t>(row)].floor)
            pen.setStyle(Qt::DashLine);
        lines << ChartLine{pen, thinned(points)};
    }
}

double LinePlot::minimumHeight() const
{
    const double line = QFontMetricsF(chart_paint::font(m_style, 12)).height() + 3;
    const double plot = std::max(90.0, line * static_cast<double>(m_grid.rows.size()));
    return chart_paint::margin + chart_paint::headerHeight + 16 + plot + chart_paint::tokenAxisHeight + 4;
}

void LinePlot::layOut()
{
    using namespace chart_paint;
    m_back->prepareGeometryChange();
    m_front->prepareGeometryChange();
    const double left = gutter(m_grid, m_size.width(), m_style);
    const double right = std::max(left + 10, m_size.width() - rightEdge);
    const double top = margin + headerHeight + 16;
    const double bottom = std::max(top + 20, m_size.height() - tokenAxisHeight - 4);
    m_plot = QRectF(left, top, right - left, bottom - top);
    m_chart->place(m_size, m_plot, static_cast<double>(m_grid.starts.size()), m_low, m_high);
    m_back->update();
    m_front->update();
}

} // namespace flipscope
