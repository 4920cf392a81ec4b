# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which positions are probed, where continuations start, and what that takes on disk."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from .model import CaptureError, RowFormat
from .spans import Segments


@dataclass(frozen=True)
class Plan:
    """``grid``: int64, the even grid of ``/probes``. ``dense``: name to int64 positions of a stretch.
    ``points``: prefix lengths at which continuations start."""

    grid: np.ndarray
    dense: dict[str, np.ndarray] = field(default_factory=dict)
    points: list[int] = field(default_factory=list)

    def all_positions(self) -> np.ndarray:
        """Every position that is probed, once, in order."""
        return np.unique(np.concatenate([self.grid, *self.dense.values()])) if self.dense else self.grid

    def rows(self) -> int:
        return len(self.grid) + sum(len(p) for p in self.dense.values())


def grid(n_tokens: int, stride: int, phase: int | None) -> np.ndarray:
    """Positions t with ``t % stride == phase``; phase is ``stride - 1`` unless said, so that a row closes each block."""
    if stride < 1:
        raise CaptureError(f"--stride {stride}: the distance of the probes is 1 or more.")
    phase = stride - 1 if phase is None else phase
    if not 0 <= phase < stride:
        raise CaptureError(f"--phase {phase}: it lies between 0 and the stride less one, {stride - 1}.")
    return np.arange(phase, n_tokens, stride, dtype=np.int64)


def dense_sets(what: str, segments: Segments, n_tokens: int) -> dict[str, np.ndarray]:
    """``calls`` (a stretch for each tool call), ``none``, or ranges of tokens such as ``420:448,900:930``. The rows over
    the tokens s to e are those that predict them and what follows: positions s - 1 to e - 1."""
    if what == "none":
        return {}
    if what == "calls":
        ranges = {f"call-{i}": r for i, r in enumerate(segments.calls)}
    else:
        ranges = {}
        for part in what.split(","):
            match = re.fullmatch(r"\s*(\d+):(\d+)\s*", part)
            if not match or not int(match[1]) < int(match[2]) <= n_tokens:
                raise CaptureError(f"--dense {part.strip()}: write calls, none, or ranges START:END of tokens within the "
                                   f"history of {n_tokens}, with commas between.")
            ranges[f"tokens-{match[1]}-{match[2]}"] = (int(match[1]), int(match[2]))
    sets = {name: np.arange(max(0, s - 1), e, dtype=np.int64) for name, (s, e) in ranges.items()}
    return {name: positions for name, positions in sets.items() if len(positions)}


def points(what: str, segments: Segments, n_tokens: int) -> list[int]:
    """Where continuations start: ``turns`` (before each turn of the assistant), ``calls`` (before each tool call),
    ``end``, or prefix lengths such as ``411,766``. ``turns`` falls back to ``end`` where no turn is found."""
    names = {"turns": segments.turns or [n_tokens], "calls": [c[0] for c in segments.calls], "end": [n_tokens], "none": []}
    out: list[int] = []
    for part in (p.strip() for p in what.split(",")):
        if part in names:
            out += names[part]
        elif part.isdigit() and 1 <= int(part) <= n_tokens:
            out.append(int(part))
        else:
            raise CaptureError(f"--continue-at {part}: write turns, calls, end, none, or tokens of the history to keep "
                               f"(1 to {n_tokens}), with commas between.")
    return sorted({p for p in out if p >= 1})


def row_bytes(given: RowFormat, store: str) -> int:
    """Bytes of one stored row."""
    if given.kind == "topk":
        return given.k * 8
    dtype = given.dtype if store == "as-given" else store
    return given.n_vocab * (4 if dtype == "float32" else 2)


def disk(plan: Plan, given: RowFormat, store: str, n_tokens: int) -> int:
    """Bytes of the finished file, roughly: rows, ids and texts; what HDF5 adds is less than a percent."""
    return plan.rows() * (row_bytes(given, store) + 20) + n_tokens * 20 + given.n_vocab * 8 + 65536


def size_text(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.2f} {unit}"
        size /= 1000
    raise AssertionError


def time_text(seconds: float) -> str:
    s = round(seconds)
    if s < 120:
        return f"{s} s"
    return f"{s // 60} min {s % 60:02d} s" if s < 7200 else f"{s // 3600} h {s % 3600 // 60:02d} min"
