// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/compare.h"
#include "core/report/compare_report.h"
#include "ui/session/session.h"

#include <memory>

namespace flipscope {

using ComparisonPtr = std::shared_ptr<const RunComparison>;

/// Session::comparedRuns() probe by probe; null where there are not two, or one has no numbers yet. Takes some
/// milliseconds for every 100,000 probes: kept by who asks.
ComparisonPtr comparisonOf(const Session& session);

/// Why there is none: one sentence.
QString whyNoComparison(const Session& session);

/// All that `flipscope compare` says about the two.
ComparisonReport reportOf(const Session& session, const RunComparison& comparison);

} // namespace flipscope
