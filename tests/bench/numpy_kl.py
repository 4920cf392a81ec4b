#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a float64 numpy script makes of the same work on BF16 rows: KL both ways, argmaxes and ties; and all of that with
Jensen-Shannon and total variation. Prints GB/s of both rows, best of 5, in processor time of one thread. Where the
program bench_cpu is named, it is run before and after, and the ratio to the better of the two is printed too.

    tests/bench/numpy_kl.py [ROWS] [BENCH_CPU]
"""
import os
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np  # noqa: E402  (after the number of threads is set)


def to_bf16(x):
    u = x.astype(np.float32).view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)


def widen(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def log_softmax(row):
    row = row - row.max()
    return row - np.log(np.exp(row).sum())


def compare(p_bits, q_bits, full):
    l, k = widen(p_bits), widen(q_bits)
    lp, lq = log_softmax(l), log_softmax(k)
    x = lq - lp
    p, q = np.exp(lp), np.exp(lq)
    result = [(p * (np.expm1(x) - x)).sum(), (q * (np.expm1(-x) + x)).sum(), l.argmax(), k.argmax(),
              np.count_nonzero(l == l.max()) > 1, np.count_nonzero(k == k.max()) > 1]
    if full:
        middle = np.logaddexp(lp, lq) - np.log(2)
        result += [((p * (lp - middle)).sum() + (q * (lq - middle)).sum()) / 2, np.abs(p - q).sum() / 2]
    return result


def engine_speeds(program):
    """GB/s of the CPU engine by (vocabulary, noise): KL and everything, one thread."""
    speeds = {}
    for line in subprocess.run([program, "24"], check=True, capture_output=True, text=True).stdout.splitlines()[2:]:
        row, _, kl, _, full = line.split("|")
        vocab, noise = row.split()
        speeds[int(vocab), float(noise)] = float(kl.split()[0]), float(full.split()[0])
    return speeds


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    program = sys.argv[2] if len(sys.argv) > 2 else None
    engine = [engine_speeds(program)] if program else []
    rng = np.random.default_rng(1)
    measured = {}
    for vocab in (248320, 151936):
        for noise in (0.03, 0.15, 0.5):
            l = rng.normal(-1, 2.5, (rows, vocab))
            l[:, 7919] = 18
            p, q = to_bf16(l), to_bf16(l + noise * rng.normal(size=l.shape))
            best = [float("inf"), float("inf")]
            for _ in range(5):
                for full in (0, 1):
                    start = time.thread_time()
                    for i in range(rows):
                        compare(p[i], q[i], full)
                    best[full] = min(best[full], time.thread_time() - start)
            measured[vocab, noise] = [(p.nbytes + q.nbytes) / seconds / 1e9 for seconds in best]
    if program:
        engine.append(engine_speeds(program))
    for key, speeds in measured.items():
        line = f"{key[0]:8d} {key[1]:5.2f}"
        for full, name in enumerate(("KL", "with js and tv")):
            line += f"  {name} {speeds[full]:.3f} GB/s"
            if engine:
                line += f", cpu engine {max(e[key][full] for e in engine) / speeds[full]:.1f} x"
        print(line)


if __name__ == "__main__":
    main()
