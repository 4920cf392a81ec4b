// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolcalls/dialect.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace flipscope {

/// One continuation of a trace and the calls in it. Its first token has the position `prefix_tokens`.
struct ContinuationCalls {
    std::size_t generation = 0; ///< index into Trace::generations
    std::int64_t prefix_tokens = 0;
    TokenStream stream;
    Recognised found;
    bool closed_loop = false; ///< tool answers were fed
    /// As the server parsed it; null where the trace does not say.
    std::optional<std::vector<Reading>> server;
    std::string server_problem; ///< why the server's calls cannot be read; one sentence or empty
};

/// All calls of a trace: of its forced history and of its continuations.
struct TraceCalls {
    TracePtr trace;
    const Dialect* dialect = nullptr; ///< null = no calls in any known dialect
    bool chosen = false;              ///< the dialect was asked for, not detected
    TokenStream history;              ///< the whole forced history
    Recognised in_history;            ///< only what the model itself wrote (assistant spans, where the trace has spans)
    std::vector<ContinuationCalls> continuations; ///< in the order of Trace::generations

    std::size_t calls() const; ///< in the continuations
};

using TraceCallsPtr = std::shared_ptr<const TraceCalls>;

/// Reads a trace. `dialect` null: detected from its streams and its `tool_parser` setting; `texts` knows the bytes of
/// ids (TokenTexts over the traces that are open, this one first). Pure and quick: no logits are read.
TraceCallsPtr read_calls(const TracePtr& trace, const TokenTexts& texts, const Dialect* dialect = nullptr);

} // namespace flipscope
