// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/windows.h"
#include "core/base/error.h"
#include "ui/charts/figure.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace flipscope {

/// How a figure is to look, as every command that writes one takes it.
struct FigureOptions {
    std::string size; ///< empty = 1200 wide, as high as the figure needs
    std::string theme = "light";
    int dpi = 96;
};

/// Adds --size, --dpi and --theme.
void add_figure_options(CLI::App& command, FigureOptions& options);

/// A spec of that size, resolution and theme; everything that can be wrong with them, or with the name of the file, is
/// told here, before anything is computed.
Result<FigureSpec> figure_spec(const FigureOptions& options, const std::string& out);

/// Draws without a display: `fill` completes the spec once there are fonts.
Result<void> write_figure(FigureSpec spec, const FigureOptions& options, const std::string& out,
                          const std::function<void(FigureSpec&)>& fill);

} // namespace flipscope
