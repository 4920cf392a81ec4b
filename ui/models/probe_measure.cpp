// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/probe_measure.h"

#include <array>
#include <cmath>
#include <string_view>

namespace flipscope {

ProbeMeasure ProbeMeasure::of(const WindowMetric& metric)
{
    constexpr std::array<std::string_view, 6> names{"kl_pq", "kl_qp", "js", "tv", "top5_overlap", "dp"};
    const std::string_view wanted = metric.name;
    for (const std::string_view name : names) {
        if (wanted == name || (wanted.starts_with(name) && wanted[name.size()] == '_')) {
            if (const ProbeColumn* column = find_probe_column(name))
                return {column, false};
        }
    }
    return {find_probe_column("kl_pq"), true};
}

QString ProbeMeasure::title() const
{
    return column ? QString::fromUtf8(column->title.data(), static_cast<qsizetype>(column->title.size())) : QString();
}

QString ProbeMeasure::unit() const
{
    return column ? QString::fromUtf8(column->unit.data(), static_cast<qsizetype>(column->unit.size())) : QString();
}

double ProbeMeasure::value(const ProbeMetrics& probe) const
{
    return column ? column->value(probe).value_or(std::nan("")) : std::nan("");
}

ColourScale ProbeMeasure::scale(const ColourScale& ofSession) const
{
    ColourScale scale = ofSession;
    if (replaced) {
        // Limits for a rate mean nothing for a divergence.
        scale.automatic = true;
        scale.kind = ColourScale::Kind::Log;
    }
    return scale;
}

} // namespace flipscope
