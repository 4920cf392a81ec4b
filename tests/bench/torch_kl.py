#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""KL both ways and argmaxes of bfloat16 rows by torch.compile in FP64, for the figures beside bench_kernel's."""
import statistics
import sys

import torch


def metrics(p, q):
    p, q = p.double(), q.double()
    lp, lq = torch.log_softmax(p, -1), torch.log_softmax(q, -1)
    d = lq - lp
    return ((lp.exp() * -d).sum(-1), (lq.exp() * d).sum(-1), p.argmax(-1), q.argmax(-1))


def main():
    vocab, rows = (int(a) for a in (sys.argv[1:3] if len(sys.argv) > 2 else (248320, 512)))
    torch.manual_seed(0)
    p = (torch.randn(rows, vocab, device="cuda") * 2.5 - 1).bfloat16()
    q = (p.float() + 0.15 * torch.randn(rows, vocab, device="cuda")).bfloat16()
    for name, f in (("eager", metrics), ("torch.compile", torch.compile(metrics))):
        times = []
        for i in range(8):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            f(p, q)
            end.record()
            torch.cuda.synchronize()
            if i >= 3:
                times.append(begin.elapsed_time(end))
        print(f"torch {torch.__version__} {name} FP64, KL both ways and argmaxes: "
              f"{p.numel() * 4 / statistics.median(times) / 1e6:.0f} GB/s")


if __name__ == "__main__":
    main()
