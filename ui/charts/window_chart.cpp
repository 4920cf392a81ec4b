// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/window_chart.h"

#include "ui/charts/chart_text.h"
#include "ui/charts/line_plot.h"
#include "ui/charts/scene_picture.h"
#include "ui/charts/tool_tip.h"

#include <QGraphicsScene>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>

namespace flipscope {

struct WindowChart::Private {
    QGraphicsScene scene;
    LinePlot plot{&scene};
    int hoveredColumn = -1, hoveredRow = -1;
    ScenePicture picture; // without what follows the mouse
};

WindowChart::WindowChart(QWidget* parent) : QWidget(parent), d(std::make_unique<Private>())
{
    d->plot.setStyle(ChartStyle::ofPalette());
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMouseTracking(true);
    setMinimumSize(280, 150);
    setAccessibleName(tr("Chart per window"));
}

WindowChart::~WindowChart() = default;

void WindowChart::setGrid(const HeatmapGrid& grid, const QVector<QColor>& runColors)
{
    d->plot.setGrid(grid, runColors);
    setAccessibleName(tr("Chart per window: %1").arg(chart_text::title(grid)));
    redraw();
}

void WindowChart::setStyle(const ChartStyle& style)
{
    d->plot.setStyle(style);
    redraw();
}

void WindowChart::setLogAxis(bool log)
{
    d->plot.setLogAxis(log);
    redraw();
}

void WindowChart::setCurrentColumn(int column)
{
    d->plot.setCurrentColumn(column);
    update();
}

void WindowChart::setHoveredColumn(int column)
{
    d->hoveredColumn = column;
    d->hoveredRow = -1;
    update();
}

/// The scene is to be drawn anew.
void WindowChart::redraw()
{
    d->picture.forget();
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
    painter.drawPixmap(0, 0, d->picture.of(d->scene, *this, d->plot.style().background));
    d->plot.paintHover(painter, d->hoveredColumn, d->hoveredRow);
}

void WindowChart::resizeEvent(QResizeEvent*)
{
    d->plot.setSize(size());
    d->scene.setSceneRect(rect());
    redraw();
}

void WindowChart::mouseMoveEvent(QMouseEvent* event)
{
    const int column = d->plot.columnAt(event->position());
    d->hoveredRow = d->plot.nearestRow(event->position());
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
