# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What servers answer where they are asked for log-probabilities, brought to one form.

The dialects: llama.cpp's ``completion_probabilities``, the chat form (``content[]``), the legacy lists of completions, and
vLLM's ``prompt_logprobs``. Ids are taken from ``id``, from ``token_id:N`` or from a key that is one; never from a text, unless a
vocabulary is at hand and the bytes name one id alone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .model import CaptureError, Vocab

#: Values that servers write for "impossible" or clip to: no log-probabilities.
NO_VALUE = (-9999.0, -1000.0, -100.0)
PLACEHOLDER = re.compile(r"token_id:(\d+)")
LOST = b"\xef\xbf\xbd"


@dataclass
class Faults:
    """How often answers were not what they should be; each kind becomes one sentence at the end."""

    counts: Counter = field(default_factory=Counter)

    SENTENCES: ClassVar[dict[str, str]] = {
        "no value": "{} entries had no value (-Infinity, NaN, null, or a stand-in such as -9999) and are left out",
        "lost": "{} entries named their token by text or bytes alone that fit none or several ids, and are left out",
        "fewer": "{} probes have fewer entries than were asked for",
        "contradiction": "{} probes give two values for the token that was taken",
        "hole": "{} probes have no values and are left out",
    }

    def add(self, kind: str, n: int = 1) -> None:
        if n:
            self.counts[kind] += n

    def text(self) -> str:
        said = [self.SENTENCES[kind].format(n) for kind, n in self.counts.items() if n]
        return "; ".join(said)


class Names:
    """From the bytes of a token to its id, where only one id has them."""

    def __init__(self, vocab: Vocab | None) -> None:
        self.ids: dict[bytes, int] = {}
        if vocab is not None:
            for i in range(len(vocab)):
                piece = vocab.piece(i)
                self.ids[piece] = -1 if piece in self.ids or not piece else i

    def find(self, entry: dict[str, Any], token: Any) -> int:
        data = entry.get("bytes")
        raw = bytes(data) if isinstance(data, list) and data else str(token).encode("utf-8", "surrogatepass")
        # Replacement characters stand for bytes that are gone.
        return -1 if LOST in raw else self.ids.get(raw, -1)


def number(value: Any) -> float:
    """A log-probability; NaN where there is no value. ``-inf`` counts as none: no list holds what cannot be."""
    try:
        v = float(value)
    except (TypeError, ValueError):
        return math.nan
    return math.nan if not math.isfinite(v) or v in NO_VALUE else v


def entry_id(entry: dict[str, Any], names: Names) -> int:
    if isinstance(entry.get("id"), int):
        return entry["id"]
    token = entry.get("token", "")
    match = PLACEHOLDER.fullmatch(str(token))
    return int(match[1]) if match else names.find(entry, token)


Pairs = list[tuple[int, float]]


def clean(found: Pairs, faults: Faults) -> Pairs:
    """Best first, without what has no value or no id; of one id twice the larger value stays."""
    best: dict[int, float] = {}
    for token, value in found:
        if math.isnan(value):
            faults.add("no value")
        elif token < 0:
            faults.add("lost")
        else:
            best[token] = max(value, best.get(token, -math.inf))
    return sorted(best.items(), key=lambda e: (-e[1], e[0]))


def of_chat(item: dict[str, Any], names: Names) -> Pairs:
    """One element of ``content[]`` or ``completion_probabilities[]``."""
    entries = item.get("top_logprobs", item.get("probs"))
    if not isinstance(entries, list):
        raise CaptureError("The server's answer has no top_logprobs: it does not give log-probabilities here.")
    return [(entry_id(e, names), number(e.get("logprob", e.get("prob")))) for e in entries]


def of_dict(values: dict[str, Any], names: Names) -> Pairs:
    """A dict of the legacy form, keyed by token_id:N, by an id, or by text; or one of prompt_logprobs, keyed by id."""
    out: Pairs = []
    for key, value in values.items():
        match = PLACEHOLDER.fullmatch(key)
        rank = value.get("rank") if isinstance(value, dict) else None
        logprob = number(value.get("logprob") if isinstance(value, dict) else value)
        if match or (isinstance(value, dict) and key.isdigit()):
            out.append((int(match[1]) if match else int(key), logprob))
        else:
            out.append((names.find({}, key), logprob))
        if rank is not None and rank < 1:
            raise CaptureError(f"The server gives a token the rank {rank}.")
    return out


def of_completion(answer: dict[str, Any], names: Names, faults: Faults) -> list[Pairs]:
    """The lists of each generated token, in whichever of the forms the answer has."""
    if isinstance(answer.get("completion_probabilities"), list):
        return [of_chat(item, names) for item in answer["completion_probabilities"]]
    choices = answer.get("choices")
    logprobs = choices[0].get("logprobs") if isinstance(choices, list) and choices else None
    if not isinstance(logprobs, dict):
        raise CaptureError("The server's answer has no logprobs: it does not give log-probabilities here.")
    if isinstance(logprobs.get("content"), list):
        return [of_chat(item, names) for item in logprobs["content"]]
    lists = logprobs.get("top_logprobs")
    if not isinstance(lists, list):
        raise CaptureError("The server's answer has no top_logprobs: it does not give log-probabilities here.")
    taken, tokens = logprobs.get("token_logprobs") or [], logprobs.get("tokens") or []
    for i, values in enumerate(lists):
        if values and i < len(taken) and i < len(tokens) and tokens[i] in values:
            a, b = number(taken[i]), number(values[tokens[i]])
            if not (math.isnan(a) or math.isnan(b)) and abs(a - b) > 1e-3:
                faults.add("contradiction")
    return [of_dict(values, names) if values else [] for values in lists]


def of_prompt(answer: dict[str, Any], ids: np.ndarray, names: Names, k: int) -> list[Pairs]:
    """``prompt_logprobs``: element i predicts ids[i] (the first has nothing before it and is null). Returned by the token
    that was fed last: element t predicts ids[t + 1]; holes are empty. A list that is off by one is found by the tokens in it,
    since each element holds the prompt's own token."""
    rows = answer["choices"][0].get("prompt_logprobs")
    if rows is None:
        rows = answer.get("prompt_logprobs")
    if not isinstance(rows, list):
        raise CaptureError("The server's answer has no prompt_logprobs: take --route walk, one request a probe.")

    def fits(shift: int) -> tuple[int, int]:
        seen = right = 0
        for i, row in enumerate(rows):
            if row and 0 <= i + shift < len(ids):
                seen += 1
                right += str(int(ids[i + shift])) in row or f"token_id:{int(ids[i + shift])}" in row
        return right, seen

    shift = max((0, 1, -1), key=lambda s: (fits(s)[0], -abs(s)))
    right, seen = fits(shift)
    if seen and right < seen:
        raise CaptureError(f"{seen - right} of the {seen} prompt_logprobs do not hold the prompt's own token: they belong to "
                           "another text, or are not where they should be.")
    out: list[Pairs] = [[] for _ in range(len(ids))]
    for i, row in enumerate(rows):
        t = i + shift - 1
        if row and 0 <= t < len(ids):
            # The prompt's own token comes along although it may be far below the best k.
            kept = {key: v for key, v in row.items() if not isinstance(v, dict) or v.get("rank") is None or v["rank"] <= k}
            out[t] = of_dict(kept, names)
    return out


class Constant:
    """Notices answers that are all the same: with speculative decoding some servers call every probability 1."""

    def __init__(self, enough: int = 8) -> None:
        self.enough, self.seen, self.values = enough, 0, set()

    def look(self, found: Pairs) -> None:
        if not found:
            return
        self.seen += 1
        self.values.add(tuple(round(v, 9) for _, v in found))
        if self.seen >= self.enough and len(self.values) == 1:
            only = next(iter(self.values))
            if all(v == 0.0 for v in only):
                raise CaptureError("The server says of every probe that all probabilities are 1: its log-probabilities are not "
                                   "filled in (as happens with speculative decoding); switch that off.")
            raise CaptureError(f"The server gives the same log-probabilities for {self.seen} probes in a row (best "
                               f"{only[0]:g}): they are not those of the text.")
