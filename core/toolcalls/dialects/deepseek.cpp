// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
// DeepSeek. V3 and R1 write the arguments in a fence, V3.1 bare; bars are U+FF5C, blanks U+2581 inside the markers.
#include "core/toolcalls/dialects/dialects.h"
#include "core/toolcalls/sectioned_calls.h"

#include <array>

namespace flipscope::dialect {

namespace {

constexpr std::string_view calls_begin = "<｜tool▁calls▁begin｜>", calls_end = "<｜tool▁calls▁end｜>";
constexpr std::string_view call_begin = "<｜tool▁call▁begin｜>", call_end = "<｜tool▁call▁end｜>";
constexpr std::string_view separator = "<｜tool▁sep｜>";
// What the models write as well, and some parsers take.
constexpr std::array<std::string_view, 5> section_opens = {
    calls_begin, "<｜tool_calls_begin｜>", "<｜tool calls begin｜>", "<｜tool\\_calls\\_begin｜>", "<｜tool▁calls｜>"};
constexpr std::array<std::string_view, 1> section_closes = {calls_end};

using Head = SectionedFormat::Head;
constexpr std::string_view fence_begin = "\n```json\n", fence_end = "\n```";

Head head_v3(const CallWriter& turn, ByteRange head, CallDraft&)
{
    return turn.slice(head.begin, head.end) == "function" ? Head::Own : Head::Foreign;
}

Head head_v31(const CallWriter& turn, ByteRange head, CallDraft& draft)
{
    const auto name = turn.slice(head.begin, head.end);
    if (name == "function" && turn.find(fence_begin, head.end) < turn.find(call_end, head.end))
        return Head::Foreign;
    draft.set_name(name, head);
    return name.empty() || name.find('\n') != std::string_view::npos ? Head::Odd : Head::Own;
}

constexpr SectionedFormat v3 = {section_opens, section_closes, call_begin, separator, call_end,
                                head_v3,       fence_begin,    fence_end,  true};
constexpr SectionedFormat v31 = {section_opens, section_closes, call_begin, separator, call_end, head_v31, {}, {},
                                 false};

void read_v3(CallWriter& turn)
{
    read_sectioned_calls(turn, v3);
}

void read_v31(CallWriter& turn)
{
    read_sectioned_calls(turn, v31);
}

} // namespace

Dialect deepseek_v3()
{
    return {.name = "deepseek-v3",
            .title = "DeepSeek V3 and R1: arguments in a JSON fence",
            .markers = {calls_begin, call_begin, section_opens[1], section_opens[2], section_opens[3], section_opens[4],
                        call_end, calls_end, separator},
            .openers = 6,
            .control = true,
            .parsers = {"deepseekv3", "deepseek", "deepseekr1"},
            .read = read_v3};
}

Dialect deepseek_v31()
{
    Dialect dialect = deepseek_v3();
    dialect.name = "deepseek-v3.1";
    dialect.title = "DeepSeek V3.1: bare JSON arguments";
    dialect.parsers = {"deepseekv31"};
    dialect.read = read_v31;
    return dialect;
}

} // namespace flipscope::dialect
