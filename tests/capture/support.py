# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of flipscope-capture share: where things are, a way to run it, and skips that are seen."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
SHARED = SOURCE.parent / "shared"
PACKAGE = SOURCE / "resources" / "capture"
FLIPSCOPE = os.environ.get("FLIPSCOPE_PROGRAM", "")
ALL = os.environ.get("FLIPSCOPE_CAPTURE_ALL", "") == "1"

sys.path.insert(0, str(PACKAGE))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])}
COMMAND = [sys.executable, "-m", "flipscope_capture"]

CHAT = {
    "messages": [
        {"role": "system", "content": "Call tools."},
        {"role": "user", "content": "Show the ARP table."},
        {"role": "assistant", "content": '<tool_call>{"name":"run","arguments":{"command":"show arp"}}</tool_call>'},
        {"role": "tool", "content": "<tool_response>\n192.0.2.1 0000.5e00.5347\n</tool_response>"},
        {"role": "assistant", "content": "One host."},
    ]
}


def capture(*arguments: object, check: bool = True, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    """Runs flipscope-capture: in this process, which is quicker, or with ``env`` in one of its own."""
    words = [str(a) for a in arguments]
    if env is not None:
        done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=300, check=False,
                              env={**ENVIRONMENT, **env})
    else:
        from flipscope_capture.cli import main as run
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            try:
                code = run(words)
            except SystemExit as end:  # argparse
                code = int(end.code or 0)
        done = subprocess.CompletedProcess(words, code, out.getvalue(), error.getvalue())
    if check and done.returncode != 0:
        raise AssertionError(f"flipscope-capture {words} ended with {done.returncode}: {done.stderr}")
    return done


def flipscope(*arguments: object) -> subprocess.CompletedProcess:
    if not FLIPSCOPE:
        raise unittest.SkipTest("the program flipscope is not built")
    return subprocess.run([FLIPSCOPE, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "FLIPSCOPE_NO_CACHE": "1"})


def analyze(*files: object) -> dict:
    """What `flipscope analyze` computes, as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        done = flipscope("analyze", *files, "--json", out)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return json.loads(out.read_text())


def bits(path: Path, group: str = "probes") -> tuple[np.ndarray, np.ndarray]:
    """Positions, and the stored rows as bits, read without a conversion."""
    with h5py.File(path, "r", libver="latest", swmr=str(path).endswith(".partial")) as h:
        data = h[group]["logits"]
        out = np.empty(data.shape, np.uint16 if data.id.get_type().get_size() == 2 else np.uint32)
        if len(out):
            data.id.read(h5py.h5s.ALL, h5py.h5s.ALL, out, mtype=data.id.get_type())
        return np.asarray(h[group]["positions"][:]), out[: len(h[group]["positions"])]


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="flipscope-capture-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def chat(self) -> Path:
        return self.write("chat.json", json.dumps(CHAT))


def main() -> None:
    """Runs the tests of the calling file. 77: all of it was skipped. Each skip is printed, as packaging/test.sh collects it."""
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    result = program.result
    for test, reason in result.skipped:
        print(f"SKIPPED: {test.id().removeprefix('__main__.').replace('setUpClass (__main__.', 'all of ').rstrip(')')}: {reason}", flush=True)
    if not result.wasSuccessful():
        sys.exit(1)
    ran = result.testsRun - sum(isinstance(test, unittest.TestCase) for test, _ in result.skipped)
    sys.exit(0 if ran else 77)
