// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/compare_runs.h"
#include "core/analysis/compare.h"
#include "ui/charts/figure_drawing.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace flipscope {

/// Charts of `export` that are drawn by a FigureDrawing: compare, probe, tokens.
const std::vector<std::string>& drawing_names();

struct DrawingRequest {
    std::string chart;
    const WindowMetric* metric = nullptr;
    std::int64_t window = default_window_tokens;
    std::optional<std::int64_t> position; ///< of a probe; not given: where the first run's KL(P‖Q) is largest
    bool dark = false;
};

/// What is wrong with a request, before anything is computed.
Result<void> check_drawing(const DrawingRequest& request, std::size_t runs);
Result<std::shared_ptr<FigureDrawing>> make_drawing(const DrawingRequest& request, const Compared& compared);

/// Two runs against their baseline, as `export --chart compare` and `compare --out` draw them.
std::shared_ptr<FigureDrawing> pair_figure(std::shared_ptr<const RunComparison> pair, const WindowMetric& metric,
                                           std::int64_t window, bool dark);

} // namespace flipscope
