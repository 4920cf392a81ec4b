// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/session.h"

#include <QWidget>

class QComboBox;
class QDoubleSpinBox;
class QLineEdit;
class QToolButton;

namespace flipscope {

class RowsMenu;

/// Sizes that the window menu and box offer.
const QVector<qint64>& offeredWindowSizes();

/// "Flip rate", "KL(P‖Q) p99", ...: metrics in their registry's order.
QString metricTitle(const WindowMetric& metric);

/// The row above the heatmap: what a column is, window size, metric, colour scale, range of tokens. Changes go to the
/// session at once.
class ViewControls : public QWidget {
    Q_OBJECT
public:
    explicit ViewControls(Session* session, QWidget* parent = nullptr);

    RowsMenu* rows() const { return m_rows; }

    void editLimits(); ///< a small dialog for the ends of the colour scale

private:
    void follow();
    void windowEdited();
    void followPartition();
    void followRange();
    void rangeEdited();
    void scaleChosen(int index);

    Session* m_session;
    QComboBox *m_by, *m_window, *m_metric, *m_scale;
    QWidget *m_windowGroup, *m_marginGroup;
    TracePtr m_marked; ///< whose segments and turns the entries speak of
    bool m_marksKnown = false;
    QLineEdit* m_range;
    QDoubleSpinBox* m_margin;
    QToolButton* m_limits;
    RowsMenu* m_rows;
};

} // namespace flipscope
