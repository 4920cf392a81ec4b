// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/colormap.h"
#include "ui/models/number_text.h"
#include "ui/views/token_area.h"
#include "ui/views/token_gutter.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace flipscope {

namespace {

QColor mixed(const QColor& a, const QColor& b, double share)
{
    const auto mix = [share](double x, double y) { return static_cast<float>(x + (y - x) * share); };
    return QColor::fromRgbF(mix(a.redF(), b.redF()), mix(a.greenF(), b.greenF()), mix(a.blueF(), b.blueF()));
}

} // namespace

void TokenArea::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
    painter.setFont(viewport()->font());
    if (m_layout.isEmpty())
        return;
    const qreal height = lineHeight(), gutter = gutterWidth();
    painter.fillRect(QRectF(0, 0, gutter - 5, viewport()->height()), palette().color(QPalette::AlternateBase));
    TokenLayout::Spot spot = m_top;
    const TokenLayout::Spot last = m_layout.lastSpot();
    for (int row = 0; row * height < viewport()->height(); ++row) {
        const qreal y = row * height;
        const TokenLayout::Line& line = m_layout.line(spot);
        paintGutter(painter, line, y, spot == m_top);
        paintLine(painter, line, y);
        if (spot == last)
            break;
        spot = m_layout.moved(spot, 1);
    }
}

void TokenArea::paintGutter(QPainter& painter, const TokenLayout::Line& line, qreal y, bool top)
{
    const qreal height = lineHeight(), right = gutterWidth() - 8;
    const QFontMetricsF metrics(viewport()->font());
    const auto& spans = m_history.trace()->spans;
    const qint64 first = line.firstToken(), last = line.pieces.back().token;
    const auto inside = spansAt(spans, first);
    constexpr qreal bar = 4;
    for (std::size_t i = 0; i < std::min<std::size_t>(inside.size(), 3); ++i) {
        painter.fillRect(QRectF(right - bar - static_cast<qreal>(i) * (bar + 1), y, bar, height),
                         spanColor(*inside[i], palette()));
    }
    const qreal textRight = right - 18;
    const QColor muted = mixed(palette().color(QPalette::Text), palette().color(QPalette::Base), 0.35);
    painter.setPen(muted);
    const QRectF numbers(2, y, textRight - 2 - metrics.horizontalAdvance(QStringLiteral("000000 ")), height);
    if (line.pieces.front().first)
        painter.drawText(numbers, Qt::AlignRight | Qt::AlignVCenter, groupedText(first));
    // The heading stands where a span starts, and on the top line, so that it is never out of sight.
    const Span* heading = spanStarting(spans, line.pieces.front().first ? first : first + 1, last);
    if (!heading && top && !inside.empty())
        heading = inside.back();
    if (heading) {
        painter.setPen(spanColor(*heading, palette()));
        painter.drawText(QRectF(numbers.right(), y, textRight - numbers.right(), height),
                         Qt::AlignRight | Qt::AlignVCenter, spanHeading(*heading));
    }
}

void TokenArea::paintLine(QPainter& painter, const TokenLayout::Line& line, qreal y)
{
    for (const auto& piece : line.pieces)
        paintPiece(painter, piece, y);
    // The outline of the current token lies over its neighbours.
    const qreal left = gutterWidth(), height = lineHeight();
    for (const auto& piece : line.pieces) {
        if (piece.token != m_current)
            continue;
        QPen pen(palette().color(QPalette::Highlight), 2);
        pen.setJoinStyle(Qt::MiterJoin);
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(left + piece.x, y + 1, std::max(piece.width, 2.0), height - 2));
    }
}

void TokenArea::paintPiece(QPainter& painter, const TokenLayout::Piece& piece, qreal y)
{
    const qreal height = lineHeight();
    const QRectF box(gutterWidth() + piece.x, y + 1, piece.width, height - 2);
    const TokenMark mark = m_marks ? m_marks(piece.token) : TokenMark{};
    QColor ink = palette().color(QPalette::Text), ground = palette().color(QPalette::Base);
    if (mark.invalid) {
        painter.fillRect(box, QBrush(m_invalidColor, Qt::BDiagPattern));
    } else if (mark.fill.isValid()) {
        painter.fillRect(box.adjusted(0.5, 0, -0.5, 0), mark.fill);
        ground = mark.fill;
        ink = textColorOn(mark.fill);
    }
    if (m_foundFirst >= 0 && piece.token >= m_foundFirst && piece.token <= m_foundLast) {
        painter.setPen(QPen(palette().color(QPalette::Highlight), 1.5, Qt::DashLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box);
    }
    const QColor muted = mixed(ink, ground, 0.45);
    const qreal baseline = y + 2 + QFontMetricsF(painter.font()).ascent();
    const bool special = m_history.special(piece.token);
    QFont font = viewport()->font();
    qreal x = box.left();
    for (const auto& run : piece.runs) {
        const bool standsForOther = run.kind != GlyphRun::Kind::Text;
        painter.setPen(run.kind == GlyphRun::Kind::Space || run.kind == GlyphRun::Kind::Control ? muted : ink);
        font.setItalic(special || run.kind == GlyphRun::Kind::Bytes);
        painter.setFont(font);
        painter.drawText(QPointF(x, baseline), run.text);
        if (standsForOther && run.kind == GlyphRun::Kind::Bytes) {
            painter.setPen(QPen(muted, 1, Qt::DotLine));
            painter.drawLine(QPointF(x, box.bottom() - 3), QPointF(x + run.width, box.bottom() - 3));
        }
        x += run.width;
    }
    painter.setFont(viewport()->font());
    if (!mark.flip)
        return;
    const QColor flipInk = mark.fill.isValid() ? ink : palette().color(QPalette::Text);
    painter.fillRect(QRectF(box.left() + 0.5, box.bottom() - 2, std::max(box.width() - 1, 2.0), 2), flipInk);
    if (piece.first) {
        QPainterPath triangle(box.topLeft());
        triangle.lineTo(box.left() + 6, box.top());
        triangle.lineTo(box.left(), box.top() + 6);
        triangle.closeSubpath();
        painter.fillPath(triangle, flipInk);
    }
}

} // namespace flipscope
