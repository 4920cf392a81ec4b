// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/probe_chart.h"
#include "ui/charts/chart_style.h"
#include "ui/charts/probe_plot.h"

#include <QVector>
#include <QWidget>

#include <memory>

namespace flipscope {

/// A chart over single probes on the screen. Mouse: hover, click chooses a probe; where x runs along the history the
/// wheel zooms, dragging zooms to what was dragged over, and dragging with Shift or the middle button moves the range.
/// Keyboard: + and − zoom, arrows move the range, 0 shows all.
class ProbeChartView : public QWidget {
    Q_OBJECT
public:
    explicit ProbeChartView(ProbePlot::Kind kind, QWidget* parent = nullptr);
    ~ProbeChartView() override;

    void setData(const ProbeChartData& data, const QVector<QColor>& runColors);
    void setStyle(const ChartStyle& style);
    void setCurrent(int row, qint64 position);     ///< linked selection
    void setHoveredRange(const TokenRange& range); ///< linked hover: a window that the mouse is over elsewhere

    ProbePlot& plot() const;
    ProbePlot::Kind kind() const;
    /// What stands in the tool tip at a point; for tests.
    QString toolTipAt(const QPointF& point) const;
    QSize sizeHint() const override;

signals:
    void probeHovered(int row, qint64 position);   ///< -1, -1 = none
    void probeActivated(int row, qint64 position); ///< clicked; position -1: the run alone
    void rangeRequested(const flipscope::TokenRange& range);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void redraw();
    void drag(const QPointF& to);

    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace flipscope
