// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/probe_metrics.h"
#include "core/trace/logit_type.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace flipscope {

/// What is known of one next-token distribution: some ids and their log probabilities (nats, of the whole softmax).
struct ListedProbe {
    std::vector<std::int32_t> ids; ///< each once; largest log probability first, equal ones by id
    std::vector<double> logprobs;
    std::size_t k = 0; ///< how many of them count as a list for `id_overlap`

    // Only where the list was cut from a full row:
    bool full = false;
    double log_rest = std::numeric_limits<double>::quiet_NaN(); ///< ln of the mass outside the ids asked for
    std::int32_t rank_of_first = -1; ///< rank in the row of the first id asked for; -1 = none
};

/// A stored top-k list. Entries without a value (id < 0, log probability NaN or -inf) and repeated ids are left out, so
/// a list may come back shorter than it was: its effective k.
ListedProbe listed_probe(std::span<const std::int32_t> ids, std::span<const float> logprobs);

/// A full row seen through `ids` (the `ids` of the other side's ListedProbe): those that the row has, together with the
/// row's own ten best and `next_id` (-1 = none). A row that is no distribution (a NaN, a +inf or nothing but -inf)
/// gives an empty list.
ListedProbe restrict_row(const std::byte* row, LogitType type, std::int32_t vocab, std::span<const std::int32_t> ids,
                         std::int32_t next_id);

/// Metrics of the coarsened distributions: each id known on both sides is a cell of its own, everything else is one
/// more cell, whose mass comes from the kept mass in log space. No number is made up for an id that one side does not
/// list. Merging cells can only lower a divergence, so kl_pq, kl_qp, js and tv are lower bounds.
///
/// Where the kept mass of a list is 1 but for rounding (within 2^-21 of it), nothing can be said about its rest, and
/// the rest joins the least likely known id on both sides: a still coarser, still honest bound.
///
/// Also filled: argmaxes, flip, tied, margin (the difference of log probabilities is that of logits); p_top, q_top,
/// rank, nll_p, nll_q, dp where the ids in question are listed (else NaN, rank -1); overlaps where both sides have so
/// many ids; kept_p, kept_q, id_overlap (ids known on both sides over the longer list's k). Entropies, lse_* and
/// max_abs_dlogit are NaN. `differing` counts ids whose float32 values differ by bits, and, between two lists, ids
/// that only one of them has. valid = 0 where a side has no values at all. The remaining fields are not touched by
/// engines and are 0 here, `flip_top1` -1, outside_* NaN.
ProbeMetrics topk_metrics(const ListedProbe& p, const ListedProbe& q, std::int32_t next_id);

/// The same for two stored lists.
ProbeMetrics topk_metrics(std::span<const std::int32_t> ids_p, std::span<const float> logprobs_p,
                          std::span<const std::int32_t> ids_q, std::span<const float> logprobs_q, std::int32_t next_id);

} // namespace flipscope
