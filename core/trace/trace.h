// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/file.h"
#include "core/base/finding.h"
#include "core/trace/rows.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flipscope {

/// Byte strings stored end to end: string i is bytes[offsets[i], offsets[i+1]). May hold any bytes, also part of a
/// UTF-8 character. Empty offsets = not stored.
struct ByteStrings {
    std::string bytes;
    std::vector<std::uint64_t> offsets;

    std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
    bool empty() const { return offsets.empty(); }
    std::string_view operator[](std::size_t i) const
    {
        return std::string_view(bytes).substr(offsets[i], offsets[i + 1] - offsets[i]);
    }
};

/// Stands for an id that the source of a trace does not tell: it agrees with any other, and it is said.
inline constexpr std::int32_t unknown_id = -1;

/// The forced history: one id per position.
struct TokenHistory {
    std::vector<std::int32_t> ids;                              ///< unknown_id where the source has none
    ByteStrings text;                                           ///< empty, or one string per position
    std::string tokenizer, chat_template_sha256, prompt_sha256; ///< empty = not stated
};

/// The bytes of every id; optional in a trace.
struct Vocabulary {
    ByteStrings text;
    std::vector<std::int32_t> special;
};

/// Half-open range of token positions with a meaning.
struct Span {
    std::int64_t start = 0, end = 0;
    std::string kind;  ///< system, user, assistant, tool, thinking, tool_call, chunk
    std::string label; ///< for a tool call: its JSON
};

/// Rows of next-token logits (kind Full) or the best k of them (kind TopK) at some positions.
/// The row at position t is the answer after token t was fed: it predicts token t+1.
struct ProbeSet {
    enum class Kind { Full, TopK };
    std::string name; ///< "" for /probes, else the name of the /dense group
    Kind kind = Kind::Full;
    std::vector<std::int64_t> positions; ///< strictly increasing
    std::int64_t n_vocab = 0;            ///< columns of the logits; for TopK as stated, 0 = not stated
    std::int64_t k = 0;                  ///< TopK: columns of the lists
    std::string scoring, values;         ///< prefill / decode, raw / processed; empty = not stated
    std::optional<double> temperature;
    std::vector<std::int32_t> top1;          ///< argmax before storage rounding; empty = not stored
    std::vector<double> lse;                 ///< log-sum-exp before storage rounding; empty = not stored
    std::shared_ptr<const RowSource> rows;   ///< kind Full
    std::shared_ptr<const TopKSource> lists; ///< kind TopK

    std::int64_t size() const { return static_cast<std::int64_t>(positions.size()); }
};

/// A free-running continuation from a point of the history.
struct Generation {
    std::string group;              ///< name in the file; carries no order
    std::int64_t prefix_tokens = 0; ///< the first generated token has this position
    std::vector<std::int32_t> ids;
    ByteStrings text;
    std::vector<std::uint8_t> fed;                         ///< empty, or per id: 1 = fed, not generated
    std::int64_t k = 0;                                    ///< columns of top_ids / top_logprobs
    std::vector<std::int32_t> top_ids;                     ///< [ids.size() * k] or empty; -1 = missing
    std::vector<float> top_logprobs;                       ///< as top_ids, nats
    std::string sampler, finish_reason, parsed_tool_calls; ///< as stored; empty = not stated
};

struct StoredMetrics;

/// One run of one inference stack along one forced history (`trace-format` version 1, or another source read into the
/// same shape). Immutable after opening and safe to read from any number of threads; rows are fetched on demand.
struct Trace {
    std::filesystem::path path;
    FileStamp stamp;    ///< state of the file when it was opened
    std::string format; ///< "flipscope-trace 1", for a person
    std::string created, producer;
    std::string run_name; ///< the file's stem where the file states none

    TokenHistory tokens;
    /// Tokens from this position on were chosen by the run itself, not fed (a server's answer): two such histories may
    /// part there. -1 = all of it was fed.
    std::int64_t generated_from = -1;
    std::shared_ptr<const Vocabulary> vocabulary;         ///< null = not stored
    std::vector<Span> spans;                              ///< sorted by start
    ProbeSet probes;                                      ///< may be empty (a file of continuations only)
    std::vector<ProbeSet> dense;                          ///< sorted by name
    std::vector<std::pair<std::string, std::string>> run; ///< /run attributes as text, sorted by key
    std::vector<std::string> packages;
    std::string launch_log;
    std::vector<Generation> generations; ///< sorted by prefix_tokens, then group number

    /// A summary holds the likeliest tokens of each row in place of the rows, and the numbers of its runs.
    std::string summary_key; ///< names the baseline that was summarised, by content; empty = this is no summary
    std::vector<std::shared_ptr<const Trace>> others; ///< further runs in the same file, each a trace of its own
    std::shared_ptr<const StoredMetrics> metrics;     ///< a summarised run's numbers (core/trace/stored_metrics.h)

    std::string content_key; ///< hash over all attributes and small datasets (not the rows), hex
    Findings findings;       ///< what a person should know about this file

    /// Value of a /run key, or nullptr when the trace does not state it.
    const std::string* setting(std::string_view key) const;
};

using TracePtr = std::shared_ptr<const Trace>;

} // namespace flipscope
