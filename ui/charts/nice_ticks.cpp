// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/nice_ticks.h"

#include <algorithm>
#include <cmath>

namespace flipscope {

QVector<double> niceTicks(double low, double high, int count, double unit)
{
    QVector<double> ticks;
    const double a = low * unit, b = high * unit;
    if (!(b > a) || !std::isfinite(a) || !std::isfinite(b) || count < 1)
        return ticks;
    const double wanted = (b - a) / count;
    const double power = std::pow(10.0, std::floor(std::log10(wanted)));
    double step = power * 10;
    for (const double m : {1.0, 2.0, 5.0}) {
        if (m * power >= wanted * (1 - 1e-9)) {
            step = m * power;
            break;
        }
    }
    const double slack = (b - a) * 1e-9;
    for (double i = std::ceil((a - slack) / step); i * step <= b + slack; ++i)
        ticks << std::clamp(i * step / unit, low, high);
    return ticks;
}

QVector<double> axisTicks(double low, double high, double length, double apart, double label, double unit)
{
    const int usual = std::max(2, static_cast<int>(length / apart));
    QVector<double> ticks = niceTicks(low, high, usual, unit);
    for (int count = usual + 1; ticks.size() < 3 && count <= 4 * usual; ++count) {
        const QVector<double> more = niceTicks(low, high, count, unit);
        if (more.size() > 1 && (more[1] - more[0]) / (high - low) * length < label)
            break;
        ticks = more;
    }
    return ticks;
}

QVector<double> decades(double low, double high, int most)
{
    QVector<double> ticks;
    if (!(low > 0) || !(high >= low) || !std::isfinite(high))
        return ticks;
    const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
    const int step = std::max(1, (last - first + most) / std::max(most, 1));
    for (int e = last; e >= first; e -= step)
        ticks.prepend(std::pow(10.0, e));
    return ticks;
}

} // namespace flipscope
