// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/chart_text.h"
#include "ui/charts/colormap.h"
#include "ui/charts/figure.h"

#include <algorithm>

using namespace Qt::Literals::StringLiterals;

namespace flipscope {

namespace {

QString range(qint64 low, qint64 high)
{
    return low == high ? chart_text::count(low) : chart_text::count(low) + u"–"_s + chart_text::count(high);
}

/// "n = 240–250 valid probes per window and run, 3,120 per run"
QString probesLine(const HeatmapGrid& grid)
{
    qint64 least = -1, most = 0, leastTotal = -1, mostTotal = 0, invalid = 0;
    for (const HeatmapRow& row : grid.rows) {
        qint64 total = 0;
        for (const HeatmapCell& cell : row.cells) {
            invalid += cell.n_invalid;
            if (cell.n == 0)
                continue;
            total += cell.n;
            least = least < 0 ? cell.n : std::min<qint64>(least, cell.n);
            most = std::max<qint64>(most, cell.n);
        }
        if (total == 0)
            continue; // not comparable, or not computed: the row says so
        leastTotal = leastTotal < 0 ? total : std::min(leastTotal, total);
        mostTotal = std::max(mostTotal, total);
    }
    if (least < 0)
        return u"n = 0: no valid probe matched"_s;
    QString text = u"n = "_s + range(least, most) + u" valid probes per window and run, "_s +
                   range(leastTotal, mostTotal) + u" per run"_s;
    if (invalid > 0)
        text += u"; "_s + chart_text::count(invalid) + u" not a number, left out"_s;
    return text;
}

QString scaleLine(const FigureSpec& spec)
{
    std::vector<double> values;
    for (const HeatmapRow& row : spec.grid.rows) {
        for (const HeatmapCell& cell : row.cells) {
            if (cell.state == HeatmapCell::State::Value)
                values.push_back(cell.value);
        }
    }
    const Normalizer scale(spec.scale, values);
    QString kind = u"linear"_s;
    if (spec.scale.kind == ColourScale::Kind::Log)
        kind = u"log"_s;
    else if (spec.scale.kind == ColourScale::Kind::Percentile)
        kind = u"percentile"_s;
    return u"Colours: "_s + spec.scale.map + u", "_s + kind + u" scale from "_s +
           chart_text::shortValue(spec.grid.metric, scale.low(), true) + u" to "_s +
           chart_text::shortValue(spec.grid.metric, scale.high(), true) +
           (spec.scale.automatic ? u" (fitted to the values shown)"_s : u" (fixed)"_s);
}

QString direction(const WindowMetric& metric)
{
    if (metric.name.starts_with("kl_"))
        return u"P: the baseline's next-token distribution, Q: the run's"_s;
    if (metric.counts_flips)
        return u"along the baseline's forced history"_s;
    if (metric.name == "dp_mean")
        return u"q: the run's probability, p: the baseline's"_s;
    return u"symmetric in baseline and run"_s;
}

/// What a chart over single probes says: which probes, how many, and what was left out.
QStringList probeLines(const FigureSpec& spec)
{
    const ProbeChartData& data = spec.probes;
    QStringList names;
    qint64 least = -1, most = 0, zeros = 0, infinite = 0, invalid = 0;
    FlipKinds kinds;
    const KlHistogram histogram = kl_histogram(data);
    for (std::size_t i = 0; i < data.runs.size(); ++i) {
        const ProbeChartRun& run = data.runs[i];
        names << chart_text::qstr(run.name) +
                     (run.problem.empty() ? QString() : u" ("_s + chart_text::qstr(run.problem) + u")"_s);
        if (!run.table)
            continue;
        const KlHistogram::Run& r = histogram.runs[i];
        least = least < 0 ? r.n : std::min<qint64>(least, r.n);
        most = std::max<qint64>(most, r.n);
        zeros += r.zero;
        infinite += r.infinite;
        invalid += r.invalid;
        const FlipKinds of = count_flips(data.probes(i), data.type);
        kinds.tie += of.tie;
        kinds.one_step += of.one_step;
        kinds.clear += of.clear;
    }
    QStringList lines;
    lines << u"Baseline: "_s + chart_text::qstr(data.baseline) + u" · "_s +
                 (names.size() == 1 ? u"Run: "_s : u"Runs: "_s) + names.join(u", "_s);
    const bool agreement = spec.chart == FigureSpec::Chart::Agreement;
    if (agreement)
        lines << u"Agreement: share of valid probes with the baseline's top token among the last "_s +
                     chart_text::count(data.window_tokens) + u" tokens"_s;
    else
        lines << u"KL(P‖Q), nats, of single probes · P: the baseline's next-token distribution, Q: the run's"_s;
    QString count = u"Tokens "_s + range(data.shown().start, data.shown().end) + u" of "_s +
                    chart_text::count(data.n_tokens) + u" · n = "_s + range(std::max<qint64>(least, 0), most) +
                    u" valid probes per run"_s;
    if (zeros > 0 && !agreement)
        count += u" · "_s + chart_text::count(zeros) + u" with KL 0"_s;
    if (infinite > 0 && !agreement)
        count += u" · "_s + chart_text::count(infinite) + u" with infinite KL"_s;
    if (invalid > 0)
        count += u" · "_s + chart_text::count(invalid) + u" not a number, left out"_s;
    lines << count;
    const QString step = data.type ? u" of "_s + QLatin1StringView(name_of(*data.type)) : QString();
    if (!agreement)
        lines << u"Flips of all runs: "_s + chart_text::count(kinds.clear) + u" clear, "_s +
                     chart_text::count(kinds.one_step) + u" by one step"_s + step + u", "_s +
                     chart_text::count(kinds.tie) + u" by a tie"_s;
    return lines;
}

QStringList windowLines(const FigureSpec& spec)
{
    const HeatmapGrid& grid = spec.grid;
    QStringList names;
    for (const HeatmapRow& row : grid.rows)
        names << chart_text::qstr(row.name) +
                     (row.note.empty() ? QString() : u" ("_s + chart_text::qstr(row.note) + u")"_s);
    QStringList lines;
    lines << u"Baseline: "_s + chart_text::qstr(grid.baseline) + u" · "_s +
                 (names.size() == 1 ? u"Run: "_s : u"Runs: "_s) + names.join(u", "_s);
    const WindowMetric& metric = grid.metric;
    const QString unit = metric.share ? u"%"_s : metric.unit.empty() ? u"no unit"_s : chart_text::qstr(metric.unit);
    QString what = chart_text::qstr(metric.title) + u", "_s + unit + u": "_s + chart_text::qstr(metric.description);
    if (metric.name == "flips_above_margin")
        what += u" (margin > %1 nats)"_s.arg(grid.margin);
    lines << what + u" · "_s + direction(metric);
    QString window = u"Window: "_s + chart_text::count(grid.window_tokens) + u" tokens of "_s +
                     chart_text::count(grid.n_tokens) + u" · "_s + probesLine(grid);
    if (grid.by != Partition::Windows)
        window = (grid.by == Partition::Turns ? u"Columns: turns"_s : u"Columns: segments of equal width"_s) +
                 u", by the token predicted, of "_s + chart_text::count(grid.n_tokens) + u" tokens · "_s +
                 probesLine(grid).replace(u"per window"_s, u"per column"_s);
    if (spec.chart == FigureSpec::Chart::Heatmap)
        lines << window << scaleLine(spec);
    else
        lines << window + (metric.counts_flips ? u" · Bands: 95 % Wilson intervals"_s : QString());
    return lines;
}

} // namespace

QStringList figureCaption(const FigureSpec& spec)
{
    QStringList lines = spec.drawing              ? spec.drawing->caption()
                        : probePlotOf(spec.chart) ? probeLines(spec)
                                                  : windowLines(spec);
    if (!spec.notes.isEmpty())
        lines << u"Notes: "_s + spec.notes.join(u" · "_s);
    QStringList stated, missing;
    for (const MethodLine& line : spec.method) {
        if (line.stated)
            stated << chart_text::qstr(line.label) + u": "_s + chart_text::qstr(line.value);
        else
            missing << chart_text::qstr(line.label);
    }
    if (!stated.isEmpty())
        lines << stated.join(u" · "_s);
    if (!missing.isEmpty())
        lines << u"Not stated: "_s + missing.join(u", "_s);
    return lines;
}

} // namespace flipscope
