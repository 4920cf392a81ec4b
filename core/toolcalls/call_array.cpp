// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/call_array.h"

namespace flipscope {

namespace {

class CallArray {
public:
    CallArray(CallWriter& turn, std::size_t begin, std::string_view closer)
        : turn_(turn), begin_(begin), closer_(closer)
    {
    }

    std::size_t read(std::size_t at)
    {
        at = turn_.blanks(at + 1);
        if (at == turn_.end())
            return cut(at);
        if (turn_.at("]", at)) // no calls at all
            return at + 1;
        for (;;) {
            ObjectCall object = read_object_call(turn_.text(), at, turn_.end());
            if (object.state != ParsedValue::State::Whole)
                return broken(std::move(object));
            const std::size_t after = turn_.blanks(object.end);
            const bool more = turn_.at(",", after), last = turn_.at("]", after);
            std::size_t end = last ? after + 1 : more ? after + 1 : object.end;
            if (const std::size_t tag = turn_.blanks(end); last && !closer_.empty() && turn_.at(closer_, tag))
                end = tag + closer_.size();
            add(std::move(object), end, more || last);
            if (!more)
                return end;
            begin_ = at = turn_.blanks(after + 1);
            if (at == turn_.end())
                return cut(at);
        }
    }

private:
    void add(ObjectCall object, std::size_t end, bool closed)
    {
        CallDraft& draft = object.draft;
        draft.bytes = {begin_, end};
        draft.tolerant = object.call;
        CallStatus status = CallStatus::Good;
        if (!object.call || !draft.strict) {
            status = CallStatus::Malformed;
            draft.note = object.call ? draft.note : object.problem;
        } else if (!closed) {
            status = turn_.blanks(end) == turn_.end() ? CallStatus::Unclosed : CallStatus::Malformed;
            draft.note = "the list of calls is not closed";
        }
        turn_.add(std::move(draft), status);
    }

    std::size_t broken(ObjectCall object)
    {
        const bool cut = object.state == ParsedValue::State::Cut;
        const std::size_t closing = cut ? std::string_view::npos : turn_.find("]", object.end);
        const std::size_t end = closing < turn_.end() ? closing + 1 : turn_.end();
        object.draft.bytes = {begin_, end};
        object.draft.note = object.problem;
        object.draft.tolerant = false;
        turn_.add(std::move(object.draft), closing < turn_.end() ? CallStatus::Malformed : CallStatus::Unclosed);
        return end;
    }

    std::size_t cut(std::size_t at)
    {
        CallDraft draft;
        draft.bytes = {begin_, at};
        draft.note = "the turn ends inside the list of calls";
        draft.tolerant = false;
        if (!draft.bytes.empty())
            turn_.add(std::move(draft), CallStatus::Unclosed);
        return at;
    }

    CallWriter& turn_;
    std::size_t begin_;
    std::string_view closer_;
};

} // namespace

std::size_t read_call_array(CallWriter& turn, std::size_t begin, std::size_t at, std::string_view closer)
{
    return CallArray(turn, begin, closer).read(at);
}

} // namespace flipscope
