// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/probe_chart_view.h"

#include "ui/charts/scene_picture.h"
#include "ui/charts/token_zoom.h"
#include "ui/charts/tool_tip.h"

#include <QGraphicsScene>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace flipscope {

namespace {

constexpr double drag_threshold = 5; // pixels: below it was a click

QString nameOf(ProbePlot::Kind kind)
{
    switch (kind) {
    case ProbePlot::Kind::Position:
        return ProbeChartView::tr("Chart: KL over position");
    case ProbePlot::Kind::Distribution:
        return ProbeChartView::tr("Chart: distribution of KL");
    case ProbePlot::Kind::Margin:
        return ProbeChartView::tr("Chart: margin against KL");
    case ProbePlot::Kind::Agreement:
        break;
    }
    return ProbeChartView::tr("Chart: agreement with position");
}

} // namespace

struct ProbeChartView::Private {
    explicit Private(ProbePlot::Kind k) : kind(k), plot(ProbePlot::make(k, &scene)) {}

    ProbePlot::Kind kind;
    QGraphicsScene scene;
    std::unique_ptr<ProbePlot> plot;
    ProbePlot::Hit hit;
    TokenRange hoveredRange;
    ScenePicture picture; // without what follows the mouse
    std::optional<QPointF> pressed, pannedFrom;
    TokenRange pannedRange;
    QPointF dragged;
    bool dragging = false;

    qint64 tokens() const { return plot->data().n_tokens; }
};

ProbeChartView::ProbeChartView(ProbePlot::Kind kind, QWidget* parent)
    : QWidget(parent), d(std::make_unique<Private>(kind))
{
    d->plot->setStyle(ChartStyle::ofPalette());
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(280, 150);
    setAccessibleName(nameOf(kind));
}

ProbeChartView::~ProbeChartView() = default;

ProbePlot& ProbeChartView::plot() const
{
    return *d->plot;
}

ProbePlot::Kind ProbeChartView::kind() const
{
    return d->kind;
}

void ProbeChartView::setData(const ProbeChartData& data, const QVector<QColor>& runColors)
{
    d->plot->setData(data, runColors);
    d->hit = {};
    setAccessibleDescription(d->plot->title() + QStringLiteral(". ") + d->plot->subtitle());
    redraw();
}

void ProbeChartView::setStyle(const ChartStyle& style)
{
    d->plot->setStyle(style);
    redraw();
}

void ProbeChartView::setCurrent(int row, qint64 position)
{
    if (d->plot->setCurrent(row, position))
        redraw();
}

void ProbeChartView::setHoveredRange(const TokenRange& range)
{
    if (range == d->hoveredRange)
        return;
    d->hoveredRange = range;
    update();
}

QString ProbeChartView::toolTipAt(const QPointF& point) const
{
    return d->plot->toolTip(d->plot->hitAt(point));
}

QSize ProbeChartView::sizeHint() const
{
    return {760, 240};
}

void ProbeChartView::redraw()
{
    d->picture.forget();
    update();
}

void ProbeChartView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.drawPixmap(0, 0, d->picture.of(d->scene, *this, d->plot->style().background));
    d->plot->paintHover(painter, d->hit, d->hoveredRange);
    const QRectF plot = d->plot->plotRect();
    if (d->dragging && d->pressed) {
        const double left = std::clamp(d->pressed->x(), plot.left(), plot.right());
        const double right = std::clamp(d->dragged.x(), plot.left(), plot.right());
        QColor tint = palette().color(QPalette::Highlight);
        painter.setPen(QPen(tint, 1));
        tint.setAlphaF(0.2F);
        painter.setBrush(tint);
        painter.drawRect(QRectF(QPointF(left, plot.top()), QPointF(right, plot.bottom())).normalized());
    }
    if (hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(ChartStyle::ofPalette().accent, 1.5));
        painter.drawRoundedRect(plot.adjusted(-3.5, -3.5, 2.5, 2.5), 3, 3);
    }
}

void ProbeChartView::resizeEvent(QResizeEvent*)
{
    d->plot->setSize(size());
    d->scene.setSceneRect(rect());
    redraw();
}

void ProbeChartView::drag(const QPointF& to)
{
    if (d->pannedFrom) {
        const double tokens = d->plot->tokenAt(d->pannedFrom->x()) - d->plot->tokenAt(to.x());
        emit rangeRequested(token_zoom::moved(d->pannedRange, std::llround(tokens), d->tokens()));
        return;
    }
    d->dragged = to;
    d->dragging = d->dragging || std::abs(to.x() - d->pressed->x()) > drag_threshold;
    update();
}

void ProbeChartView::mouseMoveEvent(QMouseEvent* event)
{
    if (d->pressed || d->pannedFrom) {
        drag(event->position());
        return;
    }
    const ProbePlot::Hit hit = d->plot->hitAt(event->position());
    const bool news = hit.row != d->hit.row || hit.position != d->hit.position;
    d->hit = hit;
    update();
    if (news)
        emit probeHovered(hit.row, hit.position);
}

void ProbeChartView::leaveEvent(QEvent*)
{
    d->hit = {};
    update();
    emit probeHovered(-1, -1);
}

void ProbeChartView::mousePressEvent(QMouseEvent* event)
{
    const bool inside = d->plot->hasTokenAxis() && d->plot->plotRect().contains(event->position());
    const bool shift = event->modifiers().testFlag(Qt::ShiftModifier);
    if (inside && (event->button() == Qt::MiddleButton || (event->button() == Qt::LeftButton && shift))) {
        d->pannedFrom = event->position();
        d->pannedRange = d->plot->data().shown();
    } else if (event->button() == Qt::LeftButton) {
        d->pressed = event->position();
        d->dragged = event->position();
    } else {
        QWidget::mousePressEvent(event);
    }
}

void ProbeChartView::mouseReleaseEvent(QMouseEvent* event)
{
    const auto pressed = std::exchange(d->pressed, {});
    const bool dragged = std::exchange(d->dragging, false);
    d->pannedFrom.reset();
    update();
    if (!pressed)
        return;
    if (dragged && d->plot->hasTokenAxis()) {
        emit rangeRequested(
            token_zoom::between(d->plot->tokenAt(pressed->x()), d->plot->tokenAt(event->position().x()), d->tokens()));
        return;
    }
    const ProbePlot::Hit hit = d->plot->hitAt(event->position());
    if (hit.row >= 0)
        emit probeActivated(hit.row, hit.position);
}

void ProbeChartView::mouseDoubleClickEvent(QMouseEvent* event)
{
    // The first click has chosen what is under the mouse; where nothing is, two clicks show all again.
    if (d->plot->hasTokenAxis() && d->plot->hitAt(event->position()).row < 0)
        emit rangeRequested({});
}

void ProbeChartView::wheelEvent(QWheelEvent* event)
{
    if (!d->plot->hasTokenAxis() || d->tokens() <= 0) {
        QWidget::wheelEvent(event);
        return;
    }
    event->accept();
    const TokenRange shown = d->plot->data().shown();
    const QPoint delta = event->angleDelta();
    const bool sideways = std::abs(delta.x()) > std::abs(delta.y()) || event->modifiers().testFlag(Qt::ShiftModifier);
    if (sideways) {
        const int turned = delta.x() != 0 ? delta.x() : delta.y();
        const auto by = -std::llround(static_cast<double>(shown.end - shown.start) * 0.12 * turned / 120);
        emit rangeRequested(token_zoom::moved(shown, by, d->tokens()));
    } else if (delta.y() != 0) {
        emit rangeRequested(token_zoom::zoomed(shown, d->plot->tokenAt(event->position().x()),
                                               token_zoom::factorOf(delta.y()), d->tokens()));
    }
}

void ProbeChartView::keyPressEvent(QKeyEvent* event)
{
    const bool plain = (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == Qt::NoModifier;
    if (!plain || d->tokens() <= 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    const TokenRange shown = d->plot->data().shown();
    const qint64 length = shown.end - shown.start;
    const double middle = static_cast<double>(shown.start) + static_cast<double>(length) / 2;
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        emit rangeRequested(token_zoom::zoomed(shown, middle, 0.5, d->tokens()));
        break;
    case Qt::Key_Minus:
        emit rangeRequested(token_zoom::zoomed(shown, middle, 2, d->tokens()));
        break;
    case Qt::Key_Left:
        emit rangeRequested(token_zoom::moved(shown, -std::max<qint64>(length / 8, 1), d->tokens()));
        break;
    case Qt::Key_Right:
        emit rangeRequested(token_zoom::moved(shown, std::max<qint64>(length / 8, 1), d->tokens()));
        break;
    case Qt::Key_0:
        emit rangeRequested({});
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

bool ProbeChartView::event(QEvent* event)
{
    switch (event->type()) {
    case QEvent::ToolTip: {
        const auto* help = static_cast<QHelpEvent*>(event);
        showToolTip(this, help->globalPos(), toolTipAt(help->pos()));
        return true;
    }
    case QEvent::FocusIn:
    case QEvent::FocusOut:
        update();
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
