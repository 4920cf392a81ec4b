#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What numpy reads from the wider collection of traces, as digests: shared_values.py COLLECTION > shared_values.json.
Rows are widened to float64 (little-endian, C order) and hashed, so that a reader is held to every bit of every row."""
import hashlib
import json
import pathlib
import sys

import h5py
import numpy as np


def digest(a, dtype):
    return hashlib.sha256(np.ascontiguousarray(a, dtype=dtype).tobytes()).hexdigest()


def as_float64(d):
    if d.dtype == np.uint16 or d.dtype.kind == "V":  # bfloat16 in disguise
        bits = np.empty(d.shape, np.uint16)
        d.id.read(h5py.h5s.ALL, h5py.h5s.ALL, bits, mtype=d.id.get_type())  # opaque only reads as itself
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return d[:].astype(np.float64)


def describe(path):
    with h5py.File(path) as f:
        p = f["probes"]
        out = {
            "n_tokens": f["tokens/ids"].shape[0], "ids": digest(f["tokens/ids"][:], "<i4"),
            "text": hashlib.sha256(f["tokens/bytes"][:].tobytes()).hexdigest() if "tokens/bytes" in f else None,
            "positions": digest(p["positions"][:], "<i8"),
            "n_spans": f["spans"].shape[0] if "spans" in f else 0,
            "n_run": len(f["run"].attrs) if "run" in f else 0,
            "n_generations": len(f.get("generations", ())), "dense": sorted(f.get("dense", ())),
        }
        if "logits" in p and p["logits"].ndim == 2:
            out |= {"shape": p["logits"].shape, "rows": digest(as_float64(p["logits"]), "<f8")}
        if "top_ids" in p:
            out |= {"top_ids": digest(p["top_ids"][:], "<i4"), "top_logprobs": digest(p["top_logprobs"][:], "<f4")}
        for name in ("top1", "lse"):
            if name in p:
                out[name] = digest(p[name][:], "<i4" if name == "top1" else "<f8")
        generated = sorted(f.get("generations", ()), key=lambda n: (int(f["generations"][n].attrs["prefix_tokens"]), int(n)))
        if generated:
            out["generated"] = digest(np.concatenate([f["generations"][n]["ids"][:] for n in generated]), "<i4")
        return out


root = pathlib.Path(sys.argv[1])
print(json.dumps({str(p.relative_to(root)): describe(p) for p in sorted(root.glob("*/*.h5"))}, indent=0))
