# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Summaries: the comparison with the baseline, made by the program flipscope where the traces are, some 1 MB a run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from .model import CaptureError


def find_program(given: str = "") -> str:
    """The program flipscope: as given, ``$FLIPSCOPE_PROGRAM``, or on the PATH. Refuses one that makes no summaries."""
    program = given or os.environ.get("FLIPSCOPE_PROGRAM", "") or shutil.which("flipscope") or ""
    if not program or not (Path(program).is_file() or shutil.which(program)):
        raise CaptureError("Summaries are made by the program flipscope, which was not found here: put it on the PATH, or name it by "
                           "--flipscope.")
    listed = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60, check=False)
    if "summarize" not in listed.stdout:
        raise CaptureError(f"{program} is a version of flipscope without the command summarize: take a newer one.")
    return program


def summary_path(run: Path) -> Path:
    return run.with_name(run.stem + ".summary.h5")


def summarize(program: str, base: Path, run: Path) -> Path:
    """Writes the summary of a run against the baseline beside the run."""
    for path in (base, run):
        if not path.exists():
            raise CaptureError(f"{path} is not there, where the summary is to be made: captured traces have to lie where both can be "
                               "read, on a shared folder if the runs are on several machines.")
    out = summary_path(run)
    done = subprocess.run([program, "summarize", str(base), str(run), "-o", str(out)], capture_output=True, text=True, check=False)
    if done.returncode or not out.exists():
        last = (done.stderr.strip().splitlines() or ["it gives no reason."])[-1]
        raise CaptureError(f"flipscope makes no summary of {run.name}: {last}")
    return out
