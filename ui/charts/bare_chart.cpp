// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/bare_chart.h"

#include <QLegend>

#include <algorithm>
#include <utility>

namespace flipscope {

BareChart::BareChart() : m_x(new QValueAxis), m_y(new QValueAxis)
{
    setBackgroundVisible(false);
    setPlotAreaBackgroundVisible(false);
    setBackgroundRoundness(0);
    setMargins({});
    setAnimationOptions(QChart::NoAnimation);
    legend()->hide();
    setFlag(QGraphicsItem::ItemIsSelectable, false);
    setAcceptHoverEvents(false);
    for (QValueAxis* axis : {m_x, m_y}) {
        axis->setLabelsVisible(false);
        axis->setGridLineVisible(false);
        axis->setLineVisible(false);
    }
    addAxis(m_x, Qt::AlignBottom);
    addAxis(m_y, Qt::AlignLeft);
}

void BareChart::setLines(const QVector<ChartLine>& lines)
{
    while (m_lines.size() > lines.size()) {
        removeSeries(m_lines.last());
        delete m_lines.takeLast();
    }
    while (m_lines.size() < lines.size()) {
        auto* series = new QLineSeries;
        series->setPointsVisible(false);
        addSeries(series);
        series->attachAxis(m_x);
        series->attachAxis(m_y);
        m_lines << series;
    }
    for (int i = 0; i < lines.size(); ++i) {
        m_lines[i]->clear();
        m_lines[i]->setPen(lines[i].pen);
    }
    m_given = lines;
    m_changed = true;
}

void BareChart::place(const QSizeF& size, const QRectF& plot, double columns, double low, double high)
{
    columns = std::max(columns, 1.0);
    high = high > low ? high : low + 1;
    const bool scaled = std::exchange(m_changed, false) || columns != m_columns || low != m_low || high != m_high;
    m_columns = columns;
    m_low = low;
    m_high = high;
    const QRectF whole(QPointF(0, 0), size);
    if (whole != geometry())
        setGeometry(whole);
    if (plot != m_plot)
        setPlotArea(plot);
    m_plot = plot;
    for (int i = 0; scaled && i < m_given.size(); ++i) {
        QList<QPointF> points = m_given[i].points;
        for (QPointF& point : points)
            point = {point.x() / m_columns, (point.y() - m_low) / (m_high - m_low)};
        m_lines[i]->replace(points);
    }
}

} // namespace flipscope
