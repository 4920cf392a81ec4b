// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/heatmap_view_private.h"

#include "ui/charts/chart_text.h"
#include "ui/charts/token_zoom.h"
#include "ui/charts/tool_tip.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

HeatmapView::HeatmapView(QWidget* parent) : QWidget(parent), d(std::make_unique<Private>())
{
    d->bar = new QScrollBar(Qt::Vertical, this);
    d->bar->hide();
    connect(d->bar, &QScrollBar::valueChanged, this, &HeatmapView::redraw);
    d->plot.setStyle(ChartStyle::ofPalette());
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(280, 140);
    setAccessibleName(tr("Heatmap"));
}

HeatmapView::~HeatmapView() = default;

void HeatmapView::setGrid(const HeatmapGrid& grid, const ColourScale& scale)
{
    d->plot.setGrid(grid, scale);
    d->hoveredRow = d->hoveredColumn = -1;
    layOut();
    describe();
}

void HeatmapView::setStyle(const ChartStyle& style)
{
    d->plot.setStyle(style);
    layOut();
}

const HeatmapGrid& HeatmapView::grid() const
{
    return d->item().grid();
}

int HeatmapView::currentRow() const
{
    return d->item().currentRow();
}

int HeatmapView::currentColumn() const
{
    return d->item().currentColumn();
}

void HeatmapView::setCurrentCell(int row, int column)
{
    const int before = currentRow();
    d->item().setCurrent(row, column);
    if (currentRow() != before) // its name stands out
        redraw();
    const QRectF cell = d->item().cellRect(currentRow(), currentColumn());
    if (d->bar->isVisible() && !cell.isNull()) { // bring it into view
        const int top = static_cast<int>(cell.top()) - 4;
        const int bottom = static_cast<int>(cell.bottom()) + 4;
        if (d->bar->value() > top)
            d->bar->setValue(top);
        else if (d->bar->value() + height() < bottom)
            d->bar->setValue(bottom - height());
    }
    describe();
    update();
}

void HeatmapView::setHoveredColumn(int column)
{
    d->hoveredRow = -1;
    d->hoveredColumn = column;
    d->item().setHovered(-1, column);
    update();
}

void HeatmapView::alignWith(const HeatmapGrid& other)
{
    d->plot.alignWith(other);
    layOut();
}

QRectF HeatmapView::cellRect(int row, int column) const
{
    const QRectF rect = d->item().cellRect(row, column);
    return rect.isNull() ? rect : rect.translated(0, -d->offset());
}

QPoint HeatmapView::cellAt(const QPointF& point) const
{
    const QPoint columnAndRow = d->item().cellAt(d->toPlot(point));
    return {columnAndRow.y(), columnAndRow.x()};
}

QColor HeatmapView::cellColor(int row, int column) const
{
    return d->item().cellColor(row, column);
}

QStringList HeatmapView::rowLabels() const
{
    QStringList labels;
    for (const HeatmapRow& row : grid().rows)
        labels << chart_text::qstr(row.name);
    return labels;
}

QRectF HeatmapView::rowLabelRect(int row) const
{
    return d->plot.rowLabelRect(row).translated(0, -d->offset());
}

QString HeatmapView::cellText(int row, int column) const
{
    if (cellRect(row, column).isNull())
        return {};
    const HeatmapCell& cell = d->item().cell(row, column);
    return cell.state == HeatmapCell::State::Value ? chart_text::shortValue(grid().metric, cell.value, true)
                                                   : chart_text::stateMark(cell.state);
}

QString HeatmapView::cellToolTip(int row, int column) const
{
    return cellRect(row, column).isNull() ? QString() : chart_text::toolTip(grid(), row, column);
}

QSize HeatmapView::sizeHint() const
{
    return {760, static_cast<int>(std::clamp(d->plot.minimumHeight() + 8.0 * d->item().rows(), 220.0, 520.0))};
}

void HeatmapView::layOut()
{
    const bool scrolls = d->plot.minimumHeight() > height();
    const int barWidth = scrolls ? d->bar->sizeHint().width() : 0;
    d->plot.setSize(QSizeF(width() - barWidth, std::max<double>(height(), d->plot.minimumHeight())));
    d->bar->setVisible(scrolls);
    if (scrolls) {
        d->bar->setGeometry(width() - barWidth, 0, barWidth, height());
        d->bar->setRange(0, static_cast<int>(std::ceil(d->plot.minimumHeight())) - height());
        d->bar->setPageStep(height());
        d->bar->setSingleStep(20);
    }
    d->scene.setSceneRect(0, 0, width(), std::max<double>(height(), d->plot.minimumHeight()));
    if (const QSize asks = sizeHint(); asks != d->asked) {
        d->asked = asks;
        updateGeometry();
    }
    redraw();
}

void HeatmapView::redraw()
{
    d->picture.forget();
    update();
}

/// Tells a screen reader what is looked at.
void HeatmapView::describe()
{
    setAccessibleName(tr("Heatmap: %1").arg(chart_text::title(grid())));
    const QString text =
        currentRow() >= 0
            ? cellToolTip(currentRow(), currentColumn())
            : tr("%1 runs, %2 windows; arrow keys choose a cell").arg(grid().rows.size()).arg(grid().starts.size());
    if (text == accessibleDescription())
        return;
    setAccessibleDescription(text);
    if (QAccessible::isActive()) {
        QAccessibleEvent event(this, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&event);
    }
}

void HeatmapView::choose(int row, int column)
{
    if (d->item().rows() == 0 || d->item().columns() == 0)
        return;
    row = std::clamp(row, 0, d->item().rows() - 1);
    column = std::clamp(column, 0, d->item().columns() - 1);
    if (row == currentRow() && column == currentColumn())
        return;
    setCurrentCell(row, column);
    emit currentCellChanged(row, column);
}

void HeatmapView::hover(int row, int column)
{
    if (row == d->hoveredRow && column == d->hoveredColumn)
        return;
    d->hoveredRow = row;
    d->hoveredColumn = column;
    d->item().setHovered(row, column);
    update();
    emit cellHovered(row, column);
}

void HeatmapView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.drawPixmap(0, 0, d->picture.of(d->scene, *this, d->plot.style().background, d->offset()));
    painter.save();
    painter.translate(0, -d->offset());
    d->item().paintMarks(painter);
    painter.restore();
    if (!d->draggedFrom)
        return;
    const QRectF plot = d->plot.plotRect().translated(0, -d->offset());
    QColor tint = palette().color(QPalette::Highlight);
    painter.setPen(QPen(tint, 1));
    tint.setAlphaF(0.2F);
    painter.setBrush(tint);
    const auto inside = [&](double x) { return std::clamp(x, plot.left(), plot.right()); };
    painter.drawRect(QRectF(QPointF(inside(*d->draggedFrom), plot.top()), QPointF(inside(d->draggedTo), plot.bottom()))
                         .normalized());
}

void HeatmapView::resizeEvent(QResizeEvent*)
{
    layOut();
}

void HeatmapView::keyPressEvent(QKeyEvent* event)
{
    const int row = currentRow(), column = currentColumn();
    const bool none = row < 0;
    const int lastColumn = d->item().columns() - 1, lastRow = d->item().rows() - 1;
    const bool far = event->modifiers().testFlag(Qt::ControlModifier);
    if (event->modifiers() & (Qt::AltModifier | Qt::MetaModifier)) {
        QWidget::keyPressEvent(event); // back and forward are the window's
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left:
        choose(none ? 0 : row, none ? 0 : (far ? 0 : column - 1));
        break;
    case Qt::Key_Right:
        choose(none ? 0 : row, none ? 0 : (far ? lastColumn : column + 1));
        break;
    case Qt::Key_Up:
        choose(none || far ? 0 : row - 1, none ? 0 : column);
        break;
    case Qt::Key_Down:
        choose(none ? 0 : (far ? lastRow : row + 1), none ? 0 : column);
        break;
    case Qt::Key_Home:
        choose(none || far ? 0 : row, 0);
        break;
    case Qt::Key_End:
        choose(none ? 0 : (far ? lastRow : row), lastColumn);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (!none)
            emit cellActivated(row, column);
        break;
    case Qt::Key_Backspace:
        emit upRequested();
        break;
    default:
        if (!zoomKey(*event))
            QWidget::keyPressEvent(event);
    }
}

void HeatmapView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton) {
        QWidget::mousePressEvent(event);
        return;
    }
    const QPoint cell = cellAt(event->position());
    if (cell.x() >= 0) {
        choose(cell.x(), cell.y());
        return;
    }
    if (onAxis(event->position())) {
        d->draggedFrom = d->draggedTo = event->position().x();
        return;
    }
    for (int row = 0; row < d->item().rows(); ++row) {
        if (rowLabelRect(row).contains(event->position()))
            choose(row, std::max(currentColumn(), 0));
    }
}

void HeatmapView::mouseDoubleClickEvent(QMouseEvent* event)
{
    const QPoint cell = cellAt(event->position());
    if (event->button() == Qt::LeftButton && cell.x() >= 0)
        emit cellActivated(cell.x(), cell.y());
    else if (event->button() == Qt::LeftButton && onAxis(event->position()))
        emit rangeRequested({});
}

void HeatmapView::mouseReleaseEvent(QMouseEvent* event)
{
    const auto from = std::exchange(d->draggedFrom, {});
    update();
    if (from && std::abs(event->position().x() - *from) > 5)
        zoomToDragged(*from, event->position().x());
}

void HeatmapView::mouseMoveEvent(QMouseEvent* event)
{
    if (d->draggedFrom) {
        d->draggedTo = event->position().x();
        update();
        return;
    }
    setCursor(onAxis(event->position()) ? Qt::SplitHCursor : Qt::ArrowCursor);
    const QPoint cell = cellAt(event->position());
    hover(cell.x(), cell.y());
}

void HeatmapView::leaveEvent(QEvent*)
{
    hover(-1, -1);
}

void HeatmapView::wheelEvent(QWheelEvent* event)
{
    const QPoint delta = event->angleDelta();
    if (event->modifiers().testFlag(Qt::ControlModifier)) {
        zoom(token_zoom::factorOf(delta.y()), event->position().x());
        event->accept();
        return;
    }
    if (event->modifiers().testFlag(Qt::ShiftModifier) || std::abs(delta.x()) > std::abs(delta.y())) {
        moveRange((delta.x() != 0 ? delta.x() : delta.y()) > 0 ? -1 : 1);
        event->accept();
        return;
    }
    if (!d->bar->isVisible()) {
        QWidget::wheelEvent(event);
        return;
    }
    d->bar->setValue(d->bar->value() - event->angleDelta().y() / 2);
    event->accept();
}

bool HeatmapView::event(QEvent* event)
{
    switch (event->type()) {
    case QEvent::ToolTip: {
        const auto* help = static_cast<QHelpEvent*>(event);
        showToolTip(this, help->globalPos(), d->plot.toolTipAt(d->toPlot(help->pos())));
        return true;
    }
    case QEvent::FocusIn:
    case QEvent::FocusOut:
        d->plot.setFocusRing(event->type() == QEvent::FocusIn);
        redraw();
        break;
    case QEvent::PaletteChange:
        setStyle(ChartStyle::ofPalette());
        break;
    default:
        break;
    }
    return QWidget::event(event);
}

} // namespace flipscope
