// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/dialect.h"

#include <string>
#include <string_view>
#include <vector>

// Streams of tokens for the tests of this folder, and calls as one line of text.
namespace streams {

/// A stream and what is in it. Texts are written by hand after each model's documentation (resources/manual/
/// tool-calls.md); what is expected is hand-written too.
struct Case {
    const char* name;
    const char* dialect;
    const char* text;
    /// Calls with "; " between them: "good f($.a=1, $.b=x)", "unclosed f()". Behind it "?" = tolerant readers do not
    /// take it either, "~" = strict and tolerant readers disagree. "mention" for each marker that starts no call.
    const char* expected;
    bool detected = true; ///< detection alone finds the dialect
};

/// Markers of the dialect and end-of-turn tokens are one token each, everything else is cut every three bytes, so that
/// characters and words are split.
flipscope::TokenStream tokenised(std::string_view text, const flipscope::Dialect& dialect);

std::string shown(const flipscope::Recognised& found);

/// What must be so for any stream; empty, or what is wrong.
std::string broken_invariant(const flipscope::TokenStream& stream, const flipscope::Recognised& found);

const std::vector<Case>& tagged_cases(); ///< Hermes, Qwen3-Coder, GLM, Granite, DSML
const std::vector<Case>& token_cases();  ///< Mistral, DeepSeek, Kimi, harmony, Gemma
const std::vector<Case>& plain_cases();  ///< Llama, Functionary, LFM2, JSON

} // namespace streams
