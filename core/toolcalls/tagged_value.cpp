// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/tagged_value.h"

#include <algorithm>

namespace flipscope {

namespace {

constexpr auto npos = std::string_view::npos;

bool follows(const CallWriter& turn, std::size_t at, const ValueTags& tags)
{
    return at == turn.end() || std::any_of(tags.followers.begin(), tags.followers.end(), [&](std::string_view tag) {
               return turn.at(tag, at) || turn.cut_off(tag, at);
           });
}

TaggedValue ended(TaggedValue::End state, std::size_t begin, std::size_t end, std::size_t after, std::size_t first)
{
    return {state, {begin, end}, after, first == npos ? end : first};
}

} // namespace

TaggedValue read_tagged_value(const CallWriter& turn, std::size_t begin, const ValueTags& tags)
{
    using End = TaggedValue::End;
    std::size_t at = begin, first = npos;
    for (;;) {
        const std::size_t close = turn.find(tags.close, at);
        const std::size_t follower = turn.find_any(tags.followers, at);
        const std::size_t nested = tags.call_open.empty() ? npos : turn.find(tags.call_open, at);
        if (nested < close && nested < follower) {
            const std::size_t nested_end = turn.find(tags.call_close, nested);
            at = nested_end == npos ? nested + tags.call_open.size() : nested_end + tags.call_close.size();
            continue;
        }
        if (follower < close || close == npos) {
            if (first != npos) // an end tag with something else behind it is better than none
                return ended(End::Junk, begin, first, first + tags.close.size(), first);
            if (follower == npos)
                return ended(End::Cut, begin, turn.end(), turn.end(), npos);
            return ended(End::Missing, begin, follower, follower, npos);
        }
        if (first == npos)
            first = close;
        const std::size_t after = turn.blanks(close + tags.close.size());
        if (turn.at(tags.close, after) && follows(turn, turn.blanks(after + tags.close.size()), tags))
            return ended(End::Doubled, begin, close, turn.blanks(after + tags.close.size()), first);
        if (follows(turn, after, tags))
            return ended(End::Closed, begin, close, after, first);
        at = close + tags.close.size();
    }
}

ByteRange without_line_feeds(std::string_view text, ByteRange value)
{
    if (!value.empty() && text[value.begin] == '\n')
        ++value.begin;
    if (!value.empty() && text[value.end - 1] == '\n')
        --value.end;
    return value;
}

} // namespace flipscope
