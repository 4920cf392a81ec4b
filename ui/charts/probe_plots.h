// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/probe_plot.h"

namespace flipscope {

// One function a chart, for ProbePlot::make() alone.
std::unique_ptr<ProbePlot> makePositionPlot(QGraphicsScene* scene);
std::unique_ptr<ProbePlot> makeDistributionPlot(QGraphicsScene* scene);
std::unique_ptr<ProbePlot> makeMarginPlot(QGraphicsScene* scene);
std::unique_ptr<ProbePlot> makeAgreementPlot(QGraphicsScene* scene);

} // namespace flipscope
