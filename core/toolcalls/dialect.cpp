// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/dialect.h"

#include "core/toolcalls/call_writer.h"
#include "core/toolcalls/dialects/dialects.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace flipscope {

namespace {

constexpr auto npos = std::string_view::npos;

constexpr std::array<std::string_view, 21> turn_ends = {"<|im_end|>",
                                                        "<|eot_id|>",
                                                        "<|eom_id|>",
                                                        "<|eot|>",
                                                        "</s>",
                                                        "<|endoftext|>",
                                                        "<|end_of_text|>",
                                                        "<|call|>",
                                                        "<|return|>",
                                                        "<|end|>",
                                                        "<|observation|>",
                                                        "<eos>",
                                                        "<|user|>",
                                                        "<｜end▁of▁sentence｜>",
                                                        "<end_of_turn>",
                                                        "<turn|>",
                                                        "<|stop|>",
                                                        "<start_function_response>",
                                                        "<|tool_response>",
                                                        "<|im_start|>",
                                                        "[gMASK]"};

/// Stretches of the stream without end-of-turn tokens.
std::vector<ByteRange> turns_of(const TokenStream& stream, const Dialect& dialect)
{
    const auto is_end = [&](std::string_view token) {
        return ends_turn(token) &&
               std::find(dialect.markers.begin(), dialect.markers.end(), token) == dialect.markers.end();
    };
    std::vector<ByteRange> turns;
    const auto add = [&](std::size_t begin, std::size_t end) {
        if (begin < end)
            turns.push_back({begin, end});
    };
    std::vector<ByteRange> written = stream.written;
    if (written.empty())
        written.push_back({0, stream.bytes.size()});
    for (const ByteRange& stretch : written) {
        std::size_t begin = stretch.begin;
        const StreamRange tokens = stream.tokens_of(stretch);
        for (std::size_t t = tokens.begin; t < tokens.end; ++t)
            if (is_end(stream.token(t))) {
                add(begin, std::max(begin, stream.starts[t]));
                begin = std::max(begin, stream.starts[t + 1]);
            }
        add(begin, stretch.end);
    }
    return turns;
}

struct ThinkingTags {
    std::string_view open, close;
};
constexpr std::array<ThinkingTags, 4> thinking_tags = {{{"<think>", "</think>"},
                                                        {"<seed:think>", "</seed:think>"},
                                                        {"[THINK]", "[/THINK]"},
                                                        {"<|channel>", "<channel|>"}}};

/// The thinking of one turn whose calls were read as if there were none.
class Thinking {
public:
    Thinking(const TokenStream& stream, Recognised& found, std::size_t first_call)
        : stream_(stream), found_(found), first_call_(first_call)
    {
    }

    void sort_out(ByteRange turn, bool open)
    {
        for (const auto& tags : thinking_tags)
            sections_of(turn, tags, open);
        const auto thought = std::stable_partition(first_call(), found_.calls.end(),
                                                   [](const Call& call) { return call.status != CallStatus::Mention; });
        found_.mentions.insert(found_.mentions.end(), std::move_iterator(thought),
                               std::move_iterator(found_.calls.end()));
        found_.calls.erase(thought, found_.calls.end());
    }

private:
    using CallIterator = std::vector<Call>::iterator;

    CallIterator first_call() const { return found_.calls.begin() + static_cast<std::ptrdiff_t>(first_call_); }

    /// The first call that begins behind `byte`; calls stand in the order of the text.
    CallIterator call_behind(std::size_t byte) const
    {
        return std::upper_bound(first_call(), found_.calls.end(), byte,
                                [](std::size_t b, const Call& call) { return b < call.bytes.begin; });
    }

    /// Outside of calls: a tag in the string of a call is that call's.
    std::size_t find(std::string_view tag, std::size_t from, std::size_t end) const
    {
        const auto text = std::string_view(stream_.bytes).substr(0, end);
        for (;;) {
            const std::size_t found = from > end ? npos : text.find(tag, from);
            if (found == npos)
                return npos;
            const auto behind = call_behind(found);
            if (behind == first_call() || (behind - 1)->status != CallStatus::Good ||
                !(behind - 1)->bytes.contains(found))
                return found;
            from = (behind - 1)->bytes.end;
        }
    }

    void sections_of(ByteRange turn, const ThinkingTags& tags, bool open)
    {
        std::size_t at = turn.begin;
        std::size_t closing = find(tags.close, at, turn.end);
        std::size_t opening = find(tags.open, at, turn.end);
        if (closing == npos && opening == npos) {
            if (open && tags.open == "<think>")
                never_closed({turn.begin, turn.end});
            return;
        }
        if (closing < opening) // the prompt opened it
            opening = at;
        while (opening != npos) {
            closing = find(tags.close, opening, turn.end);
            if (closing == npos)
                return never_closed({opening, turn.end});
            at = closing + tags.close.size();
            closed({opening, at});
            opening = find(tags.open, at, turn.end);
        }
    }

    void section(ByteRange bytes)
    {
        found_.sections.push_back({Section::Kind::Thinking, bytes, stream_.tokens_of(bytes), 0});
    }

    void closed(ByteRange bytes)
    {
        section(bytes);
        for (auto call = bytes.begin == 0 ? first_call() : call_behind(bytes.begin - 1);
             call != found_.calls.end() && bytes.contains(call->bytes.begin); ++call) {
            call->status = CallStatus::Mention;
            call->strict.accepted = call->tolerant.accepted = call->readings_differ = false;
            call->strict.note = call->tolerant.note = "It stands in the thinking, which is no call.";
        }
    }

    void never_closed(ByteRange bytes)
    {
        std::size_t end = bytes.end;
        for (std::size_t i = first_call_; i < found_.calls.size(); ++i) {
            Call& call = found_.calls[i];
            if (!bytes.contains(call.bytes.begin) || call.status == CallStatus::Mention)
                continue;
            end = std::min(end, call.bytes.begin);
            if (call.status == CallStatus::Good)
                call.status = CallStatus::Malformed;
            call.strict.accepted = false;
            call.strict.note = call.tolerant.note = "It stands in thinking that never ends: some parsers take it for a "
                                                    "call, others for a thought.";
            call.readings_differ = call.tolerant.accepted;
        }
        if (end > bytes.begin)
            section({bytes.begin, end});
    }

    const TokenStream& stream_;
    Recognised& found_;
    std::size_t first_call_;
};

/// Thinking and calls are known: everything between is prose.
void fill_with_prose(const TokenStream& stream, Recognised& found)
{
    std::vector<Section> known = std::move(found.sections);
    for (std::size_t i = 0; i < found.calls.size(); ++i)
        known.push_back({Section::Kind::Call, found.calls[i].bytes, found.calls[i].tokens, i});
    std::stable_sort(known.begin(), known.end(),
                     [](const Section& a, const Section& b) { return a.bytes.begin < b.bytes.begin; });
    found.sections.clear();
    std::size_t at = 0;
    const auto prose_until = [&](std::size_t end) {
        if (end > at)
            found.sections.push_back({Section::Kind::Prose, {at, end}, stream.tokens_of({at, end}), 0});
    };
    for (Section section : known) {
        if (section.bytes.begin < at) // overlaps with what came before
            section.bytes.begin = at;
        if (section.bytes.empty())
            continue;
        prose_until(section.bytes.begin);
        at = section.bytes.end;
        section.tokens = stream.tokens_of(section.bytes);
        found.sections.push_back(section);
    }
    prose_until(stream.bytes.size());
}

bool may_hold(const TokenStream& stream, const Dialect& dialect)
{
    if (dialect.openers == 0)
        return true;
    for (std::size_t i = 0; i < dialect.openers; ++i)
        if (stream.bytes.find(dialect.markers[i]) != std::string::npos)
            return true;
    return false;
}

std::int64_t score_of(std::span<const TokenStream* const> streams, const Dialect& dialect)
{
    std::int64_t score = 0;
    for (const TokenStream* stream : streams) {
        if (!may_hold(*stream, dialect))
            continue;
        for (const Call& call : recognise(*stream, dialect).calls)
            score += call.status == CallStatus::Good ? 4 : call.tolerant.accepted ? 2 : 1;
    }
    return score;
}

} // namespace

bool ends_turn(std::string_view token)
{
    return token.size() >= 4 && (token[0] == '<' || token[0] == '[') &&
           std::find(turn_ends.begin(), turn_ends.end(), token) != turn_ends.end();
}

const Dialect* find_dialect(std::string_view name)
{
    for (const Dialect& dialect : dialects())
        if (dialect.name == name)
            return &dialect;
    return nullptr;
}

Result<const Dialect*> parse_dialect(std::string_view name)
{
    if (name == "auto")
        return nullptr;
    if (const Dialect* found = find_dialect(name))
        return found;
    std::vector<std::string_view> names;
    for (const Dialect& dialect : dialects())
        names.push_back(dialect.name);
    return fail(ErrorKind::Usage, "There is no dialect \"{}\"; there are auto, {}.", name, fmt::join(names, ", "));
}

const Dialect* dialect_of_parser(std::string_view tool_parser)
{
    std::string name;
    for (const char c : tool_parser)
        if (c != '-' && c != '_' && c != ' ' && c != '.')
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const Dialect& dialect : dialects())
        if (std::find(dialect.parsers.begin(), dialect.parsers.end(), name) != dialect.parsers.end())
            return &dialect;
    return find_dialect(tool_parser);
}

Recognised recognise(const TokenStream& stream, const Dialect& dialect)
{
    Recognised found;
    found.dialect = &dialect;
    bool first = true;
    for (const ByteRange& turn : turns_of(stream, dialect)) {
        const std::size_t first_call = found.calls.size();
        CallWriter writer(stream, dialect, turn, found);
        dialect.read(writer);
        Thinking(stream, found, first_call).sort_out(turn, first && stream.thinking);
        first = false;
    }
    fill_with_prose(stream, found);
    return found;
}

namespace {

const Dialect* best_dialect(std::span<const TokenStream* const> streams, const Dialect* hint)
{
    for (const bool last_resort : {false, true}) {
        const Dialect* best = nullptr;
        std::int64_t best_score = 0;
        for (const Dialect& dialect : dialects()) {
            if (dialect.last_resort != last_resort)
                continue;
            const std::int64_t score = score_of(streams, dialect);
            if (score > best_score || (score == best_score && score > 0 && &dialect == hint)) {
                best = &dialect;
                best_score = score;
            }
        }
        if (best)
            return best;
    }
    return nullptr;
}

} // namespace

const Dialect* detect_dialect(std::span<const TokenStream* const> streams, const Dialect* hint)
{
    // Every dialect reads what is looked at: of very many streams some tell enough, unless they hold nothing.
    constexpr std::size_t enough = 200;
    if (streams.size() > 2 * enough) {
        std::vector<const TokenStream*> some;
        for (std::size_t i = 0; i < enough; ++i)
            some.push_back(streams[i * streams.size() / enough]);
        if (const Dialect* found = best_dialect(some, hint))
            return found;
    }
    const Dialect* found = best_dialect(streams, hint);
    return found ? found : hint;
}

} // namespace flipscope
