// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/csv_fields.h"
#include "core/report/report.h"

namespace flipscope {

namespace {

using csv::field;
using csv::number;
using csv::optional_number;

std::string probe_value(const ProbeColumn& column, const ProbeMetrics& probe)
{
    const auto value = column.value(probe);
    if (!value)
        return "";
    return column.kind == ProbeColumn::Kind::Real ? number(*value)
                                                  : fmt::format("{}", static_cast<std::int64_t>(*value));
}

const char* state_name(HeatmapCell::State state)
{
    switch (state) {
    case HeatmapCell::State::Value:
        return "value";
    case HeatmapCell::State::Empty:
        return "no probes";
    case HeatmapCell::State::Invalid:
        return "invalid";
    case HeatmapCell::State::Infinite:
        return "infinite";
    case HeatmapCell::State::NotComparable:
        return "not comparable";
    case HeatmapCell::State::Pending:
        return "not computed";
    }
    return "";
}

} // namespace

std::string probes_csv(const Analysis& analysis)
{
    std::string csv = "run";
    for (const auto& column : probe_columns())
        csv += fmt::format(",{}", column.name);
    csv += '\n';
    for (const auto& run : analysis.runs)
        for (const auto& probe : run.table->probes) {
            csv += field(run.name);
            for (const auto& column : probe_columns())
                csv += ',' + probe_value(column, probe);
            csv += '\n';
        }
    return csv;
}

std::string windows_csv(const Analysis& analysis)
{
    std::string csv = "run,start,end,n,n_invalid,flips,flips_tied,flip_rate,flip_low,flip_high";
    for (const auto* name : {"kl_pq", "kl_qp", "js", "tv"})
        for (const auto* statistic : {"mean", "median", "p90", "p95", "p99", "p999", "max", "n_infinite"})
            csv += fmt::format(",{}_{}", name, statistic);
    const bool pieces = analysis.by != Partition::Windows;
    csv += ",top5_overlap,dp_mean";
    csv += pieces ? ",kind,label\n" : "\n";
    for (const auto& run : analysis.runs) {
        const auto& rows = pieces ? run.pieces : run.windows;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const WindowStats& w = rows[i];
            csv += fmt::format("{},{},{},{},{},{},{},{},{},{}", field(run.name), w.start, w.end, w.n, w.n_invalid,
                               w.flips, w.flips_tied, optional_number(w.flip_rate),
                               optional_number(w.flip_interval.low), optional_number(w.flip_interval.high));
            for (const auto* d : {&w.kl_pq, &w.kl_qp, &w.js, &w.tv}) {
                for (const double v : {d->mean, d->median, d->p90, d->p95, d->p99, d->p999, d->max})
                    csv += ',' + optional_number(v);
                csv += fmt::format(",{}", d->n_infinite);
            }
            csv += fmt::format(",{},{}", optional_number(w.top5_overlap), optional_number(w.dp_mean));
            if (pieces)
                csv += fmt::format(",{},{}", field(analysis.pieces[i].kind), field(analysis.pieces[i].label));
            csv += '\n';
        }
    }
    return csv;
}

std::string heatmap_csv(const HeatmapGrid& grid)
{
    std::string csv = "run,start,end,metric,unit,value,low,high,n,flips,n_invalid,state";
    csv += grid.pieces.empty() ? "\n" : ",kind,label\n";
    // A share is written as 0..1, so its unit is none, whatever the screen shows.
    const std::string unit = grid.metric.share ? "" : grid.metric.unit;
    for (const auto& row : grid.rows)
        for (std::size_t c = 0; c < row.cells.size(); ++c) {
            const auto& cell = row.cells[c];
            csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}", field(row.name), grid.starts[c], grid.ends[c],
                               grid.metric.name, unit, optional_number(cell.value), optional_number(cell.interval.low),
                               optional_number(cell.interval.high), cell.n, cell.flips, cell.n_invalid,
                               state_name(cell.state));
            if (!grid.pieces.empty())
                csv += fmt::format(",{},{}", field(grid.pieces[c].kind), field(grid.pieces[c].label));
            csv += '\n';
        }
    return csv;
}

} // namespace flipscope
