# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README's ten lines of Python, taken out of it and run; what they write is opened and analyzed by the program.

    readme.py PROGRAM SOURCE_FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import h5py
import numpy as np

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
blocks = re.findall(r"^```python\n(.*?)^```$", (source / "README.md").read_text(encoding="utf-8"), re.M | re.S)
assert len(blocks) == 1, f"the README has {len(blocks)} blocks of Python"
scope = {}
exec(blocks[0], scope)  # what a reader would paste
assert sum(1 for line in blocks[0].splitlines() if line.strip()) <= 10, "the README promises ten lines"


def call(*arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"{arguments}: exit code {done.returncode}\n{done.stderr}"
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    rng = np.random.default_rng(1)
    ids = rng.integers(0, 300, size=640)
    positions = np.arange(31, 640, 32)
    rows = rng.normal(0, 3, size=(len(positions), 300)).astype(np.float16)
    other = rows.copy()
    other[[3, 11], rows[[3, 11]].argmin(1)] = 60  # another top token at two probes
    bits = lambda x: (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)

    for name, logits in [("base", rows), ("same", rows), ("other", other), ("bf16", bits(rows))]:
        path = f"{folder}/{name}.h5"
        scope["write_trace"](path, name, ids, positions, logits, attention_backend="flash_attn")
        if name == "bf16":
            with h5py.File(path, "a") as f:
                f["probes/logits"].attrs["dtype"] = "bfloat16"  # as the sentence below the block says

    assert "flash_attn" in call("info", f"{folder}/base.h5")
    info = json.loads(call("info", f"{folder}/base.h5", "--json"))
    assert "base" in json.dumps(info)
    analysis = json.loads(call("analyze", *(f"{folder}/{n}.h5" for n in ("base", "same", "other", "bf16")), "--json", "-"))
    same, changed, rounded = analysis["runs"]
    assert (same["n_probes"], same["flips"], same["bit_identical"]) == (len(positions), 0, True), same
    assert same["kl_pq"]["max"] == 0, same
    assert (changed["flips"], changed["bit_identical"], changed["differing_rows"]) == (2, False, 2), changed
    # The bfloat16 rows: flips as numpy counts them on the truncated values.
    truncated = (bits(rows).astype(np.uint32) << 16).view(np.float32)
    flips = int((truncated.argmax(1) != rows.astype(np.float32).argmax(1)).sum())
    assert (rounded["flips"], rounded["bit_identical"]) == (flips, False), (rounded, flips)
print("The README's snippet writes traces that open, and the numbers are right.")
