// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QChart>
#include <QLineSeries>
#include <QValueAxis>

namespace flipscope {

/// A chart of which only the plot area, the axes' ranges and the series are used: titles, labels, legends and grids are
/// drawn by us, the same on the screen and in files. Owned by the scene it is added to.
class BareChart : public QChart {
public:
    BareChart();

    /// Sets both axes to 0..columns and low..high, and puts the plot area where we want it.
    void place(const QSizeF& size, const QRectF& plot, double columns, double low, double high);

    QLineSeries* carrier() const { return m_carrier; } ///< no points; knows how axes map to pixels
    void attach(QLineSeries* series);                  ///< adds it on the axes

private:
    QValueAxis* m_x;
    QValueAxis* m_y;
    QLineSeries* m_carrier;
};

} // namespace flipscope
