#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a float64 numpy script makes of the same work: KL both ways, Jensen-Shannon, total variation and argmaxes of BF16
rows. Prints GB/s of both rows, best of 5, in processor time of one thread.

    tests/bench/numpy_kl.py [ROWS]
"""
import os
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


def compare(p_bits, q_bits):
    l, k = widen(p_bits), widen(q_bits)
    lp, lq = log_softmax(l), log_softmax(k)
    x = lq - lp
    p, q = np.exp(lp), np.exp(lq)
    middle = np.logaddexp(lp, lq) - np.log(2)
    return ((p * (np.expm1(x) - x)).sum(), (q * (np.expm1(-x) + x)).sum(),
            ((p * (lp - middle)).sum() + (q * (lq - middle)).sum()) / 2,
            np.abs(p - q).sum() / 2, l.argmax(), k.argmax())


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    rng = np.random.default_rng(1)
    for vocab in (248320, 151936):
        for noise in (0.03, 0.15, 0.5):
            l = rng.normal(-1, 2.5, (rows, vocab))
            l[:, 7919] = 18
            p, q = to_bf16(l), to_bf16(l + noise * rng.normal(size=l.shape))
            best = float("inf")
            for _ in range(5):
                start = time.thread_time()
                for i in range(rows):
                    compare(p[i], q[i])
                best = min(best, time.thread_time() - start)
            print(f"{vocab:8d} {noise:5.2f}  {(p.nbytes + q.nbytes) / best / 1e9:.3f} GB/s")


if __name__ == "__main__":
    main()
