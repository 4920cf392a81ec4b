#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts the sample session in resources/samples out of complete traces.

    packaging/make-sample.py FOLDER_OF_COMPLETE_TRACES [resources/samples]

Rows are copied bit for bit; nothing is computed anew. Needs h5py and numpy.
"""
import argparse
import os
import pathlib

import h5py
import numpy as np

# The complete traces have a probe every 32 tokens, at 31, 63, 95 ...; baseline_repeat and flash_attn one every 256.
# Run -> keep the probes whose position + 1 is a multiple of this. (Not more, so that the five files stay below 20 MB.)
RUNS = {"baseline": 128, "baseline_repeat": 512, "flash_attn": 512, "kv_q4_0": 128, "w_q2_k": 128}
HAS_VOCABULARY = "baseline"  # the others borrow it
# Logits compress to about 0.72 of their size. That costs speed when they are read, which a sample of this size can
# afford; captures are better left uncompressed.
ROWS = dict(compression="gzip", compression_opts=9, shuffle=True)
SMALL = dict(compression="gzip", compression_opts=9, shuffle=True)


def copy_attributes(source, target):
    for key, value in source.attrs.items():
        target.attrs[key] = value


def copy_small(source, target, name):
    """A small dataset; gzip only where it is large enough to gain."""
    data = source[name][()]
    packed = isinstance(data, np.ndarray) and data.dtype.kind in "iuf" and data.nbytes > 4096
    target.create_dataset(name, data=data, dtype=source[name].dtype, **(SMALL if packed else {}))


def copy_probes(source, target, keep):
    copy_attributes(source, target)
    for name in source:
        rows = source[name][:][keep]
        if name == "logits":
            target.create_dataset(name, data=rows, chunks=(1, rows.shape[1]), **ROWS)
        else:
            target.create_dataset(name, data=rows)


def text_is_that_of(group, vocabulary):
    """True when the stored text of a group's ids is what the vocabulary gives for them."""
    offsets, data = vocabulary
    pieces = [data[offsets[i]:offsets[i + 1]] for i in group["ids"][:]]
    return b"".join(pieces) == group["bytes"][:].tobytes() and \
        np.array_equal(np.cumsum([0] + [len(p) for p in pieces]), group["offsets"][:].astype(np.int64))


def cut(source, target, name, stride, vocabulary):
    copy_attributes(source, target)
    target.attrs["producer"] = f"make-sample.py 1, from a trace by {source.attrs['producer']}"

    tokens = target.create_group("tokens")
    copy_attributes(source["tokens"], tokens)
    for dataset in source["tokens"]:
        copy_small(source["tokens"], tokens, dataset)
    if name == HAS_VOCABULARY:
        group = target.create_group("vocab")
        for dataset in source["vocab"]:
            copy_small(source["vocab"], group, dataset)
    target.create_dataset("spans", data=source["spans"][:])

    positions = source["probes/positions"][:]
    keep = np.nonzero((positions + 1) % stride == 0)[0]
    copy_probes(source["probes"], target.create_group("probes"), keep)
    for group in source.get("dense", {}):
        dense = source["dense"][group]
        copy_probes(dense, target.create_group("dense/" + group), np.arange(len(dense["positions"])))

    run = target.create_group("run")
    copy_attributes(source["run"], run)
    run.attrs["sampling_positions"] = f"every {stride} tokens, from {stride - 1}"
    # The same sentence in all files, or it would count as a setting that differs.
    run.attrs["notes"] = "; ".join(filter(None, [source["run"].attrs.get("notes", ""), "cut for the sample session"]))
    for dataset in source["run"]:  # packages, launch_log
        copy_small(source["run"], run, dataset)

    for number in source.get("generations", {}):
        continuation = source["generations"][number]
        group = target.create_group("generations/" + number)
        copy_attributes(continuation, group)
        for dataset in continuation:
            # The text of a continuation follows from its ids and the session's vocabulary.
            if dataset in ("bytes", "offsets") and text_is_that_of(continuation, vocabulary):
                continue
            copy_small(continuation, group, dataset)


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path, help="folder with " + ", ".join(f"{r}.h5" for r in RUNS))
    parser.add_argument("target", type=pathlib.Path, nargs="?", default=here / "resources" / "samples")
    arguments = parser.parse_args()

    with h5py.File(arguments.source / f"{HAS_VOCABULARY}.h5") as file:
        vocabulary = (file["vocab/offsets"][:].astype(np.int64), file["vocab/bytes"][:].tobytes())
    total = 0
    for name, stride in RUNS.items():
        path = arguments.target / f"{name}.h5"
        temporary = path.with_suffix(".part")
        with h5py.File(arguments.source / f"{name}.h5") as source, \
                h5py.File(temporary, "w", libver=("earliest", "v110")) as target:
            cut(source, target, name, stride, vocabulary)
        os.replace(temporary, path)
        total += path.stat().st_size
        print(f"{path.name:20} {path.stat().st_size:12,} bytes")
    print(f"{'together':20} {total:12,} bytes")
    if total > 20_000_000:
        raise SystemExit("The sample is larger than 20 MB.")


if __name__ == "__main__":
    main()
