# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sharing kit: one archive with prompt, matrix and this package, and two commands: one runs, one makes what is sent back."""

from __future__ import annotations

import zipfile
from pathlib import Path

from . import __version__, forecast
from .engines import ENGINES
from .matrix import Matrix
from .model import CaptureError

RUN = """#!/bin/sh
# Captures all runs of the matrix, one after another. Interrupted, it goes on where it stopped.
cd "$(dirname "$0")" && exec "${PYTHON:-python3}" -m flipscope_capture matrix matrix.toml "$@"
"""
SUMMARY = """#!/bin/sh
# Makes summaries.zip, the file to send back: numbers, settings and the 32 likeliest tokens of each probe; no logits.
# Needs the program flipscope on the PATH (or FLIPSCOPE_PROGRAM=...).
cd "$(dirname "$0")" && exec "${PYTHON:-python3}" -m flipscope_capture matrix matrix.toml --summarize --pack summaries.zip "$@"
"""


def readme(matrix: Matrix, found: list[forecast.Forecast]) -> str:
    extras = sorted({ENGINES[r.engine][2] for r in matrix.runs if ENGINES[r.engine][2]})
    packages = sorted({" or ".join(" and ".join(g) for g in ENGINES[r.engine][1]) for r in matrix.runs if ENGINES[r.engine][2]})
    needs = f", and for the engines {', '.join(extras)}: {'; '.join(packages)}" if extras else ""
    return f"""# A capture to repeat

One prompt ({matrix.prompt.name}), {len(matrix.runs)} runs; made with flipscope-capture {__version__}, which is in this folder.

1. Needed: Python 3.10 or newer with numpy and h5py{needs}.
   Models are named in matrix.toml; put them where it says, or change the path there.
2. `./run.sh` captures everything into `traces/`. `python3 -m flipscope_capture plan matrix.toml` shows what it will do.
3. `./summary.sh` makes `summaries.zip`, some 1 MB a run, to send back. The traces stay with you.

Expected:

```
{forecast.text(matrix, found)}
```
"""


def relocated(matrix: Matrix) -> str:
    """The matrix file with the prompt beside it and traces in ``traces``."""
    lines, table = [], False
    for line in matrix.path.read_text(encoding="utf-8").splitlines():
        table = table or line.lstrip().startswith("[")
        key = line.split("=")[0].strip()
        if not table and key in ("prompt", "out"):
            continue
        lines.append(line)
    return f'prompt = "{matrix.prompt.name}"\nout = "traces"\n' + "\n".join(lines) + "\n"


def make(matrix: Matrix, out: Path) -> Path:
    if out.exists():
        raise CaptureError(f"{out} is there already.")
    if not matrix.prompt.is_file():
        raise CaptureError(f"There is no prompt {matrix.prompt}.")
    found = [forecast.forecast(matrix, run) for run in matrix.ordered()]
    home = Path(__file__).resolve().parent
    partial = out.with_name(out.name + ".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as z:
        root = out.stem
        z.write(matrix.prompt, f"{root}/{matrix.prompt.name}")
        z.writestr(f"{root}/matrix.toml", relocated(matrix))
        z.writestr(f"{root}/README.md", readme(matrix, found))
        for name, text in (("run.sh", RUN), ("summary.sh", SUMMARY)):
            entry = zipfile.ZipInfo(f"{root}/{name}", (2026, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100755 << 16
            z.writestr(entry, text)
        for path in sorted(home.rglob("*.py")):
            z.write(path, f"{root}/flipscope_capture/{path.relative_to(home)}")
    partial.replace(out)
    return out
