// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/token_columns.h"

#include "ui/charts/tool_tip.h"

#include <QApplication>
#include <QClipboard>
#include <QFontDatabase>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

namespace flipscope {

namespace {

constexpr double side_room = 8, column_gap = 20;

QColor mixed(const QColor& a, const QColor& b, double share)
{
    const auto mix = [share](double x, double y) { return static_cast<float>(x + (y - x) * share); };
    return QColor::fromRgbF(mix(a.redF(), b.redF()), mix(a.greenF(), b.greenF()), mix(a.blueF(), b.blueF()));
}

} // namespace

// --- layout ---

void ColumnLayout::setUnits(QVector<ColumnUnit> units)
{
    m_units = std::move(units);
    layOut();
}

void ColumnLayout::setFont(const QFont& font)
{
    m_font = font;
    m_lineHeight = std::ceil(QFontMetricsF(m_font).height()) + 4;
    layOut();
}

void ColumnLayout::setWidth(double width)
{
    m_width = width;
    layOut();
}

double ColumnLayout::columnWidth() const
{
    return std::max(60.0, (m_width - 2 * side_room - column_gap) / 2);
}

double ColumnLayout::columnLeft(int column) const
{
    return side_room + column * (columnWidth() + column_gap);
}

double ColumnLayout::widthOf(const QString& text) const
{
    return text.isEmpty() ? 0 : QFontMetricsF(m_font).horizontalAdvance(text);
}

void ColumnLayout::layOut()
{
    m_lines.clear();
    m_xA.resize(m_units.size());
    m_xB.resize(m_units.size());
    const double room = columnWidth();
    double a = 0, b = 0;
    int first = 0;
    const auto end = [&](int last) {
        if (last > first)
            m_lines.append({first, last});
        first = last;
        a = b = 0;
    };
    for (int i = 0; i < m_units.size(); ++i) {
        const ColumnUnit& unit = m_units[i];
        const double widthA = widthOf(unit.a), widthB = widthOf(unit.b);
        if (i > first && (a + widthA > room || b + widthB > room))
            end(i);
        m_xA[i] = static_cast<float>(a);
        m_xB[i] = static_cast<float>(b);
        a += widthA;
        b += widthB;
        if (unit.breakAfter)
            end(i + 1);
    }
    end(static_cast<int>(m_units.size()));
}

int ColumnLayout::lineOf(int unit) const
{
    const auto it = std::upper_bound(m_lines.begin(), m_lines.end(), unit,
                                     [](int wanted, const Line& line) { return wanted < line.last; });
    return it == m_lines.end() ? -1 : static_cast<int>(it - m_lines.begin());
}

QRectF ColumnLayout::unitRect(int unit, int column) const
{
    const ColumnUnit& u = m_units[unit];
    const double x = column == 0 ? m_xA[unit] : m_xB[unit];
    return {columnLeft(column) + x, 0, widthOf(column == 0 ? u.a : u.b), m_lineHeight};
}

int ColumnLayout::unitAt(int line, double x) const
{
    if (line < 0 || line >= m_lines.size())
        return -1;
    for (int unit = m_lines[line].first; unit < m_lines[line].last; ++unit)
        for (const int column : {0, 1}) {
            const QRectF rect = unitRect(unit, column);
            if (x >= rect.left() && x < rect.right())
                return unit;
        }
    return -1;
}

void ColumnLayout::paintLine(QPainter& p, int line, double y, const QPalette& palette, int currentUnit) const
{
    const QColor ink = palette.color(QPalette::Text), ground = palette.color(QPalette::Base);
    // Warm for A, cool for B, each on its side: which column differs is seen without the colour too.
    const bool dark = ground.lightnessF() < 0.5F;
    const QColor fills[2] = {dark ? QColor(120, 70, 20) : QColor(255, 221, 170),
                             dark ? QColor(25, 80, 130) : QColor(186, 220, 255)};
    for (int unit = m_lines[line].first; unit < m_lines[line].last; ++unit) {
        const ColumnUnit& u = m_units[unit];
        for (const int column : {0, 1}) {
            const QString& text = column == 0 ? u.a : u.b;
            const QRectF box = unitRect(unit, column).translated(0, y);
            const bool marked = u.differs || (column == 0 ? u.markA : u.markB);
            if (text.isEmpty()) {
                if (u.differs) { // nothing here where the other column has something
                    p.setPen(QPen(mixed(ink, ground, 0.5), 1));
                    p.drawLine(QPointF(box.left(), box.top() + 3), QPointF(box.left(), box.bottom() - 3));
                }
                continue;
            }
            if (marked)
                p.fillRect(box.adjusted(0.5, 1, -0.5, -1), u.differs ? fills[column] : mixed(ground, ink, 0.12));
            p.setFont(m_font);
            p.setPen(marked ? ink : mixed(ink, ground, 0.2));
            p.drawText(box, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, text);
            if (u.differs)
                p.fillRect(QRectF(box.left() + 0.5, box.bottom() - 2.5, box.width() - 1, 1.6), ink);
            if (unit == currentUnit) {
                p.setPen(QPen(palette.color(QPalette::Highlight), 2));
                p.setBrush(Qt::NoBrush);
                p.drawRect(box.adjusted(0, 1, 0, -1));
            }
        }
    }
}

// --- widget ---

TokenColumns::TokenColumns(QWidget* parent) : QAbstractScrollArea(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    setAccessibleName(tr("Texts of A and B in two columns"));
    m_layout.setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    verticalScrollBar()->setSingleStep(1);
}

void TokenColumns::setUnits(const QVector<ColumnUnit>& units)
{
    m_layout.setUnits(units);
    m_current = -1;
    verticalScrollBar()->setValue(0);
    layOut();
    describe();
}

void TokenColumns::layOut()
{
    m_layout.setWidth(viewport()->width());
    const int page = std::max(1, static_cast<int>(viewport()->height() / m_layout.lineHeight()));
    verticalScrollBar()->setPageStep(page);
    verticalScrollBar()->setRange(0, std::max(0, m_layout.lines() - page));
    viewport()->update();
}

void TokenColumns::setCurrentKey(qint64 key)
{
    const auto& units = m_layout.units();
    const auto it = std::find_if(units.begin(), units.end(), [key](const ColumnUnit& u) { return u.key == key; });
    if (key < 0 || it == units.end())
        return;
    reveal(static_cast<int>(it - units.begin()));
}

void TokenColumns::reveal(int unit)
{
    m_current = unit;
    const int line = m_layout.lineOf(unit), top = verticalScrollBar()->value();
    if (line < top || line >= top + verticalScrollBar()->pageStep())
        verticalScrollBar()->setValue(line - verticalScrollBar()->pageStep() / 2);
    describe();
    viewport()->update();
}

int TokenColumns::disagreements() const
{
    const auto& units = m_layout.units();
    return static_cast<int>(std::count_if(units.begin(), units.end(), [](const ColumnUnit& u) { return u.differs; }));
}

/// Tells a screen reader what is looked at.
void TokenColumns::describe()
{
    if (m_current < 0) {
        setAccessibleDescription(tr("%1 disagreements; N and P go from one to the next").arg(disagreements()));
        return;
    }
    const ColumnUnit& unit = m_layout.units()[m_current];
    setAccessibleDescription(
        tr("A: %1, B: %2").arg(unit.a.isEmpty() ? tr("nothing") : unit.a, unit.b.isEmpty() ? tr("nothing") : unit.b));
}

QPointF TokenColumns::pointOf(int unit, int column) const
{
    const int line = m_layout.lineOf(unit) - verticalScrollBar()->value();
    return m_layout.unitRect(unit, column).translated(0, line * m_layout.lineHeight()).center();
}

QString TokenColumns::text() const
{
    QStringList lines;
    QString a, b;
    int line = 0;
    const auto& units = m_layout.units();
    for (int i = 0; i < units.size(); ++i) {
        if (m_layout.lineOf(i) != line) {
            lines << a + QLatin1Char('\t') + b;
            a.clear();
            b.clear();
            line = m_layout.lineOf(i);
        }
        a += units[i].a;
        b += units[i].b;
    }
    lines << a + QLatin1Char('\t') + b;
    return lines.join(QLatin1Char('\n'));
}

void TokenColumns::copy() const
{
    QApplication::clipboard()->setText(text());
}

void TokenColumns::choose(int unit)
{
    if (unit < 0)
        return;
    reveal(unit);
    emit unitChosen(m_layout.units()[unit].key);
}

void TokenColumns::go(int direction)
{
    const auto& units = m_layout.units();
    const auto count = static_cast<int>(units.size());
    int unit = m_current < 0 ? (direction > 0 ? -1 : count) : m_current;
    do
        unit += direction;
    while (unit >= 0 && unit < count && !units[unit].differs);
    if (unit >= 0 && unit < count)
        choose(unit);
}

void TokenColumns::next()
{
    go(1);
}

void TokenColumns::previous()
{
    go(-1);
}

bool TokenColumns::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int line = static_cast<int>(help->pos().y() / m_layout.lineHeight()) + verticalScrollBar()->value();
        const int unit = m_layout.unitAt(line, help->pos().x());
        QString tip;
        if (unit >= 0)
            tip = help->pos().x() < m_layout.columnLeft(1) ? m_layout.units()[unit].tipA : m_layout.units()[unit].tipB;
        showToolTip(this, help->globalPos(), tip);
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void TokenColumns::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
    painter.setPen(palette().color(QPalette::Mid));
    const double middle = m_layout.columnLeft(1) - column_gap / 2;
    painter.drawLine(QPointF(middle, 0), QPointF(middle, viewport()->height()));
    int line = verticalScrollBar()->value();
    for (double y = 0; y < viewport()->height() && line < m_layout.lines(); y += m_layout.lineHeight(), ++line)
        m_layout.paintLine(painter, line, y, palette(), m_current);
}

void TokenColumns::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    layOut();
}

void TokenColumns::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy))
        copy();
    else if (event->modifiers() == Qt::NoModifier && event->key() == Qt::Key_N)
        next();
    else if (event->modifiers() == Qt::NoModifier && event->key() == Qt::Key_P)
        previous();
    else
        QAbstractScrollArea::keyPressEvent(event);
}

void TokenColumns::mousePressEvent(QMouseEvent* event)
{
    const int line = static_cast<int>(event->position().y() / m_layout.lineHeight()) + verticalScrollBar()->value();
    if (event->button() == Qt::LeftButton)
        choose(m_layout.unitAt(line, event->position().x()));
}

void TokenColumns::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        viewport()->update();
}

} // namespace flipscope
