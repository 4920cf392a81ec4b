// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/bare_chart.h"

#include <QLegend>

namespace flipscope {

BareChart::BareChart() : m_x(new QValueAxis), m_y(new QValueAxis), m_carrier(new QLineSeries)
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
    attach(m_carrier);
}

void BareChart::attach(QLineSeries* series)
{
    addSeries(series);
    series->attachAxis(m_x);
    series->attachAxis(m_y);
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
        attach(series);
        m_lines << series;
    }
    for (int i = 0; i < lines.size(); ++i) {
        m_lines[i]->clear();
        m_lines[i]->setPen(lines[i].pen);
    }
    m_waiting = lines;
}

void BareChart::place(const QSizeF& size, const QRectF& plot, double columns, double low, double high)
{
    m_x->setRange(0, std::max(columns, 1.0));
    m_y->setRange(low, high > low ? high : low + 1);
    setGeometry(QRectF(QPointF(0, 0), size));
    setPlotArea(plot);
    for (int i = 0; i < m_waiting.size(); ++i)
        m_lines[i]->replace(m_waiting[i].points);
    m_waiting.clear();
}

} // namespace flipscope
