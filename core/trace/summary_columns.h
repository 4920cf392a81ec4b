// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/probe_metrics.h"

#include <array>

// The columns of a summary's metrics, by the names of the metrics manual: written by writer, read by reader.
namespace flipscope::summary {

struct RealColumn {
    const char* name;
    double ProbeMetrics::*field;
};

/// NaN where there is no such value; a column of NaN alone is not written.
inline constexpr std::array<RealColumn, 22> real_columns = {{
    {"kl_pq", &ProbeMetrics::kl_pq},
    {"kl_qp", &ProbeMetrics::kl_qp},
    {"js", &ProbeMetrics::js},
    {"tv", &ProbeMetrics::tv},
    {"margin", &ProbeMetrics::margin},
    {"p_top", &ProbeMetrics::p_top},
    {"q_top", &ProbeMetrics::q_top},
    {"entropy_p", &ProbeMetrics::entropy_p},
    {"entropy_q", &ProbeMetrics::entropy_q},
    {"nll_p", &ProbeMetrics::nll_p},
    {"nll_q", &ProbeMetrics::nll_q},
    {"dp", &ProbeMetrics::dp},
    {"max_abs_dlogit", &ProbeMetrics::max_abs_dlogit},
    {"lse_p", &ProbeMetrics::lse_p},
    {"lse_q", &ProbeMetrics::lse_q},
    {"top5_overlap", &ProbeMetrics::top5_overlap},
    {"top10_overlap", &ProbeMetrics::top10_overlap},
    {"outside_p", &ProbeMetrics::outside_p},
    {"outside_q", &ProbeMetrics::outside_q},
    {"kept_p", &ProbeMetrics::kept_p},
    {"kept_q", &ProbeMetrics::kept_q},
    {"id_overlap", &ProbeMetrics::id_overlap},
}};

} // namespace flipscope::summary
