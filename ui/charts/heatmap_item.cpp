// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/heatmap_item.h"

#include "ui/charts/bare_chart.h"
#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"

#include <QPaintEngine>

#include <algorithm>
#include <cmath>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

using State = HeatmapCell::State;

/// Files hold each cell as a shape of its own up to this many; more are an image.
constexpr int most_vector_cells = 4096;

std::vector<double> valuesOf(const HeatmapGrid& grid)
{
    std::vector<double> values;
    for (const HeatmapRow& row : grid.rows) {
        for (const HeatmapCell& cell : row.cells) {
            if (cell.state == State::Value)
                values.push_back(cell.value);
        }
    }
    return values;
}

/// True for rows that are one thing from end to end: not comparable, or not computed yet.
bool rowWithout(const HeatmapRow& row)
{
    return !row.cells.empty() &&
           (row.cells.front().state == State::NotComparable || row.cells.front().state == State::Pending);
}

bool isVector(const QPainter& p)
{
    const QPaintEngine::Type type = p.paintEngine()->type();
    return type == QPaintEngine::SVG || type == QPaintEngine::Pdf || type == QPaintEngine::Picture;
}

} // namespace

HeatmapItem::HeatmapItem(BareChart* chart)
    : QGraphicsItem(chart), m_chart(chart), m_normalizer(m_scale, {}), m_style(ChartStyle::light())
{
    setZValue(2.5); // above the grid (2), below axes and series (3, 4)
}

void HeatmapItem::setGrid(const HeatmapGrid& grid, const ColourScale& scale)
{
    m_grid = grid;
    m_scale = scale;
    for (HeatmapRow& row : m_grid.rows) // a ragged row would be read past its end
        row.cells.resize(m_grid.starts.size());
    const std::vector<double> values = valuesOf(m_grid);
    m_normalizer = Normalizer(scale, values);
    if (m_currentRow >= rows() || m_currentColumn >= columns())
        m_currentRow = m_currentColumn = -1;
    m_hoveredRow = m_hoveredColumn = -1;
    updateGeometry();
}

void HeatmapItem::setStyle(const ChartStyle& style)
{
    m_style = style;
    update();
}

void HeatmapItem::updateGeometry()
{
    prepareGeometryChange();
    m_area = QRectF(m_chart->at(0, rows()), m_chart->at(columns(), 0)).normalized();
    update();
}

const HeatmapCell& HeatmapItem::cell(int row, int column) const
{
    return m_grid.rows[static_cast<std::size_t>(row)].cells[static_cast<std::size_t>(column)];
}

QRectF HeatmapItem::cellRect(int row, int column) const
{
    if (row < 0 || row >= rows() || column < 0 || column >= columns())
        return {};
    const double w = m_area.width() / columns();
    const double h = m_area.height() / rows();
    const int up = mirrored(row, rows()); // rows counted as the chart's y axis counts
    return {m_area.left() + column * w, m_area.bottom() - (up + 1) * h, w, h};
}

QPoint HeatmapItem::cellAt(const QPointF& point) const
{
    if (rows() == 0 || columns() == 0 || !m_area.contains(point))
        return {-1, -1};
    const auto index = [](double at, double length, int n) {
        return std::clamp(static_cast<int>(std::floor(at / length * n)), 0, n - 1);
    };
    const int up = index(m_area.bottom() - point.y(), m_area.height(), rows());
    return {index(point.x() - m_area.left(), m_area.width(), columns()), mirrored(up, rows())};
}

QColor HeatmapItem::colorOf(const HeatmapCell& cell) const
{
    switch (cell.state) {
    case State::Value:
        return colormapColor(m_scale.map, m_normalizer(cell.value));
    case State::Infinite: // more than any number: the top of the scale, and marked
        return colormapColor(m_scale.map, 1);
    case State::Invalid:
        return m_style.invalid;
    case State::Empty:
    case State::NotComparable:
        return m_style.missing;
    case State::Pending:
        return m_style.plot;
    }
    return m_style.missing;
}

QColor HeatmapItem::cellColor(int row, int column) const
{
    if (row < 0 || row >= rows() || column < 0 || column >= columns())
        return {};
    return colorOf(cell(row, column));
}

bool HeatmapItem::condensed() const
{
    return columns() > 0 && m_area.width() / columns() < 1;
}

double HeatmapItem::gap() const
{
    if (rows() == 0 || columns() == 0)
        return 0;
    return m_area.width() / columns() >= 8 && m_area.height() / rows() >= 8 ? 1 : 0;
}

void HeatmapItem::setCurrent(int row, int column)
{
    const bool inside = row >= 0 && row < rows() && column >= 0 && column < columns();
    m_currentRow = inside ? row : -1;
    m_currentColumn = inside ? column : -1;
}

void HeatmapItem::setHovered(int row, int column)
{
    m_hoveredRow = row < rows() ? row : -1;
    m_hoveredColumn = column < columns() ? column : -1;
}

QRectF HeatmapItem::boundingRect() const
{
    return m_area.adjusted(-3, -3, 3, 3);
}

void HeatmapItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*)
{
    if (rows() == 0 || columns() == 0)
        return;
    painter->save();
    painter->setRenderHint(QPainter::LosslessImageRendering); // PDF would store colours as JPEG
    painter->setRenderHint(QPainter::SmoothPixmapTransform, false);
    if (condensed() || (isVector(*painter) && rows() * columns() > most_vector_cells))
        paintImage(*painter);
    else
        paintCells(*painter);
    for (int row = 0; row < rows(); ++row) {
        if (rowWithout(m_grid.rows[static_cast<std::size_t>(row)]))
            paintRowWithout(*painter, row);
        else
            paintMissing(*painter, row);
    }
    paintNumbers(*painter);
    painter->restore();
}

void HeatmapItem::paintCells(QPainter& p) const
{
    // Edges on whole device pixels and no smoothing: no seams, and a cell has one colour.
    p.setRenderHint(QPainter::Antialiasing, false);
    p.setPen(Qt::NoPen);
    const double g = gap();
    // Viewers of files smooth edges: neighbours that touch reach a little under the next one, or the paper shines
    // through.
    const double over = g == 0 && isVector(p) ? 0.3 : 0;
    for (int row = 0; row < rows(); ++row) {
        const double below = row + 1 < rows() ? over : 0;
        for (int column = 0; column < columns(); ++column) {
            const HeatmapCell& c = cell(row, column);
            if (c.state == State::Value || c.state == State::Infinite)
                p.fillRect(cellRect(row, column).adjusted(0, 0, column + 1 < columns() ? over - g : -g, below - g),
                           colorOf(c));
        }
    }
}

/// Of windows that share a pixel the one that matters most is shown: the largest value, of a diverging scale the one
/// furthest from its middle, of an overlap the smallest.
int HeatmapItem::worstOf(const HeatmapRow& row, int first, int last) const
{
    int worst = -1;
    double most = -1;
    for (int column = first; column <= last; ++column) {
        const HeatmapCell& c = row.cells[static_cast<std::size_t>(column)];
        if (c.state != State::Value && c.state != State::Infinite)
            continue;
        double weight = c.state == State::Infinite ? 2 : m_normalizer(c.value);
        if (c.state == State::Value && m_scale.map == "vik"_L1)
            weight = std::abs(weight - 0.5);
        else if (c.state == State::Value && m_grid.metric.name == "top5_overlap")
            weight = 1 - weight;
        if (weight > most) {
            most = weight;
            worst = column;
        }
    }
    return worst;
}

void HeatmapItem::paintImage(QPainter& p) const
{
    const double scale = std::max(1.0, std::abs(p.worldTransform().m11()) * p.device()->devicePixelRatioF());
    const int width = isVector(p) ? std::min(columns(), static_cast<int>(std::ceil(m_area.width() * 3)))
                                  : std::min(columns(), static_cast<int>(std::ceil(m_area.width() * scale)));
    QImage image(width, rows(), QImage::Format_ARGB32_Premultiplied);
    for (int row = 0; row < rows(); ++row) {
        const HeatmapRow& run = m_grid.rows[static_cast<std::size_t>(row)];
        for (int x = 0; x < width; ++x) {
            const auto first = static_cast<int>(static_cast<qint64>(x) * columns() / width);
            const auto last = std::max(first, static_cast<int>(static_cast<qint64>(x + 1) * columns() / width) - 1);
            const int column = worstOf(run, first, last);
            image.setPixelColor(x, row, colorOf(run.cells[static_cast<std::size_t>(std::max(column, first))]));
        }
    }
    p.setRenderHint(QPainter::Antialiasing, false);
    p.drawImage(m_area, image);
}

void HeatmapItem::paintRowWithout(QPainter& p, int row) const
{
    const HeatmapRow& run = m_grid.rows[static_cast<std::size_t>(row)];
    const double g = gap();
    const QRectF rect = cellRect(row, 0).united(cellRect(row, columns() - 1)).adjusted(0, 0, -g, -g);
    const State state = run.cells.front().state;
    paintState(p, rect, state);
    QString words = chart_text::stateWords(state);
    if (state == State::NotComparable && !run.note.empty())
        words += u": "_s + chart_text::qstr(run.note);
    const QFont font = chart_paint::font(m_style, 11);
    const QFontMetricsF metrics(font);
    if (rect.height() < metrics.height())
        return;
    // The words stand on a plain strip, not on the hatch.
    const double width = std::min(metrics.horizontalAdvance(words) + 16, rect.width());
    const QRectF strip(rect.left(), rect.top(), width, rect.height());
    p.setRenderHint(QPainter::Antialiasing, false);
    p.fillRect(strip, colorOf(run.cells.front()));
    chart_paint::text(p, strip.adjusted(8, 0, -8, 0), words, font, m_style.mutedText);
}

/// Neighbours without a value are drawn as one where cells are narrow.
void HeatmapItem::paintMissing(QPainter& p, int row) const
{
    const double g = gap();
    for (int column = 0; column < columns();) {
        const State state = cell(row, column).state;
        int end = column + 1;
        while (g == 0 && end < columns() && cell(row, end).state == state)
            ++end;
        const QRectF rect = cellRect(row, column).united(cellRect(row, end - 1)).adjusted(0, 0, -g, -g);
        if (state != State::Value && (!condensed() || rect.width() >= 3)) // a value in the same pixel goes first
            paintState(p, rect, state);
        column = end;
    }
}

void HeatmapItem::paintState(QPainter& p, const QRectF& rect, State state) const
{
    using chart_paint::Hatch;
    const QColor line = m_style.theme == ChartStyle::Theme::Dark ? QColor(0x59636e) : QColor(0xaab3bc);
    const QColor invalidLine = m_style.theme == ChartStyle::Theme::Dark ? QColor(0xd0685c) : QColor(0xc8493a);
    switch (state) {
    case State::Value:
        return;
    case State::Empty:
        chart_paint::hatched(p, rect, m_style.missing, line, Hatch::Rising);
        return;
    case State::NotComparable:
        chart_paint::hatched(p, rect, m_style.missing, line, Hatch::Crossed);
        return;
    case State::Pending:
        p.setRenderHint(QPainter::Antialiasing, false);
        p.fillRect(rect, m_style.plot);
        return;
    case State::Invalid:
    case State::Infinite:
        break;
    }
    const QFont font = chart_paint::font(m_style, 11, true);
    const QFontMetricsF metrics(font);
    const QString mark = chart_text::stateMark(state);
    const bool fits = rect.width() >= metrics.horizontalAdvance(mark) + 4 && rect.height() >= metrics.height();
    const QColor fill = state == State::Invalid ? m_style.invalid : colormapColor(m_scale.map, 1);
    const QColor ink = state == State::Invalid ? invalidLine : textColorOn(fill);
    if (fits) {
        p.setRenderHint(QPainter::Antialiasing, false);
        p.fillRect(rect, fill);
        chart_paint::text(p, rect, mark, font, state == State::Invalid ? textColorOn(fill) : ink, Qt::AlignCenter);
    } else {
        chart_paint::hatched(p, rect, fill, ink, state == State::Invalid ? Hatch::Crossed : Hatch::Level);
    }
}

void HeatmapItem::paintNumbers(QPainter& p) const
{
    const QRectF first = cellRect(0, 0);
    const QFont font = chart_paint::font(m_style, first.height() >= 40 ? 12 : 11);
    const QFontMetricsF metrics(font);
    if (first.width() < 18 || first.height() < metrics.height())
        return;
    // All cells speak the same way: with the unit where every number fits with it, without where they fit without.
    struct Number {
        int row, column;
        QString text;
    };
    const bool share = m_grid.metric.share;
    const QString unit = share ? chart_text::shortValue(m_grid.metric, 0, true).mid(1) : QString(); // of "0 %"
    QVector<Number> numbers;
    double bare = 0, full = 0;
    for (int row = 0; row < rows(); ++row) {
        for (int column = 0; column < columns(); ++column) {
            const HeatmapCell& c = cell(row, column);
            if (c.state != State::Value)
                continue;
            numbers.append({row, column, chart_text::shortValue(m_grid.metric, c.value, false)});
            bare = std::max(bare, metrics.horizontalAdvance(numbers.last().text));
            if (share)
                full = std::max(full, metrics.horizontalAdvance(numbers.last().text + unit));
        }
    }
    const double room = first.width() - 7;
    if (bare > room)
        return;
    const bool withUnit = share && full <= room;
    p.setFont(font);
    for (const Number& number : numbers) {
        p.setPen(textColorOn(colorOf(cell(number.row, number.column))));
        p.drawText(cellRect(number.row, number.column), Qt::AlignCenter | Qt::TextSingleLine | Qt::TextDontClip,
                   withUnit ? number.text + unit : number.text);
    }
}

void HeatmapItem::paintMarks(QPainter& p) const
{
    if (rows() == 0 || columns() == 0)
        return;
    const double g = gap();
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setBrush(Qt::NoBrush);
    if (m_hoveredColumn >= 0 && m_hoveredRow < 0) {
        p.setPen(QPen(m_style.text, 1.5));
        p.drawRect(cellRect(0, m_hoveredColumn)
                       .united(cellRect(rows() - 1, m_hoveredColumn))
                       .adjusted(-.5, -.5, .5 - g, .5 - g));
    } else if (m_hoveredColumn >= 0) {
        p.setPen(QPen(m_style.text, 1.5));
        p.drawRect(cellRect(m_hoveredRow, m_hoveredColumn).adjusted(-.5, -.5, .5 - g, .5 - g));
    }
    if (m_currentRow < 0)
        return;
    // White under black, on whole pixels: seen on any colour, of map and theme.
    p.setRenderHint(QPainter::Antialiasing, false);
    const QRectF rect = cellRect(m_currentRow, m_currentColumn).adjusted(0, 0, -g, -g);
    p.setPen(QPen(Qt::white, 4, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    p.drawRect(rect);
    p.setPen(QPen(Qt::black, 2, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    p.drawRect(rect);
}

} // namespace flipscope
