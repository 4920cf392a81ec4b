// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/token_layout.h"

#include <QAbstractScrollArea>
#include <QColor>

#include <functional>
#include <optional>
#include <utility>

namespace flipscope {

/// How a token is drawn beside its text.
struct TokenMark {
    QColor fill;          ///< by divergence; invalid = plain
    bool flip = false;    ///< a triangle and a thick underline
    bool invalid = false; ///< hatched: the probe has no numbers
};

/// Draws a history as wrapped text, monospaced unless asked otherwise, and lets mouse and keyboard walk through it.
/// Only what is on the screen is laid out. Knows nothing of sessions: TokenView feeds it.
class TokenArea : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit TokenArea(QWidget* parent = nullptr);

    void setHistory(HistoryText history);
    const HistoryText& history() const { return m_history; }
    /// Asked for the tokens on the screen alone, at every repaint.
    void setMarks(std::function<TokenMark(qint64)> marks);
    void setDescriptions(std::function<QString(qint64)> toolTip); ///< rich text
    void setProportional(bool proportional);                      ///< else monospaced
    void setInvalidColor(const QColor& color) { m_invalidColor = color; }

    qint64 current() const { return m_current; } ///< -1 = none
    void setCurrent(qint64 token, bool scroll);  ///< emits nothing
    void setFound(qint64 first, qint64 last);    ///< tokens of the text that was found; -1 = none
    qint64 topToken() const;                     ///< first token of the top line
    void ensureVisible(qint64 token);

    /// Where the first piece of a token is in the viewport; null when it is not on the screen.
    QRectF tokenRect(qint64 token) const;
    qint64 tokenAt(const QPointF& point) const; ///< -1 = none
    const TokenLayout& layout() const { return m_layout; }
    qreal gutterWidth() const;

signals:
    void clicked(qint64 token);
    void moved(qint64 token);     ///< by the keyboard
    void activated(qint64 token); ///< Enter or double click
    void flipRequested(int direction);
    void largestRequested();
    void upRequested();
    void findRequested();
    void findAgain(int direction);
    void goToRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    bool event(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;

private:
    struct SpanLevel;
    qreal lineHeight() const;
    int rows() const; ///< whole lines that fit
    TokenLayout::Spot lastTop() const;
    void setTop(TokenLayout::Spot top);
    void relayout();
    void applyFont();
    void updateScrollBar();
    void moveBy(qint64 tokens);
    void moveLines(int lines);
    void goTo(qint64 token); ///< by the keyboard
    bool handleKey(const QKeyEvent* event);
    void paintLine(QPainter& painter, const TokenLayout::Line& line, qreal y);
    void paintPiece(QPainter& painter, const TokenLayout::Piece& piece, qreal y);
    void paintGutter(QPainter& painter, const TokenLayout::Line& line, qreal y, bool top);
    void announce();

    HistoryText m_history;
    TokenLayout m_layout;
    TokenLayout::Spot m_top;
    std::function<TokenMark(qint64)> m_marks;
    std::function<QString(qint64)> m_toolTip;
    QColor m_invalidColor;
    qint64 m_current = -1;
    qint64 m_foundFirst = -1, m_foundLast = -1;
    int m_wheel = 0; ///< eighths of a degree not yet turned into lines
    bool m_syncing = false;
    bool m_proportional = false;
};

} // namespace flipscope
