// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/pair_scatter.h"

#include <QPixmap>
#include <QWidget>

namespace flipscope {

/// PairScatter on the screen. Mouse: hover tells what a probe is, a click chooses it. Keyboard: left and right go to
/// the previous and next probe, Enter goes down to it.
class PairScatterView : public QWidget {
    Q_OBJECT
public:
    explicit PairScatterView(QWidget* parent = nullptr);

    void setComparison(std::shared_ptr<const RunComparison> comparison, const QColor& a, const QColor& b);
    void setStyle(const ChartStyle& style);
    void setCurrent(qint64 position); ///< position of a probe; -1, or one that is not there: none
    const PairScatter& plot() const { return m_plot; }
    qint64 current() const; ///< -1 = none
    QSize sizeHint() const override { return {420, 360}; }

signals:
    void probeChosen(qint64 position);
    void probeActivated(qint64 position); ///< Enter or double click

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void choose(qsizetype probe);
    void hover(qsizetype probe);
    void describe();

    PairScatter m_plot;
    QPixmap m_picture; ///< all points; the rings are drawn over it
    qsizetype m_current = -1, m_hovered = -1;
};

} // namespace flipscope
