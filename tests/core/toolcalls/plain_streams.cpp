// SPDX-FileCopyrightText: 2026 The Flipscope authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "streams.h"

namespace streams {

const std::vector<Case>& plain_cases()
{
    static const std::vector<Case> all = {
        {"plain", "llama3", "{\"name\": \"f\", \"parameters\": {\"a\": 1}}<|eot_id|>", "good f($.a=1)"},
        {"python tag", "llama3", "<|python_tag|>{\"name\": \"f\", \"parameters\": {\"a\": \"x\"}}<|eom_id|>",
         "good f($.a=x)"},
        {"type first", "llama3", "{\"type\": \"function\", \"name\": \"f\", \"parameters\": {}}", "good f()"},
        {"two with a semicolon", "llama3",
         "{\"name\": \"f\", \"parameters\": {}}; {\"name\": \"g\", \"parameters\": {\"b\": {\"c\": false}}}",
         "good f(); good g($.b.c=false)"},
        {"prose before", "llama3", "Sure:\n{\"name\": \"f\", \"parameters\": {}}", "malformed f()~"},
        {"a brace in prose", "llama3", "Use {braces} like {\"a\": 1}.", "", false},
        {"data", "llama3", "{\"city\": \"Paris\"}", "", false},
        {"built-in", "llama3", "<|python_tag|>brave_search.call(query=\"cats\")<|eom_id|>",
         "good brave_search.call($.query=cats)"},
        {"built-in, a string over two lines", "llama3", "<|python_tag|>brave_search.call(query=\"a\nb\")<|eom_id|>",
         "malformed brave_search.call($.query=a\nb)~"},
        {"code", "llama3", "<|python_tag|>import os\nprint(os.name)<|eom_id|>",
         "good python($=import os\nprint(os.name))"},
        {"cut", "llama3", "{\"name\": \"f\", \"parameters\": {\"a\": \"sh", "unclosed f($.a=sh)?"},
        {"missing brace", "llama3", "<|python_tag|>{\"name\": \"f\", \"parameters\": {\"a\": 1]}",
         "malformed f($.a=1)?"},

        {"plain", "llama4", "[f(a=1, b='x')]<|eot|>", "good f($.a=1, $.b=x)"},
        {"markers", "llama4", "<|python_start|>[f(a=[1, 2], o={'k': None})]<|python_end|>",
         "good f($.a[0]=1, $.a[1]=2, $.o.k=null)"},
        {"two", "llama4", "[f(), g(t=True, s=\"it's\")]", "good f(); good g($.t=true, $.s=it's)"},
        {"escapes", "llama4", "[f(a='\\x41\\u00e9\\n\\'')]", "good f($.a=A\u00e9\n')"},
        {"bracket in a string", "llama4", "[f(a=']')]", "good f($.a=])"},
        {"positional argument", "llama4", "[f(1)]", "malformed f()?"},
        {"too large", "llama4", "[f(a=1e999)]", "malformed f()?"},
        {"bytes literal", "llama4", "[f(a=b'x')]", "malformed f()?"},
        {"JSON's words", "llama4", "[f(a=true)]", "malformed f($.a=true)~"},
        {"text behind", "llama4", "[f(a=1)] and so on", "malformed f($.a=1)~"},
        {"list not closed", "llama4", "[f(a=1)", "unclosed f($.a=1)~"},
        {"list ends behind a comma", "llama4", "[f(), ", "unclosed f()~"},
        {"cut", "llama4", "[f(a='sho", "unclosed f($.a=sho)?"},
        {"a link", "llama4", "[text](https://example.org)", "", false},
        {"LFM2", "lfm2", "<|tool_call_start|>[f(a=1), g.h(b=\"x\")]<|tool_call_end|>Done.",
         "good f($.a=1); good g.h($.b=x)"},
        {"LFM2, cut", "lfm2", "<|tool_call_start|>[f(a=", "unclosed f()?"},

        {"plain", "functionary-v3.2", "f\n{\"a\": 1}<|eot_id|>", "good f($.a=1)"},
        {"text and a call", "functionary-v3.2", "all\nI look.\n>>>f\n{\"a\": \">>>\"}", "good f($.a=>>>)"},
        {"code", "functionary-v3.2", ">>>python\nprint(1 >>> 2)", "good python($=print(1 >>> 2))"},
        {"cut", "functionary-v3.2", ">>>f\n{\"a\": \"x", "unclosed f($.a=x)?"},
        {"plain", "functionary-v3.1", "<function=f>{\"a\": 1}</function><function=g>{}</function><|eom_id|>",
         "good f($.a=1); good g()"},
        {"end missing", "functionary-v3.1", "<function=f>{\"a\": 1}<|eot_id|>", "unclosed f($.a=1)~"},
        {"end tag in a string", "functionary-v3.1", "<function=f>{\"a\": \"</function>\"}</function>",
         "good f($.a=</function>)"},
        {"plain", "functionary-v2",
         "<|recipient|> all\n<|content|> I look.\n<|from|> assistant\n<|recipient|> f\n<|content|> {\"a\": 1}<|stop|>",
         "good f($.a=1)"},
        {"cut", "functionary-v2", "<|recipient|> f\n<|content|> {\"a\": ", "unclosed f()?"},

        {"fence", "json", "Sure:\n```json\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n```\nDone.", "good f($.a=1)"},
        {"fence without a word", "json", "Sure:\n```\n{\"name\": \"f\", \"arguments\": {}}\n```", "good f()"},
        {"list in a fence", "json",
         "Now:\n```json\n[{\"name\": \"f\", \"arguments\": {}}, {\"name\": \"g\", \"arguments\": {\"b\": 2}}]\n```",
         "good f(); good g($.b=2)"},
        {"data in a fence", "json", "Now:\n```json\n{\"name\": \"Paris\", \"size\": 3}\n```", "", false},
        {"llama.cpp's generic", "json", "{\"tool_call\": {\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}}",
         "good f($.a=x)"},
        {"another fence", "json", "```python\nx = {\"name\": \"f\", \"arguments\": {}}\n```", "", false},
        {"cut", "json", "Now:\n```json\n{\"name\": \"f\", \"arguments\": {\"a\": \"x", "unclosed f($.a=x)?"},
        {"a server's message", "openai",
         "{\"content\": null, \"tool_calls\": [{\"id\": \"1\", \"type\": \"function\", \"function\": {\"name\": \"f\", "
         "\"arguments\": \"{\\\"a\\\": 1}\"}}]}",
         "good f($.a=1)"},
        {"a list of calls", "openai",
         "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]", "good f()"},
    };
    return all;
}

} // namespace streams
