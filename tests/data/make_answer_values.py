#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""make_answer_values.py FOLDER: what recorded answers of model servers say, read independently of Flipscope.

Writes answers/ (copies of the recorded answers that the tests need) and answers/expected.json: for each file the
prompt's ids, the lists of likely tokens by position (best first; equal values by id), the ids generated, and the calls
that the server parsed. Only Python's own json is used; numbers are rounded to float32 as traces store them.
"""
import json
import os
import shutil
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "answers")


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def events(text):
    for line in text.splitlines():
        if line.startswith("data: ") and line != "data: [DONE]":
            yield json.loads(line[6:])


def number(token):
    return int(token[9:]) if token.startswith("token_id:") else None


def content_rows(content, ids=None):
    """Rows of chat-like lists; tokens without an id are named by their text."""
    rows = []
    for i, item in enumerate(content):
        def name(e):
            if "id" in e:
                return e["id"]
            n = number(e["token"])
            return n if n is not None else e["token"]
        taken = ids[i] if ids else name(item)
        by_text = {}
        if ids:
            by_text = {c["token"]: ids[j] for j, c in enumerate(content)}
        row = {}
        for e in item["top_logprobs"]:
            key = name(e)
            row[by_text.get(key, key) if isinstance(key, str) else key] = f32(e["logprob"])
        row.setdefault(taken, f32(item["logprob"]))
        rows.append({"taken": taken, "list": row})
    return rows


def prompt_rows(rows):
    return [None if d is None else {int(k): f32(v["logprob"]) for k, v in d.items()} for d in rows]


def legacy_rows(logprobs):
    rows = []
    for token, value, top in zip(logprobs["tokens"], logprobs["token_logprobs"], logprobs["top_logprobs"]):
        name = number(token) if number(token) is not None else token
        rows.append({"taken": name, "list": None if top is None else
                     {(number(k) if number(k) is not None else k): f32(v) for k, v in top.items()}})
    return rows


def calls_of(message):
    return [{"name": c["function"]["name"], "arguments": c["function"]["arguments"]}
            for c in message.get("tool_calls") or []]


def read(path):
    text = open(path, encoding="utf-8").read()
    out = {"prompt_ids": None, "prompt": None, "generated": [], "calls": [], "finish": ""}
    if path.endswith(".sse"):
        calls, ids = {}, []
        content = []
        for e in events(text):
            if "completion_probabilities" in e or "tokens_predicted" in e:
                content += e.get("completion_probabilities", [])
                out["n_prompt"] = e.get("tokens_evaluated", out.get("n_prompt"))
                out["finish"] = e.get("stop_type", out["finish"])
                continue
            if e.get("prompt_token_ids"):
                out["prompt_ids"] = e["prompt_token_ids"]
            if e.get("usage"):
                out["n_prompt"] = e["usage"]["prompt_tokens"]
            for c in e["choices"]:
                ids += c.get("token_ids") or []
                out["prompt_ids"] = c.get("prompt_token_ids") or out["prompt_ids"]
                out["finish"] = c.get("finish_reason") or out["finish"]
                lp = c.get("logprobs")
                if lp and "content" in lp:
                    content += lp["content"]
                elif lp:
                    out["generated"] += legacy_rows(lp)
                for call in c.get("delta", {}).get("tool_calls") or []:
                    at = calls.setdefault(call["index"], {"name": "", "arguments": ""})
                    at["name"] += call["function"].get("name") or ""
                    at["arguments"] += call["function"].get("arguments") or ""
        if content:
            out["generated"] = content_rows(content, ids if len(ids) == len(content) else None)
        out["calls"] = [calls[i] for i in sorted(calls)]
        return out
    d = json.loads(text)
    if "completion_probabilities" in d:
        out["n_prompt"] = d["tokens_evaluated"]
        out["finish"] = d["stop_type"]
        out["generated"] = content_rows(d["completion_probabilities"])
        return out
    if "choices" not in d:
        out["generated"] = [{"taken": None, "list": {number(k): f32(v) for k, v in row.items()}}
                            for row in d["top_logprobs"]]
        return out
    c = d["choices"][0]
    out["finish"] = c["finish_reason"]
    out["n_prompt"] = d["usage"]["prompt_tokens"]
    out["prompt_ids"] = c.get("prompt_token_ids") or d.get("prompt_token_ids")
    if c.get("prompt_logprobs"):
        out["prompt"] = prompt_rows(c["prompt_logprobs"])
    out["calls"] = calls_of(c.get("message") or {})
    ids = c.get("token_ids") or d.get("__verbose", {}).get("tokens")
    lp = c.get("logprobs")
    if lp and "content" in lp:
        out["generated"] = content_rows(lp["content"], ids)
    elif lp:
        rows = legacy_rows(lp)
        out["generated"] = rows[len(out["prompt_ids"] or []):] if len(rows) > len(ids or rows) else rows
    elif ids:
        out["generated"] = [{"taken": i, "list": None} for i in ids]
    return out


def plain(value):
    """Lists as [[id or text, value], …], best first."""
    if isinstance(value, dict) and "list" in value:
        row = value["list"]
        return {"taken": value["taken"], "list": None if row is None else
                sorted(([k, v] for k, v in row.items()), key=lambda e: (-e[1], str(e[0])))}
    return value


def main():
    source = sys.argv[1]
    os.makedirs(OUT, exist_ok=True)
    expected = {}
    for name in sorted(os.listdir(source)):
        keep = name.endswith((".json", ".sse")) and not name.startswith(("vllm_cpu", "packages"))
        if not keep or "props" in name or "slots" in name or "template" in name:
            continue
        if name.endswith(".request.json") and name != "vllm_chat_logprobs.json.request.json":
            continue
        shutil.copyfile(os.path.join(source, name), os.path.join(OUT, name))
        try:
            values = read(os.path.join(source, name))
        except (KeyError, TypeError, AttributeError):
            continue  # no answer: must be refused
        values["generated"] = [plain(row) for row in values["generated"]]
        if values["prompt"] is not None:
            values["prompt"] = [None if row is None else sorted(([k, v] for k, v in row.items()),
                                                                key=lambda e: (-e[1], e[0]))
                                for row in values["prompt"]]
        expected[name] = values
    with open(os.path.join(OUT, "expected.json"), "w", encoding="utf-8") as f:
        json.dump(expected, f, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        f.write("\n")


if __name__ == "__main__":
    main()
