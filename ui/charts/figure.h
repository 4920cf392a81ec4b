// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"
#include "core/base/error.h"
#include "core/report/method.h"
#include "ui/charts/chart_style.h"
#include "ui/charts/figure_drawing.h"
#include "ui/charts/probe_plot.h"
#include "ui/session/session.h"

#include <QSize>
#include <QString>
#include <QStringList>
#include <QVector>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

class QPagedPaintDevice;

namespace flipscope {

/// A chart as a file: the same drawing as on the screen, with a caption block under it.
struct FigureSpec {
    enum class Chart {
        Heatmap,
        Flips, ///< lines per window
        Kl,
        Position, ///< from here on: of single probes
        Distribution,
        Margin,
        Agreement,
    };
    Chart chart = Chart::Heatmap;
    std::shared_ptr<FigureDrawing> drawing; ///< drawn in place of `chart` where it is set
    HeatmapGrid grid;                       ///< charts over windows
    ProbeChartData probes;                  ///< charts over single probes
    ColourScale scale;
    QVector<QColor> runColors; ///< empty = ChartStyle::runColor
    std::vector<MethodLine> method;
    QStringList notes; ///< what a person wrote about positions, for the caption
    ChartStyle::Theme theme = ChartStyle::Theme::Light;
    QSize size{1200, 700}; ///< pixels at 96 dpi, which is the figure's size on paper
    int dpi = 96;          ///< PNG only: more pixels for the same size
};

/// The names of the charts as the command line and file names have them: "heatmap", "flips", "kl", "position", ...
const std::vector<std::pair<std::string, FigureSpec::Chart>>& figureCharts();

/// The kind of plot over single probes that a chart is; nullopt for those over windows.
std::optional<ProbePlot::Kind> probePlotOf(FigureSpec::Chart chart);

/// Writes by suffix: .png, .svg (text stays text), .pdf (vector, embedded fonts, exact colours) or .csv (the numbers).
/// Needs a QApplication (platform offscreen will do). A name that is not UTF-8 goes through the first form alone.
Result<void> exportFigure(const FigureSpec& spec, const std::filesystem::path& path);
Result<void> exportFigure(const FigureSpec& spec, const QString& path);

/// On one page of a printer: as wide as the paper, or smaller where not everything would fit on it. The spec's size is
/// not asked. Needs a QApplication.
void printFigure(FigureSpec spec, QPagedPaintDevice& page);

/// What is wrong with the format, the size or the resolution asked for; needs no grid and no QApplication.
Result<void> checkFigure(const FigureSpec& spec, const std::filesystem::path& path);

/// The least height that spec.size can have at its width, for its runs and its caption. Needs a QApplication.
int figureMinimumHeight(const FigureSpec& spec);

/// The caption block as lines of text: baseline, runs, metric, direction, unit, window, n, and what is not stated.
QStringList figureCaption(const FigureSpec& spec);

} // namespace flipscope
