// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "streams.h"

namespace streams {

namespace {

std::vector<Case> mistral()
{
    return {
        {"list", "mistral", "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"a\": 1}, \"id\": \"abc123XYZ\"}]</s>",
         "good f($.a=1)"},
        {"list without a blank", "mistral", "[TOOL_CALLS][{\"name\":\"f\",\"arguments\":{}}]</s>", "good f()"},
        {"list of two", "mistral",
         "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"a\": [1, 2]}}, {\"name\": \"g\", \"arguments\": {}}]",
         "good f($.a[0]=1, $.a[1]=2); good g()"},
        {"list, text behind", "mistral", "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {}}] Done.", "good f()"},
        {"v11", "mistral", "[TOOL_CALLS]f[ARGS]{\"a\": \"x\"}</s>", "good f($.a=x)"},
        {"v11, two", "mistral", "[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]g[ARGS]{\"b\":2}</s>", "good f(); good g($.b=2)"},
        {"v11, call id", "mistral", "[TOOL_CALLS]f[CALL_ID]123456789[ARGS]{\"a\":1}", "good f($.a=1)"},
        {"v11, no [ARGS]", "mistral", "[TOOL_CALLS]f{\"a\":1}", "good f($.a=1)"},
        {"v11, marker in a string", "mistral", "[TOOL_CALLS]f[ARGS]{\"a\":\"[TOOL_CALLS]g[ARGS]{}\"}",
         "good f($.a=[TOOL_CALLS]g[ARGS]{})"},
        {"v11, cut", "mistral", "[TOOL_CALLS]f[ARGS]{\"a\":\"x", "unclosed f($.a=x)?"},
        {"v11, arguments are no JSON", "mistral", "[TOOL_CALLS]f[ARGS]a=1</s>", "malformed f()?"},
        {"v11, cut in the name", "mistral", "[TOOL_CALLS]run_c", "unclosed run_c()?"},
        {"list, cut", "mistral", "[TOOL_CALLS] [{\"name\": \"f\", \"argum", "unclosed f()?"},
        {"list, not closed", "mistral", "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {}}</s>", "unclosed f()~"},
        {"mention", "mistral", "The token [TOOL_CALLS] begins a call.", "mention", false},
        {"thinking", "mistral", "[THINK]maybe f[/THINK][TOOL_CALLS]f[ARGS]{}</s>", "good f()"},
    };
}

std::vector<Case> deepseek_and_kimi()
{
    return {
        {"plain", "deepseek-v3",
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{\"a\": "
         "1}\n```<｜tool▁call▁end｜>"
         "<｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
         "good f($.a=1)"},
        {"two", "deepseek-v3",
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜>\n"
         "<｜tool▁call▁begin｜>function<｜tool▁sep｜>g\n```json\n{\"b\": \"```\"}\n```<｜tool▁call▁end｜>"
         "<｜tool▁calls▁end｜>",
         "good f(); good g($.b=```)"},
        {"fence not closed", "deepseek-v3",
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}<｜tool▁call▁end｜>"
         "<｜tool▁calls▁end｜>",
         "malformed f()~"},
        {"end missing", "deepseek-v3",
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜end▁of▁sentence｜>",
         "unclosed f()~"},
        {"cut", "deepseek-v3",
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{\"a\": \"x",
         "unclosed f($.a=x)?"},
        {"other opener", "deepseek-v3",
         "<｜tool▁calls｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜>",
         "good f()"},
        {"call opener missing", "deepseek-v3",
         "<｜tool▁calls▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
         "malformed f()~"},
        {"plain", "deepseek-v3.1",
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
         "good f($.a=1)"},
        {"two, one pretty", "deepseek-v3.1",
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\n  \"a\": "
         "1\n}<｜tool▁call▁end｜><｜tool▁call▁begin｜>g"
         "<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
         "good f($.a=1); good g()"},
        {"end tag in a string", "deepseek-v3.1",
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": \"<｜tool▁call▁end｜>\"}<｜tool▁call▁end｜>"
         "<｜tool▁calls▁end｜>",
         "good f($.a=<｜tool▁call▁end｜>)"},
        {"cut in the name", "deepseek-v3.1", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>run_c", "unclosed run_c()?",
         false}, // as in V3
        {"missing brace", "deepseek-v3.1",
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": 1<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
         "malformed f($.a=1)?"},
        {"plain", "kimi-k2",
         "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\": 1}"
         "<|tool_call_end|><|tool_calls_section_end|>",
         "good f($.a=1)"},
        {"two", "kimi-k2",
         "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:3<|tool_call_argument_begin|>{}<|tool_call_end|>"
         "<|tool_call_begin|> functions.g-h:4 <|tool_call_argument_begin|> {\"b\": []} <|tool_call_end|>"
         "<|tool_calls_section_end|>",
         "good f(); good g-h($.b=[])"},
        {"no prefix", "kimi-k2",
         "<|tool_calls_section_begin|><|tool_call_begin|>f:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
         "<|tool_calls_section_end|>",
         "malformed f()~"},
        {"no section", "kimi-k2", "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
         "good f()"},
        {"end missing", "kimi-k2",
         "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\":1}",
         "unclosed f($.a=1)~"},
        {"cut", "kimi-k2",
         "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\":tr",
         "unclosed f($.a=tr)?"},
        {"in thinking that never ends", "kimi-k2",
         "<think>so <|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}"
         "<|tool_call_end|><|tool_calls_section_end|>",
         "malformed f()~"},
    };
}

std::vector<Case> harmony_and_gemma()
{
    return {
        {"plain", "harmony",
         "<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.f "
         "<|constrain|>json<|message|>{\"a\": 1}<|call|>",
         "good f($.a=1)"},
        {"recipient in the role", "harmony",
         "<|start|>assistant to=functions.f<|channel|>commentary <|constrain|>json<|message|>{\"a\":\"x\"}<|call|>",
         "good f($.a=x)"},
        {"first header without start", "harmony", " to=functions.f<|channel|>commentary<|message|>{}<|call|>",
         "good f()"},
        {"built-in", "harmony", "<|channel|>analysis to=python code<|message|>print(1)<|call|>",
         "good python($=print(1))"},
        {"preamble", "harmony", "<|channel|>commentary<|message|>I will call.<|end|>", "", false},
        {"final", "harmony", "<|channel|>final<|message|>The answer is {\"a\": 1}.<|return|>", "", false},
        {"two", "harmony",
         "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|end|><|start|>assistant<|channel|>"
         "commentary to=functions.g <|constrain|>json<|message|>{\"b\":[1]}<|call|>",
         "good f(); good g($.b[0]=1)"},
        {"stop missing", "harmony", "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\":1}",
         "unclosed f($.a=1)~"},
        {"cut", "harmony", "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\":\"x",
         "unclosed f($.a=x)?"},
        {"cut in the header", "harmony", "<|channel|>commentary to=functions.run_c", "unclosed run_c()?"},
        {"doubled header", "harmony",
         "<|channel|>commentary to=assistant<|channel|>commentary to=functions.f "
         "<|constrain|>json<|message|>{}<|call|>",
         "malformed f()~"},
        {"empty body", "harmony", "<|channel|>commentary to=functions.f <|constrain|>json<|message|><|call|>",
         "malformed f()~"},
        {"body is no JSON", "harmony", "<|channel|>commentary to=functions.f <|constrain|>json<|message|>a: 1<|call|>",
         "malformed f()?"},
        {"plain", "functiongemma",
         "<start_function_call>call:f{city:<escape>Paris, {x}<escape>,days:5,deep:{on:true},l:[1,<escape>b<escape>]}"
         "<end_function_call>",
         "good f($.city=Paris, {x}, $.days=5, $.deep.on=true, $.l[0]=1, $.l[1]=b)"},
        {"two", "functiongemma",
         "<start_function_call>call:f{}<end_function_call><start_function_call>call:g{a:1}<end_function_call>"
         "<start_function_response>",
         "good f(); good g($.a=1)"},
        {"cut", "functiongemma", "<start_function_call>call:f{city:<escape>Par", "unclosed f($.city=Par)?"},
        {"plain", "gemma4",
         "<|tool_call>call:ns.f-x{a:<|\"|>it's \"q\"<|\"|>,<|\"|>k<|\"|>:null,n:-2.5}<tool_call|><turn|>",
         "good ns.f-x($.a=it's \"q\", $.k=null, $.n=-2.5)"},
        {"end tag in a string", "gemma4", "<|tool_call>call:f{a:<|\"|><tool_call|><|\"|>}<tool_call|>",
         "good f($.a=<tool_call|>)"},
        {"ends with the turn", "gemma4", "<|tool_call>call:f{a:1}<turn|>", "unclosed f($.a=1)~"},
        {"opener lost behind the thinking", "gemma4", "<|channel>thought\nso<channel|>call:f{a:1}<tool_call|>",
         "malformed f($.a=1)~"},
        {"thinking", "gemma4", "<|channel>thought\nso<channel|><|tool_call>call:f{a:1}<tool_call|>", "good f($.a=1)"},
        {"plain", "gemma3", "```tool_code\nget(city='Paris', days=3)\n```<end_of_turn>",
         "good get($.city=Paris, $.days=3)"},
        {"in print", "gemma3", "Sure.\n```tool_code\nprint(get(city=\"Paris\"))\n```", "good get($.city=Paris)"},
        {"fence not closed", "gemma3", "```tool_code\nget(a=1)", "unclosed get($.a=1)~"},
        {"cut", "gemma3", "```tool_code\nget(a='Par", "unclosed get($.a=Par)?"},
    };
}

} // namespace

const std::vector<Case>& token_cases()
{
    static const std::vector<Case> all = [] {
        std::vector<Case> cases = mistral();
        for (const auto& more : {deepseek_and_kimi(), harmony_and_gemma()})
            cases.insert(cases.end(), more.begin(), more.end());
        return cases;
    }();
    return all;
}

} // namespace streams
