// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/heatmap_plot.h"

#include "ui/charts/bare_chart.h"
#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"
#include "ui/charts/segment_strip.h"

#include <algorithm>
#include <cmath>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

constexpr double least_row_height = 18;
constexpr double gap_above_plot = 10;
constexpr double gap_above_strip = 5;
constexpr double gap_above_key = 8;

} // namespace

/// Everything but the cells; a thin shell, so that the painting stands with the layout.
class HeatmapPlot::Frame : public QGraphicsItem {
public:
    explicit Frame(const HeatmapPlot* plot) : m_plot(plot) { setZValue(-1); }
    QRectF boundingRect() const override { return {QPointF(0, 0), m_plot->m_size}; }
    void paint(QPainter* p, const QStyleOptionGraphicsItem*, QWidget*) override
    {
        p->save();
        m_plot->paintFrame(*p);
        p->restore();
    }
    using QGraphicsItem::prepareGeometryChange;

private:
    const HeatmapPlot* m_plot;
};

HeatmapPlot::HeatmapPlot(QGraphicsScene* scene)
    : m_chart(new BareChart), m_item(new HeatmapItem(m_chart)), m_frame(new Frame(this))
{
    scene->addItem(m_frame);
    scene->addItem(m_chart);
}

void HeatmapPlot::setGrid(const HeatmapGrid& grid, const ColourScale& scale)
{
    m_item->setGrid(grid, scale);
    layOut();
}

void HeatmapPlot::setStyle(const ChartStyle& style)
{
    m_style = style;
    m_item->setStyle(style);
    layOut();
}

void HeatmapPlot::setSize(const QSizeF& size)
{
    m_size = size;
    layOut();
}

void HeatmapPlot::setMaximumRowHeight(double pixels)
{
    m_maximumRowHeight = pixels;
    layOut();
}

void HeatmapPlot::alignWith(const HeatmapGrid& other)
{
    m_other.rows.clear();
    for (const HeatmapRow& row : other.rows)
        m_other.rows.push_back({row.name, {}, {}});
    layOut();
}

void HeatmapPlot::setFocusRing(bool shown)
{
    m_focusRing = shown;
    m_frame->update();
}

double HeatmapPlot::fixedHeight() const
{
    const double strip = segment_strip::height(m_item->grid());
    const double key = colour_legend::keyHeight(m_key);
    return chart_paint::margin + chart_paint::headerHeight + gap_above_plot + chart_paint::tokenAxisHeight +
           (strip > 0 ? gap_above_strip + strip : 0) + (key > 0 ? gap_above_key + key : 0) + 6;
}

double HeatmapPlot::minimumHeight() const
{
    return fixedHeight() + std::max(m_item->rows(), 1) * least_row_height;
}

void HeatmapPlot::layOut()
{
    using namespace chart_paint;
    m_frame->prepareGeometryChange();
    const HeatmapGrid& grid = m_item->grid();
    const double width = m_size.width();
    const double left =
        std::max(gutter(grid, width, m_style), m_other.rows.empty() ? 0 : gutter(m_other, width, m_style));
    const double right = std::max(left + 10, width - rightEdge);
    m_key = colour_legend::key(*m_item, right - left, m_style);

    const int rows = std::max(m_item->rows(), 1);
    const double room = (m_size.height() - fixedHeight()) / rows;
    const double rowHeight = std::floor(std::clamp(room, least_row_height, m_maximumRowHeight));
    m_plot = QRectF(left, margin + headerHeight + gap_above_plot, right - left, rowHeight * rows);
    m_chart->place(m_size, m_plot, m_item->columns(), 0, m_item->rows());
    m_item->updateGeometry();
    // Whether windows share a pixel is known only now; it is said in the key.
    m_key = colour_legend::key(*m_item, right - left, m_style);

    const double legendWidth = colour_legend::width(width);
    const bool legend = legendWidth > 0 && m_item->rows() > 0 && m_item->columns() > 0;
    m_legend = legend ? QRectF(right - legendWidth, margin, legendWidth, headerHeight) : QRectF();
    m_header = QRectF(margin, margin, (legend ? m_legend.left() - 24 : right) - margin, headerHeight);
    double y = m_plot.bottom() + tokenAxisHeight;
    const double strip = segment_strip::height(grid);
    m_strip = QRectF();
    if (strip > 0) {
        m_strip = QRectF(left, y + gap_above_strip, m_plot.width(), strip);
        y = m_strip.bottom();
    }
    m_keyAt = QPointF(left, y + gap_above_key);
    if (!m_key.isEmpty())
        y = m_keyAt.y() + colour_legend::keyHeight(m_key);
    m_used = y;
    m_frame->update();
}

QRectF HeatmapPlot::rowLabelRect(int row) const
{
    const double h = m_plot.height() / std::max(m_item->rows(), 1);
    return {chart_paint::margin, m_plot.top() + row * h, m_plot.left() - chart_paint::margin - 10, h};
}

void HeatmapPlot::paintRowLabels(QPainter& p) const
{
    const QFont nameFont = chart_paint::font(m_style, 12);
    const QFont noteFont = chart_paint::font(m_style, 10);
    const double nameHeight = QFontMetricsF(nameFont).height();
    const double noteHeight = QFontMetricsF(noteFont).height();
    for (int row = 0; row < m_item->rows(); ++row) {
        const HeatmapRow& run = m_item->grid().rows[static_cast<std::size_t>(row)];
        const QRectF rect = rowLabelRect(row);
        const QString name = (run.floor ? u"≈ "_s : QString()) + chart_text::qstr(run.name);
        const bool words = !run.cells.empty() && run.cells.front().state == HeatmapCell::State::NotComparable;
        QString note = words ? QString() : chart_text::qstr(run.note); // said in the row itself
        if (!run.group.empty())
            note = chart_text::qstr(run.group).section(u": "_s, 1) + (note.isEmpty() ? note : u", "_s + note);
        const QFont font = row == m_item->currentRow() ? chart_paint::font(m_style, 12, true) : nameFont;
        if (!note.isEmpty() && rect.height() >= nameHeight + noteHeight) {
            const double top = rect.center().y() - (nameHeight + noteHeight) / 2;
            chart_paint::text(p, QRectF(rect.left(), top, rect.width(), nameHeight), name, font, m_style.text);
            chart_paint::text(p, QRectF(rect.left(), top + nameHeight, rect.width(), noteHeight), note, noteFont,
                              m_style.mutedText);
            continue;
        }
        chart_paint::text(p, rect, name, font, m_style.text);
        const double free = rect.width() - QFontMetricsF(font).horizontalAdvance(name) - 8;
        if (QFontMetricsF(noteFont).horizontalAdvance(note) <= free) // else the tool tip has it
            chart_paint::text(p, rect, note, noteFont, m_style.mutedText, Qt::AlignRight | Qt::AlignVCenter);
    }
}

/// A line above the first row of each group.
void HeatmapPlot::paintGroups(QPainter& p) const
{
    const auto& rows = m_item->grid().rows;
    for (int row = 1; row < m_item->rows(); ++row) {
        const auto i = static_cast<std::size_t>(row);
        if (rows[i].group == rows[i - 1].group)
            continue;
        const QRectF label = rowLabelRect(row);
        p.setRenderHint(QPainter::Antialiasing, false);
        p.setPen(QPen(m_style.mutedText, 1));
        p.drawLine(QPointF(label.left(), label.top()), QPointF(m_plot.left() - 4, label.top()));
    }
}

void HeatmapPlot::paintFrame(QPainter& p) const
{
    p.fillRect(QRectF(QPointF(0, 0), m_size), m_style.background);
    const HeatmapGrid& grid = m_item->grid();
    if (m_item->rows() == 0 || m_item->columns() == 0) {
        const QString words = m_item->rows() == 0 ? u"No run to compare with the baseline yet"_s
                                                  : u"No probe in the baseline or any run"_s;
        chart_paint::text(p, QRectF(QPointF(0, 0), m_size), words, chart_paint::font(m_style, 13), m_style.mutedText,
                          Qt::AlignCenter);
        return;
    }
    chart_paint::header(p, m_header, grid, m_style);
    if (!m_legend.isEmpty())
        colour_legend::paint(p, m_legend, *m_item, m_style);
    paintRowLabels(p);
    chart_paint::tokenAxis(p, m_plot, grid, m_style, true);
    paintGroups(p);
    segment_strip::paint(p, m_strip, grid, m_style);
    colour_legend::paintKey(p, m_keyAt, m_key, *m_item, m_style);
    if (m_focusRing) {
        p.setRenderHint(QPainter::Antialiasing, true);
        p.setBrush(Qt::NoBrush);
        p.setPen(QPen(m_style.accent, 1.5));
        p.drawRoundedRect(m_plot.adjusted(-3.5, -3.5, 2.5, 2.5), 3, 3);
    }
}

QString HeatmapPlot::toolTipAt(const QPointF& point) const
{
    const QPoint cell = m_item->cellAt(point);
    if (cell.x() >= 0)
        return chart_text::toolTip(m_item->grid(), cell.y(), cell.x());
    for (int row = 0; row < m_item->rows(); ++row) {
        const HeatmapRow& run = m_item->grid().rows[static_cast<std::size_t>(row)];
        if (rowLabelRect(row).contains(point))
            return chart_text::qstr(run.name) + (run.group.empty() ? QString() : u'\n' + chart_text::qstr(run.group)) +
                   (run.note.empty() ? QString() : u'\n' + chart_text::qstr(run.note));
    }
    return segment_strip::toolTip(m_strip, m_item->grid(), point);
}

} // namespace flipscope
