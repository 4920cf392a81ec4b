#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""KL, one way and both, and argmaxes of bfloat16 rows by torch.compile in FP64, for the figures beside bench_kernel's and bench_cpu's.

    tests/bench/torch_kl.py [VOCAB ROWS [cuda|cpu]]       cpu: one thread
"""
import statistics
import sys
import time

import torch


def one_way(p, q):
    p, q = p.double(), q.double()
    lp, lq = torch.log_softmax(p, -1), torch.log_softmax(q, -1)
    return ((lp.exp() * (lp - lq)).sum(-1), p.argmax(-1), q.argmax(-1))


def both_ways(p, q):
    p, q = p.double(), q.double()
    lp, lq = torch.log_softmax(p, -1), torch.log_softmax(q, -1)
    d = lq - lp
    return ((lp.exp() * -d).sum(-1), (lq.exp() * d).sum(-1), p.argmax(-1), q.argmax(-1))


def milliseconds(f, p, q):
    """One call, by the device's own clock where it has one."""
    if p.device.type == "cpu":
        begin = time.perf_counter()
        f(p, q)
        return 1e3 * (time.perf_counter() - begin)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    f(p, q)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)


def main():
    vocab, rows = (int(a) for a in (sys.argv[1:3] if len(sys.argv) > 2 else (248320, 512)))
    device = sys.argv[3] if len(sys.argv) > 3 else "cuda"
    torch.set_num_threads(1)
    torch.manual_seed(0)
    p = (torch.randn(rows, vocab, device=device) * 2.5 - 1).bfloat16()
    q = (p.float() + 0.15 * torch.randn(rows, vocab, device=device)).bfloat16()
    for name, f in (("eager FP64, KL both ways", both_ways), ("torch.compile FP64, KL both ways", torch.compile(both_ways)),
                    ("torch.compile FP64, KL one way", torch.compile(one_way))):
        times = [milliseconds(f, p, q) for _ in range(8)][3:]
        print(f"torch {torch.__version__} {name} and argmaxes: "
              f"{p.numel() * 4 / statistics.median(times) / 1e6:.3g} GB/s")


if __name__ == "__main__":
    main()
