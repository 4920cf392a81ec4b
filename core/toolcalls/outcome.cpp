// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/outcome.h"

#include <array>

namespace flipscope {

namespace {

struct OutcomeText {
    std::string_view word, symbol, description;
};

constexpr std::array<OutcomeText, outcome_count> texts = {{
    {"same", "=", "The run makes the baseline's call, with the same arguments."},
    {"argument differs", "≠", "The same tool with another value, a missing argument or one more."},
    {"other tool", "⇄", "The run calls another tool here."},
    {"missing", "∅", "The baseline calls a tool here, the run does not."},
    {"extra", "+", "The run makes a call that the baseline does not make."},
    {"arguments empty", "○", "The same tool, without any of its arguments."},
    {"unclosed", "…", "The run's call does not end: the turn or the text ended inside it, or its end tag is missing."},
    {"malformed", "✗", "The run's call ends, but is not written as its format demands."},
    {"repeated", "↻", "The run makes again the call that it has just made."},
    {"parser disagrees", "⚡",
     "The run's tokens hold the baseline's call; what the server's parser made of them is "
     "another."},
}};

const OutcomeText& text_of(Outcome outcome)
{
    return texts[static_cast<std::size_t>(outcome)];
}

} // namespace

std::string_view outcome_word(Outcome outcome)
{
    return text_of(outcome).word;
}

std::string_view outcome_symbol(Outcome outcome)
{
    return text_of(outcome).symbol;
}

std::string_view outcome_description(Outcome outcome)
{
    return text_of(outcome).description;
}

Inside Divergence::inside() const
{
    return baseline.id < 0 || baseline.inside == Inside::Prose ? run.id < 0 ? baseline.inside : run.inside
                                                               : baseline.inside;
}

const std::string& Divergence::path() const
{
    return baseline.path.empty() ? run.path : baseline.path;
}

} // namespace flipscope
