// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/probe_plot.h"
#include "ui/session/session.h"

#include <QSet>
#include <QTimer>
#include <QVector>
#include <QWidget>

class QCheckBox;
class QComboBox;
class QTabWidget;

namespace flipscope {

class ProbeChartView;
class WindowChart;

/// The charts under the heatmap, a tab each: lines per window, and what single probes say. A chart is computed when it
/// is on the screen, and a turn of the event loop later than the heatmap, which is seen at once while a wheel is
/// turned; several changes in one turn are drawn once. Who asks for a chart here, or paints one, gets it as it is to
/// be.
class ChartsPanel : public QWidget {
    Q_OBJECT
public:
    explicit ChartsPanel(Session* session, QWidget* parent = nullptr);

    QTabWidget* tabs() const { return m_tabs; }
    WindowChart* windowChart();
    ProbeChartView* probeChart(ProbePlot::Kind kind);

    void refresh();                    ///< runs, metric, window or range have changed
    void setCurrentColumn(int column); ///< the heatmap's, as it is shown
    void setHoveredColumn(int column);
    void applyStyle();

signals:
    void columnHovered(int column);
    void pointActivated(int row, int column);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* makeWindowPage();
    void makeProbePage(ProbePlot::Kind kind, const QString& title, const QString& toolTip);
    void later(); ///< what has changed is drawn in the next turn
    void flush(); ///< now, if anything waits
    void update(int tab);
    void updateWindows();
    void followPath();
    void prepareLater();
    QVector<QColor> colors() const;
    int rowOf(int run) const;
    void activate(int row, qint64 position);

    Session* m_session;
    QTabWidget* m_tabs;
    WindowChart* m_windows;
    QComboBox* m_lines;
    QCheckBox* m_log;
    QVector<ProbeChartView*> m_probes;
    QTimer m_later;
    bool m_waiting = false;
    QVector<bool> m_stale; ///< per tab
    HeatmapGrid m_shown;   ///< of the window chart
    int m_column = -1;
    QSet<const MetricsTable*> m_prepared; ///< in the background
};

} // namespace flipscope
