// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/window_chart.h"

#include "ui/charts/chart_text.h"
#include "ui/charts/line_plot.h"
#include "ui/charts/tool_tip.h"

#include <QGraphicsScene>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>

namespace flipscope {

struct WindowChart::Private {
    QGraphicsScene scene;
    LinePlot plot{&scene};
    int hoveredColumn = -1;
};

WindowChart::WindowChart(QWidget* parent) : QWidget(parent), d(std::make_unique<Private>())
{
    d->plot.setStyle(ChartStyle::ofPalette());
    setMouseTracking(true);
    setMinimumSize(280, 150);
    setAccessibleName(tr("Chart per window"));
}

WindowChart::~WindowChart() = default;

void WindowChart::setGrid(const HeatmapGrid& grid, const QVector<QColor>& runColors)
{
    d->plot.setGrid(grid, runColors);
    setAccessibleName(tr("Chart per window: %1").arg(chart_text::title(grid)));
    update();
}

void WindowChart::setStyle(const ChartStyle& style)
{
    d->plot.setStyle(style);
    update();
}

void WindowChart::setLogAxis(bool log)
{
    d->plot.setLogAxis(log);
    update();
}

void WindowChart::setCurrentColumn(int column)
{
    d->plot.setCurrentColumn(column);
    update();
}

void WindowChart::setHoveredColumn(int column)
{
    d->hoveredColumn = column;
    d->plot.setHovered(column);
    update();
}

QPointF WindowChart::pointAt(int row, int column) const
{
    return d->plot.pointAt(row, column);
}

QRectF WindowChart::plotRect() const
{
    return d->plot.plotRect();
}

QSize WindowChart::sizeHint() const
{
    return {760, 240};
}

void WindowChart::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    d->scene.render(&painter, QRectF(rect()), QRectF(rect()), Qt::IgnoreAspectRatio);
}

void WindowChart::resizeEvent(QResizeEvent*)
{
    d->plot.setSize(size());
    d->scene.setSceneRect(rect());
}

void WindowChart::mouseMoveEvent(QMouseEvent* event)
{
    const int column = d->plot.columnAt(event->position());
    d->plot.setHovered(column, d->plot.nearestRow(event->position()));
    update();
    if (column != d->hoveredColumn) {
        d->hoveredColumn = column;
        emit columnHovered(column);
    }
}

void WindowChart::leaveEvent(QEvent*)
{
    setHoveredColumn(-1);
    emit columnHovered(-1);
}

void WindowChart::mousePressEvent(QMouseEvent* event)
{
    const int row = d->plot.nearestRow(event->position());
    if (event->button() == Qt::LeftButton && row >= 0)
        emit pointActivated(row, d->plot.columnAt(event->position()));
    else
        QWidget::mousePressEvent(event);
}

bool WindowChart::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        showToolTip(this, help->globalPos(), d->plot.toolTipAt(help->pos()));
        return true;
    }
    if (event->type() == QEvent::PaletteChange)
        setStyle(ChartStyle::ofPalette());
    return QWidget::event(event);
}

} // namespace flipscope
