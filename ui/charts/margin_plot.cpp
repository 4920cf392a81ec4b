// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Margin of the baseline against KL: flips far to the left are ties and single steps of the stored format, flips on the
// right are changes of mind.
#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"
#include "ui/charts/kl_axis.h"
#include "ui/charts/nice_ticks.h"
#include "ui/charts/probe_plots.h"

#include <QSet>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

constexpr double zero_width = 26; // the column of margin 0
constexpr double gap = 6;
constexpr double reach = 12; // of the mouse

class MarginPlot final : public ProbePlot {
public:
    explicit MarginPlot(QGraphicsScene* scene) : ProbePlot(scene) {}

    QString title() const override
    {
        return u"Margin of the baseline against KL(P‖Q) · against "_s + chart_text::qstr(m_data.baseline);
    }
    QString subtitle() const override;
    bool showsFlipKinds() const override { return true; }
    Hit hitAt(const QPointF& point) const override;
    QPointF pointOf(int row, qint64 position) const override
    {
        const auto all = row >= 0 && row < rows() ? points(row) : std::span<const ProbePoint>();
        const auto probe = std::ranges::lower_bound(all, position, {}, &ProbePoint::position);
        return probe != all.end() && probe->position == position && shown(*probe) ? at(row, *probe) : QPointF();
    }

protected:
    void prepare() override;
    void layOutPlot() override;
    void paintBack(QPainter& p) const override;
    void paintMarks(QPainter& p) const override;

private:
    static bool shown(const ProbePoint& p) { return p.valid && !std::isnan(p.kl) && !std::isnan(p.margin); }
    /// Of a margin's log10.
    double xOf(double log) const
    {
        if (std::isinf(log) && log < 0)
            return m_zeroBand.center().x();
        return m_area.left() + (std::min(log, m_high) - m_low) / (m_high - m_low) * m_area.width();
    }
    QPointF at(int row, const ProbePoint& p) const { return {xOf(p.margin), m_axis.y(p.kl, row)}; }
    void paintMarginAxis(QPainter& p) const;
    void paintRun(QPainter& p, int row) const;

    KlAxis m_axis;
    QRectF m_zeroBand, m_area;
    bool m_zeros = false;
    double m_low = -2, m_high = 1.5; // log10 of the margin
    std::vector<FlipKinds> m_flips;  // per run
};

QString MarginPlot::subtitle() const
{
    FlipKinds all;
    for (int row = 0; row < rows(); ++row) {
        if (m_currentRow >= 0 && row != m_currentRow)
            continue;
        const FlipKinds& kinds = m_flips[static_cast<std::size_t>(row)];
        all.tie += kinds.tie;
        all.one_step += kinds.one_step;
        all.clear += kinds.clear;
    }
    const auto total = all.tie + all.one_step + all.clear;
    return u"Best minus second best logit, nats, log axes · "_s +
           (m_currentRow >= 0 ? nameOf(m_currentRow) + u": "_s : QString()) + chart_text::count(total) +
           (total == 1 ? u" flip, "_s : u" flips, "_s) + chart_text::count(all.tie) + u" by a tie, "_s +
           chart_text::count(all.one_step) + u" by one step"_s +
           (m_data.type ? u" of "_s + QLatin1StringView(name_of(*m_data.type)) : QString());
}

void MarginPlot::prepare()
{
    takePoints();
    m_axis.clear();
    m_flips.assign(static_cast<std::size_t>(rows()), {});
    m_zeros = false;
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (int row = 0; row < rows(); ++row) {
        FlipKinds& flips = m_flips[static_cast<std::size_t>(row)];
        for (const ProbePoint& p : points(row)) {
            flips.tie += p.kind == FlipKind::Tie ? 1 : 0;
            flips.one_step += p.kind == FlipKind::OneStep ? 1 : 0;
            flips.clear += p.kind == FlipKind::Clear ? 1 : 0;
            if (!shown(p))
                continue;
            m_axis.include(p.kl);
            if (std::isinf(p.margin)) {
                m_zeros = m_zeros || p.margin < 0;
                continue;
            }
            least = std::min<double>(least, p.margin);
            most = std::max<double>(most, p.margin);
        }
    }
    // Margins below a hundredth of a nat are rare and all the same: no decade of empty paper for them.
    m_low = least <= most ? std::max(least, -3.0) : -2;
    m_high = least <= most ? most : 1.5;
    m_low = std::min(m_low, m_high - 1) - 0.06;
    m_high += 0.06;
}

void MarginPlot::layOutPlot()
{
    m_axis.layOut(m_plot, rows());
    m_area = m_plot;
    m_zeroBand = QRectF();
    if (m_zeros) {
        m_zeroBand = QRectF(m_plot.left(), m_plot.top(), zero_width, m_plot.height());
        m_area.setLeft(m_zeroBand.right() + gap);
    }
}

void MarginPlot::paintMarginAxis(QPainter& p) const
{
    const QFont small = chart_paint::font(m_style, 11);
    const QFontMetricsF metrics(small);
    const auto label = [&](double x, const QString& text) {
        const double w = metrics.horizontalAdvance(text) + 2;
        chart_paint::text(p, QRectF(x - w / 2, m_plot.bottom() + 6, w, metrics.height()), text, small,
                          m_style.mutedText, Qt::AlignCenter);
    };
    if (m_zeros) {
        p.setRenderHint(QPainter::Antialiasing, false);
        p.fillRect(QRectF(m_zeroBand.right(), m_plot.top() - 1, gap, m_plot.height() + 2), m_style.background);
        label(m_zeroBand.center().x(), u"0"_s);
    }
    const auto metric = find_window_metric("kl_pq_mean");
    double last = m_area.left() - 100;
    for (int e = static_cast<int>(std::floor(m_low)); e <= static_cast<int>(std::ceil(m_high)); ++e) {
        for (const double m : {1.0, 2.0, 5.0}) {
            const double value = m * std::pow(10, e);
            if (std::log10(value) < m_low || std::log10(value) > m_high)
                continue;
            const double x = xOf(std::log10(value));
            p.setRenderHint(QPainter::Antialiasing, false);
            p.setPen(QPen(m_style.grid, 1));
            if (m == 1)
                p.drawLine(QPointF(x, m_plot.top()), QPointF(x, m_plot.bottom()));
            p.setRenderHint(QPainter::Antialiasing, true);
            if (x - last < 44 && m != 1)
                continue;
            p.setPen(QPen(m_style.mutedText, 1));
            p.drawLine(QPointF(x, m_plot.bottom() + 1), QPointF(x, m_plot.bottom() + 4));
            label(x, chart_text::tick(**metric, value, false));
            last = x;
        }
    }
    chart_paint::text(
        p, QRectF(chart_paint::margin, m_plot.bottom() + 6, m_plot.left() - 2 * chart_paint::margin, metrics.height()),
        u"margin, nats"_s, small, m_style.mutedText);
}

void MarginPlot::paintBack(QPainter& p) const
{
    m_axis.paint(p, m_style, u"KL, nats"_s);
    paintMarginAxis(p);
    if (!(m_data.margin > 0) || std::log10(m_data.margin) < m_low || std::log10(m_data.margin) > m_high)
        return;
    const double x = xOf(std::log10(m_data.margin));
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(m_style.mutedText, 1, Qt::DashLine));
    p.drawLine(QPointF(x, m_plot.top()), QPointF(x, m_plot.bottom()));
    // Above the plot, where no mark crosses the words.
    const QString words = u"flips above margin →"_s;
    const QFont font = chart_paint::font(m_style, 10);
    const double width = QFontMetricsF(font).horizontalAdvance(words) + 1;
    const double left = std::min(x, m_plot.right() - width);
    chart_paint::text(p, QRectF(left, m_plot.top() - 14, width, 13), words, font, m_style.mutedText);
}

void MarginPlot::paintRun(QPainter& p, int row) const
{
    // A point on every pixel of the screen is all that there is to see of 100,000 of them.
    const double finer = isVector(p) ? 1 : std::max(1.0, p.device()->devicePixelRatioF());
    const int width = static_cast<int>(m_plot.width() * finer) + 1,
              height = static_cast<int>(m_plot.height() * finer) + 1;
    std::vector<bool> taken(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    QVector<QRectF> dots;
    std::vector<std::pair<QPointF, FlipKind>> flips;
    for (const ProbePoint& probe : points(row)) {
        if (!shown(probe))
            continue;
        const QPointF point = at(row, probe);
        if (probe.kind != FlipKind::None) {
            flips.emplace_back(point, probe.kind);
            continue;
        }
        const int x = std::clamp(static_cast<int>((point.x() - m_plot.left()) * finer), 0, width - 1);
        const int y = std::clamp(static_cast<int>((point.y() - m_plot.top()) * finer), 0, height - 1);
        const std::size_t i =
            static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
        if (taken[i])
            continue;
        taken[i] = true;
        dots << QRectF(point.x() - 1.2, point.y() - 1.2, 2.4, 2.4);
    }
    QColor ink = inkOf(row);
    ink.setAlphaF(ink.alphaF() * 0.75F);
    p.setRenderHint(QPainter::Antialiasing, false);
    if (isVector(p)) {
        QPainterPath path;
        for (const QRectF& dot : dots)
            path.addRect(dot);
        p.fillPath(path, ink);
    } else {
        p.setPen(Qt::NoPen);
        p.setBrush(ink);
        p.drawRects(dots);
    }
    p.setRenderHint(QPainter::Antialiasing, true);
    QSet<qint64> hidden; // one mark where several would hide each other
    for (const auto& [at, kind] : flips) {
        const qint64 place =
            (static_cast<qint64>(at.x() / 2) * 4096 + static_cast<qint64>(at.y() / 2)) * 4 + static_cast<qint64>(kind);
        if (hidden.contains(place))
            continue;
        hidden.insert(place);
        paintFlip(p, kind, at, 4, inkOf(row), m_style.plot);
    }
}

void MarginPlot::paintMarks(QPainter& p) const
{
    for (const int row : paintOrder())
        paintRun(p, row);
    paintCurrent(p);
}

ProbePlot::Hit MarginPlot::hitAt(const QPointF& point) const
{
    Hit hit;
    double best = reach * reach;
    for (int row = 0; row < rows(); ++row) {
        for (const ProbePoint& probe : points(row)) { // 300,000 of them take a millisecond
            const double dx = xOf(probe.margin) - point.x();
            if (!(std::abs(dx) < reach + 3) || !shown(probe))
                continue;
            const double dy = m_axis.y(probe.kl, row) - point.y();
            const double distance = dx * dx + dy * dy - (row == m_currentRow ? 9 : 0);
            if (distance < best) {
                best = distance;
                hit = {row, probe.position, {dx + point.x(), dy + point.y()}};
            }
        }
    }
    return hit;
}

} // namespace

std::unique_ptr<ProbePlot> makeMarginPlot(QGraphicsScene* scene)
{
    return std::make_unique<MarginPlot>(scene);
}

} // namespace flipscope
