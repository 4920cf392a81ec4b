// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <vector>

namespace flipscope {

/// One id at one probe, seen from both sides.
struct TokenShare {
    std::int32_t id = -1;
    double p = 0, q = 0;                 ///< NaN = not in a top-k list
    std::int64_t rank_p = 0, rank_q = 0; ///< 1 = largest; 0 = not known
    double logit_p = 0, logit_q = 0;     ///< stored logits; top-k traces: log probabilities
    double kl_term = 0;                  ///< p (ln p - ln q) - p + q: >= 0 each, and they sum to KL(P‖Q)
};

/// What the probe panel shows; read from the rows on demand, in FP64.
struct ProbeDetail {
    std::int64_t position = 0;
    std::vector<TokenShare> top_p;         ///< the k largest of P
    std::vector<TokenShare> top_q;         ///< the k largest of Q
    std::vector<TokenShare> largest_terms; ///< the k ids that make up most of KL(P‖Q)
    TokenShare next;                       ///< the history's own next token; id -1 = none
    double kl_pq = 0;
};

/// Probes are looked up by position, in /probes first, then in the dense groups.
Result<ProbeDetail> probe_detail(const Trace& baseline, const Trace& run, std::int64_t position, int k);

} // namespace flipscope
