// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/pair_scatter.h"

#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"
#include "ui/charts/nice_ticks.h"

#include <QFontMetricsF>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

constexpr double band = 16; // pixels that values of 0, and infinite ones, have beside the axis
constexpr double left_room = 62, bottom_room = 38, top_room = 62, right_room = 14;

/// A power of ten as it stands at an axis.
QString power(double value)
{
    static const QString digits = u"⁰¹²³⁴⁵⁶⁷⁸⁹"_s;
    const int e = static_cast<int>(std::lround(std::log10(value)));
    if (e == 0)
        return u"1"_s;
    if (e == 1)
        return u"10"_s;
    QString text = e < 0 ? u"10⁻"_s : u"10"_s;
    for (const QChar c : QString::number(std::abs(e)))
        text += digits[c.digitValue()];
    return text;
}

/// What a probe is drawn as; later ones lie on top.
enum class Kind { Neither, Both, OnlyA, OnlyB };

Kind kindOf(const PairedProbe& p)
{
    return p.only_b() ? Kind::OnlyB : p.only_a() ? Kind::OnlyA : p.both() ? Kind::Both : Kind::Neither;
}

int markerOf(Kind kind)
{
    return kind == Kind::OnlyB ? 2 : kind == Kind::OnlyA ? 4 : 3; // triangle up, down, diamond
}

QColor blended(QColor color, double alpha)
{
    color.setAlphaF(static_cast<float>(alpha));
    return color;
}

QString nats(double value)
{
    if (std::isinf(value))
        return u"∞"_s;
    WindowMetric metric;
    metric.unit = "nats";
    return chart_text::longValue(metric, value);
}

} // namespace

const std::vector<PairedProbe>& PairScatter::probes() const
{
    static const std::vector<PairedProbe> none;
    return m_comparison ? m_comparison->probes : none;
}

void PairScatter::setComparison(std::shared_ptr<const RunComparison> comparison)
{
    m_comparison = std::move(comparison);
    m_zeros = m_infinite = false;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const PairedProbe& p : probes()) {
        if (!p.valid())
            continue;
        for (const double v : {p.a->kl_pq, p.b->kl_pq}) {
            m_infinite = m_infinite || std::isinf(v);
            m_zeros = m_zeros || v <= 0; // a top-k estimate may be a rounding error below
            if (v > 0 && std::isfinite(v)) {
                least = std::min(least, v);
                most = std::max(most, v);
            }
        }
    }
    m_low = most > 0 ? std::floor(std::log10(least)) : -6;
    m_high = most > 0 ? std::ceil(std::log10(most)) : 0;
    if (m_high <= m_low)
        m_high = m_low + 1;
    layOut();
}

void PairScatter::setStyle(const ChartStyle& style)
{
    m_style = style;
}

void PairScatter::setColors(const QColor& a, const QColor& b)
{
    m_a = a;
    m_b = b;
}

void PairScatter::setRect(const QRectF& rect)
{
    m_rect = rect;
    layOut();
}

void PairScatter::layOut()
{
    const double zero = m_zeros ? band : 0, infinite = m_infinite ? band : 0;
    m_plot = m_rect.adjusted(left_room + zero, top_room + infinite, -right_room - infinite, -bottom_room - zero);
    if (m_plot.width() < 40 || m_plot.height() < 40)
        m_plot = QRectF();
}

double PairScatter::along(double value, double origin, double length) const
{
    const double direction = length < 0 ? -1 : 1;
    if (!(value > 0))
        return origin - direction * band / 2;
    if (std::isinf(value))
        return origin + length + direction * band / 2;
    return origin + length * (std::log10(value) - m_low) / (m_high - m_low);
}

QPointF PairScatter::pointOf(std::size_t probe) const
{
    const PairedProbe& p = probes()[probe];
    if (!p.valid() || m_plot.isEmpty())
        return {};
    return {along(p.a->kl_pq, m_plot.left(), m_plot.width()), along(p.b->kl_pq, m_plot.bottom(), -m_plot.height())};
}

qsizetype PairScatter::probeAt(const QPointF& point, double reach) const
{
    qsizetype best = -1;
    double nearest = reach * reach;
    bool flips = false;
    for (std::size_t i = 0; i < probes().size(); ++i) {
        const QPointF at = pointOf(i);
        if (at.isNull())
            continue;
        const double distance = QPointF::dotProduct(at - point, at - point);
        const bool flip = kindOf(probes()[i]) != Kind::Neither;
        if (distance > reach * reach || (flips && !flip))
            continue;
        if ((flip && !flips) || distance < nearest) {
            best = static_cast<qsizetype>(i);
            nearest = distance;
            flips = flip;
        }
    }
    return best;
}

QString PairScatter::toolTip(std::size_t probe) const
{
    const PairedProbe& p = probes()[probe];
    QString text = u"probe "_s + chart_text::count(p.position) + u"\nKL(P‖Q) A "_s + nats(p.a->kl_pq) + u", B "_s +
                   nats(p.b->kl_pq) + u'\n';
    switch (kindOf(p)) {
    case Kind::OnlyA:
        return text + u"flips in A only"_s;
    case Kind::OnlyB:
        return text + u"flips in B only"_s;
    case Kind::Both:
        return text +
               (p.tops_differ() ? u"flips in both, to different tokens"_s : u"flips in both, to the same token"_s);
    case Kind::Neither:
        break;
    }
    return text + u"no flip"_s;
}

QString PairScatter::title() const
{
    return u"KL(P‖Q) of every probe: A against B"_s;
}

void PairScatter::paint(QPainter& p) const
{
    p.fillRect(m_rect, m_style.background);
    if (!m_comparison || m_plot.isEmpty())
        return;
    paintAxes(p);
    paintPoints(p);
    paintLegend(p);
}

void PairScatter::paintAxes(QPainter& p) const
{
    const QFont small = chart_paint::font(m_style, 11);
    const QFontMetricsF metrics(small);
    const double zero = m_zeros ? band : 0, infinite = m_infinite ? band : 0;
    const QRectF all = m_plot.adjusted(-zero, -infinite, infinite, zero);
    p.setRenderHint(QPainter::Antialiasing, false);
    p.fillRect(all, m_style.background);
    p.fillRect(m_plot, m_style.plot);
    const int room = std::max(2, static_cast<int>(std::min(m_plot.width(), m_plot.height()) / 42));
    for (const double value : decades(std::pow(10.0, m_low), std::pow(10.0, m_high), room)) {
        const double x = along(value, m_plot.left(), m_plot.width());
        const double y = along(value, m_plot.bottom(), -m_plot.height());
        p.setPen(QPen(m_style.grid, 1));
        p.drawLine(QPointF(x, all.top()), QPointF(x, all.bottom()));
        p.drawLine(QPointF(all.left(), y), QPointF(all.right(), y));
        chart_paint::text(p, QRectF(x - 24, all.bottom() + 3, 48, metrics.height()), power(value), small,
                          m_style.mutedText, Qt::AlignCenter);
        chart_paint::text(p, QRectF(all.left() - 44, y - metrics.height() / 2, 40, metrics.height()), power(value),
                          small, m_style.mutedText, Qt::AlignRight | Qt::AlignVCenter);
    }
    const auto bandLabel = [&](double value, const QString& label) {
        const double x = along(value, m_plot.left(), m_plot.width());
        const double y = along(value, m_plot.bottom(), -m_plot.height());
        chart_paint::text(p, QRectF(x - 12, all.bottom() + 3, 24, metrics.height()), label, small, m_style.mutedText,
                          Qt::AlignCenter);
        chart_paint::text(p, QRectF(all.left() - 28, y - metrics.height() / 2, 24, metrics.height()), label, small,
                          m_style.mutedText, Qt::AlignRight | Qt::AlignVCenter);
    };
    if (m_zeros)
        bandLabel(0, u"0"_s);
    if (m_infinite)
        bandLabel(std::numeric_limits<double>::infinity(), u"∞"_s);
    p.setPen(QPen(m_style.mutedText, 1));
    p.setBrush(Qt::NoBrush);
    p.drawRect(m_plot);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(m_style.mutedText, 1, Qt::DashLine)); // above it B is worse
    p.drawLine(m_plot.bottomLeft(), m_plot.topRight());

    const QFont strong = chart_paint::font(m_style, 14, true);
    const double line = QFontMetricsF(strong).height();
    chart_paint::text(p, QRectF(m_rect.left() + 14, m_rect.top() + 10, m_rect.width() - 28, line), title(), strong,
                      m_style.text);
    chart_paint::text(p, QRectF(m_plot.left(), all.bottom() + 5 + metrics.height(), m_plot.width(), metrics.height()),
                      u"A: "_s + chart_text::qstr(m_comparison->a.name) + u", nats"_s, small, m_style.text,
                      Qt::AlignCenter);
    p.save();
    p.translate(m_rect.left() + 8, m_plot.bottom());
    p.rotate(-90);
    chart_paint::text(p, QRectF(0, 0, m_plot.height(), metrics.height()),
                      u"B: "_s + chart_text::qstr(m_comparison->b.name) + u", nats"_s, small, m_style.text,
                      Qt::AlignCenter);
    p.restore();
}

void PairScatter::paintPoints(QPainter& p) const
{
    // The many in the background are squares, which cost the least; flips have markers.
    std::array<std::vector<QPointF>, 4> points;
    for (std::size_t i = 0; i < probes().size(); ++i)
        if (const QPointF at = pointOf(i); !at.isNull())
            points[static_cast<std::size_t>(kindOf(probes()[i]))].push_back(at);
    const double alpha = std::clamp(40 / std::sqrt(static_cast<double>(points[0].size()) + 1), 0.18, 0.75);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(blended(m_style.mutedText, alpha), 3.2, Qt::SolidLine, Qt::SquareCap));
    p.drawPoints(points[0].data(), static_cast<int>(points[0].size()));
    for (const Kind kind : {Kind::Both, Kind::OnlyA, Kind::OnlyB}) {
        const QColor color = kind == Kind::OnlyB ? m_b : kind == Kind::OnlyA ? m_a : m_style.accent;
        p.setPen(QPen(m_style.plot, 0.8));
        p.setBrush(color);
        for (const QPointF& at : points[static_cast<std::size_t>(kind)])
            p.drawPath(chart_paint::marker(markerOf(kind), at, 4.2));
    }
}

void PairScatter::paintLegend(QPainter& p) const
{
    const PairedFlips& f = m_comparison->flips;
    const QFont small = chart_paint::font(m_style, 11);
    const QFontMetricsF metrics(small);
    double x = m_rect.left() + 18;
    const double y = m_rect.top() + 10 + QFontMetricsF(chart_paint::font(m_style, 14, true)).height() + 6;
    const auto entry = [&](Kind kind, const QColor& color, const QString& words) {
        const QPointF centre(x, y + metrics.height() / 2);
        p.setPen(QPen(m_style.background, 0.8));
        p.setBrush(color);
        if (kind == Kind::Neither)
            p.drawRect(QRectF(centre - QPointF(1.8, 1.8), QSizeF(3.6, 3.6)));
        else
            p.drawPath(chart_paint::marker(markerOf(kind), centre, 4.2));
        const double width = metrics.horizontalAdvance(words) + 2;
        chart_paint::text(p, QRectF(x + 9, y, std::min(width, m_rect.right() - x - 10), metrics.height()), words, small,
                          m_style.mutedText);
        x += 9 + width + 16;
    };
    p.setRenderHint(QPainter::Antialiasing, true);
    entry(Kind::OnlyA, m_a, u"only A flips: "_s + chart_text::count(f.only_a));
    entry(Kind::OnlyB, m_b, u"only B flips: "_s + chart_text::count(f.only_b));
    entry(Kind::Both, m_style.accent, u"both: "_s + chart_text::count(f.both));
    entry(Kind::Neither, m_style.mutedText, u"neither: "_s + chart_text::count(f.neither));
}

void PairScatter::paintRing(QPainter& p, std::size_t probe, bool current) const
{
    const QPointF at = pointOf(probe);
    if (at.isNull())
        return;
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setBrush(Qt::NoBrush);
    p.setPen(QPen(current ? m_style.text : m_style.accent, current ? 2 : 1.4));
    p.drawEllipse(at, 7, 7);
}

} // namespace flipscope
