// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/heatmap.h"

#include <cmath>
#include <limits>
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

} // namespace flipscope::test
