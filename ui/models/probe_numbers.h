// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/probe_metrics.h"

#include <QString>
#include <QVector>

namespace flipscope {

/// One line of the probe panel's numbers.
struct NumberRow {
    QString name, value, unit;
    bool operator==(const NumberRow&) const = default;
};

/// The numbers of a probe in the order of interest; `lowerBound` = from top-k lists, and labelled so.
QVector<NumberRow> numbersOf(const ProbeMetrics& probe, bool lowerBound);

} // namespace flipscope
