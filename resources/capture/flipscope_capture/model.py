# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts of a capture hand to each other: vocabularies, rows of logits, top-k lists, continuations, errors."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: How rows are stored, by the name of the type: the numpy type of their bits.
ROW_TYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": np.uint16}


class CaptureError(Exception):
    """One sentence for the user: what went wrong, where, what to do."""


@dataclass(frozen=True)
class Vocab:
    """The bytes of every id: id *i* is ``data[offsets[i]:offsets[i + 1]]``. ``special`` lists control tokens."""

    data: bytes
    offsets: np.ndarray  # uint64 [n_vocab + 1]
    special: np.ndarray  # int32 [*]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def piece(self, token: int) -> bytes:
        """The bytes of one id; none for an id outside of the vocabulary (padding of the logits)."""
        if not 0 <= token < len(self):
            return b""
        return self.data[int(self.offsets[token]) : int(self.offsets[token + 1])]

    def text(self, ids: Any) -> bytes:
        return b"".join(self.piece(int(i)) for i in ids)

    @staticmethod
    def of(pieces: list[bytes], special: list[int]) -> Vocab:
        lengths = np.fromiter((len(p) for p in pieces), np.uint64, len(pieces))
        offsets = np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)])
        return Vocab(b"".join(pieces), offsets, np.asarray(sorted(special), np.int32))


@dataclass(frozen=True)
class RowFormat:
    """What an engine gives for a probe: ``full`` rows of ``n_vocab`` numbers, or the best ``k`` of them (``topk``)."""

    kind: str
    n_vocab: int
    dtype: str = "float32"
    k: int = 0
    lse: bool = False  # top-k lists come with the log-sum-exp of the whole row


@dataclass(frozen=True)
class Rows:
    """Full-vocabulary rows. ``values``: [n, n_vocab] in float32, float16 or the bits of bfloat16 (uint16)."""

    positions: np.ndarray  # int64 [n], index of the last token fed
    values: np.ndarray


@dataclass(frozen=True)
class Lists:
    """Top-k lists, best first. Id -1 marks a missing entry; ``lse`` (float64 [n]) is that of the whole row, if known."""

    positions: np.ndarray
    top_ids: np.ndarray  # int32 [n, k]
    top_logprobs: np.ndarray  # float32 [n, k], natural logarithms
    lse: np.ndarray | None = None


@dataclass
class Continuation:
    """A run of the model on its own from ``prefix_tokens`` on. ``fed`` marks tokens that were fed, not generated."""

    prefix_tokens: int
    sampler: str = '{"temperature":0}'
    ids: list[int] = field(default_factory=list)
    fed: list[int] = field(default_factory=list)
    top_ids: list[list[int]] = field(default_factory=list)
    top_logprobs: list[list[float]] = field(default_factory=list)
    finish_reason: str = ""
    parsed_tool_calls: str | None = None  # JSON as the server parsed it
    notes: str = ""

    def to_json(self) -> str:
        return json.dumps(self.__dict__, separators=(",", ":"))

    @staticmethod
    def from_json(line: str) -> Continuation:
        return Continuation(**json.loads(line))


def widen(values: np.ndarray) -> np.ndarray:
    """Rows in whatever type as float32 (float64 stays)."""
    if values.dtype == np.uint16:
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values if values.dtype == np.float64 else values.astype(np.float32, copy=False)


def log_sum_exp(values: np.ndarray) -> np.ndarray:
    """float64 [n] of rows [n, n_vocab], row by row, so that no second copy of the rows in float64 is made."""
    out = np.empty(len(values), np.float64)
    for i, row in enumerate(values):
        wide = widen(row).astype(np.float64)
        top = wide.max()
        out[i] = top + np.log(np.exp(wide - top).sum()) if np.isfinite(top) else np.nan
    return out
