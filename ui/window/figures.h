// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/figure.h"
#include "ui/session/session.h"

namespace flipscope {

/// The chart of what the session shows now, with its caption; size and dpi as FigureSpec has them.
/// Flips takes the flip metric on the screen (else the flip rate), Kl the divergence on the screen (else the mean
/// KL(P‖Q)).
FigureSpec figureOf(Session& session, FigureSpec::Chart chart, ChartStyle::Theme theme = ChartStyle::Theme::Light);

enum class NumbersKind { Heatmap, Windows, Probes, Json, Notes };

/// Writes the numbers behind the views: cells, windows of all runs, probes of all runs, the analysis as JSON (with the
/// notes), or notes and bookmarks.
Result<void> writeNumbers(const Session& session, NumbersKind kind, const QString& path);

/// Puts a figure on the clipboard as a picture (twice the resolution of the screen) and as SVG, as high as it needs.
Result<void> copyFigure(FigureSpec spec);

} // namespace flipscope
