// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"
#include "ui/charts/chart_style.h"
#include "ui/session/session.h"

#include <QWidget>

#include <memory>

namespace flipscope {

class HeatmapItem;

/// The heatmap on the screen: runs x windows, axis in tokens, segments and tool calls under it, colour legend with
/// its unit. Keyboard: arrows move the current cell, Enter activates it; + and − zoom along the token axis, 0 shows
/// all; mouse: click, double click, hover; Ctrl and the wheel zoom, Shift and the wheel move the range, dragging along
/// the axis zooms to what was dragged over.
class HeatmapView : public QWidget {
    Q_OBJECT
public:
    explicit HeatmapView(QWidget* parent = nullptr);
    ~HeatmapView() override;

    void setGrid(const HeatmapGrid& grid, const ColourScale& scale);
    void setStyle(const ChartStyle& style);
    const HeatmapGrid& grid() const;

    int currentRow() const;
    int currentColumn() const;
    void setCurrentCell(int row, int column); ///< -1, -1 = none; emits nothing
    void setHoveredColumn(int column);        ///< linked hover from the line chart
    void alignWith(const HeatmapGrid& other); ///< columns stand above those of another heatmap of the same width

    /// Cell in this widget's coordinates; what tests click.
    QRectF cellRect(int row, int column) const;
    /// (row, column) at a point of this widget, or (-1, -1).
    QPoint cellAt(const QPointF& point) const;
    /// Colour the cell is painted with (a missing cell: the style's colours).
    QColor cellColor(int row, int column) const;
    /// Row labels in the order they are drawn, top first, and the y of each; for tests.
    QStringList rowLabels() const;
    QRectF rowLabelRect(int row) const;             ///< in this widget's coordinates
    QString cellText(int row, int column) const;    ///< number in the cell, also when it does not fit
    QString cellToolTip(int row, int column) const; ///< value, n, interval, window, why it is empty
    QSize sizeHint() const override;

signals:
    void currentCellChanged(int row, int column);
    void cellActivated(int row, int column); ///< Enter or double click
    void cellHovered(int row, int column);   ///< -1, -1 = none
    void upRequested();                      ///< Backspace
    void rangeRequested(const flipscope::TokenRange& range);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    void layOut();
    void redraw(); ///< the scene has changed
    void describe();
    void choose(int row, int column); ///< by the user: clamps, emits
    void hover(int row, int column);
    // heatmap_view_zoom.cpp
    bool onAxis(const QPointF& point) const;
    double columnAt(double x) const; ///< among those shown, with fractions
    void zoom(double factor, double x);
    void moveRange(int columns);
    void zoomToDragged(double from, double to);
    bool zoomKey(const QKeyEvent& event);

    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace flipscope
