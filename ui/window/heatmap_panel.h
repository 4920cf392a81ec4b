// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QWidget>

#include <string>
#include <tuple>

namespace flipscope {

class ChartsPanel;
class HeatmapView;
class ViewControls;
class WindowChart;

/// The centre of the window: controls, the heatmap, and under it the charts. Ties their selection to the session's
/// path, both ways, and their hover to each other.
class HeatmapPanel : public QWidget {
    Q_OBJECT
public:
    explicit HeatmapPanel(Session* session, QWidget* parent = nullptr);

    HeatmapView* heatmap() const { return m_heatmap; }
    ChartsPanel* charts() const { return m_charts; }
    WindowChart* chart() const; ///< the lines per window
    ViewControls* controls() const { return m_controls; }

    void goDown();     ///< Enter: to what is worst under the present place
    void applyStyle(); ///< colours from the palette (it may have changed)

signals:
    void cellHovered(int row, int column);

private:
    void updateGrid();
    void updateView();
    void showGrid();
    void followPath();
    void cellChosen(int row, int column);
    void cellActivated(int row, int column);
    Place placeOf(int row, int column) const;

    Session* m_session;
    ViewControls* m_controls;
    HeatmapView* m_heatmap;
    ChartsPanel* m_charts;
    std::tuple<qint64, Partition, double, std::string> m_drawn; ///< what the charts depend on besides runs and range
};

} // namespace flipscope
