// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/probe_detail.h"
#include "core/text/token_text.h"
#include "ui/charts/figure_drawing.h"

#include <QColor>

#include <memory>
#include <vector>

namespace flipscope {

/// What the figure of one probe shows: the top tokens of the baseline and of some runs, beside each other.
struct ProbeFigureSpec {
    struct Run {
        std::string name;
        QColor color;
        ProbeDetail detail; ///< against the baseline
    };
    TracePtr baseline;
    std::string baselineName;
    std::vector<Run> runs; ///< at least one
    std::int64_t position = 0;
    TokenTexts texts;
};

/// Rows are the ids that lead on any side, aligned; a bar and a number for each side.
std::shared_ptr<FigureDrawing> probeFigure(ProbeFigureSpec spec);

/// How many tokens of each side it reads.
inline constexpr int probeFigureTokens = 10;

} // namespace flipscope
