// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"
#include "ui/charts/chart_style.h"

#include <QVector>
#include <QWidget>

#include <memory>

namespace flipscope {

/// A line per run over the token axis, one point a window, with interval bands where the metric has them.
class WindowChart : public QWidget {
    Q_OBJECT
public:
    explicit WindowChart(QWidget* parent = nullptr);
    ~WindowChart() override;

    void setGrid(const HeatmapGrid& grid, const QVector<QColor>& runColors);
    void setStyle(const ChartStyle& style);
    void setLogAxis(bool log);
    void setCurrentColumn(int column); ///< linked selection
    void setHoveredColumn(int column);

    /// Point of a run's window in this widget's coordinates; for tests.
    QPointF pointAt(int row, int column) const; ///< null where there is no value
    QRectF plotRect() const;
    QSize sizeHint() const override;

signals:
    void columnHovered(int column);
    void pointActivated(int row, int column);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void redraw();

    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace flipscope
