// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Share of equal top tokens over position, looking back one window: a line per run.
#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"
#include "ui/charts/nice_ticks.h"
#include "ui/charts/probe_plots.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

constexpr int enough_probes = 8; // fewer are not drawn where a run has as many

class AgreementPlot final : public ProbePlot {
public:
    explicit AgreementPlot(QGraphicsScene* scene) : ProbePlot(scene) {}

    QString title() const override
    {
        return u"Top-1 agreement with position · against "_s + chart_text::qstr(m_data.baseline);
    }
    QString subtitle() const override
    {
        return u"Share of probes with the baseline's top token among the last "_s +
               chart_text::count(m_data.window_tokens) + u" tokens, from eight probes on"_s;
    }
    bool hasTokenAxis() const override { return true; }
    Hit hitAt(const QPointF& point) const override;
    QString toolTip(const Hit& hit) const override;
    QPointF pointOf(int row, qint64 position) const override
    {
        const AgreementPoint* p = find(row, position);
        return p != nullptr && p->position == position ? at(*p) : QPointF();
    }

protected:
    void prepare() override;
    void layOutPlot() override;
    void paintBack(QPainter& p) const override;
    void paintMarks(QPainter& p) const override;

private:
    const AgreementPoint* find(int row, qint64 position) const; ///< the last at or before it
    double yOf(double share) const { return m_plot.bottom() - (share - m_low) / (m_high - m_low) * m_plot.height(); }
    QPointF at(const AgreementPoint& p) const { return {xOfToken(static_cast<double>(p.position)), yOf(p.recent)}; }
    QPolygonF thinned(const std::vector<AgreementPoint>& points) const;
    void paintLine(QPainter& p, int row) const;

    std::vector<std::vector<AgreementPoint>> m_recent;
    std::vector<QPolygonF> m_lines; ///< of each run, in the scene
    double m_low = 0, m_high = 1;
};

void AgreementPlot::prepare()
{
    takePoints();
    m_recent.clear();
    double least = 1;
    for (int row = 0; row < rows(); ++row) {
        std::vector<AgreementPoint> points;
        points.reserve(this->points(row).size());
        bool enough = false;
        each_agreement(this->points(row), m_data.window_tokens, [&](const AgreementPoint& p) {
            // A share of one or two probes says nothing and would press all the rest flat.
            if (!enough && p.n >= enough_probes) {
                points.clear();
                enough = true;
            }
            points.push_back(p);
        });
        for (const AgreementPoint& p : points)
            least = std::min(least, p.recent);
        m_recent.push_back(std::move(points));
    }
    // Agreement crowds below 100 %: from half a step under the least value, but never less than a few per cent high.
    m_low = std::max(0.0, 1 - std::max(1.12 * (1 - least), 0.04));
    m_high = 1 + 0.02 * (1 - m_low); // a line at 100 % is seen whole
}

const AgreementPoint* AgreementPlot::find(int row, qint64 position) const
{
    if (row < 0 || row >= static_cast<int>(m_recent.size()))
        return nullptr;
    const auto& points = m_recent[static_cast<std::size_t>(row)];
    const auto after = std::upper_bound(points.begin(), points.end(), position,
                                        [](qint64 at, const AgreementPoint& p) { return at < p.position; });
    return after == points.begin() ? nullptr : &*(after - 1);
}

/// Two points a pixel at most, the least and the largest value of each bucket: there is no more to see.
QPolygonF AgreementPlot::thinned(const std::vector<AgreementPoint>& points) const
{
    QPolygonF kept;
    const auto columns = static_cast<std::size_t>(std::max(m_plot.width(), 200.0));
    const std::size_t bucket = points.size() <= 2 * columns ? 1 : points.size() / columns + 1;
    kept.reserve(2 * (static_cast<qsizetype>(points.size() / bucket) + 1));
    for (std::size_t i = 0; i < points.size(); i += bucket) {
        const auto end = points.begin() + static_cast<std::ptrdiff_t>(std::min(i + bucket, points.size()));
        const auto [low, high] =
            std::minmax_element(points.begin() + static_cast<std::ptrdiff_t>(i), end,
                                [](const AgreementPoint& a, const AgreementPoint& b) { return a.recent < b.recent; });
        kept << at(*std::min(low, high));
        if (low != high)
            kept << at(*std::max(low, high));
    }
    return kept;
}

void AgreementPlot::layOutPlot()
{
    m_lines.clear();
    for (const auto& points : m_recent)
        m_lines.push_back(points.size() < 2 ? QPolygonF() : thinned(points));
}

void AgreementPlot::paintBack(QPainter& p) const
{
    const QFont small = chart_paint::font(m_style, 11);
    const QFontMetricsF metrics(small);
    p.setRenderHint(QPainter::Antialiasing, false);
    p.fillRect(m_plot, m_style.plot);
    const auto metric = find_window_metric("flip_rate"); // a share
    for (const double value : axisTicks(m_low, m_high, m_plot.height(), 30, metrics.height() + 2, 100)) {
        const double y = yOf(value);
        p.setRenderHint(QPainter::Antialiasing, false);
        p.setPen(QPen(m_style.grid, 1));
        p.drawLine(QPointF(m_plot.left(), y), QPointF(m_plot.right(), y));
        p.setRenderHint(QPainter::Antialiasing, true);
        chart_paint::text(p, QRectF(m_plot.left() - 60, y - metrics.height() / 2, 52, metrics.height()),
                          chart_text::tick(**metric, value, true), small, m_style.mutedText,
                          Qt::AlignRight | Qt::AlignVCenter);
    }
    chart_paint::tokenAxis(p, m_plot, m_data.shown(), m_style);
    const double x = xOfToken(static_cast<double>(m_currentPosition));
    if (m_currentPosition >= 0 && x >= m_plot.left() && x <= m_plot.right()) {
        p.setPen(QPen(m_style.accent, 1.2));
        p.drawLine(QPointF(x, m_plot.top()), QPointF(x, m_plot.bottom()));
    }
}

void AgreementPlot::paintMarks(QPainter& p) const
{
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setBrush(Qt::NoBrush);
    for (const int row : paintOrder()) {
        const auto& points = m_recent[static_cast<std::size_t>(row)];
        if (points.size() == 1) // no line
            p.fillPath(chart_paint::marker(0, at(points[0]), 3.5), inkOf(row));
        paintLine(p, row);
    }
}

void AgreementPlot::paintLine(QPainter& p, int row) const
{
    const QPolygonF& line = m_lines[static_cast<std::size_t>(row)];
    QPen pen(inkOf(row), row == m_currentRow ? 2.4 : 1.6);
    pen.setJoinStyle(Qt::RoundJoin);
    if (row == m_floorRow || p.device()->devType() != QInternal::Pixmap) { // a figure has its joints
        if (row == m_floorRow)
            pen.setStyle(Qt::DashLine);
        p.setPen(pen);
        p.drawPolyline(line);
        return;
    }
    // On the screen piece by piece: joining thousands of them takes ten times as long and looks the same.
    QVector<QLineF> pieces;
    pieces.reserve(line.size());
    for (qsizetype i = 1; i < line.size(); ++i)
        pieces << QLineF(line[i - 1], line[i]);
    if (pen.color().alpha() < 255)
        pen.setCapStyle(Qt::FlatCap); // where two ends lie on each other they would show
    p.setPen(pen);
    p.drawLines(pieces);
}

ProbePlot::Hit AgreementPlot::hitAt(const QPointF& point) const
{
    Hit hit;
    if (!m_plot.contains(point))
        return hit;
    double best = std::numeric_limits<double>::infinity();
    for (int row = 0; row < rows(); ++row) {
        const AgreementPoint* p = find(row, static_cast<qint64>(tokenAt(point.x())));
        if (p == nullptr)
            continue;
        const double distance = std::abs(yOf(p->recent) - point.y()) - (row == m_currentRow ? 3 : 0);
        if (distance < best) {
            best = distance;
            hit = {row, p->position, at(*p)};
        }
    }
    return hit;
}

QString AgreementPlot::toolTip(const Hit& hit) const
{
    const AgreementPoint* p = find(hit.row, hit.position);
    if (p == nullptr)
        return {};
    const WindowMetric& share = **find_window_metric("flip_rate");
    return nameOf(hit.row) + u" · up to "_s + probeWords(p->position) + u"\nagreement "_s +
           chart_text::longValue(share, p->recent) + u" of the last "_s + chart_text::count(p->n) +
           (p->n == 1 ? u" probe\n"_s : u" probes\n"_s) + chart_text::longValue(share, p->cumulative) +
           u" of all probes so far"_s;
}

} // namespace

std::unique_ptr<ProbePlot> makeAgreementPlot(QGraphicsScene* scene)
{
    return std::make_unique<AgreementPlot>(scene);
}

} // namespace flipscope
