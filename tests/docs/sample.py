# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample session: the flips that the program finds are those that numpy counts on the rows, and it is small.

    sample.py PROGRAM SOURCE_FOLDER
"""
import json
import pathlib
import subprocess
import sys

import h5py
import numpy as np

program, samples = sys.argv[1], pathlib.Path(sys.argv[2]) / "resources/samples"
runs = ["baseline_repeat", "flash_attn", "kv_q4_0", "w_q2_k"]
size = sum(file.stat().st_size for file in samples.iterdir())
assert size <= 20_000_000, f"the sample has {size} bytes"


def rows_of(name):
    with h5py.File(samples / f"{name}.h5", "r") as file:
        assert ("vocab" in file) == (name == "baseline"), f"{name}: the vocabulary belongs into the baseline alone"
        return dict(zip(file["probes/positions"][:].tolist(), file["probes/logits"][:]))


baseline = rows_of("baseline")
done = subprocess.run([program, "analyze", *(str(samples / f"{name}.h5") for name in ["baseline", *runs]), "--json", "-"],
                      capture_output=True, text=True)
assert done.returncode == 0 and not done.stderr.strip(), done.stderr
for name, answer in zip(runs, json.loads(done.stdout)["runs"]):
    rows = rows_of(name)
    common = sorted(set(rows) & set(baseline))
    flips = sum(int(rows[t].argmax() != baseline[t].argmax()) for t in common)
    differing = sum(not np.array_equal(rows[t].view(np.uint16), baseline[t].view(np.uint16)) for t in common)
    got = (answer["n_probes"], answer["flips"], answer["differing_rows"], answer["bit_identical"])
    assert got == (len(common), flips, differing, differing == 0), f"{name}: {got}, numpy counts {len(common), flips, differing}"
    print(f"{name}: {flips} flips of {len(common)} probes, {differing} rows differ")
