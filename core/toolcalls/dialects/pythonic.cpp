// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Llama 4, Llama 3.2 and LFM2: a Python list of calls, [f(a=1, b='x'), g()], optionally between two tokens.
#include "core/toolcalls/dialects/dialects.h"
#include "core/toolcalls/python_call.h"

namespace flipscope::dialect {

namespace {

/// The list whose "[" stands at `at`, behind a delimiter at `begin`; npos where it is none.
class CallList {
public:
    CallList(CallWriter& turn, std::size_t begin, std::string_view closer) : turn_(turn), begin_(begin), closer_(closer)
    {
    }

    std::size_t read(std::size_t at)
    {
        at = turn_.blanks(at + 1);
        bool first = true;
        for (;; first = false) {
            PythonCall call = read_python_call(turn_.text(), at, turn_.end());
            if (call.state == ParsedValue::State::Bad && first && call.draft.name.empty())
                return std::string_view::npos;
            if (call.state != ParsedValue::State::Whole)
                return broken(std::move(call));
            const std::size_t after = turn_.blanks(call.end);
            const bool last = turn_.at("]", after), comma = turn_.at(",", after);
            const std::size_t next = comma ? turn_.blanks(after + 1) : after;
            if (!last && (!comma || next == turn_.end())) {
                call.problem = "the list of calls is not closed";
                add(std::move(call), next == turn_.end() ? CallStatus::Unclosed : CallStatus::Malformed, call.end);
                return next;
            }
            std::size_t end = after + 1;
            if (const std::size_t tag = turn_.blanks(end); last && !closer_.empty() && turn_.at(closer_, tag))
                end = tag + closer_.size();
            if (last && turn_.blanks(end) != turn_.end() && closer_.empty() && call.problem.empty())
                call.problem = "text follows the list of calls";
            const bool good = call.problem.empty() && call.draft.strict;
            add(std::move(call), good ? CallStatus::Good : CallStatus::Malformed, end);
            if (last)
                return end;
            begin_ = at = turn_.blanks(end);
        }
    }

private:
    void add(PythonCall call, CallStatus status, std::size_t end)
    {
        call.draft.bytes = {begin_, end};
        call.draft.tolerant = call.state == ParsedValue::State::Whole;
        if (call.draft.note.empty())
            call.draft.note = call.problem;
        turn_.add(std::move(call.draft), status);
    }

    std::size_t broken(PythonCall call)
    {
        if (call.state == ParsedValue::State::Cut) {
            add(std::move(call), CallStatus::Unclosed, turn_.end());
            return turn_.end();
        }
        const std::size_t closing = turn_.find("]", call.end);
        const std::size_t end = closing < turn_.end() ? closing + 1 : turn_.end();
        if (call.draft.name.empty())
            call.problem = "a comma is followed by no call";
        add(std::move(call), closing < turn_.end() ? CallStatus::Malformed : CallStatus::Unclosed, end);
        return end;
    }

    CallWriter& turn_;
    std::size_t begin_;
    std::string_view closer_;
};

void read_between(CallWriter& turn, std::string_view open, std::string_view close)
{
    std::size_t at = turn.begin();
    for (std::size_t begin = turn.find(open, at); begin < turn.end(); begin = turn.find(open, at)) {
        const std::size_t body = turn.blanks(begin + open.size());
        const std::size_t end = turn.at("[", body) ? CallList(turn, begin, close).read(body) : std::string_view::npos;
        at = end != std::string_view::npos ? end : opener_without_body(turn, begin, body, open, close, "list of calls");
    }
}

void read_llama4(CallWriter& turn)
{
    if (turn.find("<|python_start|>", turn.begin()) < turn.end())
        return read_between(turn, "<|python_start|>", "<|python_end|>");
    const std::size_t at = turn.blanks(turn.begin());
    if (turn.at("[", at))
        CallList(turn, at, {}).read(at);
}

void read_lfm2(CallWriter& turn)
{
    read_between(turn, "<|tool_call_start|>", "<|tool_call_end|>");
}

} // namespace

Dialect llama4()
{
    return {.name = "llama4",
            .title = "Llama 4 and 3.2: a Python list of calls",
            .markers = {"<|python_start|>", "<|python_end|>"},
            .parsers = {"llama4pythonic", "pythonic", "llama4", "olmo3"},
            .read = read_llama4};
}

Dialect lfm2()
{
    return {.name = "lfm2",
            .title = "LFM2: a Python list of calls between two tokens",
            .markers = {"<|tool_call_start|>", "<|tool_call_end|>"},
            .openers = 1,
            .parsers = {"lfm2"},
            .read = read_lfm2};
}

} // namespace flipscope::dialect
