// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Calls as a server parsed them: the tool_calls of an OpenAI-compatible answer, or what is inside them.
#include "core/toolcalls/call_writer.h"

#include <fmt/format.h>

namespace flipscope {

namespace {

class ServerCalls {
public:
    explicit ServerCalls(std::string_view json) : json_(json) {}

    Result<std::vector<Reading>> read()
    {
        const std::size_t begin = skip_blanks(json_, 0, json_.size());
        if (begin == json_.size())
            return calls_;
        const auto parsed = parse_value(json_, begin, json_.size());
        if (parsed.state != ParsedValue::State::Whole || skip_blanks(json_, parsed.end, json_.size()) != json_.size())
            return fail(ErrorKind::BadFormat, "The server's tool_calls are no JSON: {}.",
                        parsed.problem.empty() ? "something follows the value" : parsed.problem);
        if (!add(parsed.node, 0))
            return fail(ErrorKind::BadFormat, "The server's tool_calls hold something that is no list of calls.");
        return calls_;
    }

private:
    bool add(const ValueNode& node, int depth)
    {
        if (depth > 4)
            return false;
        if (node.kind == ValueNode::Kind::Word)
            return node.text == "null";
        if (node.kind == ValueNode::Kind::Array) {
            for (const auto& child : node.children)
                if (!add(child, depth + 1))
                    return false;
            return true;
        }
        if (node.kind != ValueNode::Kind::Object)
            return false;
        for (const auto* inner : {"tool_calls", "function_call", "function", "message"})
            if (const auto* child = node.member(inner); child && child->kind != ValueNode::Kind::Text)
                return add(*child, depth + 1);
        return add_call(node);
    }

    bool add_call(const ValueNode& node)
    {
        const auto* name = node.member("name");
        if (!name || name->kind != ValueNode::Kind::Text)
            return false;
        Reading call;
        call.accepted = true;
        call.name = name->text;
        const auto* arguments = node.member("arguments");
        arguments = arguments ? arguments : node.member("parameters");
        std::vector<CallPart> parts;
        const bool empty = !arguments || (arguments->kind == ValueNode::Kind::Text && arguments->text.empty());
        if (!empty && !collect_arguments(json_, *arguments, call.arguments, parts))
            call.note = "The arguments are no JSON object.";
        calls_.push_back(std::move(call));
        return true;
    }

    std::string_view json_;
    std::vector<Reading> calls_;
};

} // namespace

Result<std::vector<Reading>> read_server_calls(std::string_view json)
{
    return ServerCalls(json).read();
}

} // namespace flipscope
