// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/call.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

/// What became of a baseline's call in a run.
enum class Outcome : std::uint8_t {
    Same,
    ArgumentDiffers,
    OtherTool,
    Missing, ///< the baseline calls, the run does not
    Extra,   ///< the run calls, the baseline does not
    ArgumentsEmpty,
    Unclosed,
    Malformed,
    Repeated,        ///< the run calls again what it has just called
    ParserDisagrees, ///< the tokens hold the baseline's call, what the server made of it is another
};
inline constexpr std::size_t outcome_count = 10;

/// "same", "argument differs", "other tool", "missing", "extra", "arguments empty", "unclosed", "malformed",
/// "repeated", "parser disagrees".
std::string_view outcome_word(Outcome outcome);
/// One character that tells them apart without colour: "=", "≠", …
std::string_view outcome_symbol(Outcome outcome);
/// A sentence for a tooltip.
std::string_view outcome_description(Outcome outcome);

/// One side of a branching point: the token it took and how sure it was.
struct BranchSide {
    std::int32_t id = -1;              ///< -1: this side had ended
    std::string text;                  ///< exact bytes
    std::vector<std::int32_t> top_ids; ///< the stored list, best first; may be empty
    std::vector<double> top_logprobs;
    // NaN = no list is stored, or the token is not in it:
    double margin = std::numeric_limits<double>::quiet_NaN();        ///< best minus second log probability, nats
    double p_baseline_id = std::numeric_limits<double>::quiet_NaN(); ///< probability of the baseline's token here
    double p_id = std::numeric_limits<double>::quiet_NaN();          ///< probability of the run's token here
    double p_unlisted = std::numeric_limits<double>::quiet_NaN();    ///< a token not in the list has at most this
    bool tied = false;                                               ///< the two best are equal
    bool one_step = false;         ///< the two best are one step of the logits' 16-bit type apart (see tool-calls.md)
    Inside inside = Inside::Prose; ///< what the token is part of on this side
    std::string path;              ///< of the key or value it is part of
};

/// Where two continuations from one prefix part.
struct Divergence {
    std::int64_t step = 0;     ///< tokens after the prefix
    std::int64_t position = 0; ///< prefix_tokens + step
    BranchSide baseline, run;
    bool fed = false; ///< they part in what was fed, not in what a model wrote

    bool tied() const { return baseline.tied || run.tied; }
    bool one_step() const { return baseline.one_step || run.one_step; }
    /// What the baseline's token is part of; the run's where the baseline's is prose or has ended.
    Inside inside() const;
    const std::string& path() const;
};

/// A setting that may explain an outcome.
struct SettingNote {
    std::string key, baseline, run; ///< "not stated" where missing
};

/// A row of the Tool calls page: one call of the baseline, or one extra call of the run.
struct CallRow {
    std::int64_t continuation = 0;             ///< index into RunCalls::continuations
    std::optional<std::size_t> baseline_index; ///< the baseline's call, counted over all compared continuations
    std::optional<std::size_t> baseline_call;  ///< index into the baseline continuation's found.calls
    std::optional<std::size_t> run_call;       ///< index into the run continuation's found.calls
    std::int64_t prefix_tokens = 0;
    std::int64_t start_position = 0; ///< of the run's call; of the baseline's where it is missing
    Outcome outcome = Outcome::Same;
    std::string name;                                 ///< the tool; the baseline's, the run's for an extra call
    std::string run_name;                             ///< empty where the run has no call
    std::string path;                                 ///< of the first differing argument; may be empty
    std::optional<std::string> baseline_value, value; ///< there; none = no such argument
    bool parser_disagrees = false;                    ///< also where the model itself diverged
    std::string parser_note;                          ///< what the server made of it
    bool readings_differ = false;                     ///< strict and tolerant readers see the run's call differently
    std::string note;                                 ///< what else a person should know; one sentence or empty
    /// Closed loop and broken: whether later calls come back to the baseline's. None: nothing comes after it.
    std::optional<bool> recovers;

    bool broken() const { return outcome != Outcome::Same; }
};

} // namespace flipscope
