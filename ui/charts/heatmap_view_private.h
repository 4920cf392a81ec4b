// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/heatmap_plot.h"
#include "ui/charts/heatmap_view.h"
#include "ui/charts/scene_picture.h"

#include <QGraphicsScene>
#include <QScrollBar>

#include <optional>

namespace flipscope {

struct HeatmapView::Private {
    QGraphicsScene scene;
    HeatmapPlot plot{&scene};
    QScrollBar* bar = nullptr;
    ScenePicture picture; ///< without what follows the mouse
    QSize asked;          ///< what layouts were told
    int hoveredRow = -1, hoveredColumn = -1;
    std::optional<double> draggedFrom; ///< x, along the token axis
    double draggedTo = 0;

    HeatmapItem& item() const { return *plot.item(); }
    double offset() const { return bar->isVisible() ? bar->value() : 0; }
    QPointF toPlot(const QPointF& point) const { return point + QPointF(0, offset()); }
};

} // namespace flipscope
