// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/chart_text.h"

#include <QLocale>
#include <QStringList>

#include <cmath>

using namespace Qt::Literals::StringLiterals;

namespace flipscope::chart_text {

namespace {

constexpr QChar nbsp(0x00a0);

/// `digits` significant digits without an exponent where that stays short; a real minus sign.
QString number(double value, int digits)
{
    if (value == 0)
        return u"0"_s;
    const double size = std::abs(value);
    QString text;
    if (size >= 1e6 || size < 1e-3) {
        text = QString::number(size, 'e', digits - 1);
        text.replace("e-0"_L1, "e-"_L1).replace("e+0"_L1, "e"_L1).replace("e+"_L1, "e"_L1);
    } else {
        const int whole = static_cast<int>(std::floor(std::log10(size))) + 1;
        text = QString::number(size, 'f', std::max(0, digits - whole));
    }
    return value < 0 ? u"−"_s + text : text;
}

QString percent(double share, int digits)
{
    const double size = std::abs(share * 100);
    if (size == 0)
        return u"0"_s;
    if (size == 100)
        return share < 0 ? u"−100"_s : u"100"_s;
    if (size > 99 && size < 100) { // 99.96 is not 100
        int decimals = digits - 2;
        QString text;
        do
            text = QString::number(size, 'f', std::max(decimals, 0));
        while (text.startsWith("100"_L1) && ++decimals < 12);
        return share < 0 ? u"−"_s + text : text;
    }
    if (digits <= 2 && size >= 0.1) // neighbours in a heatmap read alike: 0.4, 4.0, 40
        return (share < 0 ? u"−"_s : QString()) + QString::number(size, 'f', size < 9.95 ? 1 : 0);
    return number(share * 100, digits);
}

QString unitOf(const WindowMetric& metric)
{
    return metric.share ? u"%"_s : qstr(metric.unit);
}

QString withUnitOf(const WindowMetric& metric, const QString& text)
{
    const QString unit = unitOf(metric);
    return unit.isEmpty() ? text : text + nbsp + unit;
}

bool hasInterval(const Interval& interval)
{
    return std::isfinite(interval.low) && std::isfinite(interval.high) && interval.high > interval.low;
}

QString probes(qint64 n)
{
    return n == 1 ? u"1 probe"_s : count(n) + u" probes"_s;
}

QStringList valueLines(const HeatmapGrid& grid, const HeatmapCell& cell)
{
    QStringList lines;
    const WindowMetric& metric = grid.metric;
    QString value = qstr(metric.title) + u" "_s + longValue(metric, cell.value);
    if (metric.counts_flips) {
        const auto hits = std::llround(cell.value * static_cast<double>(cell.n));
        lines << value + u" · "_s + count(hits) + u" of "_s + probes(cell.n);
    } else {
        lines << value + u" · "_s + probes(cell.n) + u", "_s + count(cell.flips) +
                     (cell.flips == 1 ? u" flip"_s : u" flips"_s);
    }
    if (hasInterval(cell.interval))
        lines << u"95 % interval "_s + shortValue(metric, cell.interval.low, false) + u"–"_s +
                     shortValue(metric, cell.interval.high, true);
    if (cell.n_invalid > 0)
        lines << probes(cell.n_invalid) + u" left out: not a number"_s;
    return lines;
}

} // namespace

QString count(qint64 n)
{
    static const QLocale locale(QLocale::English, QLocale::UnitedStates);
    return locale.toString(n);
}

QString shortValue(const WindowMetric& metric, double value, bool withUnit)
{
    const QString text = metric.share ? percent(value, 2) : number(value, 2);
    return withUnit ? withUnitOf(metric, text) : text;
}

QString longValue(const WindowMetric& metric, double value)
{
    return withUnitOf(metric, metric.share ? percent(value, 3) : number(value, 4));
}

QString tick(const WindowMetric& metric, double value, bool withUnit)
{
    // Ticks are round already: as many digits as they need, no more.
    const double v = metric.share ? value * 100 : value;
    QString text = number(v, 3);
    if (text.contains(u'e')) {
        const qsizetype e = text.indexOf(u'e');
        QString mantissa = text.left(e);
        while (mantissa.contains(u'.') && (mantissa.endsWith(u'0') || mantissa.endsWith(u'.')))
            mantissa.chop(1);
        text = mantissa + text.mid(e);
    } else {
        while (text.contains(u'.') && (text.endsWith(u'0') || text.endsWith(u'.')))
            text.chop(1);
    }
    return withUnit ? withUnitOf(metric, text) : text;
}

QString title(const HeatmapGrid& grid)
{
    QString text = qstr(grid.metric.title);
    if (grid.by != Partition::Windows)
        text += grid.by == Partition::Turns ? u" · by turn"_s : u" · by segment"_s;
    else if (grid.window_tokens > 0)
        text += u" · window "_s + count(grid.window_tokens) + u" tokens"_s;
    if (!grid.baseline.empty())
        text += u" · against "_s + qstr(grid.baseline);
    return text;
}

QString subtitle(const HeatmapGrid& grid)
{
    QString text = qstr(grid.metric.description);
    if (!text.isEmpty())
        text[0] = text[0].toUpper();
    if (grid.metric.name == "flips_above_margin")
        text += u" (margin > "_s + number(grid.margin, 2) + u" nats)"_s;
    const QString unit = unitOf(grid.metric);
    if (!unit.isEmpty() && !grid.metric.share)
        text += u" · "_s + unit;
    return text;
}

QString piece(Partition by, const Piece& piece)
{
    if (by == Partition::Turns)
        return qstr(piece.label);
    return piece.kind.empty() ? u"no segment"_s : qstr(piece.kind).replace(u'_', u' ');
}

QString window(const HeatmapGrid& grid, int column)
{
    const auto i = static_cast<std::size_t>(column);
    const QString tokens = u"tokens "_s + count(grid.starts[i]) + u"–"_s + count(grid.ends[i]);
    return i < grid.pieces.size() ? piece(grid.by, grid.pieces[i]) + u", "_s + tokens : tokens;
}

QString toolTip(const HeatmapGrid& grid, int row, int column)
{
    const HeatmapRow& run = grid.rows[static_cast<std::size_t>(row)];
    const HeatmapCell& cell = run.cells[static_cast<std::size_t>(column)];
    QStringList lines{qstr(run.name) + u" · "_s + window(grid, column)};
    switch (cell.state) {
    case HeatmapCell::State::Value:
        lines += valueLines(grid, cell);
        break;
    case HeatmapCell::State::Empty:
        lines << (grid.by == Partition::Windows ? u"No value: the run has no probe with one in this window."_s
                                                : u"No value: no probe of the run predicts a token of it."_s);
        break;
    case HeatmapCell::State::Invalid:
        lines << u"No value: none of "_s + probes(cell.n_invalid) + u" holds numbers (NaN, or −inf everywhere)."_s;
        break;
    case HeatmapCell::State::Infinite:
        lines << qstr(grid.metric.title) + u" is infinite at all of "_s + probes(cell.n) +
                     u": one side gives probability 0 where the other does not."_s;
        break;
    case HeatmapCell::State::NotComparable:
        lines << u"Not comparable."_s;
        break;
    case HeatmapCell::State::Pending:
        lines << u"Not computed yet."_s;
        break;
    }
    if (!run.note.empty())
        lines << qstr(run.note);
    const auto at = static_cast<std::size_t>(column);
    if (grid.by == Partition::Segments && at < grid.pieces.size() && !grid.pieces[at].label.empty())
        lines << qstr(grid.pieces[at].label).simplified().left(200); // a tool call's JSON
    return lines.join(u'\n');
}

QString stateMark(HeatmapCell::State state)
{
    switch (state) {
    case HeatmapCell::State::Invalid:
        return u"NaN"_s;
    case HeatmapCell::State::Infinite:
        return u"∞"_s;
    case HeatmapCell::State::Pending:
        return u"…"_s;
    default:
        return {};
    }
}

QString stateWords(HeatmapCell::State state)
{
    switch (state) {
    case HeatmapCell::State::Value:
        return {};
    case HeatmapCell::State::Empty:
        return u"no probe"_s;
    case HeatmapCell::State::Invalid:
        return u"not a number"_s;
    case HeatmapCell::State::Infinite:
        return u"infinite"_s;
    case HeatmapCell::State::NotComparable:
        return u"not comparable"_s;
    case HeatmapCell::State::Pending:
        return u"not computed yet"_s;
    }
    return {};
}

} // namespace flipscope::chart_text
