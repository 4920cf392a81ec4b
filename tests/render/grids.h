// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"
#include "core/analysis/probe_chart.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

/// Grids made by hand for the rendering tests: no trace, no engine, every number known.
namespace flipscope::test {

inline HeatmapCell value_cell(double value, std::int64_t n = 250)
{
    HeatmapCell cell;
    cell.state = HeatmapCell::State::Value;
    cell.value = value;
    cell.n = n;
    cell.interval = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
    return cell;
}

inline HeatmapCell state_cell(HeatmapCell::State state, std::int64_t n = 0, std::int64_t n_invalid = 0)
{
    HeatmapCell cell;
    cell.state = state;
    cell.value = std::numeric_limits<double>::quiet_NaN();
    cell.interval = {cell.value, cell.value};
    cell.n = n;
    cell.n_invalid = n_invalid;
    return cell;
}

inline HeatmapCell flips_cell(std::int64_t flips, std::int64_t n = 250)
{
    HeatmapCell cell = value_cell(static_cast<double>(flips) / static_cast<double>(n), n);
    cell.flips = flips;
    cell.interval = wilson_95(flips, n);
    return cell;
}

inline HeatmapGrid empty_grid(std::int64_t window, int columns, std::int64_t n_tokens)
{
    HeatmapGrid grid;
    grid.metric = *find_window_metric("flip_rate").value();
    grid.window_tokens = window;
    grid.n_tokens = n_tokens;
    grid.baseline = "triton";
    for (int c = 0; c < columns; ++c) {
        grid.starts.push_back(c * window);
        grid.ends.push_back(std::min((c + 1) * window, n_tokens));
    }
    return grid;
}

/// Thirteen windows of 8,000 tokens, runs as a comparison of attention backends, caches and weights would have them.
inline HeatmapGrid agent_grid()
{
    HeatmapGrid grid = empty_grid(8000, 13, 101'376);
    const auto row = [&](const std::string& name, const std::string& note, std::vector<int> flips) {
        HeatmapRow r{name, note, {}};
        for (const int f : flips)
            r.cells.push_back(flips_cell(f));
        grid.rows.push_back(std::move(r));
    };
    row("triton-2", "bit-identical", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    row("fa2", "", {0, 1, 2, 10, 3, 9, 4, 2, 6, 11, 5, 6, 3});
    row("flashinfer", "", {0, 0, 3, 8, 4, 12, 3, 1, 5, 9, 7, 4, 2});
    row("kv-int8", "", {1, 2, 3, 7, 6, 14, 9, 8, 12, 18, 15, 14, 13});
    row("kv-int4", "", {4, 8, 9, 16, 22, 41, 48, 39, 52, 71, 78, 100, 82});
    row("w-nvfp4", "2 invalid", {6, 9, 14, 22, 31, 52, 60, 58, 71, 92, 110, 125, 102});
    grid.spans = {{0, 3100, "system", ""},
                  {3100, 7400, "user", ""},
                  {7400, 21000, "assistant", ""},
                  {8200, 13900, "thinking", ""},
                  {20100, 20900, "tool_call", R"({"name":"run","arguments":{"command":"show arp <brief>"}})"},
                  {21000, 39500, "tool", ""},
                  {39500, 52000, "assistant", ""},
                  {51000, 51900, "tool_call", R"({"name":"run","arguments":{"command":"show run"}})"},
                  {52000, 76000, "tool", ""},
                  {76000, 81000, "user", ""},
                  {81000, 101376, "assistant", ""},
                  {82000, 90000, "thinking", ""},
                  {99800, 101000, "tool_call", R"({"name":"done"})"}};
    return grid;
}

/// Every state a cell can be in.
inline HeatmapGrid gaps_grid()
{
    using State = HeatmapCell::State;
    HeatmapGrid grid = empty_grid(4096, 8, 32'000);
    grid.metric = *find_window_metric("kl_pq_mean").value();
    grid.baseline = "base";
    HeatmapRow a{"with-gaps", "", {}}, b{"broken", "3 invalid", {}},
        c{"other-prompt", "token 41 is 318 here, 262 there", {}}, d{"waiting", "", {}}, e{"zero", "", {}};
    for (int i = 0; i < 8; ++i) {
        a.cells.push_back(i == 2 || i == 5 || i == 6 ? state_cell(State::Empty) : value_cell(0.002 * (i + 1), 128));
        b.cells.push_back(i == 3   ? state_cell(State::Invalid, 0, 128)
                          : i == 4 ? state_cell(State::Infinite, 128)
                                   : value_cell(std::pow(10.0, -6 + i), 127));
        c.cells.push_back(state_cell(State::NotComparable));
        d.cells.push_back(state_cell(State::Pending));
        e.cells.push_back(value_cell(0, 128));
    }
    grid.rows = {a, b, c, d, e};
    return grid;
}

/// One run less another: above and below 0, one window without either.
inline HeatmapGrid difference_grid()
{
    HeatmapGrid grid = agent_grid();
    const HeatmapGrid runs = grid;
    grid.rows.clear();
    grid.metric.title = "Flip rate, A − B";
    grid.metric.counts_flips = false;
    for (const auto& [a, b] : {std::pair(4, 5), std::pair(5, 4), std::pair(1, 2)}) {
        HeatmapRow row{
            runs.rows[static_cast<std::size_t>(a)].name + " − " + runs.rows[static_cast<std::size_t>(b)].name, "", {}};
        for (std::size_t c = 0; c < runs.starts.size(); ++c)
            row.cells.push_back(c == 6 ? state_cell(HeatmapCell::State::Empty)
                                       : value_cell(runs.rows[static_cast<std::size_t>(a)].cells[c].value -
                                                    runs.rows[static_cast<std::size_t>(b)].cells[c].value));
        grid.rows.push_back(std::move(row));
    }
    return grid;
}

/// Segments as columns, two rows grouped by a setting, one the noise floor.
inline HeatmapGrid segments_grid()
{
    HeatmapGrid grid = agent_grid();
    grid.rows.resize(3);
    grid.by = Partition::Segments;
    grid.window_tokens = 0;
    grid.starts.clear();
    grid.ends.clear();
    Trace history;
    history.tokens.ids.resize(101'376);
    history.spans = grid.spans;
    grid.pieces = *pieces_of(history, Partition::Segments);
    for (const Piece& piece : grid.pieces) {
        grid.starts.push_back(piece.start);
        grid.ends.push_back(piece.end);
    }
    grid.rows[0].floor = true;
    grid.rows[0].note = "noise floor";
    grid.rows[1].group = grid.rows[2].group = "attention_backend: flash";
    for (HeatmapRow& row : grid.rows) {
        const auto cells = row.cells;
        row.cells.clear();
        for (std::size_t c = 0; c < grid.pieces.size(); ++c)
            row.cells.push_back(c == 4 ? state_cell(HeatmapCell::State::Empty) : cells[c % cells.size()]);
    }
    return grid;
}

/// Three runs of 400 probes: a repeat, one with single steps and ties, one that breaks in a burst.
inline ProbeChartData made_probes()
{
    ProbeChartData data;
    data.baseline = "triton";
    data.type = LogitType::BF16;
    data.n_tokens = 12'800;
    data.window_tokens = 2'000;
    std::uint32_t state = 7;
    const auto random = [&] { return static_cast<double>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24); };
    for (int r = 0; r < 3; ++r) {
        auto table = std::make_shared<MetricsTable>();
        for (int t = 31; t < 12'800; t += 32) {
            ProbeMetrics p{};
            p.position = t;
            p.valid = 1;
            p.flip_top1 = -1;
            p.p_top = 0.4;
            p.lse_p = 20 - std::log(0.4);
            p.margin = std::round(8 * 8 * random() * random()) / 8;
            const bool burst = r == 2 && t > 7000 && t < 8200;
            p.kl_pq = r == 0 ? 0 : std::pow(10, -6 + 2 * r + 3 * random() - p.margin / 4 + (burst ? 2 : 0));
            p.flip = r > 0 && p.margin < (burst ? 3 : 0.2) * random() * r;
            p.tied = p.margin == 0;
            p.rank = p.flip ? 2 : 1;
            table->probes.push_back(p);
        }
        data.runs.push_back({r == 0 ? "triton-2" : r == 1 ? "fa2" : "kv-int4", table, "", r == 0});
    }
    return data;
}

} // namespace flipscope::test
