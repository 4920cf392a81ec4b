// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/shift.h"

#include "core/text/token_text.h"
#include "core/trace/content_key.h"
#include "core/trace/selected_rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>

namespace flipscope {

namespace {

constexpr std::size_t least_agreeing = 4;

/// How many ids of a history were fed, not chosen by the run itself.
std::size_t fed(const Trace& trace)
{
    const std::size_t all = trace.tokens.ids.size();
    return trace.generated_from < 0 ? all : std::min(all, static_cast<std::size_t>(trace.generated_from));
}

/// Whether `longer` without its first token goes on like `other`, as far as both were fed.
bool one_more_at_start(const Trace& longer, const Trace& other)
{
    const std::size_t n = std::min(std::max<std::size_t>(fed(longer), 1) - 1, fed(other));
    if (n < least_agreeing)
        return false;
    const auto first = longer.tokens.ids.begin() + 1;
    const auto known = std::count_if(first, first + static_cast<std::ptrdiff_t>(n), [](auto id) { return id >= 0; });
    return known >= static_cast<std::ptrdiff_t>(least_agreeing) &&
           std::equal(first, first + static_cast<std::ptrdiff_t>(n), other.tokens.ids.begin());
}

bool meet(std::span<const std::int64_t> p, std::span<const std::int64_t> q, int by)
{
    return std::ranges::any_of(q, [&](std::int64_t at) { return std::ranges::binary_search(p, at + by); });
}

void move_positions(ProbeSet& set, int by)
{
    std::vector<std::int64_t> kept;
    for (std::size_t i = 0; i < set.positions.size(); ++i)
        if (set.positions[i] + by >= 0)
            kept.push_back(static_cast<std::int64_t>(i));
    if (kept.size() < set.positions.size())
        keep_rows(set, kept);
    for (std::int64_t& position : set.positions)
        position += by;
}

void move_tokens(TokenHistory& tokens, int by)
{
    const bool with_text = tokens.text.size() == tokens.ids.size() && !tokens.ids.empty();
    if (by > 0) {
        tokens.ids.insert(tokens.ids.begin(), unknown_id);
        if (with_text)
            tokens.text.offsets.insert(tokens.text.offsets.begin(), tokens.text.offsets.front());
        return;
    }
    tokens.ids.erase(tokens.ids.begin());
    if (!with_text)
        return;
    ByteStrings& text = tokens.text;
    const std::uint64_t cut = text.offsets[1];
    text.bytes.erase(0, cut);
    text.offsets.erase(text.offsets.begin());
    for (std::uint64_t& offset : text.offsets)
        offset -= cut;
}

void move_spans(std::vector<Span>& spans, int by)
{
    for (Span& span : spans) {
        span.start = std::max<std::int64_t>(0, span.start + by);
        span.end = std::max<std::int64_t>(0, span.end + by);
    }
    std::erase_if(spans, [](const Span& span) { return span.end <= span.start; });
}

std::string token_text(const Trace& trace, std::size_t at)
{
    const std::int32_t id = trace.tokens.ids[at];
    if (at < trace.tokens.text.size() && !trace.tokens.text[at].empty())
        return std::string(trace.tokens.text[at]);
    if (trace.vocabulary && id >= 0 && static_cast<std::size_t>(id) < trace.vocabulary->text.size())
        return std::string(trace.vocabulary->text[static_cast<std::size_t>(id)]);
    return {};
}

std::string named(const Trace& trace, std::size_t at)
{
    const std::string text = token_text(trace, at);
    return text.empty() ? fmt::format("{}", trace.tokens.ids[at])
                        : fmt::format("{} “{}”", trace.tokens.ids[at], visible(text));
}

Finding said(const Trace& trace, int by)
{
    return {Finding::Level::Warning, "shifted",
            by < 0 ? fmt::format("Shifted by one token, as asked: the first token ({}) is left out and every position "
                                 "counts one less; the run itself was fed that token.",
                                 named(trace, 0))
                   : std::string("Shifted by one token, as asked: every position counts one more, with an unknown "
                                 "token in front; the run itself was fed without one.")};
}

} // namespace

int shift_that_fits(const Trace& baseline, const Trace& run)
{
    const std::size_t n = std::min(fed(baseline), fed(run));
    const auto agree = [](std::int32_t a, std::int32_t b) { return a == b || a == unknown_id || b == unknown_id; };
    const auto &p = baseline.tokens.ids, &q = run.tokens.ids;
    if (n == 0 || std::equal(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(n), q.begin(), agree))
        return 0;
    return one_more_at_start(run, baseline) ? -1 : one_more_at_start(baseline, run) ? 1 : 0;
}

bool probes_meet(const Trace& baseline, const Trace& run, int by)
{
    if (meet(baseline.probes.positions, run.probes.positions, by))
        return true;
    for (const ProbeSet& p : baseline.dense)
        for (const ProbeSet& q : run.dense)
            if (meet(p.positions, q.positions, by))
                return true;
    return false;
}

TracePtr shifted(const Trace& trace, int by)
{
    auto moved = std::make_shared<Trace>(trace);
    if (by == 0 || trace.tokens.ids.empty())
        return moved;
    by = by < 0 ? -1 : 1;
    Trace& t = *moved;
    move_tokens(t.tokens, by);
    if (t.generated_from >= 0)
        t.generated_from = std::max<std::int64_t>(0, t.generated_from + by);
    move_spans(t.spans, by);
    move_positions(t.probes, by);
    for (ProbeSet& set : t.dense)
        move_positions(set, by);
    for (Generation& g : t.generations)
        g.prefix_tokens = std::max<std::int64_t>(0, g.prefix_tokens + by);
    t.metrics.reset();
    t.others.clear();
    t.run.emplace_back("positions_shifted", by < 0 ? "-1: without the first token" : "+1: a token in front");
    std::sort(t.run.begin(), t.run.end());
    t.findings.push_back(said(trace, by));
    t.content_key = content_key_of(t, fmt::format("{} shifted by {}", trace.content_key, by));
    return moved;
}

bool starts_doubled(const Trace& trace)
{
    const auto& ids = trace.tokens.ids;
    if (ids.size() < 2 || ids[0] < 0 || ids[0] != ids[1])
        return false;
    if (trace.vocabulary && std::ranges::find(trace.vocabulary->special, ids[0]) != trace.vocabulary->special.end())
        return true;
    if (const std::string text = token_text(trace, 0); !text.empty()) // <s>, <|begin_of_text|>, [BOS]
        return text.size() > 2 &&
               ((text.front() == '<' && text.back() == '>') || (text.front() == '[' && text.back() == ']'));
    return ids.size() >= 16 && std::find(ids.begin() + 2, ids.end(), ids[0]) == ids.end();
}

void note_doubled_start(Trace& trace)
{
    trace.findings.push_back(
        {Finding::Level::Warning, "doubled-bos",
         fmt::format("The history begins with token {} twice: a BOS that the chat template and the tokenizer both put "
                     "there is fed twice, and moves all that follows by one position.",
                     named(trace, 0))});
}

} // namespace flipscope
