// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/token_area.h"

#include <QAccessible>
#include <QFontDatabase>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>

namespace flipscope {

TokenArea::TokenArea(QWidget* parent) : QAbstractScrollArea(parent)
{
    setObjectName(QStringLiteral("tokenArea"));
    setAccessibleName(tr("Tokens of the history"));
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn); // its coming and going would change where lines break
    viewport()->setCursor(Qt::IBeamCursor);
    setWhatsThis(tr("←→ next token, ↑↓ next line, PgUp PgDn, Home End, N and P next and previous flip, L largest KL, "
                    "Ctrl+G go to a token, Ctrl+F find, F3 find again, Backspace up."));
    connect(verticalScrollBar(), &QScrollBar::actionTriggered, this, [this](int action) {
        // The bar counts tokens, but steps are lines.
        int lines = 0;
        if (action == QAbstractSlider::SliderSingleStepAdd || action == QAbstractSlider::SliderSingleStepSub)
            lines = action == QAbstractSlider::SliderSingleStepAdd ? 1 : -1;
        if (action == QAbstractSlider::SliderPageStepAdd || action == QAbstractSlider::SliderPageStepSub)
            lines = action == QAbstractSlider::SliderPageStepAdd ? rows() - 1 : 1 - rows();
        if (lines == 0)
            return;
        const TokenLayout::Spot top = std::min(m_layout.moved(m_top, lines), lastTop());
        m_syncing = true;
        verticalScrollBar()->setSliderPosition(static_cast<int>(m_layout.line(top).firstToken()));
        m_syncing = false;
        setTop(top);
    });
    applyFont();
}

void TokenArea::applyFont()
{
    QFont mono = m_proportional ? font() : QFontDatabase::systemFont(QFontDatabase::FixedFont);
    if (font().pointSizeF() > 0)
        mono.setPointSizeF(font().pointSizeF());
    if (!m_proportional)
        mono.setStyleHint(QFont::Monospace);
    viewport()->setFont(mono);
    m_layout.setFont(mono);
}

void TokenArea::setProportional(bool proportional)
{
    if (proportional == m_proportional)
        return;
    m_proportional = proportional;
    const qint64 top = m_current >= 0 ? m_current : topToken();
    applyFont();
    m_top = {m_top.paragraph, 0}; // lines break elsewhere now
    relayout();
    ensureVisible(top);
}

qreal TokenArea::lineHeight() const
{
    return QFontMetricsF(viewport()->font()).height() + 5; // room for the mark of a flip
}

int TokenArea::rows() const
{
    return std::max(1, static_cast<int>(viewport()->height() / lineHeight()));
}

qreal TokenArea::gutterWidth() const
{
    const QFontMetricsF metrics(viewport()->font());
    const qint64 digits = QString::number(std::max<qint64>(m_history.size(), 1)).size();
    const qint64 commas = (digits - 1) / 3;
    return metrics.horizontalAdvance(QLatin1Char('0')) * static_cast<qreal>(digits + commas + 7) + 32;
}

void TokenArea::setHistory(HistoryText history)
{
    m_history = std::move(history);
    m_layout.setHistory(m_history);
    if (m_current >= m_history.size())
        m_current = -1;
    m_foundFirst = m_foundLast = -1;
    m_top = {};
    relayout();
}

void TokenArea::setMarks(std::function<TokenMark(qint64)> marks)
{
    m_marks = std::move(marks);
    viewport()->update();
}

void TokenArea::setDescriptions(std::function<QString(qint64)> toolTip)
{
    m_toolTip = std::move(toolTip);
}

void TokenArea::relayout()
{
    const qint64 anchor = topToken();
    m_layout.setWidth(viewport()->width() - gutterWidth() - 8);
    m_top = std::min(m_layout.spotOf(std::max<qint64>(anchor, 0)), lastTop());
    updateScrollBar();
    viewport()->update();
}

TokenLayout::Spot TokenArea::lastTop() const
{
    return m_layout.moved(m_layout.lastSpot(), 1 - rows());
}

qint64 TokenArea::topToken() const
{
    if (m_layout.isEmpty() || m_top.paragraph >= m_layout.paragraphCount())
        return -1;
    const auto& lines = m_layout.lines(m_top.paragraph);
    return lines[std::min(static_cast<std::size_t>(m_top.line), lines.size() - 1)].firstToken();
}

void TokenArea::setTop(TokenLayout::Spot top)
{
    m_top = m_layout.isEmpty() ? TokenLayout::Spot{} : std::min(top, lastTop());
    updateScrollBar();
    viewport()->update();
}

void TokenArea::updateScrollBar()
{
    QScrollBar* bar = verticalScrollBar();
    m_syncing = true;
    if (m_layout.isEmpty()) {
        bar->setRange(0, 0);
    } else {
        const TokenLayout::Spot last = lastTop();
        const auto end = static_cast<int>(m_layout.line(last).firstToken());
        const qint64 bottom = m_layout.line(m_layout.moved(m_top, rows() - 1)).pieces.back().token;
        bar->setRange(0, std::max(0, last == TokenLayout::Spot{} ? 0 : end));
        bar->setPageStep(std::max(1, static_cast<int>(bottom - topToken())));
        bar->setValue(static_cast<int>(topToken()));
    }
    m_syncing = false;
}

void TokenArea::scrollContentsBy(int, int)
{
    if (m_syncing || m_layout.isEmpty())
        return;
    m_top = std::min(m_layout.spotOf(verticalScrollBar()->value()), lastTop());
    viewport()->update();
}

void TokenArea::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    const bool wasVisible = !tokenRect(m_current).isNull();
    relayout();
    if (wasVisible)
        ensureVisible(m_current);
}

void TokenArea::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
        applyFont();
        relayout();
    }
}

void TokenArea::wheelEvent(QWheelEvent* event)
{
    m_wheel += event->angleDelta().y();
    const int lines = m_wheel / 40; // 120 a notch: three lines
    m_wheel -= lines * 40;
    if (lines != 0 && !m_layout.isEmpty())
        setTop(m_layout.moved(m_top, -lines));
    event->accept();
}

void TokenArea::ensureVisible(qint64 token)
{
    if (token < 0 || m_layout.isEmpty())
        return;
    const TokenLayout::Spot spot = m_layout.spotOf(token);
    const TokenLayout::Spot bottom = m_layout.moved(m_top, rows() - 1);
    if (!(spot < m_top) && !(bottom < spot))
        return;
    // A step beyond the edge scrolls by lines, a jump puts the token in the upper third.
    const bool above = spot < m_top && !(spot < m_layout.moved(m_top, -3));
    const bool below = bottom < spot && !(m_layout.moved(bottom, 3) < spot);
    if (above)
        setTop(spot);
    else
        setTop(m_layout.moved(spot, below ? 1 - rows() : -rows() / 3));
}

void TokenArea::setCurrent(qint64 token, bool scroll)
{
    m_current = token < m_history.size() ? token : -1;
    if (scroll)
        ensureVisible(m_current);
    viewport()->update();
    announce();
}

void TokenArea::setFound(qint64 first, qint64 last)
{
    m_foundFirst = first;
    m_foundLast = last;
    viewport()->update();
}

void TokenArea::announce()
{
    if (m_current < 0)
        return;
    setAccessibleDescription(tr("Token %1: %2").arg(m_current).arg(m_history.label(m_current)));
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
}

QRectF TokenArea::tokenRect(qint64 token) const
{
    if (token < 0 || m_layout.isEmpty() || token >= m_history.size())
        return {};
    const qreal height = lineHeight(), left = gutterWidth();
    TokenLayout::Spot spot = m_top;
    const TokenLayout::Spot last = m_layout.lastSpot();
    for (int row = 0; row * height < viewport()->height(); ++row) {
        const qreal y = row * height;
        const TokenLayout::Line& line = m_layout.line(spot);
        for (const auto& piece : line.pieces) {
            if (piece.token == token)
                return {left + piece.x, y, std::max(piece.width, 2.0), height};
        }
        if (spot == last || line.firstToken() > token)
            break;
        spot = m_layout.moved(spot, 1);
    }
    return {};
}

qint64 TokenArea::tokenAt(const QPointF& point) const
{
    if (m_layout.isEmpty() || point.y() < 0)
        return -1;
    const auto row = static_cast<int>(point.y() / lineHeight());
    TokenLayout::Spot spot = m_top;
    for (int i = 0; i < row; ++i) {
        if (spot == m_layout.lastSpot())
            return -1;
        spot = m_layout.moved(spot, 1);
    }
    const qreal x = point.x() - gutterWidth();
    for (const auto& piece : m_layout.line(spot).pieces) {
        if (x >= piece.x && x < piece.x + std::max(piece.width, 2.0))
            return piece.token;
    }
    return -1;
}

void TokenArea::goTo(qint64 token)
{
    if (m_history.size() == 0)
        return;
    token = std::clamp<qint64>(token, 0, m_history.size() - 1);
    if (token == m_current)
        return;
    setCurrent(token, true);
    emit moved(token);
}

void TokenArea::moveBy(qint64 tokens)
{
    goTo(m_current < 0 ? std::max<qint64>(topToken(), 0) : m_current + tokens);
}

void TokenArea::moveLines(int lines)
{
    if (m_layout.isEmpty())
        return;
    if (m_current < 0)
        return moveBy(0);
    const TokenLayout::Spot from = m_layout.spotOf(m_current);
    double x = 0;
    for (const auto& piece : m_layout.line(from).pieces) {
        if (piece.token == m_current)
            x = piece.x + piece.width / 2;
    }
    const TokenLayout::Spot to = m_layout.moved(from, lines);
    if (to == from)
        return goTo(lines < 0 ? 0 : m_history.size() - 1);
    const auto& pieces = m_layout.line(to).pieces;
    auto hit = std::find_if(pieces.begin(), pieces.end(), [x](const auto& p) { return x < p.x + p.width; });
    if (hit == pieces.end())
        --hit;
    goTo(hit->token);
}

bool TokenArea::handleKey(const QKeyEvent* event)
{
    if (event->matches(QKeySequence::Find)) {
        emit findRequested();
        return true;
    }
    if (event->key() == Qt::Key_G && event->modifiers() == Qt::ControlModifier) {
        emit goToRequested();
        return true;
    }
    if (event->key() == Qt::Key_F3) {
        emit findAgain(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
        return true;
    }
    const auto modifiers = event->modifiers() & ~Qt::KeypadModifier;
    if (modifiers != Qt::NoModifier && modifiers != Qt::ShiftModifier)
        return false;
    switch (event->key()) {
    case Qt::Key_Left:
        moveBy(-1);
        return true;
    case Qt::Key_Right:
        moveBy(1);
        return true;
    case Qt::Key_Up:
        moveLines(-1);
        return true;
    case Qt::Key_Down:
        moveLines(1);
        return true;
    case Qt::Key_PageUp:
        moveLines(1 - rows());
        return true;
    case Qt::Key_PageDown:
        moveLines(rows() - 1);
        return true;
    case Qt::Key_Home:
        goTo(0);
        return true;
    case Qt::Key_End:
        goTo(m_history.size() - 1);
        return true;
    case Qt::Key_N:
        emit flipRequested(1);
        return true;
    case Qt::Key_P:
        emit flipRequested(-1);
        return true;
    case Qt::Key_L:
        emit largestRequested();
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_current >= 0)
            emit activated(m_current);
        return true;
    case Qt::Key_Backspace:
        emit upRequested();
        return true;
    default:
        return false;
    }
}

void TokenArea::keyPressEvent(QKeyEvent* event)
{
    if (handleKey(event))
        event->accept();
    else
        event->ignore();
}

bool TokenArea::event(QEvent* event)
{
    // Keys that mean something here are not the window's shortcuts while this has focus.
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool plain = key->modifiers() == Qt::NoModifier &&
                           (key->key() == Qt::Key_N || key->key() == Qt::Key_P || key->key() == Qt::Key_L ||
                            key->key() == Qt::Key_Backspace || key->key() == Qt::Key_F3 ||
                            key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter);
        if (plain || key->matches(QKeySequence::Find) ||
            (key->key() == Qt::Key_G && key->modifiers() == Qt::ControlModifier)) {
            event->accept();
            return true;
        }
    }
    return QAbstractScrollArea::event(event);
}

void TokenArea::mousePressEvent(QMouseEvent* event)
{
    const qint64 token = event->button() == Qt::LeftButton ? tokenAt(event->position()) : -1;
    if (token < 0)
        return event->ignore();
    setCurrent(token, false);
    emit clicked(token);
}

void TokenArea::mouseDoubleClickEvent(QMouseEvent* event)
{
    const qint64 token = event->button() == Qt::LeftButton ? tokenAt(event->position()) : -1;
    if (token >= 0)
        emit activated(token);
}

bool TokenArea::viewportEvent(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QAbstractScrollArea::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const qint64 token = tokenAt(help->pos());
    if (token >= 0 && m_toolTip)
        QToolTip::showText(help->globalPos(), m_toolTip(token), viewport(), tokenRect(token).toAlignedRect());
    else
        QToolTip::hideText();
    return true;
}

} // namespace flipscope
