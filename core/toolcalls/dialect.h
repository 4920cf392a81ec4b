// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/toolcalls/call.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flipscope {

class CallWriter;

/// One way of writing tool calls. Adding one is a new file in core/toolcalls/dialects/ and a line in dialects().
/// Facts and sources: resources/manual/tool-calls.md.
struct Dialect {
    std::string_view name;  ///< for --dialect and JSON: "hermes"
    std::string_view title; ///< for a person: "Hermes, Qwen 2.5 and 3: JSON in <tool_call>"
    /// Its markers. One of the first `openers` of them has to occur where a call begins (0 = it can begin without).
    std::vector<std::string_view> markers{};
    std::size_t openers = 0;
    /// The markers are control tokens: where the vocabulary has them, the same letters in several tokens are prose.
    bool control = false;
    /// What servers call their parsers for it ("qwen25", "llama3_json"), in lower case without "-" and "_".
    std::vector<std::string_view> parsers{};
    /// Finds the calls of one turn: a stretch without end-of-turn tokens.
    void (*read)(CallWriter& turn) = nullptr;
    /// Takes plain JSON for calls: considered only where nothing else is found.
    bool last_resort = false;
};

/// All dialects, the more particular first.
const std::vector<Dialect>& dialects();
/// By name; null where there is none.
const Dialect* find_dialect(std::string_view name);
/// For --dialect: the dialect, null for "auto", or a sentence that lists what there is.
Result<const Dialect*> parse_dialect(std::string_view name);
/// The dialect that a server's tool parser setting ("hermes", "llama3_json", "qwen3_coder") stands for, else null.
const Dialect* dialect_of_parser(std::string_view tool_parser);

/// Whether a token ends a turn ("<|im_end|>", "</s>", …).
bool ends_turn(std::string_view token);

/// A stretch of a stream.
struct Section {
    enum class Kind : std::uint8_t { Thinking, Prose, Call };
    Kind kind = Kind::Prose;
    ByteRange bytes;
    TokenRange tokens;
    std::size_t call = 0; ///< Kind::Call: index into Recognised::calls
};

/// What a stream holds, in the order of the text.
struct Recognised {
    const Dialect* dialect = nullptr;
    std::vector<Call> calls;       ///< good, unclosed and malformed ones
    std::vector<Call> mentions;    ///< markers that start no call
    std::vector<Section> sections; ///< cover the stream without gaps
};

/// Reads a stream in one dialect. Pure; linear in the length of the text but for hostile input.
Recognised recognise(const TokenStream& stream, const Dialect& dialect);

/// The dialect that reads the most calls out of the streams, or null where no stream holds any. `hint` (may be null)
/// wins where others read no more.
const Dialect* detect_dialect(std::span<const TokenStream* const> streams, const Dialect* hint = nullptr);

/// Calls that a server parsed, as `tool_calls` of its answer: [{"name","arguments"}], [{"function":{…}}], an object
/// with "tool_calls", arguments as object or as a string that holds one. Empty text, "null" and "[]": none.
Result<std::vector<Reading>> read_server_calls(std::string_view json);

} // namespace flipscope
