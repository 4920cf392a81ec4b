#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the CUDA module with reference values of real traces.

  check_traces.py MODULE.so BASE.h5 RUN.h5 REFERENCE.csv [BASE RUN REFERENCE]...

Reads the rows with h5py, hands them to the module by its C interface, and compares every probe with the reference
(80-bit arithmetic, computed independently): flips, ties, ids, ranks exactly, the rest as resources/manual/metrics.md
demands. Needs numpy and h5py; no build of the program. Exit 77 without a device."""
import csv
import ctypes
import math
import sys

import h5py
import numpy as np

DOUBLES = ("kl_pq kl_qp js tv margin p_top q_top entropy_p entropy_q nll_p nll_q dp max_abs_dlogit lse_p lse_q "
           "top5_overlap top10_overlap").split()


class ProbeMetrics(ctypes.Structure):
    _fields_ = ([(n, ctypes.c_double) for n in DOUBLES] + [("differing", ctypes.c_int64)] +
                [(n, ctypes.c_int32) for n in ("argmax_p", "argmax_q", "rank")] +
                [(n, ctypes.c_uint8) for n in ("flip", "tied", "valid")] +
                [("flip_top1", ctypes.c_int8), ("position", ctypes.c_int64)] +
                [(n, ctypes.c_double) for n in ("outside_p", "outside_q", "kept_p", "kept_q", "id_overlap")])


class Rows(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("stride", ctypes.c_int64),
                ("source", ctypes.c_uint64)]


class Block(ctypes.Structure):
    _fields_ = [("baseline", Rows), ("runs", ctypes.POINTER(Rows)), ("count", ctypes.c_int32), ("rows", ctypes.c_int64),
                ("vocab", ctypes.c_int32), ("next_ids", ctypes.c_void_p), ("keys", ctypes.c_void_p)]


def read(path):
    """Positions, rows as bit patterns, type number, ids."""
    with h5py.File(path, "r") as f:
        logits = f["probes/logits"]
        rows = logits[:]
        kind = {"f": {2: 1, 4: 2, 8: 3}.get(rows.dtype.itemsize)}.get(rows.dtype.kind)
        t = logits.id.get_type()
        if isinstance(t, h5py.h5t.TypeFloatID) and t.get_size() == 2 and t.get_fields()[1:3] == (7, 8):
            kind = 0  # bfloat16, which h5py widens to float32
            rows = (rows.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        elif rows.dtype == np.uint16:
            kind = 0
        return f["probes/positions"][:], np.ascontiguousarray(rows), kind, f["tokens/ids"][:]


def main():
    module = ctypes.CDLL(sys.argv[1])
    error = ctypes.create_string_buffer(512)
    info = ctypes.create_string_buffer(1024)
    engine = ctypes.c_void_p()
    module.fs_engine_open.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    status = module.fs_engine_open(0, ctypes.byref(engine), info, error, 512)
    if status:
        print("Not checked:", error.value.decode())
        return 77 if status == 1 else 1
    wrong = 0
    for base, run, reference in zip(*[iter(sys.argv[2:])] * 3):
        pb, lb, tb, ids = read(base)
        pr, lr, tr, _ = read(run)
        common, ib, ir = np.intersect1d(pb, pr, return_indices=True)
        p, q = np.ascontiguousarray(lb[ib]), np.ascontiguousarray(lr[ir])
        vocab = p.shape[1]
        following = np.array([ids[t + 1] if t + 1 < len(ids) else -1 for t in common], dtype=np.int32)
        run_rows = Rows(q.ctypes.data, tr, q.strides[0], 0)
        block = Block(Rows(p.ctypes.data, tb, p.strides[0], 0), ctypes.pointer(run_rows), 1, len(common), vocab,
                      following.ctypes.data, None)
        out = (ProbeMetrics * len(common))()
        status = module.fs_engine_compute(engine, ctypes.byref(block), out, None, None, error, ctypes.c_size_t(512))
        if status:
            print(run, "failed:", error.value.decode())
            return 1
        with open(reference, newline="") as f:
            rows = list(csv.DictReader(f))
        assert [int(r["position"]) for r in rows] == list(common), "reference is of other probes"
        worst, bad = {}, []
        wide = p.astype(np.float32) if tb else (p.astype(np.uint32) << 16).view(np.float32)
        scale = 1 + float(np.abs(wide).max())
        for i, r in enumerate(rows):
            for name in r:
                if name == "position" or r[name] == "":
                    continue
                want, got = float(r[name]), float(getattr(out[i], name))
                if name in ("flip", "tied", "argmax_p", "argmax_q", "rank", "differing", "top5_overlap",
                            "top10_overlap", "margin", "max_abs_dlogit"):
                    fine = got == want
                else:
                    floor = 1e-21 if name in ("kl_pq", "kl_qp", "js") else 1e-14 * scale
                    fine = abs(got - want) <= max(1e-9 * abs(want), floor)
                    if want and got != want and abs(want) > 1e-12:
                        worst[name] = max(worst.get(name, 0), abs(got - want) / abs(want))
                if not fine:
                    bad.append(f"{name} at {r['position']}: {got!r} instead of {want!r}")
        wrong += len(bad)
        flips = sum(m.flip for m in out)
        ties = sum(m.flip and m.tied for m in out)
        kls = [m.kl_pq for m in out]
        print(f"{run}: {len(rows)} probes, {flips} flips ({ties} with a tie), mean KL {math.fsum(kls) / len(kls):.6g}, "
              f"wrong {len(bad)}; worst relative: " + " ".join(f"{k} {v:.0e}" for k, v in worst.items()))
        for b in bad[:5]:
            print("   ", b)
    print("traces:", "all right" if not wrong else f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
