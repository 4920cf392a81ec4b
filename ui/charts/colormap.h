// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QString>
#include <QStringList>

#include <span>
#include <vector>

namespace flipscope {

/// Names of the built-in maps, the default (cividis) first; vik is the diverging one.
QStringList colormapNames();

/// Colour of t in [0, 1] (clamped) in map `name`.
QColor colormapColor(const QString& name, double t);

/// Black or white, whichever reads better on `background`.
QColor textColorOn(const QColor& background);

struct ColourScale;

/// Turns values into [0, 1] on one shared scale. `values` are all finite values on the screen (for automatic limits and
/// percentiles).
class Normalizer {
public:
    Normalizer(const ColourScale& scale, std::span<const double> values);
    double operator()(double value) const; ///< NaN stays NaN; values at or below 0 on a log scale give 0
    double low() const { return m_low; }
    double high() const { return m_high; }
    double inverse(double t) const; ///< for ticks of the legend
    bool operator==(const Normalizer&) const = default;

private:
    int m_kind;
    double m_low = 0, m_high = 1;
    std::vector<double> m_sorted; // percentile scale
};

} // namespace flipscope
