// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/token_legend.h"

#include "ui/charts/colormap.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace flipscope {

namespace {

constexpr int widestBar = 140, narrowestBar = 40;
constexpr int gap = 8;

} // namespace

TokenLegend::TokenLegend(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("tokenLegend"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TokenLegend::setScale(const QString& title, const QString& map, const QString& low, const QString& high)
{
    if (title == m_title && map == m_map && low == m_low && high == m_high)
        return;
    m_title = title;
    m_map = map;
    m_low = low;
    m_high = high;
    const QString text =
        map.isEmpty()
            ? tr("No probe of this run has a number to colour tokens by.")
            : tr("Tokens are coloured by %1 of the probe that predicts them, from %2 to %3.").arg(title, low, high);
    setAccessibleName(tr("Legend of the tokens"));
    setAccessibleDescription(text);
    setToolTip(text + QLatin1Char('\n') +
               tr("The probe at position t (the last token fed) is about token t+1. "
                  "A corner and a line mark a flip; tokens without colour have no probe."));
    updateGeometry();
    update();
}

QSize TokenLegend::sizeHint() const
{
    const QFontMetrics m(font());
    return {m.horizontalAdvance(m_title) + m.horizontalAdvance(m_low) + m.horizontalAdvance(m_high) + widestBar +
                m.height() + m.horizontalAdvance(tr("flip")) + 7 * gap,
            m.height() + 6};
}

QSize TokenLegend::minimumSizeHint() const
{
    return {narrowestBar, QFontMetrics(font()).height() + 6};
}

void TokenLegend::paintEvent(QPaintEvent*)
{
    if (m_map.isEmpty())
        return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QFontMetrics metrics(font());
    const QColor ink = palette().color(QPalette::WindowText);
    // Where the room is short the sample of a flip goes first, then the title, then the bar gets short.
    const int flipWidth = metrics.height() + gap / 2 + metrics.horizontalAdvance(tr("flip")) + 2 * gap;
    const int titleWidth = metrics.horizontalAdvance(m_title) + gap;
    int room = width() - metrics.horizontalAdvance(m_low) - metrics.horizontalAdvance(m_high) - 2 * gap - 2;
    const bool withTitle = room >= titleWidth + narrowestBar;
    room -= withTitle ? titleWidth : 0;
    const bool withFlip = room >= flipWidth + narrowestBar;
    room -= withFlip ? flipWidth : 0;
    const int barWidth = std::clamp(room, 8, widestBar);

    int x = 0;
    const auto text = [&](const QString& s) {
        painter.setPen(ink);
        painter.drawText(QRect(x, 0, metrics.horizontalAdvance(s) + 2, height()), Qt::AlignVCenter, s);
        x += metrics.horizontalAdvance(s) + gap;
    };
    if (withTitle)
        text(m_title);
    text(m_low);
    const QRectF bar(x, 3, barWidth, height() - 6);
    QLinearGradient gradient(bar.topLeft(), bar.topRight());
    for (int i = 0; i <= 32; ++i)
        gradient.setColorAt(i / 32.0, colormapColor(m_map, i / 32.0));
    painter.fillRect(bar, gradient);
    x += barWidth + gap;
    text(m_high);
    if (!withFlip)
        return;
    x += gap;
    const QRectF box(x, 3, metrics.height(), height() - 6);
    QPainterPath corner(box.topLeft());
    corner.lineTo(box.left() + 6, box.top());
    corner.lineTo(box.left(), box.top() + 6);
    corner.closeSubpath();
    painter.fillPath(corner, ink);
    painter.fillRect(QRectF(box.left(), box.bottom() - 2, box.width(), 2), ink);
    x += metrics.height() + gap / 2;
    text(tr("flip"));
}

} // namespace flipscope
