// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/chart_style.h"

#include <QPainter>
#include <QRectF>

#include <cmath>

namespace flipscope {

/// A log axis for values of which some are 0 or infinite: those have bands of their own, below and above the axis, and
/// are not lost.
class KlAxis {
public:
    /// To be called for every value that is to be shown, by its log10: −inf is a value at or below 0, NaN is none.
    void clear();
    void include(double log);
    void layOut(const QRectF& whole, int lanes); ///< `lanes`: rows that a band is divided into

    bool hasZeros() const { return m_zeros; }
    bool hasInfinite() const { return m_infinite; }
    double low() const { return m_low; } ///< log10 of the axis' ends
    double high() const { return m_high; }
    QRectF main() const { return m_main; } ///< where the log axis is
    QRectF zeroBand() const { return m_zeroBand; }
    QRectF infiniteBand() const { return m_infiniteBand; }

    /// y of a value, by its log10, of the run in lane `lane`; NaN is nowhere (a NaN).
    double y(double log, int lane) const
    {
        if (!std::isinf(log))
            return m_main.bottom() - (log - m_low) / (m_high - m_low) * m_main.height();
        return inLane(log > 0 ? m_infiniteBand : m_zeroBand, lane);
    }
    static double laneHeight(const QRectF& band, int lanes);

    /// Grid lines, labels left of `main`, bands with theirs.
    void paint(QPainter& p, const ChartStyle& style, const QString& unit) const;

private:
    double inLane(const QRectF& band, int lane) const;

    double m_least = 0, m_most = 0; ///< log10
    bool m_any = false, m_zeros = false, m_infinite = false;
    double m_low = 0, m_high = 1;
    int m_lanes = 1;
    QRectF m_main, m_zeroBand, m_infiniteBand;
};

} // namespace flipscope
