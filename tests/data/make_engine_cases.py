#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes tests/data/engine/, what the engine tests compare with:

    tests/data/make_engine_cases.py TRACES

TRACES holds smollm2/ and smollm2-h200/ with their reference values (80-bit arithmetic in numpy).
  <run>.csv              the reference values of the probes in resources/samples/
  triton_fa2.bf16, .csv  rows of two probes of a real BF16 pair, little-endian: baseline, run, baseline, run; their values
  fifty_digits.txt       constructed rows and their metrics from the textbook formulas in 60-digit arithmetic (mpmath)
Needs h5py, numpy and mpmath.
"""
import csv
import pathlib
import sys

import h5py
import mpmath
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = HERE.parent.parent / "resources" / "samples"
OUT = HERE / "engine"
BF16_POSITIONS = 2
mpmath.mp.dps = 60


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def write_csv(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def samples(traces):
    for run in ("baseline_repeat", "flash_attn", "kv_q4_0", "w_q2_k"):
        with h5py.File(SAMPLES / f"{run}.h5") as file, h5py.File(SAMPLES / "baseline.h5") as baseline:
            kept = set(file["probes/positions"][:]) & set(baseline["probes/positions"][:])
        rows = read_csv(traces / "smollm2" / "reference" / f"baseline__{run}.csv")
        write_csv(OUT / f"{run}.csv", [r for r in rows if int(r["position"]) in kept])


def bits(file, position):
    row = list(file["probes/positions"][:]).index(position)
    data = file["probes/logits"]
    out = np.empty(data.shape[1], np.uint16)
    data.id.read(h5py.h5s.create_simple((data.shape[1],)), selection(data, row), out, mtype=data.id.get_type())
    return out


def selection(data, row):
    space = data.id.get_space()
    space.select_hyperslab((row, 0), (1, data.shape[1]))
    return space


def real_bf16(traces):
    """The two flips with the largest divergence, one of them with a tie where there is one."""
    rows = read_csv(traces / "smollm2-h200" / "reference" / "triton__fa2.csv")
    flips = sorted((r for r in rows if r["flip"] == "1"), key=lambda r: (r["tied"] == "1", float(r["kl_pq"])))
    chosen = [flips[-1], flips[0]][:BF16_POSITIONS]
    write_csv(OUT / "triton_fa2.csv", chosen)
    with h5py.File(traces / "smollm2-h200" / "triton.h5") as p, h5py.File(traces / "smollm2-h200" / "fa2.h5") as q:
        ids = p["tokens/ids"][:]
        with open(OUT / "triton_fa2.bf16", "wb") as out:
            for r in chosen:
                position = int(r["position"])
                for file in (p, q):
                    out.write(bits(file, position).astype("<u2").tobytes())
                print("bf16 position", position, "next", ids[position + 1], "flip", r["flip"], "tied", r["tied"])


def rounded(values, kind):
    values = np.asarray(values, np.float64)
    if kind == "f64":
        return values
    if kind == "bf16":
        u = values.astype(np.float32).view(np.uint32).astype(np.uint64)
        u = ((u + 0x7FFF + ((u >> 16) & 1)) >> 16 << 16).astype(np.uint32)
        return u.view(np.float32).astype(np.float64)
    return values.astype({"f16": np.float16, "f32": np.float32}[kind]).astype(np.float64)


def step(values, kind, at):
    out = values.copy()
    for i in at:
        if kind == "f64":
            out[i] = np.nextafter(out[i], np.inf)
        elif kind == "f32":
            out[i] = np.nextafter(np.float32(out[i]), np.float32(np.inf))
        elif kind == "f16":
            out[i] = np.nextafter(np.float16(out[i]), np.float16(np.inf))
        else:
            u = np.float32(out[i]).view(np.uint32)
            out[i] = np.uint32(u + 0x10000 if out[i] >= 0 else u - 0x10000).view(np.float32)
    return out


def textbook(l, k):
    """The definitions, term by term. Only where all logits are finite or -inf on both sides alike."""
    m = mpmath
    keep = [i for i in range(len(l)) if not np.isinf(l[i])]
    l = [m.mpf(float(l[i])) for i in keep]
    k = [m.mpf(float(k[i])) for i in keep]
    lse_p, lse_q = m.log(m.fsum(m.exp(x) for x in l)), m.log(m.fsum(m.exp(x) for x in k))
    p, q = [m.exp(x - lse_p) for x in l], [m.exp(x - lse_q) for x in k]
    top = max(range(len(l)), key=lambda i: (l[i], -i))
    rows = list(zip(p, q))
    middle = [(a + b) / 2 for a, b in rows]
    return {
        "kl_pq": m.fsum(a * (m.log(a) - m.log(b)) for a, b in rows),
        "kl_qp": m.fsum(b * (m.log(b) - m.log(a)) for a, b in rows),
        "js": m.fsum(a * m.log(a / c) + b * m.log(b / c) for (a, b), c in zip(rows, middle)) / 2,
        "tv": m.fsum(abs(a - b) for a, b in rows) / 2,
        "p_top": p[top],
        "q_top": q[top],
        "entropy_p": -m.fsum(a * m.log(a) for a in p),
        "entropy_q": -m.fsum(b * m.log(b) for b in q),
        "lse_p": lse_p,
        "lse_q": lse_q,
    }


def constructed():
    rng = np.random.default_rng(20261130)
    n = 97
    base = rng.normal(-1, 2.5, n)
    flat = base.copy()
    base[61] = 18
    peaked = base - 6
    peaked[61] = 28
    masked = base.copy()
    masked[rng.random(n) < 0.7] = -np.inf
    masked[61] = 18
    wide = rng.uniform(-1e4, 1e4, n)
    near = 9990 + rng.normal(0, 3, n)
    noise = rng.normal(0, 1, n)
    for kind in ("bf16", "f16", "f32", "f64"):
        l = rounded(base, kind)
        f = rounded(flat, kind)
        yield "noise 0.3", kind, f, rounded(f + 0.3 * noise, kind)
        yield "noise 0.02", kind, f, rounded(f + 0.02 * noise, kind)
        yield "noise 0.3, one winner", kind, l, rounded(l + 0.3 * noise, kind)
        yield "unrelated", kind, l, rounded(3 * noise, kind)
        t = rounded(peaked, kind)
        yield "peaked", kind, t, rounded(t + 0.1 * noise, kind)
        yield "one step at the top", kind, l, step(l, kind, [61])
        yield "one step in the tail", kind, l, step(l, kind, [60])
        q = rounded(np.round(l * 4) / 4, kind)
        yield "shifted by 4, and steps", kind, q, step(q + 4, kind, [3, 61, 90])
        s = rounded(masked, kind)
        yield "masked", kind, s, rounded(s + 0.1 * noise, kind)
        w = rounded(wide, kind)
        yield "to 1e4", kind, w, rounded(0.9995 * w + noise, kind)
        y = rounded(near, kind)
        yield "near 1e4", kind, y, rounded(y + 0.5 * noise, kind)
    yield "noise 1e-5", "f32", rounded(flat, "f32"), rounded(rounded(flat, "f32") + 1e-5 * noise, "f32")
    yield "noise 1e-6", "f64", flat, flat + 1e-6 * noise
    yield "noise 1e-6 shifted", "f64", flat, flat + 1e-6 * noise - 37.0


def fifty_digits():
    with open(OUT / "fifty_digits.txt", "w") as out:
        out.write("# case|type|baseline logits|run logits|metric=value ...; see ../make_engine_cases.py\n")
        for name, kind, l, k in constructed():
            if np.isinf(l).any():
                k = np.where(np.isinf(l), -np.inf, k)
            numbers = " ".join(f"{key}={mpmath.nstr(value, 25)}" for key, value in textbook(l, k).items())
            rows = ["|".join(" ".join(float(x).hex() for x in row) for row in (l, k))]
            out.write(f"{name}|{kind}|{rows[0]}|{numbers}\n")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    traces = pathlib.Path(sys.argv[1])
    OUT.mkdir(exist_ok=True)
    samples(traces)
    real_bf16(traces)
    fifty_digits()


if __name__ == "__main__":
    main()
