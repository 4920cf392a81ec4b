// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/probe_figure.h"

#include "core/report/csv_fields.h"
#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"

#include <QFontMetricsF>
#include <QGraphicsScene>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double row_height = 24, head_height = 92, foot_height = 20;
constexpr std::size_t most_rows = 16;

QString probability(double p)
{
    if (std::isnan(p))
        return u"–"_s;
    return p > 0 && p < 0.0001 ? u"< 0.0001"_s : QString::number(p, 'f', 4);
}

class ProbeFigure : public FigureDrawing {
public:
    explicit ProbeFigure(ProbeFigureSpec spec) : m_spec(std::move(spec))
    {
        for (const TokenShare& share : m_spec.runs.front().detail.top_p)
            add(share.id);
        for (const auto& run : m_spec.runs) // whoever leads in a run is shown, however unlikely to the baseline
            for (std::size_t i = 0; i < std::min<std::size_t>(3, run.detail.top_q.size()); ++i)
                add(run.detail.top_q[i].id);
        if (m_spec.runs.front().detail.next.id >= 0)
            add(m_spec.runs.front().detail.next.id);
    }

    double minimumHeight(double, const ChartStyle&) override
    {
        return head_height + static_cast<double>(m_ids.size()) * row_height + foot_height;
    }

    void addTo(QGraphicsScene& scene, const QRectF& area, const ChartStyle& style) override
    {
        scene.addItem(new PaintItem(area, [this, area, style](QPainter& p) { paint(p, area, style); }));
    }

    QString title() const override
    {
        return u"Top tokens at probe "_s + chart_text::count(m_spec.position) + u" · "_s +
               chart_text::qstr(m_spec.baselineName) + u" and "_s +
               (m_spec.runs.size() == 1 ? chart_text::qstr(m_spec.runs.front().name)
                                        : chart_text::count(static_cast<qint64>(m_spec.runs.size())) + u" runs"_s);
    }

    QStringList caption() const override
    {
        QStringList lines{u"Baseline: "_s + chart_text::qstr(m_spec.baselineName) + u" · probe at position "_s +
                          chart_text::count(m_spec.position) + u", which predicts token "_s +
                          chart_text::count(m_spec.position + 1) +
                          u" · probabilities at temperature 1; “–”: not among the best "_s +
                          chart_text::count(probeFigureTokens) + u" of that run or of the baseline"_s};
        QStringList divergences;
        WindowMetric nats;
        nats.unit = "nats";
        for (const auto& run : m_spec.runs)
            divergences << chart_text::qstr(run.name) + u" "_s +
                               (std::isinf(run.detail.kl_pq) ? u"∞"_s : chart_text::longValue(nats, run.detail.kl_pq));
        lines << u"KL(P‖Q) from the baseline P to the run Q: "_s + divergences.join(u", "_s);
        return lines;
    }

    std::string csv() const override
    {
        std::string out = "position,run,id,token,p,q\n";
        for (const auto& run : m_spec.runs)
            for (const std::int32_t id : m_ids) {
                const TokenShare share = shareOf(run.detail, id);
                out += fmt::format("{},{},{},{},{},{}\n", m_spec.position, csv::field(run.name), id,
                                   csv::field(m_spec.texts.label(id)), csv::optional_number(share.p),
                                   csv::optional_number(share.q));
            }
        return out;
    }

private:
    void add(std::int32_t id)
    {
        if (m_ids.size() < most_rows && std::ranges::find(m_ids, id) == m_ids.end())
            m_ids.push_back(id);
    }

    static TokenShare shareOf(const ProbeDetail& detail, std::int32_t id)
    {
        for (const auto* list : {&detail.top_p, &detail.top_q, &detail.largest_terms})
            for (const TokenShare& share : *list)
                if (share.id == id)
                    return share;
        if (detail.next.id == id)
            return detail.next;
        TokenShare unknown;
        unknown.id = id;
        unknown.p = unknown.q = nan;
        return unknown;
    }

    double pOf(std::int32_t id) const
    {
        for (const auto& run : m_spec.runs)
            if (const double p = shareOf(run.detail, id).p; !std::isnan(p))
                return p;
        return nan;
    }

    void paint(QPainter& p, const QRectF& area, const ChartStyle& style) const
    {
        using namespace chart_paint;
        p.fillRect(area, style.background);
        const QFont strong = font(style, 14, true), normal = font(style, 12), small = font(style, 11);
        const double left = area.left() + margin, right = area.right() - margin;
        text(p, QRectF(left, area.top() + 12, right - left, 20), title(), strong, style.text);
        const auto& history = m_spec.baseline->tokens;
        QString before;
        for (std::int64_t t = std::max<std::int64_t>(0, m_spec.position - 12); t <= m_spec.position; ++t)
            if (t < static_cast<std::int64_t>(history.ids.size()))
                before += QString::fromStdString(m_spec.texts.label(history.ids[static_cast<std::size_t>(t)]));
        text(p, QRectF(left, area.top() + 34, right - left, 18), u"after: … "_s + before, small, style.mutedText);

        const auto sides = static_cast<int>(m_spec.runs.size()) + 1;
        const double labels = std::clamp((right - left) * 0.2, 110.0, 240.0);
        const double column = (right - left - labels) / sides;
        const auto columnRect = [&](int side, double y) {
            return QRectF(left + labels + side * column, y, column - 10, row_height);
        };
        double y = area.top() + head_height - row_height - 4;
        text(p, QRectF(left, y, labels - 8, row_height), u"token"_s, small, style.mutedText);
        for (int side = 0; side < sides; ++side) {
            const QString name = side == 0 ? chart_text::qstr(m_spec.baselineName) + u" (P)"_s
                                           : chart_text::qstr(m_spec.runs[static_cast<std::size_t>(side - 1)].name);
            text(p, columnRect(side, y), name, font(style, 12, true), style.text);
        }
        y = area.top() + head_height;
        p.setPen(QPen(style.grid, 1));
        p.drawLine(QPointF(left, y - 2), QPointF(right, y - 2));
        const std::int32_t next = m_spec.runs.front().detail.next.id;
        for (const std::int32_t id : m_ids) {
            const QString label = QString::fromStdString(m_spec.texts.label(id));
            text(p, QRectF(left, y, labels - 8, row_height), (id == next ? u"➤ "_s : QString()) + label, normal,
                 style.text);
            for (int side = 0; side < sides; ++side) {
                const auto* run = side == 0 ? nullptr : &m_spec.runs[static_cast<std::size_t>(side - 1)];
                const double value = run == nullptr ? pOf(id) : shareOf(run->detail, id).q;
                const auto& list = run == nullptr ? m_spec.runs.front().detail.top_p : run->detail.top_q;
                const bool leads = !list.empty() && list.front().id == id;
                QRectF cell = columnRect(side, y).adjusted(0, 3, 0, -3);
                QColor fill = run == nullptr ? style.mutedText : run->color;
                fill.setAlphaF(leads ? 0.75F : 0.4F);
                if (!std::isnan(value))
                    p.fillRect(
                        QRectF(cell.left(), cell.top(), std::max(1.0, (cell.width() - 62) * value), cell.height()),
                        fill);
                const double from = std::isnan(value) ? 0 : (cell.width() - 62) * value;
                cell.setLeft(cell.left() + from + 5);
                text(p, cell, probability(value) + (leads ? u" ◂"_s : QString()),
                     leads ? font(style, 12, true) : normal, std::isnan(value) ? style.mutedText : style.text);
            }
            y += row_height;
        }
        text(p, QRectF(left, y, right - left, foot_height),
             u"◂ most likely on that side · ➤ the history's own next token"_s, small, style.mutedText);
    }

    ProbeFigureSpec m_spec;
    std::vector<std::int32_t> m_ids;
};

} // namespace

std::shared_ptr<FigureDrawing> probeFigure(ProbeFigureSpec spec)
{
    return std::make_shared<ProbeFigure>(std::move(spec));
}

} // namespace flipscope
