// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// KL over position: a point per probe on a log axis; zeros, infinities and ties have bands of their own.
#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"
#include "ui/charts/kl_axis.h"
#include "ui/charts/probe_plots.h"

#include <QSet>

#include <algorithm>
#include <cmath>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

constexpr double tie_gap = 5;
constexpr double reach = 14; // of the mouse, in pixels

/// The least and the largest value of each column of pixels: nothing that sticks out is lost.
struct Column {
    double top = 0, bottom = 0;
    int n = 0;
    void add(double y)
    {
        top = n == 0 ? y : std::min(top, y);
        bottom = n == 0 ? y : std::max(bottom, y);
        ++n;
    }
};

class PositionPlot final : public ProbePlot {
public:
    explicit PositionPlot(QGraphicsScene* scene) : ProbePlot(scene) {}

    QString title() const override
    {
        return u"KL(P‖Q) at every probe · against "_s + chart_text::qstr(m_data.baseline);
    }
    QString subtitle() const override
    {
        return u"nats, log axis"_s + (m_axis.hasZeros() ? u"; probes with KL 0 in the band below"_s : QString()) +
               (m_ties ? u"; where the largest logit is tied, a line in the lowest band"_s : QString());
    }
    bool hasTokenAxis() const override { return true; }
    bool showsFlipKinds() const override { return true; }
    double axisHeight() const override { return ProbePlot::axisHeight(); }

    Hit hitAt(const QPointF& point) const override;
    QPointF pointOf(int row, qint64 position) const override
    {
        const auto all = row >= 0 && row < rows() ? points(row) : std::span<const ProbePoint>();
        const auto probe = std::ranges::lower_bound(all, position, {}, &ProbePoint::position);
        return probe != all.end() && probe->position == position && probe->valid ? at(row, *probe) : QPointF();
    }

protected:
    void prepare() override;
    void layOutPlot() override;
    void paintBack(QPainter& p) const override;
    void paintMarks(QPainter& p) const override;

private:
    QPointF at(int row, const ProbePoint& probe) const
    {
        return {xOfToken(static_cast<double>(probe.position)), m_axis.y(probe.kl, row)};
    }
    void paintDots(QPainter& p, int row) const;
    void paintBands(QPainter& p, int row) const;
    void paintFlips(QPainter& p, int row) const;
    void paintFloor(QPainter& p) const;

    KlAxis m_axis;
    QRectF m_tieBand;
    bool m_ties = false;
};

void PositionPlot::prepare()
{
    takePoints();
    m_axis.clear();
    m_ties = false;
    for (int row = 0; row < rows(); ++row) {
        for (const ProbePoint& p : points(row)) {
            if (!p.valid)
                continue;
            m_axis.include(p.kl);
            m_ties = m_ties || p.tied;
        }
    }
}

void PositionPlot::layOutPlot()
{
    QRectF whole = m_plot;
    m_tieBand = QRectF();
    if (m_ties) {
        const double height = std::clamp(rows() * 3.0 + 2, 12.0, 38.0);
        m_tieBand = QRectF(whole.left(), whole.bottom() - height, whole.width(), height);
        whole.setBottom(m_tieBand.top() - tie_gap);
    }
    m_axis.layOut(whole, rows());
}

void PositionPlot::paintBack(QPainter& p) const
{
    m_axis.paint(p, m_style, u"nats, log"_s);
    const QFont small = chart_paint::font(m_style, 11);
    if (m_ties) {
        p.setRenderHint(QPainter::Antialiasing, false);
        p.fillRect(m_tieBand, m_style.plot);
        chart_paint::text(p, QRectF(m_tieBand.left() - 60, m_tieBand.center().y() - 8, 52, 16), u"tied"_s, small,
                          m_style.mutedText, Qt::AlignRight | Qt::AlignVCenter);
    }
    chart_paint::tokenAxis(p, m_plot, m_data.shown(), m_style);
    if (m_currentPosition >= 0) {
        const double x = xOfToken(static_cast<double>(m_currentPosition));
        if (x >= m_plot.left() && x <= m_plot.right()) {
            p.setRenderHint(QPainter::Antialiasing, true);
            p.setPen(QPen(m_style.accent, 1.2));
            p.drawLine(QPointF(x, m_plot.top()), QPointF(x, m_plot.bottom()));
        }
    }
}

/// The mean of the run that is no more than noise.
void PositionPlot::paintFloor(QPainter& p) const
{
    if (m_floorRow < 0)
        return;
    const MetricValue mean = evaluate(**find_window_metric("kl_pq_mean"), probes(m_floorRow));
    if (!(mean.value > 0))
        return;
    const double y = m_axis.y(std::log10(mean.value), m_floorRow);
    if (y < m_axis.main().top() || y > m_axis.main().bottom())
        return;
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(m_style.mutedText, 1.2, Qt::DashLine));
    p.drawLine(QPointF(m_plot.left(), y), QPointF(m_plot.right(), y));
    const QFont small = chart_paint::font(m_style, 10);
    const QString words = u"noise floor: mean of "_s + nameOf(m_floorRow);
    const double width = std::min(QFontMetricsF(small).horizontalAdvance(words) + 8, m_plot.width() / 2);
    const QRectF label(m_plot.right() - width - 4, y - 17, width, 14);
    p.fillRect(label, m_style.plot);
    chart_paint::text(p, label, words, small, m_style.mutedText, Qt::AlignCenter);
}

void PositionPlot::paintDots(QPainter& p, int row) const
{
    // Files have no pixels of their own: half a pixel of the figure is finer than anybody sees.
    const double finer = isVector(p) ? 2 : std::max(1.0, p.device()->devicePixelRatioF());
    const auto columns = static_cast<std::size_t>(std::ceil(m_plot.width() * finer)) + 1;
    std::vector<Column> column(columns);
    std::size_t used = 0;
    for (const ProbePoint& probe : points(row)) {
        if (!probe.valid || !std::isfinite(probe.kl))
            continue;
        const QPointF point = at(row, probe);
        const auto i = static_cast<std::size_t>(
            std::clamp((point.x() - m_plot.left()) * finer, 0.0, static_cast<double>(columns - 1)));
        used += column[i].n == 0 ? 1 : 0;
        column[i].add(point.y());
    }
    const bool sparse = used > 0 && m_plot.width() / static_cast<double>(used) >= 2.5;
    const double size = sparse ? 3.4 : 2.2;
    QColor ink = inkOf(row), line = ink;
    line.setAlphaF(line.alphaF() * 0.35F);
    QVector<QRectF> dots;
    QVector<QLineF> lines;
    for (std::size_t i = 0; i < columns; ++i) {
        const Column& c = column[i];
        if (c.n == 0)
            continue;
        const double x = m_plot.left() + (static_cast<double>(i) + 0.5) / finer;
        dots << QRectF(x - size / 2, c.top - size / 2, size, size);
        if (c.n > 1 && c.bottom - c.top > 1)
            dots << QRectF(x - size / 2, c.bottom - size / 2, size, size);
        if (c.n > 2)
            lines << QLineF(x, c.top, x, c.bottom);
    }
    p.setRenderHint(QPainter::Antialiasing, sparse);
    if (!lines.isEmpty()) {
        p.setPen(QPen(line, 1));
        p.drawLines(lines);
    }
    if (isVector(p)) { // one shape, not thousands
        QPainterPath path;
        for (const QRectF& dot : dots)
            path.addRect(dot);
        p.fillPath(path, ink);
        return;
    }
    p.setPen(Qt::NoPen);
    p.setBrush(ink);
    if (sparse)
        for (const QRectF& dot : dots)
            p.drawEllipse(dot);
    else
        p.drawRects(dots);
}

/// Short strokes in the run's own lane of each band, one a pixel.
void PositionPlot::paintBands(QPainter& p, int row) const
{
    QVector<QLineF> zero, infinite, tied;
    double lastZero = -1, lastInfinite = -1, lastTied = -1;
    const auto add = [](QVector<QLineF>& lines, double& last, double x, double y, double height) {
        if (x - last < 0.5)
            return;
        last = x;
        lines << QLineF(x, y - height / 2, x, y + height / 2);
    };
    const double zeroLane = KlAxis::laneHeight(m_axis.zeroBand(), rows());
    const double infiniteLane = KlAxis::laneHeight(m_axis.infiniteBand(), rows());
    const double tieLane = KlAxis::laneHeight(m_tieBand, rows());
    if (!m_axis.hasZeros() && !m_axis.hasInfinite() && !m_ties)
        return;
    for (const ProbePoint& probe : points(row)) {
        if (!probe.valid || std::isnan(probe.kl) || (std::isfinite(probe.kl) && !probe.tied))
            continue;
        const double x = xOfToken(static_cast<double>(probe.position));
        if (std::isinf(probe.kl) && probe.kl < 0)
            add(zero, lastZero, x, m_axis.y(probe.kl, row), zeroLane * 0.8);
        else if (std::isinf(probe.kl))
            add(infinite, lastInfinite, x, m_axis.y(probe.kl, row), infiniteLane * 0.8);
        if (probe.tied)
            add(tied, lastTied, x, m_tieBand.top() + 1 + (row + 0.5) * tieLane, tieLane * 0.8);
    }
    p.setRenderHint(QPainter::Antialiasing, false); // crisp: a stroke of a pixel must not fade
    QPen pen(inkOf(row), 1.2);
    pen.setCapStyle(Qt::FlatCap);
    p.setPen(pen);
    for (const auto& lines : {zero, infinite, tied})
        p.drawLines(lines);
}

void PositionPlot::paintFlips(QPainter& p, int row) const
{
    QSet<qint64> taken; // one mark where several would hide each other
    p.setRenderHint(QPainter::Antialiasing, true);
    for (const ProbePoint& probe : points(row)) {
        if (probe.kind == FlipKind::None || std::isnan(probe.kl))
            continue;
        const QPointF point = at(row, probe);
        const qint64 place = (static_cast<qint64>(point.x() / 3) * 4096 + static_cast<qint64>(point.y() / 3)) * 4 +
                             static_cast<qint64>(probe.kind);
        if (taken.contains(place))
            continue;
        taken.insert(place);
        paintFlip(p, probe.kind, point, 4, inkOf(row), m_style.plot);
    }
}

void PositionPlot::paintMarks(QPainter& p) const
{
    for (const int row : paintOrder()) {
        paintDots(p, row);
        paintBands(p, row);
        paintFlips(p, row);
    }
    paintFloor(p);
    paintCurrent(p);
}

ProbePlot::Hit PositionPlot::hitAt(const QPointF& point) const
{
    Hit hit;
    if (!m_plot.adjusted(-4, -8, 4, 4).contains(point))
        return hit;
    double best = reach * reach;
    const double first = tokenAt(point.x() - reach), last = tokenAt(point.x() + reach);
    for (int row = 0; row < rows(); ++row) {
        const auto all = points(row);
        const auto from = std::ranges::lower_bound(all, std::llround(first) - 1, {}, &ProbePoint::position);
        for (const ProbePoint& probe : std::span(from, all.end())) {
            if (static_cast<double>(probe.position) > last)
                break;
            if (!probe.valid)
                continue;
            const QPointF there = at(row, probe);
            const QPointF d = there - point;
            // The run that stands out is meant where two are as near.
            const double distance = d.x() * d.x() + d.y() * d.y() - (row == m_currentRow ? 9 : 0);
            if (distance < best) {
                best = distance;
                hit = {row, probe.position, there};
            }
        }
    }
    return hit;
}

} // namespace

std::unique_ptr<ProbePlot> makePositionPlot(QGraphicsScene* scene)
{
    return std::make_unique<PositionPlot>(scene);
}

} // namespace flipscope
