// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/kl_axis.h"

#include "core/analysis/windows.h"
#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"
#include "ui/charts/nice_ticks.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

constexpr double gap = 5; // between a band and the axis

double bandHeight(int lanes)
{
    return std::clamp(lanes * 3.0 + 2, 14.0, 38.0);
}

} // namespace

void KlAxis::clear()
{
    *this = {};
}

void KlAxis::include(double log)
{
    if (std::isnan(log))
        return;
    if (std::isinf(log)) {
        (log > 0 ? m_infinite : m_zeros) = true;
        return;
    }
    m_least = m_any ? std::min(m_least, log) : log;
    m_most = m_any ? std::max(m_most, log) : log;
    m_any = true;
}

void KlAxis::layOut(const QRectF& whole, int lanes)
{
    m_lanes = std::max(lanes, 1);
    const double band = bandHeight(m_lanes);
    m_main = whole;
    m_zeroBand = m_infiniteBand = QRectF();
    if (m_infinite) {
        m_infiniteBand = QRectF(whole.left(), whole.top(), whole.width(), band);
        m_main.setTop(m_infiniteBand.bottom() + gap);
    }
    if (m_zeros) {
        m_zeroBand = QRectF(whole.left(), whole.bottom() - band, whole.width(), band);
        m_main.setBottom(m_zeroBand.top() - gap);
    }
    m_low = m_any ? m_least : -8;
    m_high = m_any ? m_most : 0;
    const double room = std::max(0.06 * (m_high - m_low), 0.12);
    m_low -= room;
    m_high += room;
}

double KlAxis::laneHeight(const QRectF& band, int lanes)
{
    return (band.height() - 2) / std::max(lanes, 1);
}

double KlAxis::inLane(const QRectF& band, int lane) const
{
    return band.top() + 1 + (lane + 0.5) * laneHeight(band, m_lanes);
}

void KlAxis::paint(QPainter& p, const ChartStyle& style, const QString& unit) const
{
    const QFont small = chart_paint::font(style, 11);
    const QFontMetricsF metrics(small);
    const auto label = [&](double y, const QString& text) {
        p.setRenderHint(QPainter::Antialiasing, true);
        chart_paint::text(p, QRectF(m_main.left() - 60, y - metrics.height() / 2, 52, metrics.height()), text, small,
                          style.mutedText, Qt::AlignRight | Qt::AlignVCenter);
    };
    p.setRenderHint(QPainter::Antialiasing, false);
    for (const QRectF& rect : {m_main, m_zeroBand, m_infiniteBand})
        p.fillRect(rect, style.plot);
    if (m_zeros)
        label(m_zeroBand.center().y(), u"0"_s);
    if (m_infinite)
        label(m_infiniteBand.center().y(), u"∞"_s);
    const auto metric = find_window_metric("kl_pq_mean"); // how numbers of its unit are written
    const int most = std::max(2, static_cast<int>(m_main.height() / 26));
    double last = std::numeric_limits<double>::infinity();
    QVector<double> ticks = decades(std::pow(10, m_low), std::pow(10, m_high), most);
    if (ticks.size() < 2) {
        for (int e = static_cast<int>(std::floor(m_low)); e <= static_cast<int>(std::ceil(m_high)); ++e)
            for (const double m : {2.0, 5.0})
                ticks << m * std::pow(10, e);
    }
    std::sort(ticks.begin(), ticks.end());
    for (const double value : ticks) {
        const double at = y(std::log10(value), 0);
        if (at < m_main.top() || at > m_main.bottom())
            continue;
        p.setRenderHint(QPainter::Antialiasing, false);
        p.setPen(QPen(style.grid, 1));
        p.drawLine(QPointF(m_main.left(), at), QPointF(m_main.right(), at));
        if (last - at < metrics.height())
            continue;
        last = at;
        label(at, chart_text::tick(**metric, value, false));
    }
    chart_paint::text(
        p, QRectF(m_main.left() - 70, m_main.top() - metrics.height() - (m_infinite ? 0 : 3), 62, metrics.height()),
        m_infinite ? QString() : unit, small, style.mutedText, Qt::AlignRight | Qt::AlignVCenter);
}

} // namespace flipscope
