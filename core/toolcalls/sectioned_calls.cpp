// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/sectioned_calls.h"

#include <algorithm>
#include <fmt/format.h>

namespace flipscope {

namespace {

constexpr auto npos = std::string_view::npos;

std::string_view one_of(const CallWriter& turn, std::span<const std::string_view> markers, std::size_t at)
{
    for (const auto marker : markers)
        if (turn.at(marker, at))
            return marker;
    return {};
}

/// One call, from `call_open` on.
class SectionedCall {
public:
    SectionedCall(CallWriter& turn, const SectionedFormat& format, std::size_t begin)
        : turn_(turn), format_(format), begin_(begin)
    {
    }

    std::size_t read(std::size_t head, bool opened)
    {
        if (!opened)
            draft_.wrong(CallStatus::Malformed, fmt::format("{} is missing", format_.call_open));
        const std::size_t limit = std::min(turn_.find(format_.call_open, head), turn_.end());
        const std::size_t separator = turn_.find(format_.separator, head);
        if (separator >= limit) {
            format_.read_head(turn_, {head, limit}, draft_);
            draft_.wrong(limit == turn_.end() ? CallStatus::Unclosed : CallStatus::Malformed,
                         fmt::format("{} is missing", format_.separator));
            return finish(limit, false);
        }
        const auto kind = format_.read_head(turn_, {head, separator}, draft_);
        if (kind == SectionedFormat::Head::Foreign)
            return separator + format_.separator.size();
        if (kind == SectionedFormat::Head::Odd)
            draft_.wrong(CallStatus::Malformed, "the call's head is not that of this format");
        std::size_t at = separator + format_.separator.size();
        if (format_.name_behind_separator)
            at = name(at, limit);
        return at == npos ? end_ : arguments(at, limit);
    }

private:
    std::size_t finish(std::size_t end, bool tolerant)
    {
        // The section's end belongs to the call before it.
        const std::size_t after = turn_.blanks(end);
        if (const auto close = one_of(turn_, format_.section_closes, after); !close.empty())
            end = after + close.size();
        draft_.bytes = {begin_, end};
        draft_.tolerant = tolerant && !draft_.name.empty();
        turn_.add(std::move(draft_));
        return end_ = end;
    }

    /// The name up to the fence; npos where the call ends there.
    std::size_t name(std::size_t at, std::size_t limit)
    {
        const std::size_t fence = turn_.find(format_.before_arguments, at);
        if (fence < limit && turn_.slice(at, fence).find('\n') == npos) {
            draft_.set_name(turn_.slice(at, fence), {at, fence});
            return fence + format_.before_arguments.size();
        }
        const std::size_t line = std::min({turn_.text().find('\n', at), turn_.text().find('{', at), limit});
        draft_.set_name(turn_.slice(at, line), {at, line});
        if (turn_.blanks(line) == turn_.end() || fence == npos) {
            const std::size_t brace = turn_.text().find('{', line);
            if (brace >= limit) {
                draft_.wrong(limit == turn_.end() ? CallStatus::Unclosed : CallStatus::Malformed,
                             "the arguments are missing");
                finish(limit, false);
                return npos;
            }
        }
        draft_.wrong(CallStatus::Malformed, "the fence round the arguments is not as it should be");
        const std::size_t brace = turn_.text().find('{', line);
        return brace < limit ? brace : line;
    }

    std::size_t arguments(std::size_t at, std::size_t limit)
    {
        using State = ParsedValue::State;
        at = turn_.blanks(at);
        const auto parsed = parse_value(turn_.text(), at, turn_.end());
        const bool object = collect_arguments(turn_.text(), parsed.node, draft_.arguments, draft_.parts);
        if (parsed.state != State::Whole) {
            const std::size_t tag =
                find_end_tag(turn_, parsed.end, parsed.last_text, format_.call_close, std::span(&format_.call_open, 1));
            draft_.wrong(tag == npos ? CallStatus::Unclosed : CallStatus::Malformed, parsed.problem);
            return finish(tag == npos ? std::max(limit, std::min(parsed.end, turn_.end()))
                                      : tag + format_.call_close.size(),
                          false);
        }
        if (!object || !parsed.liberty.empty())
            draft_.wrong(CallStatus::Malformed, object ? parsed.liberty : "the arguments are no JSON object");
        std::size_t end = parsed.end;
        if (!format_.after_arguments.empty()) {
            const std::size_t fence = turn_.find(format_.after_arguments, end);
            if (fence == end)
                end += format_.after_arguments.size();
            else
                draft_.wrong(turn_.blanks(end) == turn_.end() || turn_.cut_off(format_.after_arguments, end)
                                 ? CallStatus::Unclosed
                                 : CallStatus::Malformed,
                             "the fence round the arguments is not closed as it should be");
        }
        const std::size_t after = turn_.blanks(end);
        if (turn_.at(format_.call_close, after))
            return finish(after + format_.call_close.size(), object);
        const std::size_t tag = turn_.find(format_.call_close, after);
        if (tag < std::min(turn_.find(format_.call_open, after), turn_.end())) {
            draft_.wrong(CallStatus::Malformed, fmt::format("text stands before {}", format_.call_close));
            return finish(tag + format_.call_close.size(), object);
        }
        draft_.wrong(CallStatus::Unclosed, fmt::format("{} is missing", format_.call_close));
        return finish(end, object);
    }

    CallWriter& turn_;
    const SectionedFormat& format_;
    std::size_t begin_, end_ = 0;
    CallDraft draft_;
};

} // namespace

void read_sectioned_calls(CallWriter& turn, const SectionedFormat& format)
{
    std::size_t at = turn.begin();
    while (at < turn.end()) {
        const std::size_t section = turn.find_any(format.section_opens, at);
        const std::size_t open = turn.find(format.call_open, at);
        if (section == npos && open == npos)
            return;
        if (open < section) {
            at = SectionedCall(turn, format, open).read(open + format.call_open.size(), true);
            continue;
        }
        // The longest of the openers that begin here.
        std::string_view opener;
        for (const auto marker : format.section_opens)
            if (turn.at(marker, section) && marker.size() > opener.size())
                opener = marker;
        const std::size_t body = turn.blanks(section + opener.size());
        if (turn.at(format.call_open, body)) {
            at = SectionedCall(turn, format, section).read(body + format.call_open.size(), true);
        } else if (turn.find(format.separator, body) < std::min(turn.find(format.call_open, body), turn.end()) &&
                   turn.line_start(section)) {
            at = SectionedCall(turn, format, section).read(body, false);
        } else {
            at = opener_without_body(turn, section, body, opener, {}, "call");
        }
    }
}

} // namespace flipscope
