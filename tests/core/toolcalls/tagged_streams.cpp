// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "streams.h"

namespace streams {

namespace {

std::vector<Case> hermes()
{
    return {
        {"plain", "hermes", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call><|im_end|>",
         "good f($.a=1)"},
        {"prose before", "hermes", "I look.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>",
         "good f()"},
        {"two", "hermes",
         "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"g\", "
         "\"arguments\": {\"b\": true}}\n</tool_call>",
         "good f($.a=x); good g($.b=true)"},
        {"arguments first", "hermes", "<tool_call>{\"arguments\":{\"a\":null},\"name\":\"f\"}</tool_call>",
         "good f($.a=null)"},
        {"arguments as a string", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":\"{\\\"a\\\": \\\"x\\\"}\"}</tool_call>", "good f($.a=x)"},
        {"nested", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{\"o\":{\"p\":[1,{\"q\":\"z\"}],\"e\":{}},\"l\":[]}}</tool_call>",
         "good f($.o.p[0]=1, $.o.p[1].q=z, $.o.e={}, $.l=[])"},
        {"numbers", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":-1.5e3,\"b\":0,\"c\":12345678901234567890}}</tool_call>",
         "good f($.a=-1.5e3, $.b=0, $.c=12345678901234567890)"},
        {"escapes", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"\\\"\\\\\\/\\t\\u00e9\\ud83d\\ude0a\"}}</tool_call>",
         "good f($.a=\"\\/\t\u00e9\U0001f60a)"},
        {"unicode", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{\"\u57ce\":\"\u6771\u4eac \U0001f60a\"}}</tool_call>",
         "good f($.\u57ce=\u6771\u4eac \U0001f60a)"},
        {"odd keys", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{\"a b\":1,\"it's\":2,\"3\":3,\"\":4}}</tool_call>",
         "good f($['a b']=1, $['it\\'s']=2, $['3']=3, $['']=4)"},
        {"a key twice", "hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1,\"a\":2}}</tool_call>",
         "good f($.a=2)"},
        {"case 19: end tag in a string", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{\"content\":\"a </tool_call> and \\\"b\\\"\"}}</tool_call>",
         "good f($.content=a </tool_call> and \"b\")"},
        {"opening tag in a string", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{\"content\":\"<tool_call>{}\"}}</tool_call>",
         "good f($.content=<tool_call>{})"},
        {"case 26: a mention", "hermes", "To call a tool, write <tool_call> and then JSON.<|im_end|>", "mention",
         false},
        {"a mention of both tags", "hermes", "Between `<tool_call>` and `</tool_call>` stands JSON.", "mention", false},
        {"missing end tag", "hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}}<|im_end|>",
         "unclosed f($.a=1)~"},
        {"missing end tag before the next", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{}}<tool_call>{\"name\":\"g\",\"arguments\":{}}</tool_call>",
         "unclosed f()~; good g()"},
        {"cut in a string", "hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"show ar",
         "unclosed f($.a=show ar)?"},
        {"cut in the name", "hermes", "<tool_call>{\"name\":\"run_c", "unclosed run_c()?"},
        {"cut behind the tag", "hermes", "<tool_call>\n", "unclosed ()?"},
        {"missing brace", "hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}</tool_call>",
         "malformed f($.a=1)~"},
        {"missing quote", "hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"x}}</tool_call>",
         "malformed f($.a=x}})?"},
        {"missing quote, another call behind", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"x}}</"
         "tool_call>\n<tool_call>{\"name\":\"g\",\"arguments\":{}}"
         "</tool_call>",
         "malformed f($.a=x}})?; good g()"},
        {"extra brace", "hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{}}}</tool_call>", "malformed f()~"},
        {"raw line feed in a string", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"x\ny\"}}</tool_call>", "malformed f($.a=x\ny)~"},
        {"trailing comma", "hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1,}}</tool_call>",
         "malformed f($.a=1)~"},
        {"single quotes", "hermes", "<tool_call>{'name':'f','arguments':{'a':'x'}}</tool_call>", "malformed f($.a=x)~"},
        {"Python's words", "hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":True}}</tool_call>",
         "malformed f($.a=true)~"},
        {"doubled opening tag", "hermes", "<tool_call><tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>",
         "malformed f()~"},
        {"doubled end tag", "hermes", "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call></tool_call>",
         "good f()"},
        {"no tool named", "hermes", "<tool_call>{\"arguments\":{\"a\":1}}</tool_call>", "malformed ($.a=1)?"},
        {"no arguments", "hermes", "<tool_call>{\"name\":\"f\"}</tool_call>", "malformed f()?"},
        {"arguments are a list", "hermes", "<tool_call>{\"name\":\"f\",\"arguments\":[1]}</tool_call>",
         "malformed f($[0]=1)~"},
        {"nothing between the tags", "hermes", "<tool_call>\n</tool_call>", "malformed ()?"},
        {"case 40: a draft in the thinking", "hermes",
         "<think>maybe <tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call></think>\n<tool_call>{\"name\":\"g\","
         "\"arguments\":{}}</tool_call>",
         "good g(); mention"},
        {"thinking opened by the prompt", "hermes",
         "so <tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>\n</think>\nNo.<|im_end|>", "mention", false},
        {"thinking never closed", "hermes", "<think>so\n<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>",
         "malformed f()~"},
        {"thinking tag in an argument", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"</think>\"}}</tool_call>", "good f($.a=</think>)"},
        {"text between the calls", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call> and <tool_call>{\"name\":\"g\",\"arguments\":{}}"
         "</tool_call>",
         "good f(); good g()"},
        {"deeply nested", "hermes",
         "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":[[[[[[[[[[1]]]]]]]]]]}}</tool_call>",
         "good f($.a[0][0][0][0][0][0][0][0][0][0]=1)"},
    };
}

std::vector<Case> qwen3_coder()
{
    return {
        {"plain", "qwen3-coder",
         "<tool_call>\n<function=f>\n<parameter=path>\n/etc/hosts\n</parameter>\n<parameter=n>\n5\n</parameter>\n"
         "</function>\n</tool_call><|im_end|>",
         "good f($.path=/etc/hosts, $.n=5)"},
        {"no arguments", "qwen3-coder", "<tool_call>\n<function=f>\n</function>\n</tool_call>", "good f()"},
        {"lines kept", "qwen3-coder",
         "<tool_call>\n<function=w>\n<parameter=t>\n\n a\n  b\n\n</parameter>\n</function>\n</tool_call>",
         "good w($.t=\n a\n  b\n)"},
        {"nothing unescaped", "qwen3-coder",
         "<tool_call>\n<function=w>\n<parameter=t>\n&lt;a&gt; \"\\n\"\n</parameter>\n</function>\n</tool_call>",
         "good w($.t=&lt;a&gt; \"\\n\")"},
        {"two", "qwen3-coder",
         "<tool_call>\n<function=f>\n</function>\n</tool_call>\n<tool_call>\n<function=g>\n<parameter=a>\nTrue\n"
         "</parameter>\n</function>\n</tool_call>",
         "good f(); good g($.a=True)"},
        {"case 20: cut in a parameter", "qwen3-coder", "<tool_call>\n<function=f>\n<parameter=path>\n/var/lo<|im_end|>",
         "unclosed f($.path=/var/lo)?"},
        {"case 20: closed by </function>", "qwen3-coder",
         "<tool_call>\n<function=f>\n<parameter=path>\n/var/log\n</function>\n</tool_call>",
         "unclosed f($.path=/var/log)~"},
        {"next parameter without an end tag", "qwen3-coder",
         "<tool_call>\n<function=f>\n<parameter=a>\n1\n<parameter=b>\n2\n</parameter>\n</function>\n</tool_call>",
         "unclosed f($.a=1, $.b=2)~"},
        {"case 21: doubled end tag", "qwen3-coder",
         "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</parameter>\n</function>\n</tool_call>",
         "malformed f($.a=1)~"},
        {"an end tag in the value", "qwen3-coder",
         "<tool_call>\n<function=w>\n<parameter=t>\nuse </parameter> here\n</parameter>\n</function>\n</tool_call>",
         "good w($.t=use </parameter> here)~"},
        {"a whole call in the value", "qwen3-coder",
         "<tool_call>\n<function=w>\n<parameter=t>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n"
         "</parameter>\n</function>\n</tool_call>",
         "good w($.t=<function=f>\n<parameter=a>\n1\n</parameter>\n</function>)"},
        {"outer tags missing", "qwen3-coder", "<function=f>\n<parameter=a>\n1\n</parameter>\n</function>",
         "malformed f($.a=1)~"},
        {"opening tag missing", "qwen3-coder",
         "<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>", "malformed f($.a=1)~"},
        {"end tag missing", "qwen3-coder", "<tool_call>\n<function=f>\n</function><|im_end|>", "unclosed f()~"},
        {"two functions in one tag", "qwen3-coder",
         "<tool_call>\n<function=f>\n</function>\n<function=g>\n</function>\n</tool_call>", "good f(); malformed g()~"},
        {"cut in the function's tag", "qwen3-coder", "<tool_call>\n<function=run_c", "unclosed run_c()?"},
        {"cut in a parameter's tag", "qwen3-coder", "<tool_call>\n<function=f>\n<parameter=pa", "unclosed f()?"},
        {"mention of the inner tag", "qwen3-coder", "Models write <function=name> for that.", "mention", false},
        {"Seed-OSS", "qwen3-coder",
         "<seed:tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</seed:tool_call>",
         "good f($.a=x)"},
        {"unicode", "qwen3-coder",
         "<tool_call>\n<function=f>\n<parameter=\u540d>\n\u6771\u4eac\n</parameter>\n</function>\n</tool_call>",
         "good f($.\u540d=\u6771\u4eac)"},
    };
}

std::vector<Case> others()
{
    return {
        {"plain", "glm",
         "<tool_call>f\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n"
         "<arg_value>3</arg_value>\n</tool_call>",
         "good f($.city=Paris, $.days=3)"},
        {"4.7, no line feeds", "glm", "<tool_call>f<arg_key>a</arg_key><arg_value> x </arg_value></tool_call>",
         "good f($.a= x )"},
        {"no arguments", "glm", "<tool_call>f\n</tool_call><|observation|>", "good f()"},
        {"two", "glm",
         "<tool_call>f\n</tool_call>\n<tool_call>g\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n"
         "</tool_call>",
         "good f(); good g($.a=1)"},
        {"cut in a value", "glm", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>Par", "unclosed f($.a=Par)?"},
        {"value not closed", "glm", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>Paris\n</tool_call>",
         "unclosed f($.a=Paris\n)~"},
        {"doubled end tag", "glm",
         "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value></arg_value>\n</tool_call>",
         "malformed f($.a=x)~"},
        {"end tag missing", "glm", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>",
         "unclosed f($.a=x)~"},
        {"a value is missing", "glm", "<tool_call>f\n<arg_key>a</arg_key>\n</tool_call>", "malformed f()~"},
        {"mention", "glm", "Write <tool_call> for it, please.", "mention", false},
        {"thinking", "glm",
         "<think>hm</think>\n<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n"
         "</tool_call>",
         "good f($.a=1)"},
        {"plain", "granite", "<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"a\": 1}}]<|end_of_text|>",
         "good f($.a=1)"},
        {"two, arguments first", "granite",
         "<|tool_call|>[{\"arguments\": {\"a\": \"x]\"}, \"name\": \"f\"}, {\"name\": \"g\", \"arguments\": {}}]",
         "good f($.a=x]); good g()"},
        {"3.1, as text", "granite", "<tool_call>[{\"name\": \"f\", \"arguments\": {}}]</tool_call>", "good f()"},
        {"list not closed", "granite", "<|tool_call|>[{\"name\": \"f\", \"arguments\": {}}", "unclosed f()~"},
        {"cut", "granite", "<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"a\": \"x", "unclosed f($.a=x)?"},
        {"broken", "granite", "<|tool_call|>[{\"name\": \"f\", \"arguments\": {a: 1}}]", "malformed f()?"},
        {"plain", "granite-20b", "<function_call> {\"name\": \"f\", \"arguments\": {\"a\": 1}}<|endoftext|>",
         "good f($.a=1)"},
        {"two", "granite-20b",
         "<function_call> {\"name\": \"f\", \"arguments\": {}}\n<function_call> {\"name\": \"g\", \"arguments\": {}}",
         "good f(); good g()"},
        {"cut", "granite-20b", "<function_call> {\"name\": \"f\", \"argu", "unclosed f()?"},
        {"plain", "deepseek-v3.2",
         "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"f\">\n<｜DSML｜parameter name=\"a\" string=\"true\">x y"
         "</｜DSML｜parameter>\n<｜DSML｜parameter name=\"n\" string=\"false\">[1, 2]</｜DSML｜parameter>\n"
         "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
         "good f($.a=x y, $.n[0]=1, $.n[1]=2)"},
        {"a number", "deepseek-v3.2",
         "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"f\">\n<｜DSML｜parameter name=\"n\" string=\"false\">12"
         "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
         "good f($.n=12)"},
        {"two", "deepseek-v3.2",
         "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"f\">\n</｜DSML｜invoke>\n<｜DSML｜invoke name=\"g\">\n"
         "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
         "good f(); good g()"},
        {"no JSON", "deepseek-v3.2",
         "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"f\">\n<｜DSML｜parameter name=\"n\" string=\"false\">maybe"
         "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
         "malformed f($.n=maybe)~"},
        {"cut", "deepseek-v3.2",
         "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"f\">\n<｜DSML｜parameter name=\"a\" string=\"true\">x y",
         "unclosed f($.a=x y)?"},
    };
}

} // namespace

const std::vector<Case>& tagged_cases()
{
    static const std::vector<Case> all = [] {
        std::vector<Case> cases = hermes();
        for (const auto& more : {qwen3_coder(), others()})
            cases.insert(cases.end(), more.begin(), more.end());
        return cases;
    }();
    return all;
}

} // namespace streams
