// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/pair_scatter_view.h"

#include "ui/charts/chart_text.h"
#include "ui/charts/tool_tip.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>

#include <algorithm>

namespace flipscope {

PairScatterView::PairScatterView(QWidget* parent) : QWidget(parent)
{
    m_plot.setStyle(ChartStyle::ofPalette());
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(220, 200);
    setAccessibleName(m_plot.title());
}

void PairScatterView::setComparison(std::shared_ptr<const RunComparison> comparison, const QColor& a, const QColor& b)
{
    const qint64 position = current();
    m_plot.setColors(a, b);
    m_plot.setComparison(std::move(comparison));
    m_picture = QPixmap();
    m_current = m_hovered = -1;
    setCurrent(position);
    describe();
    update();
}

void PairScatterView::setStyle(const ChartStyle& style)
{
    m_plot.setStyle(style);
    m_picture = QPixmap();
    update();
}

qint64 PairScatterView::current() const
{
    return m_current < 0 ? -1 : m_plot.probes()[static_cast<std::size_t>(m_current)].position;
}

void PairScatterView::setCurrent(qint64 position)
{
    const auto& probes = m_plot.probes();
    const auto it = std::ranges::lower_bound(probes, position, {}, &PairedProbe::position);
    const bool found = it != probes.end() && it->position == position;
    m_current = found ? it - probes.begin() : -1;
    describe();
    update();
}

/// Tells a screen reader what is looked at.
void PairScatterView::describe()
{
    const RunComparison* c = m_plot.comparison();
    if (c == nullptr)
        setAccessibleDescription(tr("No two runs to compare"));
    else if (m_current >= 0)
        setAccessibleDescription(m_plot.toolTip(static_cast<std::size_t>(m_current)));
    else
        setAccessibleDescription(tr("%1 probes of A (%2) and B (%3); left and right go from probe to probe")
                                     .arg(chart_text::count(static_cast<qint64>(c->probes.size())),
                                          chart_text::qstr(c->a.name), chart_text::qstr(c->b.name)));
}

void PairScatterView::choose(qsizetype probe)
{
    if (probe < 0 || probe == m_current)
        return;
    m_current = probe;
    describe();
    update();
    emit probeChosen(current());
}

void PairScatterView::hover(qsizetype probe)
{
    if (probe == m_hovered)
        return;
    m_hovered = probe;
    update();
}

void PairScatterView::paintEvent(QPaintEvent*)
{
    const qreal ratio = devicePixelRatioF();
    if (m_picture.isNull() || m_picture.size() != (QSizeF(size()) * ratio).toSize()) {
        m_picture = QPixmap((QSizeF(size()) * ratio).toSize());
        m_picture.setDevicePixelRatio(ratio);
        QPainter painter(&m_picture);
        m_plot.paint(painter);
    }
    QPainter painter(this);
    painter.drawPixmap(0, 0, m_picture);
    for (const qsizetype probe : {m_hovered, m_current})
        if (probe >= 0)
            m_plot.paintRing(painter, static_cast<std::size_t>(probe), probe == m_current);
}

void PairScatterView::resizeEvent(QResizeEvent*)
{
    m_plot.setRect(QRectF(rect()));
    m_picture = QPixmap();
}

void PairScatterView::keyPressEvent(QKeyEvent* event)
{
    const auto count = static_cast<qsizetype>(m_plot.probes().size());
    const bool mine = event->modifiers() == Qt::NoModifier || event->modifiers() == Qt::KeypadModifier;
    if (!mine || count == 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left:
        choose(m_current < 0 ? count - 1 : std::max<qsizetype>(0, m_current - 1));
        break;
    case Qt::Key_Right:
        choose(std::min(count - 1, m_current + 1));
        break;
    case Qt::Key_Home:
        choose(0);
        break;
    case Qt::Key_End:
        choose(count - 1);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_current >= 0)
            emit probeActivated(current());
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

void PairScatterView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        choose(m_plot.probeAt(event->position()));
    else
        QWidget::mousePressEvent(event);
}

void PairScatterView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && m_plot.probeAt(event->position()) >= 0)
        emit probeActivated(current());
}

void PairScatterView::mouseMoveEvent(QMouseEvent* event)
{
    hover(m_plot.probeAt(event->position()));
}

void PairScatterView::leaveEvent(QEvent*)
{
    hover(-1);
}

bool PairScatterView::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const qsizetype probe = m_plot.probeAt(help->pos());
        showToolTip(this, help->globalPos(), probe < 0 ? QString() : m_plot.toolTip(static_cast<std::size_t>(probe)));
        return true;
    }
    if (event->type() == QEvent::PaletteChange)
        setStyle(ChartStyle::ofPalette());
    return QWidget::event(event);
}

} // namespace flipscope
