// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Share of equal top tokens over position, looking back one window: a line per run.
#include "ui/charts/bare_chart.h"
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
    explicit AgreementPlot(QGraphicsScene* scene) : ProbePlot(scene), m_chart(new BareChart)
    {
        scene->addItem(m_chart);
    }
    ~AgreementPlot() override { delete m_chart; }

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
    void restyle() override { layOutPlot(); }
    void paintBack(QPainter& p) const override;
    void paintMarks(QPainter& p) const override;

private:
    const AgreementPoint* find(int row, qint64 position) const; ///< the last at or before it
    double yOf(double share) const { return m_plot.bottom() - (share - m_low) / (m_high - m_low) * m_plot.height(); }
    QPointF at(const AgreementPoint& p) const { return {xOfToken(static_cast<double>(p.position)), yOf(p.recent)}; }
    /// Two points a pixel at most, the least and the largest value of each bucket: there is no more to see.
    QList<QPointF> thinned(const std::vector<AgreementPoint>& points) const;

    BareChart* m_chart;
    std::vector<std::vector<AgreementPoint>> m_points;
    double m_low = 0, m_high = 1;
};

void AgreementPlot::prepare()
{
    m_points.clear();
    double least = 1;
    for (int row = 0; row < rows(); ++row) {
        auto points = agreement(probes(row), m_data.window_tokens);
        // A share of one or two probes says nothing and would press all the rest flat.
        const auto enough = std::ranges::find_if(points, [](const AgreementPoint& p) { return p.n >= enough_probes; });
        if (enough != points.end())
            points.erase(points.begin(), enough);
        for (const AgreementPoint& p : points)
            least = std::min(least, p.recent);
        m_points.push_back(std::move(points));
    }
    // Agreement crowds below 100 %: from half a step under the least value, but never less than a few per cent high.
    m_low = std::max(0.0, 1 - std::max(1.12 * (1 - least), 0.04));
    m_high = 1 + 0.02 * (1 - m_low); // a line at 100 % is seen whole
}

const AgreementPoint* AgreementPlot::find(int row, qint64 position) const
{
    if (row < 0 || row >= static_cast<int>(m_points.size()))
        return nullptr;
    const auto& points = m_points[static_cast<std::size_t>(row)];
    const auto after = std::upper_bound(points.begin(), points.end(), position,
                                        [](qint64 at, const AgreementPoint& p) { return at < p.position; });
    return after == points.begin() ? nullptr : &*(after - 1);
}

QList<QPointF> AgreementPlot::thinned(const std::vector<AgreementPoint>& points) const
{
    const double start = static_cast<double>(m_data.shown().start);
    const auto point = [&](const AgreementPoint& p) {
        return QPointF(static_cast<double>(p.position) - start, p.recent);
    };
    QList<QPointF> kept;
    const auto columns = static_cast<std::size_t>(std::max(m_plot.width(), 200.0));
    const std::size_t bucket = points.size() <= 2 * columns ? 1 : points.size() / columns + 1;
    for (std::size_t i = 0; i < points.size(); i += bucket) {
        const auto end = points.begin() + static_cast<std::ptrdiff_t>(std::min(i + bucket, points.size()));
        const auto [low, high] =
            std::minmax_element(points.begin() + static_cast<std::ptrdiff_t>(i), end,
                                [](const AgreementPoint& a, const AgreementPoint& b) { return a.recent < b.recent; });
        kept << point(*std::min(low, high));
        if (low != high)
            kept << point(*std::max(low, high));
    }
    return kept;
}

void AgreementPlot::layOutPlot()
{
    QVector<ChartLine> lines;
    const TokenRange range = m_data.shown();
    for (const int row : paintOrder()) {
        if (row >= static_cast<int>(m_points.size()) || m_points[static_cast<std::size_t>(row)].size() < 2)
            continue;
        QPen pen(inkOf(row), row == m_currentRow ? 2.4 : 1.6);
        pen.setJoinStyle(Qt::RoundJoin);
        if (row == m_floorRow)
            pen.setStyle(Qt::DashLine);
        lines << ChartLine{pen, thinned(m_points[static_cast<std::size_t>(row)])};
    }
    m_chart->setLines(lines);
    m_chart->place(m_size, m_plot, static_cast<double>(range.end - range.start), m_low, m_high);
}

void AgreementPlot::paintBack(QPainter& p) const
{
    const QFont small = chart_paint::font(m_style, 11);
    const QFontMetricsF metrics(small);
    p.setRenderHint(QPainter::Antialiasing, false);
    p.fillRect(m_plot, m_style.plot);
    const auto metric = find_window_metric("flip_rate"); // a share
    const int most = std::max(2, static_cast<int>(m_plot.height() / 30));
    for (const double value : niceTicks(m_low, m_high, most, 100)) {
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
    for (const int row : paintOrder()) { // a run of one probe has no line
        if (row < static_cast<int>(m_points.size()) && m_points[static_cast<std::size_t>(row)].size() == 1)
            p.fillPath(chart_paint::marker(0, at(m_points[static_cast<std::size_t>(row)][0]), 3.5), inkOf(row));
    }
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
