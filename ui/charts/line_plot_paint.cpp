// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What LinePlot draws around, behind and before the lines themselves.
#include "ui/charts/bare_chart.h"
#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"
#include "ui/charts/line_plot.h"
#include "ui/charts/nice_ticks.h"

#include <algorithm>
#include <cmath>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

using State = HeatmapCell::State;

/// Values to label on a log axis: powers of ten, with 2 and 5 times them where there are few.
QVector<double> logTicks(double low, double high, int most)
{
    const double a = std::pow(10, low), b = std::pow(10, high);
    QVector<double> ticks = decades(a, b, most);
    if (ticks.size() > 2)
        return ticks;
    ticks.clear();
    for (int e = static_cast<int>(std::floor(low)); e <= static_cast<int>(std::ceil(high)); ++e) {
        for (const double m : {1.0, 2.0, 5.0}) {
            const double value = m * std::pow(10, e);
            if (value >= a && value <= b)
                ticks << value;
        }
    }
    return ticks;
}

} // namespace

void LinePlot::paintBack(QPainter& p) const
{
    p.fillRect(QRectF(QPointF(0, 0), m_size), m_style.background);
    const auto columns = static_cast<int>(m_grid.starts.size());
    if (m_grid.rows.empty() || columns == 0) {
        chart_paint::text(p, QRectF(QPointF(0, 0), m_size), u"No run to compare with the baseline yet"_s,
                          chart_paint::font(m_style, 13), m_style.mutedText, Qt::AlignCenter);
        return;
    }
    chart_paint::header(p,
                        QRectF(chart_paint::margin, chart_paint::margin, m_plot.right() - chart_paint::margin,
                               chart_paint::headerHeight),
                        m_grid, m_style);
    p.fillRect(m_plot, m_style.plot);
    paintValueAxis(p);
    chart_paint::tokenAxis(p, m_plot, m_grid, m_style, true);
    paintLegend(p);
    paintBands(p);
}

void LinePlot::paintValueAxis(QPainter& p) const
{
    const QFont small = chart_paint::font(m_style, 11);
    const QFontMetricsF metrics(small);
    const int most = std::max(2, static_cast<int>(m_plot.height() / 34));
    const auto line = [&](double y, const QString& label) {
        p.setRenderHint(QPainter::Antialiasing, false);
        p.setPen(QPen(m_style.grid, 1));
        p.drawLine(QPointF(m_plot.left(), y), QPointF(m_plot.right(), y));
        p.setRenderHint(QPainter::Antialiasing, true);
        chart_paint::text(p, QRectF(m_plot.left() - 60, y - metrics.height() / 2, 52, metrics.height()), label, small,
                          m_style.mutedText, Qt::AlignRight | Qt::AlignVCenter);
    };
    double lowest = m_plot.bottom();
    if (m_log && m_hasFloor) {
        line(m_plot.bottom(), u"≤ 0"_s);
        lowest -= metrics.height() + 2;
    }
    const QVector<double> ticks =
        m_log ? logTicks(m_low, m_high, most)
              : axisTicks(m_low, m_high, m_plot.height(), 34, metrics.height() + 2, m_grid.metric.share ? 100 : 1);
    for (const double value : ticks) {
        const double y = yOf(value);
        if (y <= lowest + 0.5)
            line(y, chart_text::tick(m_grid.metric, value, m_grid.metric.share));
    }
    const bool nats = !m_grid.metric.share && !m_grid.metric.unit.empty();
    const QString unit = (nats ? chart_text::qstr(m_grid.metric.unit) : QString()) +
                         (m_log ? (nats ? u", log"_s : u"log"_s) : QString());
    chart_paint::text(p, QRectF(m_plot.left() - 70, m_plot.top() - metrics.height() - 4, 62, metrics.height()), unit,
                      small, m_style.mutedText, Qt::AlignRight | Qt::AlignVCenter);
}

void LinePlot::paintLegend(QPainter& p) const
{
    const QFont font = chart_paint::font(m_style, 12);
    const double height = QFontMetricsF(font).height() + 3;
    const auto rows = static_cast<int>(m_grid.rows.size());
    const int fit = std::max(1, static_cast<int>((m_plot.height() + 4) / height));
    const int shown = rows <= fit ? rows : fit - 1;
    const double right = m_plot.left() - 48;
    for (int row = 0; row < shown; ++row) {
        const double y = m_plot.top() + (row + 0.5) * height;
        p.setRenderHint(QPainter::Antialiasing, true);
        p.setPen(QPen(colorOf(row), 1.8));
        p.drawLine(QPointF(chart_paint::margin, y), QPointF(chart_paint::margin + 14, y));
        p.fillPath(chart_paint::marker(row, {chart_paint::margin + 7, y}, 3.6), colorOf(row));
        chart_paint::text(p, QRectF(chart_paint::margin + 19, y - height / 2, right - chart_paint::margin - 19, height),
                          chart_text::qstr(m_grid.rows[static_cast<std::size_t>(row)].name), font, m_style.text);
    }
    if (shown < rows)
        chart_paint::text(p, QRectF(chart_paint::margin + 19, m_plot.top() + shown * height, right, height),
                          u"+ %1 more"_s.arg(rows - shown), font, m_style.mutedText);
}

void LinePlot::paintBands(QPainter& p) const
{
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(Qt::NoPen);
    const auto columns = static_cast<int>(m_grid.starts.size());
    for (int row = 0; row < static_cast<int>(m_grid.rows.size()); ++row) {
        QColor fill = colorOf(row);
        fill.setAlphaF(m_grid.rows.size() > 4 ? 0.08F : 0.14F);
        if (m_grid.rows[static_cast<std::size_t>(row)].floor) {
            paintFloor(p, row);
            continue;
        }
        for (int column = 0; column < columns; ++column) {
            QPolygonF upper, lower;
            for (; hasValue(row, column) && hasInterval(cell(row, column)); ++column) {
                upper << QPointF(xOf(column + 0.5), yOf(cell(row, column).interval.high));
                lower << QPointF(xOf(column + 0.5), yOf(cell(row, column).interval.low));
            }
            if (upper.size() == 1) { // a window alone: a bar as wide as the others are apart
                p.fillRect(QRectF(upper[0] - QPointF(2, 0), lower[0] + QPointF(2, 0)), fill);
                continue;
            }
            std::reverse(lower.begin(), lower.end());
            QPainterPath path;
            path.addPolygon(upper + lower);
            if (!upper.isEmpty())
                p.fillPath(path, fill);
        }
    }
}

/// All below the noise floor is shaded: a run there has shown nothing.
void LinePlot::paintFloor(QPainter& p, int row) const
{
    QColor fill = m_style.text;
    fill.setAlphaF(0.09F);
    const auto columns = static_cast<int>(m_grid.starts.size());
    for (int column = 0; column < columns; ++column) {
        if (!hasValue(row, column))
            continue;
        const double y = yOf(cell(row, column).value);
        p.fillRect(QRectF(QPointF(xOf(column), y), QPointF(xOf(column + 1), m_plot.bottom())), fill);
    }
    const QFont small = chart_paint::font(m_style, 10);
    const double width = QFontMetricsF(small).horizontalAdvance(u"noise floor"_s) + 8;
    const QRectF label(m_plot.left() + 4, m_plot.bottom() - 17, width, 14);
    p.fillRect(label, m_style.plot);
    chart_paint::text(p, label, u"noise floor"_s, small, m_style.mutedText, Qt::AlignCenter);
    p.setPen(Qt::NoPen);
}

void LinePlot::paintFront(QPainter& p) const
{
    const auto columns = static_cast<int>(m_grid.starts.size());
    const auto rows = static_cast<int>(m_grid.rows.size());
    if (columns == 0)
        return;
    p.setRenderHint(QPainter::Antialiasing, true);
    const bool markers = m_plot.width() / columns >= 14;
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            if (cell(row, column).state == State::Infinite)
                chart_paint::text(p, QRectF(xOf(column + 0.5) - 10, m_plot.top() + 1, 20, 14), u"∞"_s,
                                  chart_paint::font(m_style, 12, true), colorOf(row), Qt::AlignCenter);
            if (!hasValue(row, column))
                continue;
            const bool alone = !hasValue(row, column - 1) && !hasValue(row, column + 1);
            if (markers || alone)
                p.fillPath(chart_paint::marker(row, pointAt(row, column), 3.2), colorOf(row));
        }
    }
}

void LinePlot::paintHover(QPainter& p, int column, int row) const
{
    if (m_currentColumn >= 0 && m_currentColumn < static_cast<int>(m_grid.starts.size())) {
        QColor tint = m_style.accent;
        tint.setAlphaF(0.16F);
        const double left = xOf(m_currentColumn), right = xOf(m_currentColumn + 1);
        p.fillRect(QRectF(left, m_plot.top(), right - left, m_plot.height()), tint);
    }
    if (column < 0 || column >= static_cast<int>(m_grid.starts.size()))
        return;
    p.setRenderHint(QPainter::Antialiasing, true);
    const double x = xOf(column + 0.5);
    p.setPen(QPen(m_style.mutedText, 1, Qt::DashLine));
    p.drawLine(QPointF(x, m_plot.top()), QPointF(x, m_plot.bottom()));
    if (!hasValue(row, column))
        return;
    p.setPen(QPen(m_style.background, 1.5));
    p.setBrush(colorOf(row));
    p.drawPath(chart_paint::marker(row, pointAt(row, column), 5));
}

} // namespace flipscope
