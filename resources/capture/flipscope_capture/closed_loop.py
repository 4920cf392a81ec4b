# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed loop: after each tool call the tool's answer is fed and the run goes on, so that one sees whether it recovers.

The answer is the transcript's own where the model made one of the transcript's calls, and a stub where it made another.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from .engines import Engine, Request
from .generate import Walk
from .model import Continuation, Vocab
from .spans import Segments, find_calls

STUB = '{"error":"This command has no recorded answer."}'


@dataclass
class Script:
    """``answers``: the call (name and arguments in one canonical text) to the tokens between the end of its turn and the
    start of the assistant's next. ``frame``: bytes before and after the answer's own text, for stubs."""

    answers: dict[str, list[int]]
    frame: tuple[bytes, bytes]


def canonical(call: dict) -> str:
    return json.dumps(call, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def split_frame(text: bytes) -> tuple[bytes, bytes] | None:
    """What stands around the answer: the template's markers and, where there are, the tags of a tool's response."""
    for opening, closing in ((b"<tool_response>\n", b"\n</tool_response>"), (b"<tool_response>", b"</tool_response>")):
        a, b = text.find(opening), text.rfind(closing)
        if 0 <= a < b:
            return text[: a + len(opening)], text[b:]
    for opening, closing in ((b"<|im_start|>tool\n", b"<|im_end|>"), (b"<|end_header_id|>\n\n", b"<|eot_id|>")):
        a = text.find(opening)
        b = text.find(closing, a + len(opening)) if a >= 0 else -1
        if 0 <= a < b:
            return text[: a + len(opening)], text[b:]
    return None


def read_script(ids: np.ndarray, segments: Segments, vocab: Vocab) -> Script:
    """The answers that the history holds."""
    answers: dict[str, list[int]] = {}
    frame: tuple[bytes, bytes] = (b"", b"")
    turns = sorted(s for s in segments.spans if s[2] == "assistant")
    for turn, start in zip(turns, segments.turns):
        later = [t for t in segments.turns if t > start]
        text = vocab.text(ids[start : turn[1]])
        calls = [c for _, _, c in find_calls(text, 0, len(text)) if c is not None]
        if not calls or not later:
            continue
        between = [int(i) for i in ids[turn[1] : later[0]]]
        answers.setdefault(canonical(calls[-1]), between)
        frame = split_frame(vocab.text(between)) or frame
    return Script(answers, frame)


def run_closed_loop(engine: Engine, ids: np.ndarray, request: Request, script: Script, vocab: Vocab,
                    turns: int) -> Continuation:
    """A continuation over up to ``turns`` calls. ``finish_reason`` eos: the model ended a turn without a call."""
    walk = Walk(engine, ids, request)
    known = stubs = 0
    turn_start = 0
    while walk.room() > 0:
        if not engine.is_end(walk.step()):
            continue
        text = vocab.text(walk.made.ids[turn_start:])
        calls = [c for _, _, c in find_calls(text, 0, len(text))]
        if not calls or known + stubs >= turns:
            walk.made.finish_reason = "eos" if not calls else "turns"
            break
        answer = script.answers.get(canonical(calls[-1])) if calls[-1] is not None else None
        own = answer is not None
        if answer is None:
            if not any(script.frame):
                walk.made.finish_reason = "no_answer"
                break
            before, after = (part.decode("utf-8", "replace") for part in script.frame)
            answer = engine.tokenize(before + STUB + after)
        # The token that ended the turn has not been fed yet.
        if len(answer) >= walk.room():
            walk.made.finish_reason = "length"
            break
        known, stubs = known + own, stubs + (not own)
        engine.feed(walk.made.ids[-1:])
        walk.feed(answer)
        turn_start = len(walk.made.ids)
    else:
        walk.made.finish_reason = "length"
    walk.made.notes = f"closed loop: {known} of the transcript's own answers and {stubs} stubs were fed"
    return walk.made
