// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/colormap.h"

#include "ui/session/session.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace flipscope {

namespace {

struct Table {
    const char* name;
    std::array<std::uint32_t, 256> colors; // 0xRRGGBB
};

constexpr Table tables[] = {
#include "resources/colormaps/tables.inc"
};

const Table& tableOf(const QString& name)
{
    for (const Table& table : tables) {
        if (name == QLatin1StringView(table.name))
            return table;
    }
    return tables[0];
}

/// Part of the light that a screen gives off for an 8-bit sRGB channel (WCAG 2.1, "relative luminance").
double linearLight(int channel)
{
    static const auto table = [] {
        std::array<double, 256> light{};
        for (std::size_t i = 0; i < light.size(); ++i) {
            const double c = static_cast<double>(i) / 255.0;
            light[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
        }
        return light;
    }();
    return table[static_cast<std::size_t>(channel)];
}

} // namespace

QStringList colormapNames()
{
    QStringList names;
    for (const Table& table : tables)
        names << QLatin1StringView(table.name);
    return names;
}

QColor colormapColor(const QString& name, double t)
{
    if (std::isnan(t))
        t = 0;
    const int i = static_cast<int>(std::lround(std::clamp(t, 0.0, 1.0) * 255));
    return QColor::fromRgb(tableOf(name).colors[static_cast<std::size_t>(i)]);
}

QColor textColorOn(const QColor& background)
{
    const double luminance = 0.2126 * linearLight(background.red()) + 0.7152 * linearLight(background.green()) +
                             0.0722 * linearLight(background.blue());
    // Contrast with black is (L + 0.05) / 0.05, with white 1.05 / (L + 0.05): equal at L = 0.179.
    return luminance > 0.179 ? Qt::black : Qt::white;
}

Normalizer::Normalizer(const ColourScale& scale, std::span<const double> values) : m_kind(static_cast<int>(scale.kind))
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double least = infinity, most = -infinity, leastPositive = infinity;
    for (const double v : values) {
        if (!std::isfinite(v))
            continue;
        least = std::min(least, v);
        most = std::max(most, v);
        if (v > 0)
            leastPositive = std::min(leastPositive, v);
    }
    if (least > most)
        least = most = 0; // no value

    if (!scale.automatic) {
        m_low = std::min(scale.low, scale.high);
        m_high = std::max(scale.low, scale.high);
    } else if (scale.map == QLatin1StringView("vik")) {
        // A diverging map has its middle at zero.
        m_high = std::max(std::abs(least), std::abs(most));
        m_low = -m_high;
    } else {
        // From zero, unless that would squeeze everything into the upper half (overlaps near 100 %).
        m_low = least >= 0 && least < 0.5 * most ? 0 : least;
        m_high = most;
    }

    if (scale.kind == ColourScale::Kind::Log) {
        if (m_high <= 0)
            m_high = 1;
        if (m_low <= 0)
            m_low = leastPositive < m_high ? leastPositive : m_high / 10;
        if (m_low >= m_high)
            m_low = m_high / 10;
    } else if (m_low >= m_high) { // one value, or none: it is the top of a scale from zero
        if (m_high > 0)
            m_low = 0;
        else if (m_high < 0)
            m_high = 0;
        else
            m_high = 1;
        if (m_low >= m_high)
            m_low = m_high - 1;
    }
    if (scale.kind == ColourScale::Kind::Percentile) {
        for (const double v : values)
            if (std::isfinite(v))
                m_sorted.push_back(std::clamp(v, m_low, m_high));
        std::sort(m_sorted.begin(), m_sorted.end());
    }
}

double Normalizer::operator()(double value) const
{
    if (std::isnan(value))
        return value;
    switch (static_cast<ColourScale::Kind>(m_kind)) {
    case ColourScale::Kind::Linear:
        break;
    case ColourScale::Kind::Log:
        if (value <= m_low)
            return 0;
        return std::clamp(std::log(value / m_low) / std::log(m_high / m_low), 0.0, 1.0);
    case ColourScale::Kind::Percentile: {
        if (m_sorted.size() < 2 || m_sorted.front() == m_sorted.back())
            break;
        if (value >= m_sorted.back())
            return 1;
        // Equal values share the lowest of their places, so that a crowd of zeros stays at the bottom.
        const auto at = std::lower_bound(m_sorted.begin(), m_sorted.end(), value);
        if (at == m_sorted.begin())
            return 0;
        const double steps = static_cast<double>(m_sorted.size() - 1);
        const double place = static_cast<double>(at - m_sorted.begin());
        if (*at == value)
            return place / steps;
        return (place - 1 + (value - at[-1]) / (*at - at[-1])) / steps;
    }
    }
    return std::clamp((value - m_low) / (m_high - m_low), 0.0, 1.0);
}

double Normalizer::inverse(double t) const
{
    t = std::clamp(t, 0.0, 1.0);
    switch (static_cast<ColourScale::Kind>(m_kind)) {
    case ColourScale::Kind::Linear:
        break;
    case ColourScale::Kind::Log:
        return m_low * std::pow(m_high / m_low, t);
    case ColourScale::Kind::Percentile: {
        if (m_sorted.size() < 2 || m_sorted.front() == m_sorted.back())
            break;
        const double place = t * static_cast<double>(m_sorted.size() - 1);
        const auto i = std::min(static_cast<std::size_t>(place), m_sorted.size() - 2);
        return std::lerp(m_sorted[i], m_sorted[i + 1], place - static_cast<double>(i));
    }
    }
    return std::lerp(m_low, m_high, t);
}

} // namespace flipscope
