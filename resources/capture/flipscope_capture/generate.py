# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Continuations: the model runs on its own from a point of the history, greedily or by a sampler that is written down."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .engines import Engine, Request
from .model import Continuation, widen


def sampler_text(sampling: dict[str, Any]) -> str:
    """The sampler as JSON: greedy, or its stages in their order with the rule of the draw."""
    if not sampling.get("temperature"):
        return '{"temperature":0}'
    stages: list[dict[str, Any]] = [{"stage": "temperature", "value": sampling["temperature"]}]
    for name in ("top_k", "top_p"):
        if sampling.get(name):
            stages.append({"stage": name, "value": sampling[name]})
    stages.append({"stage": "draw", "seed": sampling.get("seed", 0)})
    return json.dumps(stages, separators=(",", ":"))


class Sampler:
    """Temperature, top-k, top-p, then a draw from the candidates in order of falling probability; of equal logits the
    lower id comes first. The generator is numpy's PCG64, seeded with the seed and the point of the history."""

    def __init__(self, sampling: dict[str, Any], point: int) -> None:
        self.sampling = sampling
        self.random = np.random.Generator(np.random.PCG64([int(sampling.get("seed") or 0), point]))

    def pick(self, row: np.ndarray) -> int:
        temperature = self.sampling.get("temperature") or 0.0
        if not temperature:
            return int(row.argmax())
        order = np.argsort(-row, kind="stable")
        if self.sampling.get("top_k"):
            order = order[: self.sampling["top_k"]]
        wide = row[order].astype(np.float64) / temperature
        p = np.exp(wide - wide[0])
        p /= p.sum()
        if self.sampling.get("top_p"):
            keep = int(np.searchsorted(np.cumsum(p), self.sampling["top_p"])) + 1
            order, p = order[:keep], p[:keep] / p[:keep].sum()
        return int(order[min(len(order) - 1, np.searchsorted(np.cumsum(p), self.random.random(), side="right"))])


def top_list(row: np.ndarray, k: int) -> tuple[list[int], list[float]]:
    """The best k of a row: ids and log-probabilities over the whole vocabulary."""
    if k <= 0:
        return [], []
    k = min(k, len(row))
    wide = row.astype(np.float64)
    best = np.argpartition(-wide, k - 1)[:k]
    best = best[np.lexsort((best, -wide[best]))]
    top = wide.max()
    lse = top + np.log(np.exp(wide - top).sum())
    return [int(i) for i in best], [float(wide[i] - lse) for i in best]


class Walk:
    """A continuation in the making, one token a step."""

    def __init__(self, engine: Engine, ids: np.ndarray, request: Request) -> None:
        self.engine, self.request = engine, request
        self.sampler = Sampler(request.sampling, request.prefix_tokens)
        self.made = Continuation(request.prefix_tokens, sampler_text(request.sampling))
        self.row = widen(engine.begin(ids[: request.prefix_tokens]))

    def room(self) -> int:
        return self.request.max_tokens - len(self.made.ids)

    def step(self) -> int:
        """Generates one token. It is fed to the engine as well, unless it ends the turn."""
        token = self.sampler.pick(self.row)
        ids, logprobs = top_list(self.row, self.request.top)
        self.made.ids.append(token)
        self.made.fed.append(0)
        self.made.top_ids.append(ids)
        self.made.top_logprobs.append(logprobs)
        if not self.engine.is_end(token) and self.room() > 0:
            self.row = widen(self.engine.feed([token]))
        return token

    def feed(self, ids: list[int]) -> None:
        """Tokens that the model did not write."""
        self.row = widen(self.engine.feed(ids))
        self.made.ids += ids
        self.made.fed += [1] * len(ids)
        self.made.top_ids += [[]] * len(ids)
        self.made.top_logprobs += [[]] * len(ids)


def run_on(engine: Engine, ids: np.ndarray, request: Request) -> Continuation:
    """One continuation: by the engine itself where it can, else step by step."""
    own = engine.continue_from(ids, request)
    if own is not None:
        return own
    walk = Walk(engine, ids, request)
    while walk.room() > 0:
        if engine.is_end(walk.step()):
            walk.made.finish_reason = "eos"
            return walk.made
    walk.made.finish_reason = "length"
    return walk.made
