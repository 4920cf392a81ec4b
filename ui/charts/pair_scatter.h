// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/compare.h"
#include "ui/charts/chart_style.h"

#include <QPainter>
#include <QPointF>
#include <QRectF>
#include <QString>

#include <memory>
#include <vector>

namespace flipscope {

/// KL(P‖Q) of A against that of B, a point a probe, on logarithmic axes of one range. Probes where a side is 0, or
/// infinite, stand in bands beside the axes, so that none is lost. Flips have shapes of their own as well as colours.
class PairScatter {
public:
    void setComparison(std::shared_ptr<const RunComparison> comparison);
    void setStyle(const ChartStyle& style);
    void setColors(const QColor& a, const QColor& b);
    void setRect(const QRectF& rect);

    const RunComparison* comparison() const { return m_comparison.get(); }
    const std::vector<PairedProbe>& probes() const;
    QRectF plotRect() const { return m_plot; }

    /// Where a probe is drawn; a null point for one that is invalid in A or B.
    QPointF pointOf(std::size_t probe) const;
    /// The nearest probe within `reach` pixels, flips before others; -1 = none.
    qsizetype probeAt(const QPointF& point, double reach = 7) const;
    /// Position, both divergences, and what flips.
    QString toolTip(std::size_t probe) const;
    QString title() const;

    void paint(QPainter& p) const;
    /// A ring around a probe: the one that is looked at, or under the mouse.
    void paintRing(QPainter& p, std::size_t probe, bool current) const;

private:
    void layOut();
    double along(double value, double origin, double length) const; ///< pixels from the axes' corner
    void paintAxes(QPainter& p) const;
    void paintPoints(QPainter& p) const;
    void paintLegend(QPainter& p) const;

    std::shared_ptr<const RunComparison> m_comparison;
    ChartStyle m_style = ChartStyle::light();
    QColor m_a, m_b;
    QRectF m_rect, m_plot;
    double m_low = -6, m_high = 0; ///< log10 of the axes' ends
    bool m_zeros = false, m_infinite = false;
};

} // namespace flipscope
