# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Segments of a history, found in its bytes: turns of the chat template, thinking, tool calls.

Everything is in tokens, half open. Templates whose turns are written ``<|im_start|>role ... <|im_end|>`` (ChatML),
``<|start_header_id|>role<|end_header_id|> ... <|eot_id|>`` (Llama 3) and ``<start_of_turn>role ... <end_of_turn>`` (Gemma)
are known; in others the tool calls are still found.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

Span = tuple[int, int, str, str]

ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "model": "assistant",
         "tool": "tool", "ipython": "tool"}
TURNS = (
    re.compile(rb"<\|im_start\|>(?P<role>\w+)[^\n]*\n(?P<body>.*?)(?P<end><\|im_end\|>|\Z)", re.DOTALL),
    re.compile(rb"<\|start_header_id\|>(?P<role>\w+)<\|end_header_id\|>\s*(?P<body>.*?)(?P<end><\|eot_id\|>|<\|eom_id\|>|\Z)",
               re.DOTALL),
    re.compile(rb"<start_of_turn>(?P<role>\w+)\n(?P<body>.*?)(?P<end><end_of_turn>|\Z)", re.DOTALL),
)
CALL_OPEN = b"<tool_call>"
CALL_CLOSE = b"</tool_call>"
XML_CALL = re.compile(r"<function=([^>\n]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
XML_PARAMETER = re.compile(r"<parameter=([^>\n]+)>\n?(.*?)\n?(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
OTHER_CALLS = (
    (re.compile(rb"\[TOOL_CALLS\].*?(?=</s>|\Z)", re.DOTALL)),
    (re.compile(rb"<\|python_tag\|>.*?(?=<\|eot_id\|>|<\|eom_id\|>|\Z)", re.DOTALL)),
    (re.compile(rb"<\|tool_call_begin\|>.*?(?:<\|tool_call_end\|>|\Z)", re.DOTALL)),
    (re.compile("<｜tool▁call▁begin｜>.*?(?:<｜tool▁call▁end｜>|\\Z)".encode(), re.DOTALL)),
)


@dataclass
class Segments:
    """``spans`` sorted; ``turns`` are the tokens at which the text of an assistant's turn starts; ``calls`` token ranges."""

    spans: list[Span] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    calls: list[tuple[int, int]] = field(default_factory=list)


def outside_strings(text: bytes, start: int, tag: bytes) -> int:
    """Where ``tag`` stands next that is not inside a JSON string; -1 for nowhere. A tag in a string ends no call."""
    inside, i = False, start
    while i < len(text):
        c = text[i]
        if inside and c == 0x5C:
            i += 2
            continue
        if c == 0x22:
            inside = not inside
        elif not inside and text.startswith(tag, i):
            return i
        i += 1
    return -1


def parse_call(body: str) -> dict | None:
    """Name and arguments of a call as ``{"name":...,"arguments":{...}}``: Hermes' JSON, or Qwen's XML. None if neither."""
    try:
        value = json.loads(body)
        if isinstance(value, dict) and isinstance(value.get("name"), str):
            arguments = value.get("arguments", value.get("parameters", {}))
            return {"name": value["name"], "arguments": json.loads(arguments) if isinstance(arguments, str) else arguments}
        return None
    except ValueError:
        pass
    match = XML_CALL.search(body)
    if not match:
        return None
    return {"name": match[1].strip(), "arguments": {k.strip(): v for k, v in XML_PARAMETER.findall(match[2])}}


def label_of(call: dict | None) -> str:
    return json.dumps(call, separators=(",", ":"), ensure_ascii=False) if call is not None else ""


def find_calls(text: bytes, start: int, stop: int) -> list[tuple[int, int, dict | None]]:
    """Calls in ``text[start:stop]`` with the byte range of each, tags included; an unclosed one runs to ``stop``."""
    found: list[tuple[int, int, dict | None]] = []
    at = start
    while (begin := text.find(CALL_OPEN, at, stop)) >= 0:
        inner = begin + len(CALL_OPEN)
        json_like = text[inner:stop].lstrip()[:1] == b"{"
        close = outside_strings(text[:stop], inner, CALL_CLOSE) if json_like else text.find(CALL_CLOSE, inner, stop)
        end = stop if close < 0 else close + len(CALL_CLOSE)
        call = parse_call(text[inner : close if close >= 0 else stop].decode("utf-8", "replace").strip())
        if json_like or call is not None:  # else prose that mentions the tag
            found.append((begin, end, call))
            at = end
        else:
            at = inner
    for pattern in OTHER_CALLS:
        found += [(m.start(), m.end(), None) for m in pattern.finditer(text, start, stop)]
    return sorted(found, key=lambda c: c[:2])


def segment(pieces: list[bytes]) -> Segments:
    """Segments of a history whose tokens have these bytes."""
    text = b"".join(pieces)
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece))

    def tokens(a: int, b: int) -> tuple[int, int]:
        """The tokens that hold the bytes a to b."""
        first = max(0, bisect_right(starts, a) - 1)
        return first, max(first + 1, bisect_left(starts, b)) if b > a else first

    out = Segments()
    pattern = next((p for p in TURNS if p.search(text)), None)
    turns = list(pattern.finditer(text)) if pattern else []
    for match in turns:
        role = ROLES.get(match["role"].decode("utf-8", "replace"), "chunk")
        # A tool's answer is a user's turn in some templates.
        if role == "user" and match["body"].lstrip().startswith(b"<tool_response>"):
            role = "tool"
        first, last = tokens(match.start(), match.end())
        out.spans.append((first, last, role, "" if match["end"] else "(open)"))
        if role == "assistant":
            out.turns.append(bisect_left(starts, match.start("body")))
            add_body(out, text, match.start("body"), match.end("body"), tokens)
    if not turns:
        add_body(out, text, 0, len(text), tokens)
    out.spans.sort()
    return out


def add_body(out: Segments, text: bytes, start: int, stop: int, tokens) -> None:
    """Thinking and calls within ``text[start:stop]``."""
    for match in re.compile(rb"<think>.*?(?:</think>|\Z)", re.DOTALL).finditer(text, start, stop):
        out.spans.append((*tokens(match.start(), match.end()), "thinking", ""))
    for begin, end, call in find_calls(text, start, stop):
        first, last = tokens(begin, end)
        out.spans.append((first, last, "tool_call", label_of(call)))
        out.calls.append((first, last))
