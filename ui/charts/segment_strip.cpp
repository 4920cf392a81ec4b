// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/segment_strip.h"

#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace Qt::Literals::StringLiterals;

namespace flipscope::segment_strip {

namespace {

constexpr double bar_height = 15;
constexpr double thinking_height = 5; // a lane under the bars: thinking happens inside another segment
constexpr double marks_height = 14;

struct Kind {
    const char* name;
    const char* brief; ///< where the name does not fit
    QRgb light, dark;
};

// Quiet tints; a letter or word stands in every bar that has room, and the tool tip always says the kind.
constexpr std::array<Kind, 5> segmentKinds{{{"system", "sys", 0xd5dae0, 0x4a525b},
                                            {"user", "usr", 0xbcd7f0, 0x2f567c},
                                            {"assistant", "asst", 0xcbe5cf, 0x2f5f43},
                                            {"tool", "tool", 0xf3dcb6, 0x6d5321},
                                            {"thinking", "", 0xdccff0, 0x544078}}};

bool drawn(const Span& span)
{
    return span.kind != "chunk" && span.end > span.start;
}

bool isCall(const Span& span)
{
    return span.kind == "tool_call";
}

QColor fillOf(const std::string& kind, const ChartStyle& style)
{
    const bool dark = style.theme == ChartStyle::Theme::Dark;
    for (const Kind& k : segmentKinds) {
        if (kind == k.name)
            return QColor::fromRgb(dark ? k.dark : k.light);
    }
    return style.missing;
}

QString briefly(const QString& kind)
{
    for (const Kind& k : segmentKinds) {
        if (kind == QLatin1StringView(k.name))
            return QLatin1StringView(k.brief);
    }
    return kind.left(4);
}

double xOf(const QRectF& rect, const HeatmapGrid& grid, qint64 token)
{
    return rect.left() + rect.width() * chart_paint::columnOf(grid, token) / static_cast<double>(grid.starts.size());
}

/// Does any of it lie in the columns that are shown?
bool inside(const HeatmapGrid& grid, const Span& span)
{
    return span.start < grid.ends.back() && span.end > grid.starts.front();
}

bool anyCall(const HeatmapGrid& grid)
{
    return std::any_of(grid.spans.begin(), grid.spans.end(), [](const Span& s) { return drawn(s) && isCall(s); });
}

bool anyThinking(const HeatmapGrid& grid)
{
    return std::any_of(grid.spans.begin(), grid.spans.end(),
                       [](const Span& s) { return drawn(s) && s.kind == "thinking"; });
}

/// Where the diamonds begin, from the top of the strip.
double marksTop(const HeatmapGrid& grid)
{
    return bar_height + (anyThinking(grid) ? thinking_height : 0);
}

bool usable(const HeatmapGrid& grid)
{
    return !grid.starts.empty();
}

QRectF barOf(const QRectF& rect, const HeatmapGrid& grid, const Span& span)
{
    const double left = xOf(rect, grid, span.start);
    const double right = xOf(rect, grid, span.end);
    if (span.kind == "thinking")
        return {left, rect.top() + bar_height + 1, right - left, thinking_height - 1};
    return {left, rect.top(), right - left, bar_height};
}

/// What became of a call; null where nothing is known. A mark is where the call's own text begins: some tokens into its
/// span, or the opening tag before it.
const CallMark* markOf(const HeatmapGrid& grid, const Span& span)
{
    const auto mark = std::lower_bound(grid.marks.begin(), grid.marks.end(), span.start - 4,
                                       [](const CallMark& m, std::int64_t start) { return m.start < start; });
    return mark != grid.marks.end() && mark->start < span.end ? &*mark : nullptr;
}

bool isBroken(const HeatmapGrid& grid, const Span& span)
{
    const CallMark* mark = markOf(grid, span);
    return mark != nullptr && mark->broken;
}

/// A cross, so that a broken call is told from a whole one without its colour.
void paintCross(QPainter& p, const QPointF& c, const ChartStyle& style)
{
    const bool dark = style.theme == ChartStyle::Theme::Dark;
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(dark ? QColor(255, 138, 92) : QColor(179, 38, 30), 2.2, Qt::SolidLine, Qt::RoundCap));
    p.drawLine(c + QPointF(-3.6, -3.6), c + QPointF(3.6, 3.6));
    p.drawLine(c + QPointF(-3.6, 3.6), c + QPointF(3.6, -3.6));
}

QPainterPath diamond(const QPointF& c, double r)
{
    QPainterPath path;
    path.addPolygon(
        QPolygonF{c + QPointF(0, -r), c + QPointF(r, 0), c + QPointF(0, r), c + QPointF(-r, 0), c + QPointF(0, -r)});
    return path;
}

void paintBar(QPainter& p, const QRectF& bar, const QString& kind, const ChartStyle& style, double gap)
{
    const QColor fill = fillOf(kind.toStdString(), style);
    const QRectF shape = bar.adjusted(0, 0, -gap, 0);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.fillRect(shape, fill);
    if (kind == "thinking"_L1 || bar.height() < bar_height)
        return;
    const QFont font = chart_paint::font(style, 10);
    const QFontMetricsF metrics(font);
    QString word = kind;
    if (metrics.horizontalAdvance(word) + 8 > bar.width())
        word = briefly(kind);
    if (metrics.horizontalAdvance(word) + 6 > bar.width())
        word = kind.left(1);
    if (metrics.horizontalAdvance(word) + 4 <= bar.width())
        chart_paint::text(p, shape, word, font, style.text, Qt::AlignCenter);
}

} // namespace

double height(const HeatmapGrid& grid)
{
    if (!usable(grid) || std::none_of(grid.spans.begin(), grid.spans.end(), drawn))
        return 0;
    return marksTop(grid) + (anyCall(grid) ? marks_height : 0);
}

void paint(QPainter& p, const QRectF& rect, const HeatmapGrid& grid, const ChartStyle& style)
{
    if (height(grid) == 0)
        return;
    const QFont small = chart_paint::font(style, 11);
    chart_paint::text(p, QRectF(chart_paint::margin, rect.top(), rect.left() - chart_paint::margin - 8, bar_height),
                      u"prompt"_s, small, style.mutedText);
    double painted = -1, paintedThinking = -1; // bars thinner than a pixel are not piled up by the thousand
    for (const Span& span : grid.spans) {
        if (!drawn(span) || isCall(span) || !inside(grid, span))
            continue;
        const QRectF bar = barOf(rect, grid, span);
        double& until = span.kind == "thinking" ? paintedThinking : painted;
        if (bar.width() < 0.5 && bar.right() - until < 0.5)
            continue;
        until = bar.right();
        paintBar(p, bar, chart_text::qstr(span.kind), style, bar.width() > 4 ? 1 : 0);
    }
    double last = -100;
    for (const Span& span : grid.spans) {
        if (!drawn(span) || !isCall(span) || !inside(grid, span))
            continue;
        const double x = std::clamp(xOf(rect, grid, span.start), rect.left() + 5, rect.right() - 5);
        const QPointF centre(x, rect.top() + marksTop(grid) + 7);
        if (isBroken(grid, span)) {
            paintCross(p, centre, style);
            continue;
        }
        if (x - last < 1)
            continue;
        last = x;
        p.setRenderHint(QPainter::Antialiasing, true);
        p.fillPath(diamond(centre, 4.5), style.text);
    }
}

QString toolTip(const QRectF& rect, const HeatmapGrid& grid, const QPointF& point)
{
    if (height(grid) == 0 || !rect.contains(point))
        return {};
    const Span* found = nullptr;
    const bool marks = anyCall(grid) && point.y() > rect.top() + marksTop(grid);
    double best = 7;
    for (const Span& span : grid.spans) {
        if (!drawn(span) || isCall(span) != marks || !inside(grid, span))
            continue;
        if (marks) {
            const double distance =
                std::abs(std::clamp(xOf(rect, grid, span.start), rect.left() + 5, rect.right() - 5) - point.x());
            if (distance < best) {
                best = distance;
                found = &span;
            }
        } else if (barOf(rect, grid, span).contains(point)) {
            found = &span;
        }
    }
    if (!found)
        return {};
    QString text = kindWords(chart_text::qstr(found->kind)) + u" · tokens "_s + chart_text::count(found->start) +
                   u"–"_s + chart_text::count(found->end);
    QString label = chart_text::qstr(found->label).simplified();
    if (label.size() > 240)
        label = label.left(240) + u"…"_s;
    if (!label.isEmpty())
        text += u'\n' + label;
    if (const CallMark* mark = marks ? markOf(grid, *found) : nullptr)
        text += u'\n' + chart_text::qstr(mark->text);
    return text;
}

QStringList kinds(const HeatmapGrid& grid)
{
    QStringList found;
    if (!usable(grid))
        return found;
    for (const Kind& kind : segmentKinds) {
        if (std::any_of(grid.spans.begin(), grid.spans.end(),
                        [&](const Span& s) { return drawn(s) && s.kind == kind.name; }))
            found << QLatin1StringView(kind.name);
    }
    if (anyCall(grid))
        found << u"tool_call"_s;
    if (std::any_of(grid.spans.begin(), grid.spans.end(),
                    [&](const Span& s) { return drawn(s) && isCall(s) && isBroken(grid, s); }))
        found << u"broken_call"_s;
    return found;
}

void paintSwatch(QPainter& p, const QRectF& rect, const QString& kind, const ChartStyle& style)
{
    p.setRenderHint(QPainter::Antialiasing, true);
    if (kind == "tool_call"_L1)
        p.fillPath(diamond(rect.center(), 4.5), style.text);
    else if (kind == "broken_call"_L1)
        paintCross(p, rect.center(), style);
    else if (kind == "thinking"_L1)
        p.fillRect(QRectF(rect.left(), rect.center().y() - 2, rect.width(), 4), fillOf("thinking", style));
    else
        p.fillRect(rect, fillOf(kind.toStdString(), style));
}

QString kindWords(const QString& kind)
{
    return kind == "tool_call"_L1 ? u"tool call"_s : kind == "broken_call"_L1 ? u"broken tool call"_s : kind;
}

} // namespace flipscope::segment_strip
