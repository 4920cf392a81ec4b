// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/comparison_card.h"

#include "core/text/token_text.h"
#include "ui/models/number_text.h"

#include <QStyle>

#include <cmath>

namespace flipscope {

namespace {

constexpr int cellPadding = 2;
const QString tableTag = QStringLiteral("<table cellspacing='0' cellpadding='%1' width='100%'>").arg(cellPadding);

QString viewOf(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString amount(const MeanDifference& d, double value, bool sign)
{
    if (std::isnan(value))
        return QStringLiteral("–");
    const QString text =
        d.share ? QString::number(std::fabs(value) * 100, 'f', 2) + QStringLiteral(" %") : realText(std::fabs(value));
    return (value < 0 ? QStringLiteral("−") : sign && value > 0 ? QStringLiteral("+") : QString()) + text;
}

QString intervalText(const MeanDifference& d)
{
    if (std::isnan(d.interval.low))
        return QStringLiteral("–");
    return ComparisonCard::tr("%1 to %2").arg(amount(d, d.interval.low, true), amount(d, d.interval.high, true));
}

QString row(const QStringList& cells, const char* tag)
{
    QString html = QStringLiteral("<tr>");
    for (qsizetype i = 0; i < cells.size(); ++i)
        html += QStringLiteral("<%1 align='%2'>%3</%1>")
                    .arg(QLatin1String(tag), i == 0 ? QStringLiteral("left") : QStringLiteral("right"),
                         cells[i].toHtmlEscaped());
    return html + QStringLiteral("</tr>");
}

/// Three numbers in columns of one width.
QString numbers(const QStringList& cells, const char* tag)
{
    QString html = QStringLiteral("<tr>");
    for (const QString& cell : cells)
        html += QStringLiteral("<%1 align='right' width='33%'>%2</%1>").arg(QLatin1String(tag), cell.toHtmlEscaped());
    return html + QStringLiteral("</tr>");
}

QString line(const QStringList& cells)
{
    QString text = QStringLiteral("|");
    for (QString cell : cells)
        text += QLatin1Char(' ') + cell.replace(QLatin1Char('|'), QStringLiteral("\\|")) + QStringLiteral(" |");
    return text + QLatin1Char('\n');
}

} // namespace

QString verdictOf(const MeanDifference& d)
{
    if (std::isnan(d.interval.low))
        return {};
    if (d.interval.low > 0)
        return ComparisonCard::tr("B is further from the baseline");
    if (d.interval.high < 0)
        return ComparisonCard::tr("A is further from the baseline");
    return ComparisonCard::tr("no clear difference");
}

QString pText(double p)
{
    if (p < 1e-4)
        return QStringLiteral("< 0.0001");
    return QString::number(p, 'g', 2);
}

ComparisonCard::ComparisonCard(QWidget* parent) : QTextBrowser(parent)
{
    setObjectName(QStringLiteral("comparisonCard"));
    setAccessibleName(tr("Paired statistics of A and B"));
    setFrameShape(QFrame::NoFrame);
    setOpenLinks(false);
    // Three numbers of any size beside each other, so that nothing has to be scrolled aside.
    setMinimumWidth(3 * (fontMetrics().horizontalAdvance(QStringLiteral("+0.0001234")) + 2 * cellPadding) +
                    2 * static_cast<int>(document()->documentMargin()) +
                    style()->pixelMetric(QStyle::PM_ScrollBarExtent));
}

void ComparisonCard::setComparison(const RunComparison* c)
{
    m_markdown.clear();
    if (c == nullptr) {
        clear();
        return;
    }
    const PairedFlips& f = c->flips;
    const auto name = [](const std::string& text) { return QString::fromStdString(visible(text)); };
    const QStringList flips{tr("Flips"), tr("Probes")};
    const QVector<QStringList> counts{{tr("only A"), groupedText(f.only_a)},
                                      {tr("only B"), groupedText(f.only_b)},
                                      {tr("both, same token"), groupedText(f.both_same_token)},
                                      {tr("both, other tokens"), groupedText(f.both - f.both_same_token)},
                                      {tr("neither"), groupedText(f.neither)}};
    const QStringList means{tr("Mean"), tr("A"), tr("B"), tr("B − A"), tr("95 % interval")};
    m_markdown = tr("A: %1, B: %2, against %3, %4 paired probes")
                     .arg(name(c->a.name), name(c->b.name), name(c->baseline->run_name), groupedText(f.n)) +
                 QStringLiteral("\n\n") + line(flips) + QStringLiteral("|---|---:|\n");
    QString html =
        QStringLiteral("<p><b>%1</b> %2</p>")
            .arg(tr("%1 paired probes").arg(groupedText(f.n)),
                 f.n_invalid + c->only_in_a + c->only_in_b > 0
                     ? tr("(left out: %1 only in A, %2 only in B, %3 not a number)")
                           .arg(groupedText(c->only_in_a), groupedText(c->only_in_b), groupedText(f.n_invalid))
                     : QString()) +
        tableTag + row(flips, "th");
    for (const QStringList& count : counts) {
        html += row(count, "td");
        m_markdown += line(count);
    }
    const QString who = f.only_a == f.only_b  ? tr("neither flips more often")
                        : f.only_b > f.only_a ? tr("B flips more often")
                                              : tr("A flips more often");
    html += QStringLiteral("</table><p title='%1'>%2: <b>p = %3</b> – %4</p>")
                .arg(tr("Could a fair coin have split the probes that only one of the two flips like that?"),
                     tr("Exact McNemar test"), pText(f.mcnemar_p).toHtmlEscaped(),
                     f.mcnemar_p < 0.05 ? who : tr("no clear difference"));
    m_markdown += QLatin1Char('\n') + tr("Exact McNemar test: p = %1").arg(pText(f.mcnemar_p)) +
                  QStringLiteral("\n\n") + line(means) + QStringLiteral("|---|---:|---:|---:|---:|\n");
    html += QStringLiteral("<p>%1</p>")
                .arg(tr("The top tokens of A and B differ at %1 of %2 probes.")
                         .arg(groupedText(f.tops_differ), groupedText(f.n))) +
            tableTag + numbers({means[1], means[2], means[3]}, "th");
    for (const MeanDifference& d : c->differences) {
        const QString title = d.share ? viewOf(d.title) : viewOf(d.title) + QStringLiteral(", ") + viewOf(d.unit);
        const QStringList values{amount(d, d.mean_a, false), amount(d, d.mean_b, false), amount(d, d.difference, true)};
        // A line of its own for each of what, how much and how sure: a narrow card holds them all.
        html += QStringLiteral("<tr><td colspan='3'>%1</td></tr>").arg(tr("mean %1").arg(title).toHtmlEscaped()) +
                numbers(values, "td");
        html += QStringLiteral("<tr><td colspan='3' align='right'><small>%1 · <b>%2</b></small></td></tr>")
                    .arg(intervalText(d).toHtmlEscaped(), verdictOf(d));
        if (d.n_left_out > 0)
            html += QStringLiteral("<tr><td colspan='3' align='right'><small>%1</small></td></tr>")
                        .arg(tr("%1 infinite left out").arg(groupedText(d.n_left_out)));
        m_markdown += line(QStringList{title} + values + QStringList{intervalText(d)});
    }
    html += QStringLiteral("</table>");
    if (c->lower_bound)
        html += QStringLiteral("<p>%1</p>").arg(tr("A top-k trace takes part: divergences are lower bounds."));
    setHtml(html);
}

} // namespace flipscope
