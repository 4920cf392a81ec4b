// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/analysis.h"
#include "core/analysis/heatmap.h"
#include "core/analysis/probe_chart.h"
#include "core/formats/kld_log.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace flipscope {

/// JSON as a file or a terminal gets it. Names and paths may hold any bytes, JSON may not: what is no UTF-8 is
/// replaced.
std::string json_text(const nlohmann::ordered_json& json);

/// The contract of `flipscope analyze --json` (format "flipscope-analysis", version 1).
nlohmann::ordered_json analysis_json(const Analysis& analysis);
/// The readable table of `flipscope analyze`.
std::string analysis_text(const Analysis& analysis);
/// `run,position` and then probe_columns(); 17 significant digits, inf, nan or nothing, booleans 0/1.
std::string probes_csv(const Analysis& analysis);
std::string windows_csv(const Analysis& analysis);
std::string heatmap_csv(const HeatmapGrid& grid);
/// What the charts over single probes draw, a row per run and probe in their range (distribution: and bin).
std::string position_csv(const ProbeChartData& data);
std::string margin_csv(const ProbeChartData& data);
std::string distribution_csv(const ProbeChartData& data);
std::string agreement_csv(const ProbeChartData& data);
/// The cells as a table that people paste into issues and model cards.
std::string heatmap_markdown(const HeatmapGrid& grid);

/// `flipscope info`.
nlohmann::ordered_json info_json(const Trace& trace);
std::string info_text(const Trace& trace);
/// The same of a printout of llama-perplexity.
nlohmann::ordered_json kld_log_json(const KldLog& log);
std::string kld_log_text(const KldLog& log);

} // namespace flipscope
