// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/compare.h"
#include "ui/charts/figure_drawing.h"
#include "ui/session/session.h"

#include <memory>
#include <utility>

namespace flipscope {

/// What the figure of two runs shows.
struct CompareFigureSpec {
    std::shared_ptr<const RunComparison> comparison;
    const WindowMetric* metric = nullptr;
    std::int64_t window_tokens = default_window_tokens;
    double margin = default_margin;
    HistoryExtent extent;
    ColourScale scale; ///< of the two runs; the difference has its own
    QColor colorA, colorB;
    std::string baseline; ///< name as shown; empty = the trace's own
    Partition by = Partition::Windows;
    std::vector<Piece> pieces = {}; ///< the columns where those are segments or turns
    TokenRange range = {};          ///< columns that are shown
    std::vector<CallMark> marks = {};
};

/// The page that compares two runs, as a figure: windows of both on one scale, their difference, every probe of A
/// against that of B, and the paired statistics.
std::shared_ptr<FigureDrawing> compareFigure(CompareFigureSpec spec);

/// Both runs, named "A · …" and "B · …", and their difference, over all columns.
std::pair<HeatmapGrid, HeatmapGrid> compareGrids(const CompareFigureSpec& spec);

/// A scale that is symmetric around 0: vik, as far out as the largest difference.
ColourScale differenceScale(const HeatmapGrid& difference);

} // namespace flipscope
