// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/column_unit.h"

#include <QAbstractScrollArea>
#include <QFont>
#include <QPalette>
#include <QVector>

class QPainter;

namespace flipscope {

/// Two columns of text whose lines stand beside each other. Knows nothing of widgets: the window shows it, figures
/// print it.
class ColumnLayout {
public:
    void setUnits(QVector<ColumnUnit> units);
    void setFont(const QFont& font);
    void setWidth(double width);

    const QVector<ColumnUnit>& units() const { return m_units; }
    int lines() const { return static_cast<int>(m_lines.size()); }
    double lineHeight() const { return m_lineHeight; }
    int lineOf(int unit) const;
    /// Unit under a point of line `line` (x from the left edge); -1 = none.
    int unitAt(int line, double x) const;
    /// Rectangle of a unit's text in column 0 or 1, within its line (y = 0).
    QRectF unitRect(int unit, int column) const;
    void paintLine(QPainter& p, int line, double y, const QPalette& palette, int currentUnit) const;
    double columnLeft(int column) const;
    double columnWidth() const;

private:
    struct Line {
        int first, last; ///< units, last excluded
    };
    void layOut();
    double widthOf(const QString& text) const;

    QVector<ColumnUnit> m_units;
    QVector<float> m_xA, m_xB; ///< of each unit within its column
    QVector<Line> m_lines;
    QFont m_font;
    double m_width = 400, m_lineHeight = 16;
};

/// Two synchronised columns on the screen: one scroll bar, one selection. N and P go to the next and previous
/// disagreement, Ctrl+C copies both columns.
class TokenColumns : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit TokenColumns(QWidget* parent = nullptr);

    void setUnits(const QVector<ColumnUnit>& units);
    void setCurrentKey(qint64 key); ///< brings it into view; emits nothing
    const ColumnLayout& columns() const { return m_layout; }
    int currentUnit() const { return m_current; }
    int disagreements() const;
    QPointF pointOf(int unit, int column) const; ///< centre, in the viewport; what tests click
    QString text() const;                        ///< both columns, a line a line, tab between

signals:
    void unitChosen(qint64 key);

public slots:
    void next();
    void previous();
    void copy() const;

protected:
    bool viewportEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void layOut();
    void go(int direction);
    void choose(int unit);
    void reveal(int unit);
    void describe();

    ColumnLayout m_layout;
    int m_current = -1;
};

} // namespace flipscope
