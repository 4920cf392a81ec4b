// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolcalls/server_check.h"

#include "core/toolcalls/values.h"

#include <algorithm>
#include <fmt/format.h>

namespace flipscope {

namespace {

/// Arguments without types that hold JSON, taken apart as a server with a schema does.
std::vector<Argument> typed(const std::vector<Argument>& arguments)
{
    std::vector<Argument> result;
    for (const Argument& argument : arguments) {
        const char first = argument.value.empty() ? ' ' : argument.value[0];
        if (argument.type == Argument::Type::Untyped && (first == '{' || first == '[')) {
            const auto parsed = parse_value(argument.value, 0, argument.value.size());
            if (parsed.state == ParsedValue::State::Whole) {
                std::vector<CallPart> parts;
                collect_leaves(parsed.node, argument.path, result, parts);
                continue;
            }
        }
        result.push_back(argument);
    }
    return result;
}

bool loosely_equal(const Argument& raw, const Argument& parsed)
{
    if (equal_value(raw, parsed))
        return true;
    if (raw.type != Argument::Type::Untyped)
        return false;
    Argument number = raw;
    number.type = parsed.type;
    return equal_value(number, parsed);
}

std::string text_of(const Reading& reading)
{
    std::string text = reading.name + "(";
    for (const auto& argument : reading.arguments)
        text += fmt::format("{}{} = {}", text.back() == '(' ? "" : ", ", argument.path, shown_value(argument));
    return text + ")";
}

bool agrees(const std::vector<Argument>& raw, const Reading& server)
{
    return raw.size() == server.arguments.size() && std::all_of(raw.begin(), raw.end(), [&](const Argument& argument) {
               const Argument* other = server.find(argument.path);
               return other && loosely_equal(argument, *other);
           });
}

/// A server without a schema leaves the text of values without types as it is.
bool agrees(const Call& call, const Reading& server)
{
    return call.name() == server.name && (agrees(call.arguments(), server) || agrees(typed(call.arguments()), server));
}

} // namespace

std::vector<std::string> check_server(const ContinuationCalls& continuation)
{
    const auto& calls = continuation.found.calls;
    std::vector<std::string> notes(calls.size());
    if (!continuation.server && continuation.server_problem.empty())
        return notes;
    // The server's calls come in the order of the text, but some may be lost or mangled.
    std::size_t next = 0;
    auto good = static_cast<std::size_t>(
        std::count_if(calls.begin(), calls.end(), [](const Call& call) { return call.status == CallStatus::Good; }));
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (calls[i].status != CallStatus::Good)
            continue;
        if (!continuation.server) {
            notes[i] = continuation.server_problem;
            continue;
        }
        const auto& server = *continuation.server;
        const std::size_t left = server.size() - next, last = next + std::min<std::size_t>(left, 16);
        std::size_t found = next;
        while (found < last && !agrees(calls[i], server[found]))
            ++found;
        if (found < last) {
            next = found + 1;
        } else if (left >= good && left > 0) { // none is missing: the next one is what became of this call
            notes[i] = fmt::format("The server parsed {}.", text_of(server[next++]));
        } else {
            notes[i] = "The server parsed no such call.";
        }
        --good;
    }
    return notes;
}

} // namespace flipscope
