#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes tests/data/analysis/statistics.json: what numpy and scipy say about some numbers. Needs numpy and scipy."""
import json
import math
import pathlib

import numpy as np
from scipy.stats import binomtest

HERE = pathlib.Path(__file__).parent
PERCENTILES = {"median": 50, "p90": 90, "p95": 95, "p99": 99, "p999": 99.9}


def wilson():
    pairs = [(0, 1), (1, 1), (0, 29), (2, 239), (16, 239), (37, 239), (125, 250), (250, 250), (1, 3125), (1499, 3125)]
    for successes, n in pairs:
        interval = binomtest(successes, n).proportion_ci(0.95, method="wilson")
        yield {"successes": successes, "n": n, "low": interval.low, "high": interval.high}


def sets():
    rng = np.random.default_rng(1)
    yield [0.25]
    yield [1.0, 2.0]
    yield [3.0, 1.0, 2.0, 1e-300]
    yield [0.0] * 7
    yield list(10 ** rng.uniform(-14, 1, size=239))
    yield list(rng.exponential(size=250))
    yield list(rng.normal(size=11))


def main():
    described = []
    for values in sets():
        summary = {name: float(np.percentile(values, q)) for name, q in PERCENTILES.items()}
        summary["mean"] = math.fsum(values) / len(values)
        summary["max"] = max(values)
        described.append({"values": values, **summary})
    folder = HERE / "analysis"
    folder.mkdir(exist_ok=True)
    (folder / "statistics.json").write_text(json.dumps({"wilson": list(wilson()), "described": described}, indent=0) + "\n")


if __name__ == "__main__":
    main()
