// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/compare_figure.h"
#include "ui/charts/figure.h"
#include "ui/session/comparison.h"

namespace flipscope {

/// Figures that are no chart over all runs: what the command line calls `--chart compare`, `probe` and `tokens`.
enum class DrawnFigure { Compare, Probe, Tokens };

/// "compare", "probe", "tokens".
QString nameOf(DrawnFigure figure);

/// What the compare page shows of two runs, in the session's columns, metric and range.
CompareFigureSpec compareSpecOf(Session& session, const ComparisonPtr& comparison);

/// Why it cannot be drawn of what is open now, in one sentence; empty where it can.
QString whyNoFigure(const Session& session, DrawnFigure figure);

/// Compare: the two runs that are compared. Probe: the probe that is looked at (else the one that the shown run's
/// KL(P‖Q) is largest at), of all visible runs that have it; reads one row of each. Tokens: the history around the
/// token that is looked at, of the two compared runs, else of the one run beside the baseline.
Result<FigureSpec> figureOf(Session& session, DrawnFigure figure, ChartStyle::Theme theme = ChartStyle::Theme::Light);

} // namespace flipscope
