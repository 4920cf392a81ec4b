// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/metrics_table.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

// What lists of the likeliest tokens leave out, where the full rows of the same run are there to tell.
namespace flipscope {

/// Means over the valid probes of a comparison of lists; NaN = none.
struct ListFacts {
    double kept_p = 0, kept_q = 0; ///< probability of the ids known on both sides, 0..1
    double id_overlap = 0;         ///< share of the listed ids known on both sides, 0..1
};
ListFacts list_facts(const MetricsTable& table);

struct BiasInput {
    TracePtr trace;
    TablePtr table; ///< may be null
};

/// One run that is there as full rows and as lists, over the probes that both have.
struct ListBias {
    std::size_t full = 0, lists = 0;  ///< indices into the inputs
    std::int64_t n = 0;               ///< probes with a finite number on both sides
    double kl_full = 0, kl_lists = 0; ///< means of KL(P‖Q) in nats; that of the lists is a lower bound
    double largest_gap = 0;           ///< at one probe, nats
    std::int64_t flips_full = 0, flips_lists = 0;
    ListFacts facts;
};

/// Two traces are of one run where their own names and all their settings are equal.
std::vector<ListBias> list_bias(std::span<const BiasInput> runs);

/// "mean KL(P‖Q) 0.0123 nats of lists, 0.0140 of full rows (12.1 % under), …", a sentence without a name.
std::string bias_text(const ListBias& bias);

} // namespace flipscope
