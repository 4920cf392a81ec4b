// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/probe_plot.h"
#include "ui/session/session.h"

#include <QVector>
#include <QWidget>

class QCheckBox;
class QComboBox;
class QTabWidget;

namespace flipscope {

class ProbeChartView;
class WindowChart;

/// The charts under the heatmap, a tab each: lines per window, and what single probes say. A chart is computed when it
/// is on the screen.
class ChartsPanel : public QWidget {
    Q_OBJECT
public:
    explicit ChartsPanel(Session* session, QWidget* parent = nullptr);

    QTabWidget* tabs() const { return m_tabs; }
    WindowChart* windowChart() const { return m_windows; }
    ProbeChartView* probeChart(ProbePlot::Kind kind) const;

    void refresh();                    ///< runs, metric, window or range have changed
    void setCurrentColumn(int column); ///< the heatmap's, as it is shown
    void setHoveredColumn(int column);
    void applyStyle();

signals:
    void columnHovered(int column);
    void pointActivated(int row, int column);

private:
    QWidget* makeWindowPage();
    void makeProbePage(ProbePlot::Kind kind, const QString& title, const QString& toolTip);
    void update(int tab);
    void updateWindows();
    void followPath();
    QVector<QColor> colors() const;
    int rowOf(int run) const;
    void activate(int row, qint64 position);

    Session* m_session;
    QTabWidget* m_tabs;
    WindowChart* m_windows;
    QComboBox* m_lines;
    QCheckBox* m_log;
    QVector<ProbeChartView*> m_probes;
    QVector<bool> m_stale; ///< per tab
    HeatmapGrid m_shown;   ///< of the window chart
    int m_column = -1;
};

} // namespace flipscope
