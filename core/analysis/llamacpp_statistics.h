// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/alignment.h"
#include "core/base/error.h"
#include "core/base/job.h"
#include "core/trace/trace.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// The numbers that llama.cpp's `llama-perplexity --kl-divergence` prints, by its formulas and in its arithmetic
// (tools/perplexity/perplexity.cpp): float32 for the rows, double for the sums, base probabilities below e^-16 left
// out. They stand beside our own, which are defined in resources/manual/metrics.md; KLD here may be slightly negative.
namespace flipscope {

/// One scored token. `base` are the decoded log-probabilities of a base file, `logits` those of the run: with any
/// offset, or, if `normalised`, decoded log-probabilities too. These sum to more than 1, since the floor lifts the
/// unlikely ones; normalising them again would move every value away from what the tool saw.
struct LlamacppToken {
    float nll = 0, nll_base = 0; ///< -ln of the probability of the history's own next token
    float dp = 0;                ///< probability of that token, run minus base
    double kld = 0;
    bool same_top = false;
};
LlamacppToken llamacpp_token(std::span<const float> base, std::span<const float> logits, std::int32_t next,
                             bool normalised = false);

/// A mean, and its standard error where there are more than 10 tokens (else 0).
struct Uncertain {
    double value = 0, error = 0;
};

/// Cumulative figures at the end of a chunk: one line of the tool's table.
struct LlamacppChunk {
    std::int64_t chunk = 0; ///< from 1
    Uncertain ppl, ln_ratio, kld, dp_rms, same_top;
};

struct LlamacppStatistics {
    std::int64_t n = 0;         ///< scored tokens
    std::int64_t n_invalid = 0; ///< tokens left out, since a row holds a NaN or an infinity where none may be
    bool run_is_codec = false;  ///< the run, too, comes from a base file: a rounded copy of what the tool saw
    std::vector<LlamacppChunk> chunks;
    Uncertain ppl_q, ppl_base, ln_ratio, ratio, difference;
    double correlation = 0; ///< of ln PPL(Q) and ln PPL(base), 0..1
    Uncertain kld_mean, dp_mean, dp_rms, same_top;
    /// Maximum, 99.9, 99, 95, 90, 75, 50 (median), 25, 10, 5, 1, 0.1 %, minimum. (The tool prints no 75 and 25 % of
    /// KLD.)
    static constexpr std::array<double, 13> shares = {1, .999, .99, .95, .9, .75, .5, .25, .1, .05, .01, .001, 0};
    std::array<double, 13> kld{}, dp{};
};

/// The tool prints its final statistics from so many tokens on.
inline constexpr std::int64_t llamacpp_least_tokens = 100;

/// Over all matched probes; `baseline` is one for which is_llamacpp_base() holds. NotComparable where the vocabularies
/// differ: the tool would go on and print nonsense.
Result<LlamacppStatistics> llamacpp_statistics(const Trace& baseline, const Trace& run, const Alignment& alignment,
                                               const Job& job = {});

/// As the tool prints it, with what is to be known about it in front.
std::string llamacpp_text(const LlamacppStatistics& statistics);

} // namespace flipscope
