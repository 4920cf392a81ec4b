// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/probe_plot.h"

#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"

#include <QGraphicsItem>
#include <QPaintEngine>

#include <algorithm>
#include <cmath>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

/// What lies behind and before the lines that Qt Charts draws.
class ProbePlot::Layer : public QGraphicsItem {
public:
    Layer(const ProbePlot* plot, void (ProbePlot::*paint)(QPainter&) const, double z) : m_plot(plot), m_paint(paint)
    {
        setZValue(z);
    }
    QRectF boundingRect() const override { return {QPointF(0, 0), m_plot->m_size}; }
    void paint(QPainter* p, const QStyleOptionGraphicsItem*, QWidget*) override
    {
        p->save();
        (m_plot->*m_paint)(*p);
        p->restore();
    }
    using QGraphicsItem::prepareGeometryChange;

private:
    const ProbePlot* m_plot;
    void (ProbePlot::*m_paint)(QPainter&) const;
};

ProbePlot::ProbePlot(QGraphicsScene* scene)
    : m_scene(scene), m_back(new Layer(this, &ProbePlot::paintFrame, -1)),
      m_front(new Layer(this, &ProbePlot::paintMarks, 1))
{
    scene->addItem(m_back);
    scene->addItem(m_front);
}

ProbePlot::~ProbePlot()
{
    delete m_back;
    delete m_front;
}

void ProbePlot::setData(const ProbeChartData& data, const QVector<QColor>& runColors)
{
    m_data = data;
    m_runColors = runColors;
    const auto floor = std::ranges::find(m_data.runs, true, &ProbeChartRun::floor);
    m_floorRow = floor == m_data.runs.end() ? -1 : static_cast<int>(floor - m_data.runs.begin());
    if (m_currentRow >= rows())
        m_currentRow = -1;
    prepare();
    layOut();
}

void ProbePlot::takePoints()
{
    m_points.clear();
    m_shown.clear();
    const TokenRange range = m_data.shown();
    for (const ProbeChartRun& run : m_data.runs) {
        m_points.push_back(run.table ? probePoints(run.table, m_data.type) : nullptr);
        m_shown.push_back(run.table ? pointsBetween(*m_points.back(), range.start, range.end)
                                    : std::span<const ProbePoint>());
    }
}

void ProbePlot::setStyle(const ChartStyle& style)
{
    m_style = style;
    layOut();
}

void ProbePlot::setSize(const QSizeF& size)
{
    m_size = size;
    layOut();
}

bool ProbePlot::setCurrent(int row, qint64 position)
{
    const int current = row < rows() ? row : -1;
    if (current == m_currentRow && position == m_currentPosition)
        return false;
    m_currentRow = current;
    m_currentPosition = position;
    update();
    return true;
}

double ProbePlot::axisHeight() const
{
    return chart_paint::tokenAxisHeight;
}

double ProbePlot::minimumHeight() const
{
    const double line = QFontMetricsF(chart_paint::font(m_style, 12)).height() + 3;
    return chart_paint::margin + chart_paint::headerHeight + 16 + std::max(110.0, line * rows()) + axisHeight() + 4;
}

void ProbePlot::layOut()
{
    using namespace chart_paint;
    m_back->prepareGeometryChange();
    m_front->prepareGeometryChange();
    QStringList names;
    for (int row = 0; row < rows(); ++row)
        names << nameOf(row);
    const double left = gutter(names, m_size.width(), m_style);
    const double right = std::max(left + 10, m_size.width() - rightEdge);
    const double top = margin + headerHeight + 16;
    const double bottom = std::max(top + 40, m_size.height() - axisHeight() - 4);
    m_plot = QRectF(left, top, right - left, bottom - top);
    layOutPlot();
    update();
}

void ProbePlot::update()
{
    m_back->update();
    m_front->update();
}

const ProbeMetrics* ProbePlot::probeAt(int row, qint64 position) const
{
    if (row < 0 || row >= rows())
        return nullptr;
    const auto all = probes(row);
    const auto it = std::lower_bound(all.begin(), all.end(), position,
                                     [](const ProbeMetrics& p, qint64 at) { return p.position < at; });
    return it != all.end() && it->position == position ? &*it : nullptr;
}

QString ProbePlot::nameOf(int row) const
{
    return chart_text::qstr(m_data.runs[static_cast<std::size_t>(row)].name);
}

QColor ProbePlot::colorOf(int row) const
{
    return row < m_runColors.size() && m_runColors[row].isValid() ? m_runColors[row] : m_style.runColor(row);
}

QColor ProbePlot::inkOf(int row) const
{
    QColor ink = colorOf(row);
    if (m_currentRow >= 0 && row != m_currentRow)
        ink.setAlphaF(0.3F);
    return ink;
}

QVector<int> ProbePlot::paintOrder() const
{
    QVector<int> order;
    for (int row = rows() - 1; row >= 0; --row)
        order << row;
    const auto later = [this](int row) { return row == m_currentRow ? 2 : row == m_floorRow ? 0 : 1; };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return later(a) < later(b); });
    return order;
}

double ProbePlot::tokenAt(double x) const
{
    const TokenRange range = m_data.shown();
    return static_cast<double>(range.start) +
           (x - m_plot.left()) / m_plot.width() * static_cast<double>(range.end - range.start);
}

double ProbePlot::xOfToken(double token) const
{
    const TokenRange range = m_data.shown();
    return m_plot.left() +
           (token - static_cast<double>(range.start)) / static_cast<double>(range.end - range.start) * m_plot.width();
}

QPointF ProbePlot::pointOf(int, qint64) const
{
    return {};
}

QString probeWords(qint64 position)
{
    return u"probe "_s + chart_text::count(position);
}

QString ProbePlot::toolTip(const Hit& hit) const
{
    const ProbeMetrics* probe = probeAt(hit.row, hit.position);
    if (probe == nullptr)
        return {};
    const auto nats = [](double value) { return chart_text::longValue(**find_window_metric("kl_pq_mean"), value); };
    QStringList lines{nameOf(hit.row) + u" · "_s + probeWords(hit.position)};
    if (!probe->valid)
        return lines[0] + u"\nNot a number: a NaN, or nothing but −inf in either row."_s;
    if (std::isinf(probe->kl_pq))
        lines << u"KL(P‖Q) infinite: the run gives probability 0 to a token that the baseline does not"_s;
    else if (probe->kl_pq == 0)
        lines << (probe->differing == 0 ? u"KL(P‖Q) 0: the rows are equal bit for bit"_s : u"KL(P‖Q) 0"_s);
    else
        lines << u"KL(P‖Q) "_s + nats(probe->kl_pq);
    QString margin = u"margin of the baseline "_s + nats(probe->margin);
    if (m_data.type)
        margin += u" · a step of %1 is %2 there"_s.arg(QLatin1StringView(name_of(*m_data.type)),
                                                       nats(step_below(top_logit(*probe), *m_data.type)));
    lines << margin;
    switch (flip_kind(*probe, m_data.type)) {
    case FlipKind::None:
        lines << (probe->tied ? u"same top token; the largest logit occurs twice (a tie)"_s : u"same top token"_s);
        break;
    case FlipKind::Tie:
        lines << u"flip by a tie: the largest logit occurs twice, the lowest id wins"_s;
        break;
    case FlipKind::OneStep:
        lines << u"flip by one step: the best two are neighbours in the stored format"_s;
        break;
    case FlipKind::Clear:
        lines << u"flip: the baseline's top token has rank %1 here"_s.arg(probe->rank);
        break;
    }
    return lines.join(u'\n');
}

void ProbePlot::paintHover(QPainter& p, const Hit& hit, const TokenRange& range) const
{
    p.setRenderHint(QPainter::Antialiasing, true);
    if (hasTokenAxis() && !range.all()) {
        const double left = std::max(xOfToken(static_cast<double>(range.start)), m_plot.left());
        const double right = std::min(xOfToken(static_cast<double>(range.end)), m_plot.right());
        QColor tint = m_style.text;
        tint.setAlphaF(0.08F);
        if (right > left)
            p.fillRect(QRectF(left, m_plot.top(), right - left, m_plot.height()), tint);
    }
    if (hit.row < 0)
        return;
    if (hasTokenAxis()) {
        p.setPen(QPen(m_style.mutedText, 1, Qt::DashLine));
        p.drawLine(QPointF(hit.at.x(), m_plot.top()), QPointF(hit.at.x(), m_plot.bottom()));
    }
    p.setPen(QPen(m_style.background, 1.5));
    p.setBrush(colorOf(hit.row));
    p.drawEllipse(hit.at, 4.5, 4.5);
}

// --- what all of them draw ---

bool ProbePlot::isVector(const QPainter& p)
{
    const QPaintEngine::Type type = p.paintEngine()->type();
    return type == QPaintEngine::SVG || type == QPaintEngine::Pdf || type == QPaintEngine::Picture;
}

void ProbePlot::paintFlip(QPainter& p, FlipKind kind, const QPointF& at, double radius, const QColor& ink,
                          const QColor& paper)
{
    switch (kind) {
    case FlipKind::None:
        p.fillPath(chart_paint::marker(0, at, radius * 0.6), ink);
        return;
    case FlipKind::Tie:     // hollow: nothing but the order of equal logits
    case FlipKind::OneStep: // half of one
    {
        const QPainterPath path = chart_paint::marker(kind == FlipKind::Tie ? 0 : 2, at, radius);
        p.fillPath(path, paper);
        p.strokePath(path, QPen(ink, 1.4));
        return;
    }
    case FlipKind::Clear: {
        const QPainterPath path = chart_paint::marker(3, at, radius * 1.1);
        p.fillPath(path, ink);
        p.strokePath(path, QPen(paper, 0.8));
        return;
    }
    }
}

/// The kinds of flips, right-aligned in the line of the title; returns where it begins.
double ProbePlot::paintFlipKey(QPainter& p, double right) const
{
    const QFont font = chart_paint::font(m_style, 11);
    const QFontMetricsF metrics(font);
    struct Entry {
        FlipKind kind;
        QString words;
    };
    const Entry entries[] = {{FlipKind::Clear, u"flip"_s},
                             {FlipKind::OneStep, u"flip by one step"_s},
                             {FlipKind::Tie, u"flip by a tie"_s},
                             {FlipKind::None, u"no flip"_s}};
    const double y = chart_paint::margin + 9;
    double x = right;
    for (const Entry& entry : entries) {
        const double width = metrics.horizontalAdvance(entry.words);
        if (x - width - 30 < 0.45 * m_size.width())
            break; // no room: the manual and the tool tips say it
        x -= width;
        chart_paint::text(p, QRectF(x, y - 8, width, 16), entry.words, font, m_style.mutedText);
        x -= 9;
        p.setRenderHint(QPainter::Antialiasing, true);
        paintFlip(p, entry.kind, {x, y}, 4, m_style.mutedText, m_style.background);
        x -= 16;
    }
    return x;
}

void ProbePlot::paintFrame(QPainter& p) const
{
    p.fillRect(QRectF(QPointF(0, 0), m_size), m_style.background);
    const bool any = std::any_of(m_data.runs.begin(), m_data.runs.end(),
                                 [](const ProbeChartRun& run) { return run.table != nullptr; });
    if (!any) {
        chart_paint::text(p, QRectF(QPointF(0, 0), m_size),
                          m_data.runs.empty() ? u"No run to compare with the baseline yet"_s
                                              : u"No run has been compared with the baseline yet"_s,
                          chart_paint::font(m_style, 13), m_style.mutedText, Qt::AlignCenter);
        return;
    }
    const double right = showsFlipKinds() ? paintFlipKey(p, m_plot.right()) - 8 : m_plot.right();
    const QFont strong = chart_paint::font(m_style, 14, true), small = chart_paint::font(m_style, 11);
    const double top = QFontMetricsF(strong).height(), left = chart_paint::margin;
    chart_paint::text(p, QRectF(left, left, right - left, top), title(), strong, m_style.text);
    chart_paint::text(p, QRectF(left, left + top + 3, m_plot.right() - left, QFontMetricsF(small).height()), subtitle(),
                      small, m_style.mutedText);
    paintLegend(p);
    paintBack(p);
}

void ProbePlot::paintLegend(QPainter& p) const
{
    const double height = QFontMetricsF(chart_paint::font(m_style, 12)).height() + 3;
    const int fit = std::max(1, static_cast<int>((m_plot.height() + 4) / height));
    const int shown = rows() <= fit ? rows() : fit - 1;
    const double right = m_plot.left() - 48;
    for (int row = 0; row < shown; ++row) {
        const double y = m_plot.top() + (row + 0.5) * height;
        p.setRenderHint(QPainter::Antialiasing, true);
        p.setPen(Qt::NoPen);
        p.setBrush(inkOf(row));
        p.drawRoundedRect(QRectF(chart_paint::margin + 2, y - 5, 10, 10), 3, 3);
        const bool table = m_data.runs[static_cast<std::size_t>(row)].table != nullptr;
        chart_paint::text(p, QRectF(chart_paint::margin + 19, y - height / 2, right - chart_paint::margin - 19, height),
                          nameOf(row), chart_paint::font(m_style, 12, row == m_currentRow),
                          table ? m_style.text : m_style.mutedText);
    }
    if (shown < rows())
        chart_paint::text(p, QRectF(chart_paint::margin + 19, m_plot.top() + shown * height, right, height),
                          u"+ %1 more"_s.arg(rows() - shown), chart_paint::font(m_style, 12), m_style.mutedText);
}

void ProbePlot::paintCurrent(QPainter& p) const
{
    const QPointF current = pointOf(m_currentRow, m_currentPosition);
    if (current.isNull())
        return;
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setBrush(Qt::NoBrush);
    p.setPen(QPen(m_style.background, 4));
    p.drawEllipse(current, 6.5, 6.5);
    p.setPen(QPen(m_style.accent, 2));
    p.drawEllipse(current, 6.5, 6.5);
}

} // namespace flipscope
