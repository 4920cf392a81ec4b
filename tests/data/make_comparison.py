#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes tests/data/analysis/comparison.json: what scipy and numpy say about two runs against one baseline. Needs both.

The runs are those of resources/samples; their numbers are the 80-bit ones in tests/data/engine, not ours."""
import csv
import json
import math
import pathlib

import numpy as np
from scipy.stats import binomtest

HERE = pathlib.Path(__file__).parent
DRAWS, SEED, MASK = 2000, 1, (1 << 64) - 1


def splitmix64(state):
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def interval(values):
    """Circular block bootstrap of the mean: whole samples are put together, then averaged."""
    values, n = np.asarray(values), len(values)
    length = 1
    while length**3 < n:
        length += 1
    random, means = splitmix64(SEED), []
    for _ in range(DRAWS):
        starts = np.array([next(random) % n for _ in range(math.ceil(n / length))])
        places = (starts[:, None] + np.arange(length)) % n
        means.append(values[places.ravel()[:n]].mean())
    return {"low": float(np.percentile(means, 2.5)), "high": float(np.percentile(means, 97.5))}


def rows(name):
    return {int(r["position"]): r for r in csv.DictReader((HERE / "engine" / f"{name}.csv").open())}


def pair(name_a, name_b):
    a, b = rows(name_a), rows(name_b)
    positions = sorted(a.keys() & b.keys())
    flips = [(int(a[t]["flip"]), int(b[t]["flip"])) for t in positions]
    only_a, only_b = flips.count((1, 0)), flips.count((0, 1))
    tops = [(int(a[t]["argmax_q"]), int(b[t]["argmax_q"])) for t in positions]
    answer = {"a": name_a, "b": name_b, "n": len(positions), "only_in_a": len(a) - len(positions),
              "only_in_b": len(b) - len(positions), "neither": flips.count((0, 0)), "only_a": only_a, "only_b": only_b,
              "both": flips.count((1, 1)),
              "both_same_token": sum(f == (1, 1) and x == y for f, (x, y) in zip(flips, tops)),
              "tops_differ": sum(x != y for x, y in tops),
              "mcnemar_p": binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0, "differences": []}
    for column in ("flip", "kl_pq", "kl_qp", "js", "tv"):
        va, vb = ([float(side[t][column]) for t in positions] for side in (a, b))
        d = [y - x for x, y in zip(va, vb)]
        answer["differences"].append({"name": column, "mean_a": math.fsum(va) / len(va), "mean_b": math.fsum(vb) / len(vb),
                                      "difference": math.fsum(d) / len(d), **interval(d),
                                      "larger_a": sum(x > y for x, y in zip(va, vb)),
                                      "larger_b": sum(y > x for x, y in zip(va, vb))})
    worse = sorted((t for t in positions if (a[t]["flip"], b[t]["flip"]) == ("0", "1")
                    or float(b[t]["kl_pq"]) > float(a[t]["kl_pq"])),
                   key=lambda t: ((a[t]["flip"], b[t]["flip"]) != ("0", "1"),
                                  float(a[t]["kl_pq"]) - float(b[t]["kl_pq"])))
    answer["worse"] = worse
    answer["windows"] = []
    for start in range(0, positions[-1] + 1, 1024):
        inside = [t for t in positions if start <= t < start + 1024]
        means = [math.fsum(float(side[t]["kl_pq"]) for t in inside) / len(inside) for side in (a, b)]
        answer["windows"].append({"start": start, "n": len(inside),
                                  "only_a": sum((a[t]["flip"], b[t]["flip"]) == ("1", "0") for t in inside),
                                  "only_b": sum((a[t]["flip"], b[t]["flip"]) == ("0", "1") for t in inside),
                                  "kl_mean_a": means[0], "kl_mean_b": means[1], "kl_mean_difference": means[1] - means[0],
                                  "flip_rate_difference": sum(int(b[t]["flip"]) - int(a[t]["flip"]) for t in inside) / len(inside)})
    return answer


def mcnemar():
    for a, b in [(0, 0), (1, 0), (0, 1), (5, 0), (3, 7), (16, 37), (10, 10), (2, 60), (400, 500), (1500, 1625), (0, 1000),
                 (0, 3000), (40_000, 41_000), (49_000, 51_000)]:
        yield {"only_a": a, "only_b": b, "p": float(binomtest(a, a + b).pvalue) if a + b else 1.0}


def series():
    rng = np.random.default_rng(4)
    yield [1.0, 2.0]
    yield [0.0] * 9
    yield list(rng.normal(size=27))
    yield list(rng.normal(size=28))
    yield list(np.cumsum(rng.normal(size=239)) / 10)


def main():
    made = {"mcnemar": list(mcnemar()),
            "series": [{"values": s, **interval(s)} for s in series()],
            "pairs": [pair("kv_q4_0", "w_q2_k"), pair("w_q2_k", "kv_q4_0"), pair("flash_attn", "kv_q4_0")]}
    (HERE / "analysis" / "comparison.json").write_text(json.dumps(made, indent=0) + "\n")


if __name__ == "__main__":
    main()
