// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/tokens_figure.h"

#include "ui/charts/chart_paint.h"
#include "ui/charts/chart_text.h"
#include "ui/views/token_columns.h"

#include <QGraphicsScene>

#include <algorithm>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

constexpr double head_height = 64;

std::string field(QString text)
{
    text.replace(u'"', u"\"\""_s);
    return '"' + text.toStdString() + '"';
}

class TokensFigure : public FigureDrawing {
public:
    explicit TokensFigure(TokensFigureSpec spec) : m_spec(std::move(spec)) {}

    double minimumHeight(double width, const ChartStyle& style) override
    {
        layOut(width, style);
        return head_height + m_layout.lines() * m_layout.lineHeight() + 12;
    }

    void addTo(QGraphicsScene& scene, const QRectF& area, const ChartStyle& style) override
    {
        layOut(area.width(), style);
        scene.addItem(new PaintItem(area, [this, area, style](QPainter& p) { paint(p, area, style); }));
    }

    QString title() const override
    {
        return u"Tokens "_s + chart_text::count(m_spec.start) + u"–"_s + chart_text::count(m_spec.end) + u" · "_s +
               m_spec.titleA + u" | "_s + m_spec.titleB;
    }

    QStringList caption() const override
    {
        const auto differs =
            std::count_if(m_spec.units.begin(), m_spec.units.end(), [](const ColumnUnit& u) { return u.differs; });
        return {u"Baseline: "_s + m_spec.baseline + u" · left: "_s + m_spec.titleA + u", right: "_s + m_spec.titleB +
                u" · tokens "_s + chart_text::count(m_spec.start) + u"–"_s + chart_text::count(m_spec.end) +
                u" of the history; “a⇒b”: the history goes on with a, the run would have said b · "_s +
                chart_text::count(differs) + u" disagreements (coloured and underlined), probes only"_s};
    }

    std::string csv() const override
    {
        std::string csv = "position,left,right,differs\n";
        for (const ColumnUnit& unit : m_spec.units)
            csv += fmt::format("{},{},{},{}\n", unit.key, field(unit.a), field(unit.b), unit.differs ? 1 : 0);
        return csv;
    }

private:
    void layOut(double width, const ChartStyle& style)
    {
        m_layout.setFont(chart_paint::font(style, 12));
        m_layout.setWidth(width - 2 * chart_paint::margin);
        m_layout.setUnits(m_spec.units);
    }

    void paint(QPainter& p, const QRectF& area, const ChartStyle& style) const
    {
        using namespace chart_paint;
        p.fillRect(area, style.background);
        text(p, QRectF(area.left() + margin, area.top() + 12, area.width() - 2 * margin, 20), title(),
             font(style, 14, true), style.text);
        p.translate(area.left() + margin, area.top());
        for (const int column : {0, 1})
            text(p, QRectF(m_layout.columnLeft(column), 38, m_layout.columnWidth(), 18),
                 column == 0 ? m_spec.titleA : m_spec.titleB, font(style, 12, true), style.mutedText);
        QPalette palette;
        palette.setColor(QPalette::Base, style.background);
        palette.setColor(QPalette::Text, style.text);
        palette.setColor(QPalette::Highlight, style.accent);
        for (int line = 0; line < m_layout.lines(); ++line)
            m_layout.paintLine(p, line, head_height + line * m_layout.lineHeight(), palette, -1);
    }

    TokensFigureSpec m_spec;
    ColumnLayout m_layout;
};

} // namespace

std::shared_ptr<FigureDrawing> tokensFigure(TokensFigureSpec spec)
{
    return std::make_shared<TokensFigure>(std::move(spec));
}

} // namespace flipscope
