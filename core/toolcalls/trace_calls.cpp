// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/trace_calls.h"

#include <algorithm>

namespace flipscope {

namespace {

/// Merged byte ranges of the spans of some kinds.
std::vector<ByteRange> ranges_of(const std::vector<Span>& spans, const TokenStream& stream,
                                 std::initializer_list<std::string_view> kinds)
{
    std::vector<ByteRange> ranges;
    for (const Span& span : spans) { // sorted by start
        const auto count = static_cast<std::int64_t>(stream.size());
        if (std::find(kinds.begin(), kinds.end(), span.kind) == kinds.end() || span.start < 0 || span.start >= count)
            continue;
        const ByteRange range{stream.starts[static_cast<std::size_t>(span.start)],
                              stream.starts[static_cast<std::size_t>(std::clamp(span.end, span.start, count))]};
        if (!ranges.empty() && range.begin < ranges.back().end)
            ranges.back().end = std::max(ranges.back().end, range.end);
        else if (!range.empty())
            ranges.push_back(range);
    }
    return ranges;
}

/// What was generated, where the rest was fed.
std::vector<ByteRange> generated(const std::vector<std::uint8_t>& fed, const TokenStream& stream)
{
    std::vector<ByteRange> ranges;
    for (std::size_t i = 0; i < std::min(fed.size(), stream.size()); ++i) {
        if (fed[i])
            continue;
        if (ranges.empty() || ranges.back().end != stream.starts[i] || (i > 0 && fed[i - 1]))
            ranges.push_back({stream.starts[i], stream.starts[i + 1]});
        ranges.back().end = stream.starts[i + 1];
    }
    return ranges;
}

/// Whether the prompt ends inside a thinking section that it opened itself.
bool prompt_opens_thinking(const TokenStream& history, std::int64_t prefix)
{
    const std::size_t tokens = std::min(static_cast<std::size_t>(prefix), history.size());
    std::size_t end = tokens < history.size() ? history.starts[tokens] : history.bytes.size();
    while (end > 0 && (history.bytes[end - 1] == '\n' || history.bytes[end - 1] == ' '))
        --end;
    return std::string_view(history.bytes).substr(0, end).ends_with("<think>");
}

ContinuationCalls continuation_of(const Trace& trace, std::size_t index, const TokenStream& history,
                                  const TokenTexts& texts, const std::shared_ptr<const MarkerTokens>& markers)
{
    const Generation& g = trace.generations[index];
    ContinuationCalls result;
    result.generation = index;
    result.prefix_tokens = g.prefix_tokens;
    result.stream = make_stream(g.ids, g.text, texts, markers);
    result.stream.thinking = prompt_opens_thinking(history, g.prefix_tokens);
    result.closed_loop = std::find_if(g.fed.begin(), g.fed.end(), [](auto f) { return f != 0; }) != g.fed.end();
    if (result.closed_loop)
        result.stream.written = generated(g.fed, result.stream);
    if (!g.parsed_tool_calls.empty()) {
        if (auto calls = read_server_calls(g.parsed_tool_calls))
            result.server = std::move(*calls);
        else
            result.server_problem = calls.error().message;
    }
    return result;
}

} // namespace

std::size_t TraceCalls::calls() const
{
    std::size_t count = 0;
    for (const auto& continuation : continuations)
        count += continuation.found.calls.size();
    return count;
}

TraceCallsPtr read_calls(const TracePtr& trace, const TokenTexts& texts, const Dialect* dialect)
{
    auto result = std::make_shared<TraceCalls>();
    result->trace = trace;
    const auto vocabulary = trace->vocabulary ? trace->vocabulary : texts.vocabulary();
    const auto markers = vocabulary ? std::make_shared<const MarkerTokens>(*vocabulary) : nullptr;
    result->history = make_stream(trace->tokens.ids, trace->tokens.text, texts, markers);
    auto& written = result->history.written;
    written = ranges_of(trace->spans, result->history, {"assistant"});
    if (written.empty())
        written = ranges_of(trace->spans, result->history, {"tool_call", "thinking"});

    std::vector<const TokenStream*> streams{&result->history};
    result->continuations.reserve(trace->generations.size());
    for (std::size_t i = 0; i < trace->generations.size(); ++i)
        result->continuations.push_back(continuation_of(*trace, i, result->history, texts, markers));
    for (const auto& continuation : result->continuations)
        streams.push_back(&continuation.stream);

    result->chosen = dialect != nullptr;
    if (!dialect) {
        const std::string* parser = trace->setting("tool_parser");
        dialect = detect_dialect(streams, parser ? dialect_of_parser(*parser) : nullptr);
    }
    result->dialect = dialect;
    if (dialect) {
        result->in_history = recognise(result->history, *dialect);
        for (auto& continuation : result->continuations)
            continuation.found = recognise(continuation.stream, *dialect);
    }
    return result;
}

} // namespace flipscope
