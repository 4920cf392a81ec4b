// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/report.h"
#include "core/text/token_text.h"

#include <cmath>
#include <fmt/format.h>

namespace flipscope {

namespace {

/// A name in a cell: on one line, and its bars do not end the cell.
std::string cell_text(const std::string& name)
{
    std::string text;
    for (const char c : visible(name))
        text += c == '|' ? std::string("\\|") : std::string(1, c);
    return text;
}

std::string value_text(const WindowMetric& metric, const HeatmapCell& cell)
{
    switch (cell.state) {
    case HeatmapCell::State::Value:
        return metric.share ? fmt::format("{:.1f} %", cell.value * 100) : fmt::format("{:.3g}", cell.value);
    case HeatmapCell::State::Infinite:
        return "∞";
    case HeatmapCell::State::Invalid:
        return "NaN";
    case HeatmapCell::State::Empty:
    case HeatmapCell::State::NotComparable:
    case HeatmapCell::State::Pending:
        break;
    }
    return "–";
}

} // namespace

std::string heatmap_markdown(const HeatmapGrid& grid)
{
    std::string text = fmt::format("{}{}, windows of {} tokens, against {}\n\n| run |", grid.metric.title,
                                   grid.metric.unit.empty() ? "" : " in " + grid.metric.unit, grid.window_tokens,
                                   cell_text(grid.baseline));
    for (std::size_t w = 0; w < grid.starts.size(); ++w)
        text += fmt::format(" {}–{} |", grid.starts[w], grid.ends[w]);
    text += "\n|---|";
    for (std::size_t w = 0; w < grid.starts.size(); ++w)
        text += "---:|";
    text += '\n';
    for (const HeatmapRow& row : grid.rows) {
        text += "| " + cell_text(row.name) + " |";
        for (const HeatmapCell& cell : row.cells)
            text += ' ' + value_text(grid.metric, cell) + " |";
        text += '\n';
    }
    return text;
}

} // namespace flipscope
