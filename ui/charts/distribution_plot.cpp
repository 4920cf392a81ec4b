// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// How the KL of single probes is spread: a histogram, and beside it the share of probes up to a value.
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

constexpr double band = 26;    // column of the zeros, and of the infinite values
constexpr double gap = 6;      // between a column and the axis
constexpr double between = 64; // the two panes: room for the numbers of the second

/// One of the two panes: a log axis with a column for zeros before it and one for infinite values behind it.
struct Pane {
    QRectF whole, axis, zero, infinite;
    double low = -8, high = 0; ///< log10

    double x(double value) const { return axis.left() + (std::log10(value) - low) / (high - low) * axis.width(); }
    double value(double x) const { return std::pow(10, low + (x - axis.left()) / axis.width() * (high - low)); }
};

const WindowMetric& share()
{
    return **find_window_metric("flip_rate");
}

const WindowMetric& nats()
{
    return **find_window_metric("kl_pq_mean");
}

class DistributionPlot final : public ProbePlot {
public:
    explicit DistributionPlot(QGraphicsScene* scene) : ProbePlot(scene) {}

    QString title() const override
    {
        return u"Distribution of KL(P‖Q) over probes · against "_s + chart_text::qstr(m_data.baseline);
    }
    QString subtitle() const override
    {
        return u"Left: share of probes in each bin, four bins a decade · right: share of probes up to a value"_s;
    }
    Hit hitAt(const QPointF& point) const override;
    QString toolTip(const Hit& hit) const override;
    void paintHover(QPainter& p, const Hit& hit, const TokenRange& range) const override;

protected:
    void prepare() override;
    void layOutPlot() override;
    void paintBack(QPainter& p) const override;
    void paintMarks(QPainter& p) const override;

private:
    const KlHistogram::Run& run(int row) const { return m_histogram->runs[static_cast<std::size_t>(row)]; }
    double shareOf(int row, std::int64_t count) const
    {
        return run(row).n > 0 ? static_cast<double>(count) / static_cast<double>(run(row).n) : 0;
    }
    double yOf(const Pane& pane, double value) const
    {
        const double most = &pane == &m_bins ? m_most : 1;
        return pane.whole.bottom() - value / most * pane.whole.height();
    }
    void paintPane(QPainter& p, const Pane& pane) const;
    void paintHistogram(QPainter& p, int row) const;
    void paintCumulative(QPainter& p, int row) const;
    int binAt(double x) const;

    Pane m_bins, m_cumulative;
    bool m_zeros = false, m_infinite = false;
    double m_most = 1;           ///< of the histogram's y axis
    std::vector<double> m_steps; ///< of the cumulative share: the value at each half pixel
};

void DistributionPlot::prepare()
{
    std::vector<std::shared_ptr<const SortedKl>> sorted;
    for (const ProbeChartRun& run : m_data.runs)
        sorted.push_back(run.table ? sortedKl(run.table) : nullptr);
    m_histogram = kl_histogram(m_data, sorted);
    m_zeros = m_infinite = false;
    m_most = 0;
    for (int row = 0; row < rows(); ++row) {
        const auto& r = run(row);
        m_zeros = m_zeros || r.zero + r.below_zero > 0;
        m_infinite = m_infinite || r.infinite > 0;
        m_most = std::max({m_most, shareOf(row, r.zero + r.below_zero), shareOf(row, r.infinite)});
        for (const std::int64_t count : r.counts)
            m_most = std::max(m_most, shareOf(row, count));
    }
    // A run without any difference would press all others flat: its column is cut, and its number stands there.
    double bins = 0;
    for (int row = 0; row < rows(); ++row)
        for (const std::int64_t count : run(row).counts)
            bins = std::max(bins, shareOf(row, count));
    if (bins > 0 && m_most > 2 * bins)
        m_most = 1.35 * bins;
    m_most = m_most > 0 ? m_most * 1.08 : 1;
}

void DistributionPlot::layOutPlot()
{
    const double width = (m_plot.width() - between) / 2;
    m_bins.whole = QRectF(m_plot.left(), m_plot.top(), width, m_plot.height());
    m_cumulative.whole = QRectF(m_plot.right() - width, m_plot.top(), width, m_plot.height());
    const bool any = m_histogram && m_histogram->edges.size() > 1;
    for (Pane* pane : {&m_bins, &m_cumulative}) {
        pane->axis = pane->whole;
        pane->zero = pane->infinite = QRectF();
        if (m_zeros) {
            pane->zero = QRectF(pane->whole.left(), pane->whole.top(), band, pane->whole.height());
            pane->axis.setLeft(pane->zero.right() + gap);
        }
        if (m_infinite) {
            pane->infinite = QRectF(pane->whole.right() - band, pane->whole.top(), band, pane->whole.height());
            pane->axis.setRight(pane->infinite.left() - gap);
        }
        pane->low = any ? std::log10(m_histogram->edges.front()) : -8;
        pane->high = any ? std::log10(m_histogram->edges.back()) : 0;
    }
    m_steps.clear();
    const auto halves = static_cast<int>(2 * m_cumulative.axis.width()); // of a pixel
    for (int i = 1; i <= halves; ++i)
        m_steps.push_back(m_cumulative.value(m_cumulative.axis.left() + 0.5 * i));
}

void DistributionPlot::paintPane(QPainter& p, const Pane& pane) const
{
    const QFont small = chart_paint::font(m_style, 11);
    const QFontMetricsF metrics(small);
    p.setRenderHint(QPainter::Antialiasing, false);
    for (const QRectF& rect : {pane.axis, pane.zero, pane.infinite})
        p.fillRect(rect, m_style.plot);
    const double most = &pane == &m_bins ? m_most : 1;
    for (const double value : axisTicks(0, most, pane.whole.height(), 32, metrics.height() + 2, 100)) {
        const double y = yOf(pane, value);
        p.setRenderHint(QPainter::Antialiasing, false);
        p.setPen(QPen(m_style.grid, 1));
        for (const QRectF& rect : {pane.axis, pane.zero, pane.infinite})
            if (!rect.isEmpty())
                p.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y));
        p.setRenderHint(QPainter::Antialiasing, true);
        chart_paint::text(p, QRectF(pane.whole.left() - 56, y - metrics.height() / 2, 48, metrics.height()),
                          chart_text::tick(share(), value, true), small, m_style.mutedText,
                          Qt::AlignRight | Qt::AlignVCenter);
    }
    const auto label = [&](double x, const QString& text) {
        p.setPen(QPen(m_style.mutedText, 1));
        p.drawLine(QPointF(x, pane.whole.bottom() + 1), QPointF(x, pane.whole.bottom() + 4));
        const double w = metrics.horizontalAdvance(text) + 2;
        chart_paint::text(p, QRectF(x - w / 2, pane.whole.bottom() + 6, w, metrics.height()), text, small,
                          m_style.mutedText, Qt::AlignCenter);
    };
    p.setRenderHint(QPainter::Antialiasing, true);
    if (m_zeros)
        label(pane.zero.center().x(), u"0"_s);
    if (m_infinite)
        label(pane.infinite.center().x(), u"∞"_s);
    const int labels = std::max(2, static_cast<int>(pane.axis.width() / 46));
    for (const double value : decades(std::pow(10, pane.low), std::pow(10, pane.high), labels))
        label(pane.x(value), chart_text::tick(nats(), value, false));
}

void DistributionPlot::paintBack(QPainter& p) const
{
    paintPane(p, m_bins);
    paintPane(p, m_cumulative);
    const QFont small = chart_paint::font(m_style, 11);
    chart_paint::text(p,
                      QRectF(chart_paint::margin, m_plot.bottom() + 6, m_plot.left() - 2 * chart_paint::margin,
                             QFontMetricsF(small).height()),
                      u"KL(P‖Q), nats"_s, small, m_style.mutedText);
}

void DistributionPlot::paintHistogram(QPainter& p, int row) const
{
    const auto& r = run(row);
    if (r.n == 0)
        return;
    const bool first = row == m_currentRow;
    const double top = m_bins.whole.top(), bottom = m_bins.whole.bottom();
    const auto y = [&](std::int64_t count) { return std::max(yOf(m_bins, shareOf(row, count)), top); };
    QPainterPath outline;
    if (!r.counts.empty()) {
        outline.moveTo(m_bins.x(m_histogram->edges.front()), bottom);
        for (std::size_t bin = 0; bin < r.counts.size(); ++bin) {
            outline.lineTo(m_bins.x(m_histogram->edges[bin]), y(r.counts[bin]));
            outline.lineTo(m_bins.x(m_histogram->edges[bin + 1]), y(r.counts[bin]));
        }
        outline.lineTo(m_bins.x(m_histogram->edges.back()), bottom);
    }
    QColor fill = inkOf(row);
    fill.setAlphaF(first ? 0.25F : fill.alphaF() * 0.08F);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.fillPath(outline, fill);
    p.strokePath(outline, QPen(inkOf(row), first ? 2 : 1.4, row == m_floorRow ? Qt::DashLine : Qt::SolidLine));
    // Zeros and infinite values: a bar for each run, side by side.
    const auto bar = [&](const QRectF& column, std::int64_t count) {
        if (count == 0)
            return;
        const double width = std::min(6.0, (column.width() - 4) / rows());
        const double x = column.center().x() + (row - rows() / 2.0) * width;
        p.setRenderHint(QPainter::Antialiasing, false);
        p.fillRect(QRectF(x, y(count), std::max(1.0, width - 1), bottom - y(count)), inkOf(row));
    };
    bar(m_bins.zero, r.zero + r.below_zero);
    bar(m_bins.infinite, r.infinite);
}

void DistributionPlot::paintCumulative(QPainter& p, int row) const
{
    const auto& r = run(row);
    if (r.n == 0)
        return;
    const auto index = static_cast<std::size_t>(row);
    const auto& pane = m_cumulative;
    const double zero = m_histogram->cumulative(index, 0);
    QPainterPath path(QPointF(m_zeros ? pane.zero.left() : pane.axis.left(), yOf(pane, zero)));
    path.lineTo(pane.axis.left(), yOf(pane, zero));
    double last = zero;
    // Twice as fine as pixels in files alone, which are printed.
    const bool coarse = p.device()->devType() == QInternal::Pixmap && p.device()->devicePixelRatioF() < 1.5;
    for (std::size_t i = coarse ? 1 : 0; i < m_steps.size(); i += coarse ? 2 : 1) {
        const double x = pane.axis.left() + 0.5 * static_cast<double>(i + 1);
        const double value = m_histogram->cumulative(index, m_steps[i]);
        if (value == last)
            continue;
        path.lineTo(x, yOf(pane, last)); // the share jumps: steps, not slopes
        path.lineTo(x, yOf(pane, value));
        last = value;
    }
    path.lineTo(pane.axis.right(), yOf(pane, last));
    if (m_infinite)
        path.lineTo(pane.infinite.right(), yOf(pane, last));
    p.setRenderHint(QPainter::Antialiasing, true);
    p.strokePath(path,
                 QPen(inkOf(row), row == m_currentRow ? 2.4 : 1.6, row == m_floorRow ? Qt::DashLine : Qt::SolidLine));
}

void DistributionPlot::paintMarks(QPainter& p) const
{
    if (!m_histogram)
        return;
    for (const int row : paintOrder()) {
        if (row >= static_cast<int>(m_histogram->runs.size()))
            continue;
        paintHistogram(p, row);
        paintCumulative(p, row);
    }
}

int DistributionPlot::binAt(double x) const
{
    const auto bins = static_cast<int>(m_histogram->edges.size()) - 1;
    const int bin = static_cast<int>(std::floor((x - m_bins.axis.left()) / m_bins.axis.width() * bins));
    return x < m_bins.axis.left() || bins <= 0 ? -1 : std::min(bin, bins - 1);
}

ProbePlot::Hit DistributionPlot::hitAt(const QPointF& point) const
{
    Hit hit;
    const bool bins = m_bins.whole.contains(point);
    if (!m_histogram || m_histogram->runs.empty() || (!bins && !m_cumulative.whole.contains(point)))
        return hit;
    double best = std::numeric_limits<double>::infinity();
    for (int row = 0; row < rows(); ++row) {
        if (run(row).n == 0)
            continue;
        double y = 0;
        if (bins) {
            const int bin = binAt(point.x());
            const bool zero = m_zeros && m_bins.zero.contains(point);
            y = yOf(m_bins, zero                                            ? shareOf(row, run(row).zero)
                            : m_infinite && m_bins.infinite.contains(point) ? shareOf(row, run(row).infinite)
                            : bin < 0 || run(row).counts.empty()
                                ? 0
                                : shareOf(row, run(row).counts[static_cast<std::size_t>(bin)]));
        } else {
            const double value = point.x() < m_cumulative.axis.left() ? 0 : m_cumulative.value(point.x());
            y = yOf(m_cumulative, m_histogram->cumulative(static_cast<std::size_t>(row), value));
        }
        const double distance = std::abs(y - point.y()) - (row == m_currentRow ? 3 : 0);
        if (distance < best) {
            best = distance;
            hit = {row, -1, point};
        }
    }
    return hit;
}

QString DistributionPlot::toolTip(const Hit& hit) const
{
    if (hit.row < 0)
        return {};
    QStringList lines;
    const auto list = [&](const auto& number) {
        for (int row = 0; row < rows(); ++row)
            if (run(row).n > 0)
                lines << (row == hit.row ? u"▸ "_s : u"   "_s) + nameOf(row) + u": "_s + number(row);
    };
    const auto counted = [&](std::int64_t KlHistogram::Run::*which) {
        list([&](int row) -> QString {
            return chart_text::count(run(row).*which) + u" of "_s + chart_text::count(run(row).n) + u" ("_s +
                   chart_text::shortValue(share(), shareOf(row, run(row).*which), true) + u")"_s;
        });
    };
    if (m_zeros && (m_bins.zero.contains(hit.at) || m_cumulative.zero.contains(hit.at))) {
        lines << u"KL(P‖Q) 0"_s;
        counted(&KlHistogram::Run::zero);
    } else if (m_infinite && (m_bins.infinite.contains(hit.at) || m_cumulative.infinite.contains(hit.at))) {
        lines << u"KL(P‖Q) infinite"_s;
        counted(&KlHistogram::Run::infinite);
    } else if (m_bins.whole.contains(hit.at) && binAt(hit.at.x()) >= 0) {
        const auto bin = static_cast<std::size_t>(binAt(hit.at.x()));
        lines << u"KL(P‖Q) from "_s + chart_text::shortValue(nats(), m_histogram->edges[bin], false) + u" to "_s +
                     chart_text::shortValue(nats(), m_histogram->edges[bin + 1], true);
        list([&](int row) -> QString {
            const std::int64_t count = run(row).counts.empty() ? 0 : run(row).counts[bin];
            return chart_text::count(count) + u" of "_s + chart_text::count(run(row).n) + u" ("_s +
                   chart_text::shortValue(share(), shareOf(row, count), true) + u")"_s;
        });
    } else if (m_cumulative.axis.contains(hit.at)) {
        const double value = m_cumulative.value(hit.at.x());
        lines << u"KL(P‖Q) up to "_s + chart_text::longValue(nats(), value);
        list([&](int row) -> QString {
            return chart_text::longValue(share(), m_histogram->cumulative(static_cast<std::size_t>(row), value)) +
                   u" of the probes"_s;
        });
    }
    return lines.join(u'\n');
}

void DistributionPlot::paintHover(QPainter& p, const Hit& hit, const TokenRange&) const
{
    if (hit.row < 0)
        return;
    p.setRenderHint(QPainter::Antialiasing, false);
    if (m_cumulative.axis.contains(hit.at)) {
        p.setPen(QPen(m_style.mutedText, 1, Qt::DashLine));
        p.drawLine(QPointF(hit.at.x(), m_plot.top()), QPointF(hit.at.x(), m_plot.bottom()));
        return;
    }
    const int bin = binAt(hit.at.x());
    if (bin < 0 || !m_bins.axis.contains(hit.at))
        return;
    QColor tint = m_style.text;
    tint.setAlphaF(0.08F);
    const double left = m_bins.x(m_histogram->edges[static_cast<std::size_t>(bin)]);
    const double right = m_bins.x(m_histogram->edges[static_cast<std::size_t>(bin) + 1]);
    p.fillRect(QRectF(left, m_plot.top(), right - left, m_plot.height()), tint);
}

} // namespace

std::unique_ptr<ProbePlot> makeDistributionPlot(QGraphicsScene* scene)
{
    return std::make_unique<DistributionPlot>(scene);
}

std::unique_ptr<ProbePlot> ProbePlot::make(Kind kind, QGraphicsScene* scene)
{
    switch (kind) {
    case Kind::Position:
        return makePositionPlot(scene);
    case Kind::Distribution:
        return makeDistributionPlot(scene);
    case Kind::Margin:
        return makeMarginPlot(scene);
    case Kind::Agreement:
        break;
    }
    return makeAgreementPlot(scene);
}

} // namespace flipscope
