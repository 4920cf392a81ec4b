// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/partition.h"

#include "core/analysis/windows.h"

#include <algorithm>
#include <set>

namespace flipscope {

namespace {

std::int64_t tokens_of(const Trace& history)
{
    return static_cast<std::int64_t>(history.tokens.ids.size());
}

/// Spans that mean something to a reader; chunks of prefill do not.
std::vector<const Span*> meaningful(const Trace& history)
{
    std::vector<const Span*> spans;
    for (const Span& span : history.spans)
        if (span.kind != "chunk" && span.end > span.start)
            spans.push_back(&span);
    return spans;
}

std::vector<Piece> segments_of(const Trace& history)
{
    const auto spans = meaningful(history);
    std::set<std::int64_t> borders{0, tokens_of(history)};
    for (const Span* span : spans) {
        borders.insert(span->start);
        borders.insert(span->end);
    }
    std::vector<Piece> pieces;
    std::vector<const Span*> open; // those that began before the piece
    auto next = spans.begin();
    for (auto border = borders.begin(); std::next(border) != borders.end(); ++border) {
        for (; next != spans.end() && (*next)->start <= *border; ++next)
            open.push_back(*next);
        std::erase_if(open, [&](const Span* span) { return span->end <= *border; });
        const auto innermost = std::min_element(open.begin(), open.end(), [](const Span* a, const Span* b) {
            return a->end - a->start < b->end - b->start;
        });
        Piece piece{*border, *std::next(border), "", ""};
        if (innermost != open.end()) {
            piece.kind = (*innermost)->kind;
            piece.label = (*innermost)->label;
        }
        pieces.push_back(std::move(piece));
    }
    return pieces;
}

/// Messages of a user with nothing of anybody else between them open one turn.
std::vector<Piece> turns_of(const Trace& history)
{
    std::vector<std::int64_t> starts;
    bool answered = true;
    for (const Span* span : meaningful(history)) {
        if (span->kind == "user" && answered)
            starts.push_back(span->start);
        answered = span->kind != "user";
    }
    std::vector<Piece> pieces;
    if (starts.empty())
        return pieces;
    if (starts.front() > 0)
        pieces.push_back({0, starts.front(), "before", "before the first turn"});
    for (std::size_t i = 0; i < starts.size(); ++i)
        pieces.push_back({starts[i], i + 1 < starts.size() ? starts[i + 1] : tokens_of(history), "turn",
                          fmt::format("turn {}", i + 1)});
    return pieces;
}

} // namespace

std::string_view name_of(Partition by)
{
    switch (by) {
    case Partition::Windows:
        return "window";
    case Partition::Segments:
        return "segment";
    case Partition::Turns:
        return "turn";
    }
    return "";
}

Result<Partition> parse_partition(std::string_view name)
{
    for (const Partition by : {Partition::Windows, Partition::Segments, Partition::Turns})
        if (name_of(by) == name)
            return by;
    return fail(ErrorKind::Usage, "A history is cut by window, segment or turn, not by \"{}\".", name);
}

Result<std::vector<Piece>> pieces_of(const Trace& history, Partition by)
{
    const std::string name = history.path.filename().string();
    if (meaningful(history).empty())
        return fail(ErrorKind::BadFormat,
                    "{}: the trace marks no segments (no /spans), so its probes can only be counted by window.", name);
    std::vector<Piece> pieces = by == Partition::Turns ? turns_of(history) : segments_of(history);
    if (pieces.empty())
        return fail(ErrorKind::BadFormat,
                    "{}: the trace marks no message of a user, so it has no turns: count by window or by segment.",
                    name);
    return pieces;
}

std::span<const ProbeMetrics> probes_predicting(std::span<const ProbeMetrics> probes, const Piece& piece,
                                                std::int64_t n_tokens)
{
    const bool last = piece.end >= n_tokens;
    return probes_between(probes, piece.start - 1, last ? piece.end : piece.end - 1);
}

std::ptrdiff_t piece_of(std::span<const Piece> pieces, std::int64_t position, std::int64_t n_tokens)
{
    const std::int64_t token = std::min(position + 1, n_tokens - 1);
    const auto after = std::upper_bound(pieces.begin(), pieces.end(), token,
                                        [](std::int64_t at, const Piece& piece) { return at < piece.start; });
    if (after == pieces.begin() || std::prev(after)->end <= token)
        return -1;
    return std::prev(after) - pieces.begin();
}

} // namespace flipscope
