// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/compare_figure.h"

#include "core/report/method.h"
#include "core/report/report.h"
#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"
#include "ui/charts/heatmap_plot.h"
#include "ui/charts/pair_scatter.h"

#include <QFontMetricsF>
#include <QGraphicsScene>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

constexpr double row_height = 40, scatter_height = 340, line_height = 18;

QString amount(const MeanDifference& d, double value, bool sign)
{
    if (std::isnan(value))
        return u"–"_s;
    WindowMetric metric;
    metric.share = d.share;
    const QString text = chart_text::longValue(metric, value);
    return sign && value > 0 ? u"+"_s + text : text;
}

QString viewOf(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// A heatmap in a scene of its own, so that several fit into one figure.
struct HeatmapPart {
    QGraphicsScene scene;
    HeatmapPlot plot{&scene};

    void set(const HeatmapGrid& grid, const ColourScale& scale, const ChartStyle& style, double width)
    {
        plot.setStyle(style);
        plot.setMaximumRowHeight(row_height);
        plot.setGrid(grid, scale);
        plot.setSize(QSizeF(width, 1));
        const double rows = static_cast<double>(std::max<std::size_t>(grid.rows.size(), 1));
        plot.setSize(QSizeF(width, plot.minimumHeight() + rows * row_height));
    }
    double height() const { return plot.usedHeight() + 8; }
};

class CompareFigure : public FigureDrawing {
public:
    explicit CompareFigure(CompareFigureSpec spec) : m_spec(std::move(spec))
    {
        std::tie(m_runs, m_difference) = compareGrids(m_spec);
        m_scale = differenceScale(m_difference);
        m_runs = cut_to(m_runs, m_spec.range);
        m_difference = cut_to(m_difference, m_spec.range);
    }

    double minimumHeight(double width, const ChartStyle& style) override
    {
        layOut(width, style);
        return m_first->height() + m_second->height() + scatter_height;
    }

    void addTo(QGraphicsScene& scene, const QRectF& area, const ChartStyle& style) override
    {
        layOut(area.width(), style);
        double y = area.top();
        for (HeatmapPart* part : {m_first.get(), m_second.get()}) {
            const QRectF rect(area.left(), y, area.width(), part->height());
            scene.addItem(new PaintItem(rect, [part, rect](QPainter& p) {
                part->scene.render(&p, rect, QRectF(QPointF(0, 0), rect.size()), Qt::IgnoreAspectRatio);
            }));
            y += part->height();
        }
        m_scatter.setStyle(style);
        m_scatter.setColors(m_spec.colorA, m_spec.colorB);
        m_scatter.setComparison(m_spec.comparison);
        const double height = area.bottom() - y, width = std::min(area.width() * 0.5, height * 1.35);
        m_scatter.setRect(QRectF(area.left(), y, width, height));
        scene.addItem(
            new PaintItem(QRectF(area.left(), y, width, height), [this](QPainter& p) { m_scatter.paint(p); }));
        const QRectF card(area.left() + width + 12, y, area.width() - width - 12, height);
        scene.addItem(new PaintItem(card, [this, card, style](QPainter& p) { paintCard(p, card, style); }));
    }

    QString title() const override
    {
        const RunComparison& c = *m_spec.comparison;
        return u"A: "_s + chart_text::qstr(c.a.name) + u", B: "_s + chart_text::qstr(c.b.name) + u" · "_s +
               chart_text::title(m_runs);
    }

    QStringList caption() const override
    {
        const RunComparison& c = *m_spec.comparison;
        QString n = u"n = "_s + chart_text::count(c.flips.n) + u" paired probes"_s;
        if (c.only_in_a + c.only_in_b > 0)
            n += u"; left out: "_s + chart_text::count(c.only_in_a) + u" only in A, "_s +
                 chart_text::count(c.only_in_b) + u" only in B"_s;
        if (c.flips.n_invalid > 0)
            n += u"; "_s + chart_text::count(c.flips.n_invalid) + u" not a number"_s;
        QStringList lines{u"Baseline: "_s + chart_text::qstr(m_runs.baseline) + u" · A: "_s +
                              chart_text::qstr(c.a.name) + u" · B: "_s + chart_text::qstr(c.b.name),
                          n + columns() +
                              u" · differences are B − A · intervals: 95 %, circular block bootstrap over probes, "_s +
                              chart_text::count(bootstrap_draws) + u" draws, blocks of "_s +
                              chart_text::count(bootstrap_block(c.flips.n))};
        if (c.lower_bound)
            lines << u"A top-k trace takes part: divergences are lower bounds"_s;
        QStringList settings;
        for (const SettingDifference& d : differing_settings({c.a.trace, c.b.trace}))
            settings << chart_text::qstr(d.key) + u" ("_s + chart_text::qstr(d.values[0]) + u" | "_s +
                            chart_text::qstr(d.values[1]) + u")"_s;
        lines << (settings.isEmpty() ? u"A and B state the same settings"_s
                                     : u"Settings that differ (A | B): "_s + settings.join(u", "_s));
        return lines;
    }

    std::string csv() const override
    {
        std::string text = heatmap_csv(m_runs);
        const std::string more = heatmap_csv(m_difference);
        return text + more.substr(more.find('\n') + 1);
    }

private:
    QString columns() const
    {
        const QString all = chart_text::count(m_runs.n_tokens) + u" tokens"_s;
        if (m_runs.by != Partition::Windows)
            return u" · by "_s + viewOf(name_of(m_runs.by)) + u" over "_s + all;
        return u" · Window: "_s + chart_text::count(m_spec.window_tokens) + u" tokens of "_s +
               chart_text::count(m_runs.n_tokens);
    }

    void layOut(double width, const ChartStyle& style)
    {
        m_first = std::make_unique<HeatmapPart>();
        m_second = std::make_unique<HeatmapPart>();
        m_first->set(m_runs, m_spec.scale, style, width);
        m_second->plot.alignWith(m_runs);
        m_second->set(m_difference, m_scale, style, width);
    }

    void paintCard(QPainter& p, const QRectF& rect, const ChartStyle& style) const
    {
        const PairedFlips& f = m_spec.comparison->flips;
        const QFont strong = chart_paint::font(style, 14, true), normal = chart_paint::font(style, 12);
        const QFont small = chart_paint::font(style, 11);
        double y = rect.top() + 10;
        const auto line = [&](const QString& words, const QFont& font, const QColor& color) {
            chart_paint::text(p, QRectF(rect.left(), y, rect.width() - 14, line_height), words, font, color);
            y += line_height;
        };
        line(u"Paired statistics"_s, strong, style.text);
        y += 6;
        line(u"flips: "_s + chart_text::count(f.only_a) + u" only in A, "_s + chart_text::count(f.only_b) +
                 u" only in B, "_s + chart_text::count(f.both) + u" in both ("_s +
                 chart_text::count(f.both_same_token) + u" to the same token)"_s,
             normal, style.text);
        line(u"exact McNemar test: p = "_s +
                 (f.mcnemar_p < 1e-4 ? u"< 0.0001"_s : QString::number(f.mcnemar_p, 'g', 2)),
             normal, style.text);
        line(u"top tokens of A and B differ at "_s + chart_text::count(f.tops_differ) + u" of "_s +
                 chart_text::count(f.n) + u" probes"_s,
             normal, style.text);
        y += 8;
        // Columns: what, A, B, B − A, interval.
        const double width = rect.width() - 14;
        const double stops[] = {0, 0.26, 0.42, 0.58, 0.74, 1.0};
        const auto row = [&](const QStringList& cells, const QFont& font, const QColor& color) {
            for (qsizetype i = 0; i < cells.size(); ++i) {
                const QRectF cell(rect.left() + width * stops[i], y, width * (stops[i + 1] - stops[i]) - 8,
                                  line_height);
                chart_paint::text(p, cell, cells[i], font, color,
                                  (i == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
            }
            y += line_height;
        };
        row({u"mean"_s, u"A"_s, u"B"_s, u"B − A"_s, u"95 % interval"_s}, small, style.mutedText);
        for (const MeanDifference& d : m_spec.comparison->differences)
            row({viewOf(d.title) + (d.share ? QString() : u", "_s + viewOf(d.unit)), amount(d, d.mean_a, false),
                 amount(d, d.mean_b, false), amount(d, d.difference, true),
                 amount(d, d.interval.low, true) + u" to "_s + amount(d, d.interval.high, true)},
                normal, style.text);
    }

    CompareFigureSpec m_spec;
    HeatmapGrid m_runs, m_difference;
    ColourScale m_scale; ///< of the difference
    std::unique_ptr<HeatmapPart> m_first, m_second;
    PairScatter m_scatter;
};

} // namespace

std::pair<HeatmapGrid, HeatmapGrid> compareGrids(const CompareFigureSpec& spec)
{
    const RunComparison& c = *spec.comparison;
    const bool pieces = !spec.pieces.empty();
    HeatmapGrid runs = pieces ? comparison_grid(c, *spec.metric, spec.by, spec.pieces, spec.margin, spec.extent)
                              : comparison_grid(c, *spec.metric, spec.window_tokens, spec.margin, spec.extent);
    HeatmapGrid difference = pieces ? difference_grid(c, *spec.metric, spec.by, spec.pieces, spec.margin, spec.extent)
                                    : difference_grid(c, *spec.metric, spec.window_tokens, spec.margin, spec.extent);
    if (!spec.baseline.empty())
        runs.baseline = difference.baseline = spec.baseline;
    runs.rows[0].name = "A · " + runs.rows[0].name;
    runs.rows[1].name = "B · " + runs.rows[1].name;
    runs.marks = spec.marks;
    difference.spans.clear(); // they stand under the other one
    return {std::move(runs), std::move(difference)};
}

ColourScale differenceScale(const HeatmapGrid& difference)
{
    ColourScale scale;
    scale.map = u"vik"_s;
    scale.automatic = false;
    double most = 0;
    for (const HeatmapRow& row : difference.rows)
        for (const HeatmapCell& cell : row.cells)
            if (cell.state == HeatmapCell::State::Value && std::isfinite(cell.value))
                most = std::max(most, std::fabs(cell.value));
    scale.high = most > 0 ? most : difference.metric.share ? 0.01 : 1e-3;
    scale.low = -scale.high;
    return scale;
}

std::shared_ptr<FigureDrawing> compareFigure(CompareFigureSpec spec)
{
    return std::make_shared<CompareFigure>(std::move(spec));
}

} // namespace flipscope
