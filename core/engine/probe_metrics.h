// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Plain data and plain C++17: this header is also compiled by nvcc and crosses the border to the CUDA module.

#include <cstdint>

namespace flipscope {

/// The numbers of one probe: P is the baseline's next-token distribution, Q the run's, both softmax of the stored
/// logits l and k at temperature 1, over the ids that both have. Natural logarithms (nats). NaN = no such value.
/// Definitions and accuracy: resources/manual/metrics.md.
struct ProbeMetrics {
    // --- filled by an engine, from the rows alone ---
    double kl_pq;        ///< sum p (ln p - ln q); +inf where p > 0 meets q = 0
    double kl_qp;        ///< sum q (ln q - ln p)
    double js;           ///< Jensen-Shannon divergence, <= ln 2
    double tv;           ///< 1/2 sum |p - q|
    double margin;       ///< largest minus second largest logit of P
    double p_top, q_top; ///< p and q of P's top token
    double entropy_p, entropy_q;
    double nll_p, nll_q;   ///< -ln p(next), -ln q(next) of the history's own next token; NaN where there is none
    double dp;             ///< q(next) - p(next)
    double max_abs_dlogit; ///< max |l - k|; 0 where both are the same infinity
    double lse_p, lse_q;   ///< log-sum-exp of the compared part of the rows
    double top5_overlap, top10_overlap; ///< |top-k(P) and top-k(Q)| / k; equal logits ordered by id
    std::int64_t differing;             ///< elements unequal after exact widening, by bits (-0 and +0 differ)
    std::int32_t argmax_p, argmax_q;    ///< lowest id among the largest
    std::int32_t rank;                  ///< rank in Q of P's top token, 1 = no flip; ties by id
    std::uint8_t flip;                  ///< argmax_p != argmax_q
    std::uint8_t tied;                  ///< the largest logit occurs twice in P's or in Q's row
    std::uint8_t valid; ///< 0: a NaN, a +inf or nothing but -inf in either row; all numbers above are then NaN,
                        ///< ids -1, flip 0, except `differing`, which still counts

    // --- filled by the analysis ---
    std::int8_t flip_top1;       ///< the `top1` of the two traces differs; -1 where one has none
    std::int64_t position;       ///< t, the last token fed
    double outside_p, outside_q; ///< probability mass on ids the other trace does not have; NaN = equal vocabularies
    double kept_p, kept_q;       ///< top-k traces: mass of the ids known on both sides; NaN = full rows
    double id_overlap;           ///< top-k traces: |ids known on both sides| / k; NaN = full rows
};

} // namespace flipscope
