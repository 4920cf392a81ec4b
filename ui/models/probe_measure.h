// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"
#include "core/analysis/windows.h"
#include "ui/session/session.h"

#include <QString>

namespace flipscope {

/// The number of a single probe that stands behind a metric of windows, to colour tokens by. Flip rates have none (a
/// probe flips or not, which is drawn by shape): their tokens are coloured by KL(P‖Q) on a log scale.
struct ProbeMeasure {
    const ProbeColumn* column = nullptr;
    bool replaced = false; ///< it stands in for a flip rate

    QString title() const;
    QString unit() const;
    double value(const ProbeMetrics& probe) const; ///< NaN = none
    /// The session's scale as it applies to single probes.
    ColourScale scale(const ColourScale& ofSession) const;

    static ProbeMeasure of(const WindowMetric& metric);
};

} // namespace flipscope
