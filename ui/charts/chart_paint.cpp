// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/chart_paint.h"

#include "ui/charts/chart_text.h"
#include "ui/charts/nice_ticks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

using namespace Qt::Literals::StringLiterals;

namespace flipscope::chart_paint {

QFont font(const ChartStyle& style, double pixels, bool strong)
{
    QFont f = style.font;
    f.setPixelSize(static_cast<int>(std::lround(pixels)));
    f.setWeight(strong ? QFont::DemiBold : QFont::Normal);
    return f;
}

void text(QPainter& p, const QRectF& rect, const QString& text, const QFont& font, const QColor& color,
          Qt::Alignment alignment)
{
    if (text.isEmpty() || rect.width() <= 0)
        return;
    const QFontMetricsF metrics(font);
    // Half a pixel of slack: a label laid out to its own width must not lose its last letter to rounding.
    const QString shown = metrics.elidedText(text, Qt::ElideRight, rect.width() + 0.5);
    p.setFont(font);
    p.setPen(color);
    p.drawText(rect, alignment | Qt::TextSingleLine | Qt::TextDontClip, shown);
}

QVector<QLineF> hatch(const QRectF& rect, double spacing, Hatch kind)
{
    QVector<QLineF> lines;
    const auto multiples = [spacing](double from, double to, const auto& at) { // of the spacing, without `to`
        const auto end = static_cast<qint64>(std::ceil(to / spacing));
        for (auto i = static_cast<qint64>(std::ceil(from / spacing)); i < end; ++i)
            at(static_cast<double>(i) * spacing);
    };
    if (kind == Hatch::Level) {
        multiples(rect.top(), rect.bottom(), [&](double y) { lines << QLineF(rect.left(), y, rect.right(), y); });
        return lines;
    }
    // Lines x + y = d, at the same places everywhere, so that neighbouring cells join.
    multiples(rect.left() + rect.top(), rect.right() + rect.bottom(), [&](double d) {
        const double left = std::max(rect.left(), d - rect.bottom());
        const double right = std::min(rect.right(), d - rect.top());
        if (right > left)
            lines << QLineF(left, d - left, right, d - right);
    });
    if (kind == Hatch::Crossed) { // and x - y = d
        multiples(rect.left() - rect.bottom(), rect.right() - rect.top(), [&](double d) {
            const double left = std::max(rect.left(), d + rect.top());
            const double right = std::min(rect.right(), d + rect.bottom());
            if (right > left)
                lines << QLineF(left, left - d, right, right - d);
        });
    }
    return lines;
}

void hatched(QPainter& p, const QRectF& rect, const QColor& fill, const QColor& line, Hatch kind)
{
    p.setRenderHint(QPainter::Antialiasing, false);
    p.fillRect(rect, fill);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(line, 1));
    p.drawLines(hatch(rect, 6, kind));
}

namespace {

/// Around (0, 0), of radius 1.
QPainterPath unitMarker(int index)
{
    QPainterPath path;
    const auto polygon = [&](int corners, double turn, double size) {
        QPolygonF points;
        for (int i = 0; i <= corners; ++i) {
            const double angle = 2 * std::numbers::pi * i / corners + turn;
            points << QPointF(std::sin(angle), -std::cos(angle)) * size;
        }
        path.addPolygon(points);
    };
    switch (index) {
    case 0:
        path.addEllipse(QPointF(), 1, 1);
        break;
    case 1:
        path.addRect(-0.9, -0.9, 1.8, 1.8);
        break;
    case 2:
        polygon(3, 0, 1.3);
        break;
    case 3:
        polygon(4, 0, 1.25);
        break;
    case 4:
        polygon(3, std::numbers::pi, 1.3);
        break;
    case 5:
        polygon(5, 0, 1.15);
        break;
    case 6:
        polygon(3, std::numbers::pi / 2, 1.3);
        break;
    default:
        polygon(6, 0, 1.1);
        break;
    }
    return path;
}

} // namespace

QPainterPath marker(int index, const QPointF& c, double r)
{
    static const std::array<QPainterPath, 8> units{unitMarker(0), unitMarker(1), unitMarker(2), unitMarker(3),
                                                   unitMarker(4), unitMarker(5), unitMarker(6), unitMarker(7)};
    return QTransform(r, 0, 0, r, c.x(), c.y()).map(units[static_cast<std::size_t>(std::max(index, 0) % 8)]);
}

namespace {

QString tokenLabel(qint64 tokens, bool thousands)
{
    if (!thousands)
        return chart_text::count(tokens);
    if (tokens != 0 && tokens % 1'000'000 == 0)
        return chart_text::count(tokens / 1'000'000) + u"M"_s;
    return tokens % 1000 == 0 ? chart_text::count(tokens / 1000) + u"k"_s
                              : QString::number(static_cast<double>(tokens) / 1000, 'f', 1) + u"k"_s;
}

} // namespace

double columnOf(const HeatmapGrid& grid, qint64 token)
{
    if (grid.starts.empty() || token <= grid.starts.front())
        return 0;
    const auto columns = static_cast<qint64>(grid.starts.size());
    const qint64 column = std::upper_bound(grid.starts.begin(), grid.starts.end(), token) - grid.starts.begin() - 1;
    const auto c = static_cast<std::size_t>(column);
    // A window that the history's end cuts short is drawn as wide as the others.
    const qint64 width = grid.window_tokens > 0 ? grid.window_tokens : grid.ends[c] - grid.starts[c];
    const double into = static_cast<double>(token - grid.starts[c]) / static_cast<double>(std::max<qint64>(width, 1));
    return std::min(static_cast<double>(column) + std::min(into, 1.0), static_cast<double>(columns));
}

namespace {

/// Segments: the first token of each, as far as labels do not touch. Turns: their numbers.
QVector<Tick> pieceTicks(const HeatmapGrid& grid, double width, const QFontMetricsF& metrics)
{
    QVector<Tick> ticks;
    const double column = width / static_cast<double>(grid.starts.size());
    const bool turns = grid.by == Partition::Turns;
    double free = -1e9;
    for (std::size_t c = 0; c < grid.starts.size(); ++c) {
        const QString number = chart_text::qstr(grid.pieces[c].label).section(u' ', 1);
        const QString label = !turns                            ? tokenLabel(grid.starts[c], false)
                              : grid.pieces[c].kind == "before" ? u"–"_s
                                                                : number;
        const double at = static_cast<double>(c) + (turns ? 0.5 : 0), half = metrics.horizontalAdvance(label) / 2 + 6;
        if (at * column - half < free)
            continue;
        free = at * column + half;
        ticks << Tick{at, label};
    }
    return ticks;
}

} // namespace

QVector<Tick> tokenTicks(const HeatmapGrid& grid, double width, const QFontMetricsF& metrics)
{
    if (!grid.pieces.empty())
        return pieceTicks(grid, width, metrics);
    QVector<Tick> ticks;
    const auto columns = static_cast<qint64>(grid.starts.size());
    const qint64 tokens = grid.window_tokens;
    if (columns == 0 || tokens <= 0 || width <= 0)
        return ticks;
    const qint64 first = grid.starts.front() / tokens; // of all windows, where only some are shown
    const bool thousands = tokens % 500 == 0;
    const double room = metrics.horizontalAdvance(tokenLabel((first + columns) * tokens, thousands)) + 14;
    const double wanted = room / (width / static_cast<double>(columns)); // columns that one label covers
    qint64 step = 1;
    for (int i = 0; static_cast<double>(step) < wanted; ++i) // 1 2 5 10 20 ... or, for windows like 256, 1 2 4 8 ...
        step = thousands && i % 3 == 1 ? step / 2 * 5 : step * 2;
    for (qint64 c = (first + step - 1) / step * step; c <= first + columns; c += step) {
        if (c == first + columns && c * tokens > grid.ends.back())
            break; // the last window is cut at the end of the history
        ticks << Tick{static_cast<double>(c - first), tokenLabel(c * tokens, thousands)};
    }
    return ticks;
}

void tokenAxis(QPainter& p, const QRectF& plot, const HeatmapGrid& grid, const ChartStyle& style, bool title)
{
    const QFont small = font(style, 11);
    const QFontMetricsF metrics(small);
    const double columns = static_cast<double>(std::max<std::size_t>(grid.starts.size(), 1));
    p.setRenderHint(QPainter::Antialiasing, true);
    for (const Tick& tick : tokenTicks(grid, plot.width(), metrics)) {
        const double x = plot.left() + plot.width() * tick.at / columns;
        p.setPen(QPen(style.mutedText, 1));
        p.drawLine(QPointF(x, plot.bottom() + 1), QPointF(x, plot.bottom() + 4));
        const double w = metrics.horizontalAdvance(tick.label) + 2;
        text(p, QRectF(x - w / 2, plot.bottom() + 6, w, metrics.height()), tick.label, small, style.mutedText,
             Qt::AlignCenter);
    }
    if (title)
        text(p, QRectF(margin, plot.bottom() + 6, plot.left() - margin - 24, metrics.height()),
             grid.by == Partition::Turns ? u"turn"_s : u"tokens"_s, small, style.mutedText);
}

void tokenAxis(QPainter& p, const QRectF& plot, const TokenRange& range, const ChartStyle& style)
{
    const QFont small = font(style, 11);
    const QFontMetricsF metrics(small);
    const double length = static_cast<double>(range.end - range.start);
    const double room = metrics.horizontalAdvance(tokenLabel(range.end, false)) + 24;
    const int count = std::max(2, static_cast<int>(plot.width() / room));
    const QVector<double> ticks = niceTicks(static_cast<double>(range.start), static_cast<double>(range.end), count);
    const auto whole = [](double tick) { return std::llround(tick); };
    const bool thousands = std::all_of(ticks.begin(), ticks.end(), [&](double t) { return whole(t) % 500 == 0; });
    p.setRenderHint(QPainter::Antialiasing, true);
    for (const double tick : ticks) {
        if (tick != std::floor(tick))
            continue; // zoomed to less than a few tokens: no halves of them
        const double x = plot.left() + plot.width() * (tick - static_cast<double>(range.start)) / length;
        const QString label = tokenLabel(whole(tick), thousands);
        p.setPen(QPen(style.mutedText, 1));
        p.drawLine(QPointF(x, plot.bottom() + 1), QPointF(x, plot.bottom() + 4));
        const double w = metrics.horizontalAdvance(label) + 2;
        text(p, QRectF(x - w / 2, plot.bottom() + 6, w, metrics.height()), label, small, style.mutedText,
             Qt::AlignCenter);
    }
    text(p, QRectF(margin, plot.bottom() + 6, plot.left() - margin - 24, metrics.height()), u"tokens"_s, small,
         style.mutedText);
}

double gutter(const HeatmapGrid& grid, double width, const ChartStyle& style)
{
    QStringList names;
    for (const HeatmapRow& row : grid.rows)
        names << chart_text::qstr(row.name);
    return gutter(names, width, style);
}

double gutter(const QStringList& names, double width, const ChartStyle& style)
{
    const QFontMetricsF metrics(font(style, 12));
    double widest = 0;
    for (const QString& name : names)
        widest = std::max(widest, metrics.horizontalAdvance(name));
    // 80: a marker before the name, the numbers of a value axis after it.
    return std::round(std::clamp(margin + widest + 80, 120.0, std::max(120.0, 0.3 * width)));
}

void header(QPainter& p, const QRectF& rect, const HeatmapGrid& grid, const ChartStyle& style)
{
    const QFont strong = font(style, 14, true);
    const QFont small = font(style, 11);
    const double top = QFontMetricsF(strong).height();
    text(p, QRectF(rect.left(), rect.top(), rect.width(), top), chart_text::title(grid), strong, style.text);
    text(p, QRectF(rect.left(), rect.top() + top + 3, rect.width(), QFontMetricsF(small).height()),
         chart_text::subtitle(grid), small, style.mutedText);
}

} // namespace flipscope::chart_paint
