// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/colour_legend.h"

#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"
#include "ui/charts/nice_ticks.h"
#include "ui/charts/segment_strip.h"

#include <cmath>

using namespace Qt::Literals::StringLiterals;

namespace flipscope::colour_legend {

namespace {

struct Tick {
    double at; // 0..1 along the bar
    QString label;
};

QVector<Tick> ticksOf(const HeatmapItem& item)
{
    const Normalizer& scale = item.normalizer();
    const WindowMetric& metric = item.grid().metric;
    QVector<Tick> ticks;
    const auto add = [&](double value) { ticks << Tick{scale(value), chart_text::tick(metric, value, false)}; };
    switch (item.scale().kind) {
    case ColourScale::Kind::Linear:
        for (const double value : niceTicks(scale.low(), scale.high(), 3, metric.share ? 100 : 1))
            add(value);
        break;
    case ColourScale::Kind::Log: {
        for (const double value : decades(scale.low(), scale.high(), 5))
            add(value);
        if (ticks.size() < 2) {
            ticks.clear();
            add(scale.low());
            add(scale.high());
        }
        break;
    }
    case ColourScale::Kind::Percentile:
        for (const double t : {0.0, 0.25, 0.5, 0.75, 1.0})
            ticks << Tick{t, chart_text::shortValue(metric, scale.inverse(t), false)};
        break;
    }
    return ticks;
}

QString caption(const HeatmapItem& item)
{
    const WindowMetric& metric = item.grid().metric;
    QString text = metric.share          ? u"% · "_s
                   : metric.unit.empty() ? QString()
                                         : chart_text::qstr(metric.unit) + u" · "_s;
    switch (item.scale().kind) {
    case ColourScale::Kind::Linear:
        text += u"linear scale"_s;
        break;
    case ColourScale::Kind::Log:
        text += u"log scale"_s;
        break;
    case ColourScale::Kind::Percentile:
        text += u"percentile scale"_s;
        break;
    }
    if (!item.scale().automatic)
        text += u", fixed"_s;
    return text;
}

} // namespace

double width(double chartWidth)
{
    return chartWidth < 420 ? 0 : std::round(std::clamp(0.24 * chartWidth, 130.0, 220.0));
}

void paint(QPainter& p, const QRectF& rect, const HeatmapItem& item, const ChartStyle& style)
{
    const QRectF bar(rect.left(), rect.top() + 2, rect.width(), 9);
    p.setRenderHint(QPainter::Antialiasing, false);
    const int steps = static_cast<int>(bar.width());
    for (int i = 0; i < steps; ++i) {
        const double t = (i + 0.5) / steps;
        p.fillRect(QRectF(bar.left() + bar.width() * i / steps, bar.top(), bar.width() / steps, bar.height()),
                   colormapColor(item.scale().map, t));
    }
    p.setRenderHint(QPainter::Antialiasing, true);
    const QFont small = chart_paint::font(style, 10);
    const QFontMetricsF metrics(small);
    double end = rect.left() - 100;
    for (const Tick& tick : ticksOf(item)) {
        const double x = bar.left() + bar.width() * tick.at;
        const double w = metrics.horizontalAdvance(tick.label) + 1;
        const double left = std::clamp(x - w / 2, rect.left(), rect.right() - w);
        if (left < end + 5)
            continue;
        end = left + w;
        p.setPen(QPen(style.mutedText, 1));
        p.drawLine(QPointF(x, bar.bottom()), QPointF(x, bar.bottom() + 3));
        chart_paint::text(p, QRectF(left, bar.bottom() + 3, w, metrics.height()), tick.label, small, style.mutedText,
                          Qt::AlignCenter);
    }
    chart_paint::text(p, QRectF(rect.left(), bar.bottom() + 4 + metrics.height(), rect.width(), metrics.height()),
                      caption(item), small, style.mutedText, Qt::AlignRight | Qt::AlignVCenter);
}

QVector<KeyEntry> key(const HeatmapItem& item, double width, const ChartStyle& style)
{
    using State = HeatmapCell::State;
    QVector<KeyEntry> entries;
    for (const QString& kind : segment_strip::kinds(item.grid()))
        entries << KeyEntry{segment_strip::kindWords(kind), kind, State::Value, {}};
    for (const State state : {State::Empty, State::Invalid, State::Infinite}) {
        bool found = false;
        for (const HeatmapRow& row : item.grid().rows) {
            for (const HeatmapCell& cell : row.cells)
                found = found || cell.state == state;
        }
        if (found)
            entries << KeyEntry{chart_text::stateWords(state), {}, state, {}};
    }
    if (item.condensed())
        entries << KeyEntry{item.grid().metric.name == "top5_overlap"
                                ? u"windows narrower than a pixel: their smallest value"_s
                                : u"windows narrower than a pixel: their largest value"_s,
                            {},
                            State::Value,
                            {}};
    const QFontMetricsF metrics(chart_paint::font(style, 10));
    QPointF at(0, 0);
    for (KeyEntry& entry : entries) {
        const bool swatch = !entry.segment.isEmpty() || entry.state != State::Value;
        const double w = metrics.horizontalAdvance(entry.words) + (swatch ? 17 : 0) + 16;
        if (at.x() > 0 && at.x() + w - 16 > width)
            at = {0, at.y() + keyLine};
        entry.at = at;
        at.rx() += w;
    }
    return entries;
}

double keyHeight(const QVector<KeyEntry>& key)
{
    return key.isEmpty() ? 0 : key.back().at.y() + keyLine;
}

void paintKey(QPainter& p, const QPointF& topLeft, const QVector<KeyEntry>& key, const HeatmapItem& item,
              const ChartStyle& style)
{
    const QFont small = chart_paint::font(style, 10);
    const QFontMetricsF metrics(small);
    for (const KeyEntry& entry : key) {
        const QRectF swatch(topLeft + entry.at + QPointF(0, 2), QSizeF(12, 11));
        double left = swatch.left();
        if (!entry.segment.isEmpty()) {
            segment_strip::paintSwatch(p, swatch, entry.segment, style);
            left += 17;
        } else if (entry.state != HeatmapCell::State::Value) {
            item.paintState(p, swatch, entry.state);
            left += 17;
        }
        chart_paint::text(p, QRectF(left, swatch.top() - 1, metrics.horizontalAdvance(entry.words) + 1, 13),
                          entry.words, small, style.mutedText);
    }
}

} // namespace flipscope::colour_legend
