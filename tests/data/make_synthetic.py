#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes made-up traces with bursts of flips at known places, and prints what was planted as JSON.

    tests/data/make_synthetic.py FOLDER [--probes 3125] [--vocab 248320] [--type bf16|f16|f32] [--runs 1]
                                 [--stride 32] [--irregular] [--bursts 41000-43000,77000-78000] [--share 0.6]

FOLDER/base.h5 and FOLDER/run-1.h5 ... are made. In every row of the baseline one id has logit 20, a second one 18, and all
others lie below 8. A run is the baseline with the lowest kept bit of one logit in a hundred turned over, which moves no top
token; inside the bursts a share of the probes also has the two largest logits swapped: those, and only those, are flips.
The work is done a few rows at a time, so memory stays small at any size. Needs h5py and numpy.
"""
import argparse
import json
import os
import pathlib
import sys

import h5py
import numpy as np

TOP, SECOND, BELOW = 20.0, 18.0, 8.0
POOL = 32  # rows of noise; row i of the trace is one of them, rotated by a step that depends on i
BLOCK = 16  # rows a write
WINDOW = 8000


class Bits:
    """A logit type as unsigned integers of its width, and how HDF5 calls it."""

    def __init__(self, name):
        self.name = name
        if name == "bf16":
            self.unsigned, self.low_bit = np.uint16, 1
            self.hdf5 = h5py.h5t.IEEE_F32LE.copy()  # an IEEE float of 16 bits with the exponent of a float32
            self.hdf5.set_fields(15, 7, 8, 0, 7)
            self.hdf5.set_size(2)
            self.hdf5.set_precision(16)
            self.hdf5.set_ebias(127)
        elif name == "f16":
            self.unsigned, self.low_bit, self.hdf5 = np.uint16, 1, h5py.h5t.IEEE_F16LE
        else:
            # A float32's very lowest bit would change hardly anything: take one that is worth 2^-11 of the value.
            self.unsigned, self.low_bit, self.hdf5 = np.uint32, 1 << 12, h5py.h5t.IEEE_F32LE

    def of(self, values):
        values = np.ascontiguousarray(values, np.float32)
        if self.name == "f32":
            return values.view(np.uint32)
        if self.name == "f16":
            return values.astype(np.float16).view(np.uint16)
        wide = values.view(np.uint32)
        return ((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16).astype(np.uint16)  # to nearest even


def positions_of(options, rng):
    if not options.irregular:
        return np.arange(options.probes, dtype=np.int64) * options.stride
    gaps = rng.integers(1, 2 * options.stride, size=options.probes)
    return np.cumsum(gaps).astype(np.int64)


class Writer:
    """One trace, row block by row block, under a temporary name until it is complete."""

    def __init__(self, path, bits, options, ids, positions, settings):
        self.path, self.temporary, self.bits = path, path.with_suffix(".part"), bits
        self.file = h5py.File(self.temporary, "w", libver=("earliest", "v110"))
        root = self.file
        root.attrs["format"], root.attrs["format_version"] = "flipscope-trace", 1
        root.attrs["created"], root.attrs["producer"] = "2026-01-01T00:00:00+00:00", "make_synthetic.py 1"
        root.attrs["run_name"] = path.stem
        root["tokens/ids"] = ids
        root["probes/positions"] = positions
        probes = root["probes"]
        probes.attrs["kind"], probes.attrs["n_vocab"] = "full", options.vocab
        probes.attrs["scoring"], probes.attrs["values"], probes.attrs["temperature"] = "prefill", "raw", 1.0
        run = root.create_group("run")
        for key, value in settings.items():
            run.attrs[key] = value
        shape = (options.probes, options.vocab)
        layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        layout.set_chunk((1, options.vocab))
        self.rows = h5py.h5d.create(probes.id, b"logits", bits.hdf5, h5py.h5s.create_simple(shape), layout)

    def write(self, first, rows):
        target = self.rows.get_space()
        target.select_hyperslab((first, 0), rows.shape)
        # The bits are handed over as the file's own type, so that nothing is converted on the way.
        self.rows.write(h5py.h5s.create_simple(rows.shape), target, rows, mtype=self.bits.hdf5)

    def close(self):
        self.file.close()
        os.replace(self.temporary, self.path)


def windows_of(positions, flipped, n_tokens):
    return [{"start": start, "end": min(start + WINDOW, n_tokens),
             "n": int(np.sum((positions >= start) & (positions < start + WINDOW))),
             "flips": int(np.sum((flipped >= start) & (flipped < start + WINDOW)))}
            for start in range(0, int(positions[-1]) + 1, WINDOW)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--probes", type=int, default=3125)
    parser.add_argument("--vocab", type=int, default=248320)
    parser.add_argument("--type", choices=["bf16", "f16", "f32"], default="bf16")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--stride", type=int, default=32)
    parser.add_argument("--irregular", action="store_true", help="random gaps of 1 to 2 * stride - 1 tokens")
    parser.add_argument("--bursts", default="41000-43000,77000-78000", help="token ranges, half open")
    parser.add_argument("--share", type=float, default=0.6, help="share of a burst's probes that flip")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.probes < 1 or options.vocab < 4 or options.stride < 1 or options.runs < 0:
        parser.error("at least one probe, four ids and a stride of one are needed")
    bursts = [tuple(int(x) for x in burst.split("-")) for burst in options.bursts.split(",") if burst]

    rng = np.random.default_rng(options.seed)
    bits = Bits(options.type)
    positions = positions_of(options, rng)
    n_tokens = int(positions[-1]) + options.stride
    ids = rng.integers(0, options.vocab, size=n_tokens, dtype=np.int32)
    pool = [bits.of(np.minimum(rng.standard_normal(options.vocab, dtype=np.float32) * 1.5, BELOW)) for _ in range(POOL)]
    top, second = bits.of(np.array([TOP, SECOND], np.float32))
    first_id = rng.integers(0, options.vocab, size=options.probes)
    second_id = (first_id + rng.integers(1, options.vocab, size=options.probes)) % options.vocab
    flips = np.zeros((options.runs, options.probes), bool)
    for start, end in bursts:
        inside = (positions >= start) & (positions < end)
        flips |= inside & (rng.random(flips.shape) < options.share)

    options.folder.mkdir(parents=True, exist_ok=True)
    settings = {"engine": "none: made-up numbers", "model": "none", "context_length": str(n_tokens),
                "sampling_positions": "irregular" if options.irregular else f"every {options.stride} tokens, from 0"}
    writers = [Writer(options.folder / name, bits, options, ids, positions, settings)
               for name in ["base.h5"] + [f"run-{r + 1}.h5" for r in range(options.runs)]]
    blocks = [np.empty((min(BLOCK, options.probes), options.vocab), bits.unsigned) for _ in writers]
    for start in range(0, options.probes, BLOCK):
        count = min(BLOCK, options.probes - start)
        for i in range(count):
            row = start + i
            step = row * 7919 % options.vocab
            source = pool[row % POOL]
            for r, block in enumerate(blocks):
                target = block[i]
                target[step:], target[:step] = source[:options.vocab - step], source[options.vocab - step:]
                if r > 0:
                    target[rng.integers(0, options.vocab, size=max(1, options.vocab // 100))] ^= bits.low_bit
                swapped = r > 0 and flips[r - 1, row]
                target[first_id[row]], target[second_id[row]] = (second, top) if swapped else (top, second)
        for writer, block in zip(writers, blocks):
            writer.write(start, block[:count])
    for writer in writers:
        writer.close()

    planted = {"type": options.type, "vocab": options.vocab, "probes": options.probes, "n_tokens": n_tokens,
               "window_tokens": WINDOW, "bursts": bursts, "baseline": str(writers[0].path), "runs": []}
    for r in range(options.runs):
        flipped = positions[flips[r]]
        planted["runs"].append({"path": str(writers[r + 1].path), "flips": len(flipped),
                                "flipped_positions": flipped.tolist(),
                                "windows": windows_of(positions, flipped, n_tokens)})
    json.dump(planted, sys.stdout)
    print()


if __name__ == "__main__":
    main()
