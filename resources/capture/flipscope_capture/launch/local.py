# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on this machine: one GPU set after another, each run in a process of its own."""

from __future__ import annotations

import queue
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from ..matrix import Matrix, Run

Say = Callable[[str], None]


def last_line(log: Path) -> str:
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing."


def start(run: Run, prompt: Path, gpus: str) -> subprocess.Popen:
    """The run's process; what it says goes to ``OUT.log``."""
    environment = run.environment() | ({"CUDA_VISIBLE_DEVICES": gpus} if gpus else {})
    with open(run.out.with_suffix(".log"), "wb") as log:
        return subprocess.Popen(run.command(prompt), stdout=log, stderr=subprocess.STDOUT, env=environment,
                                start_new_session=True)


class Local:
    """``gpu_sets``: values for CUDA_VISIBLE_DEVICES, such as ``0,1``; each works through the runs on its own."""

    def __init__(self, gpu_sets: list[str]) -> None:
        self.gpu_sets = gpu_sets or [""]
        self.children: set[subprocess.Popen] = set()
        self.stopped = False

    def one(self, matrix: Matrix, run: Run, gpus: str, say: Say) -> bool:
        if run.out.exists():
            say(f"{run.name}: is there already.")
            return True
        say(f"{run.name}: starts" + (f" on GPU {gpus}." if gpus else "."))
        child = start(run, matrix.prompt, gpus)
        self.children.add(child)
        code = child.wait()
        self.children.discard(child)
        say(f"{run.name}: " + ("done." if code == 0 else f"failed: {last_line(run.out.with_suffix('.log'))}"))
        return code == 0

    def run_all(self, matrix: Matrix, runs: list[Run], say: Say, after: Callable[[Run], None]) -> list[str]:
        """Names of the runs that failed. The baseline goes first and alone; ``after`` is called for each that is there."""
        matrix.out.mkdir(parents=True, exist_ok=True)
        failed: list[str] = []
        base = [r for r in runs if r.name == matrix.baseline]
        for group, sets in ((base, self.gpu_sets[:1]), ([r for r in runs if r not in base], self.gpu_sets)):
            waiting: queue.SimpleQueue[Run] = queue.SimpleQueue()
            for run in group:
                waiting.put(run)
            workers = [threading.Thread(target=self.work, args=(matrix, waiting, gpus, say, after, failed)) for gpus in sets]
            try:
                for worker in workers:
                    worker.start()
                while any(w.is_alive() for w in workers):
                    for worker in workers:
                        worker.join(0.2)
            except BaseException:  # a stop, however it came: the children are to put their files in order
                self.stop()
                for worker in workers:
                    worker.join()
                raise
        return failed

    def work(self, matrix: Matrix, waiting: queue.SimpleQueue[Run], gpus: str, say: Say, after: Callable[[Run], None],
             failed: list[str]) -> None:
        while not self.stopped:
            try:
                run = waiting.get_nowait()
            except queue.Empty:
                return
            if self.one(matrix, run, gpus, say):
                after(run)
            else:
                failed.append(run.name)

    def stop(self) -> None:
        """Each child puts its file in order and ends; the same command goes on from there."""
        self.stopped = True
        for child in list(self.children):
            child.send_signal(signal.SIGINT)
