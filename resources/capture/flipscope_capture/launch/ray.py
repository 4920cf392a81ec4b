# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a Ray cluster: each is placed where the GPUs, cores and resources that it states are free.

Traces stay where they were captured: in the matrix' folder, under the same path on each machine. With summaries, only those come
home. Ray itself is started by whoever owns the cluster.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..matrix import Matrix, Run
from ..model import CaptureError

Say = Callable[[str], None]


def capture_here(command: list[str], env: dict[str, str], out: str) -> dict[str, Any]:
    """What runs on the cluster's machine: one capture. Returns its exit code, its last words and the machine's name."""
    import os
    import socket

    Path(out).parent.mkdir(parents=True, exist_ok=True)
    if Path(out).exists():
        return {"code": 0, "said": "is there already", "node": socket.gethostname()}
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, check=False)
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return {"code": done.returncode, "said": said[-1] if said else "it said nothing.", "node": socket.gethostname(),
            "gpus": os.environ.get("CUDA_VISIBLE_DEVICES", "")}


def summarize_here(program: str, base: str, run: str) -> dict[str, Any]:
    """The summary's bytes, made on the machine that holds the trace."""
    from flipscope_capture.summary import find_program, summarize

    try:
        path = summarize(find_program(program), Path(base), Path(run))
        return {"bytes": path.read_bytes(), "said": ""}
    except CaptureError as error:
        return {"bytes": None, "said": str(error)}


class Ray:
    """``address``: of the cluster, as ``ray.init`` takes it."""

    def __init__(self, address: str, summaries: bool, program: str) -> None:
        try:
            import ray
        except ImportError:
            raise CaptureError("The launcher ray needs Ray: pip install 'flipscope-capture[ray]'.") from None
        self.ray, self.summaries, self.program = ray, summaries, program
        home = str(Path(__file__).resolve().parents[2])
        try:
            ray.init(address=address, log_to_driver=False, ignore_reinit_error=True,
                     runtime_env={"env_vars": {"PYTHONPATH": home}}, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise CaptureError(f"No Ray cluster answers at {address}: {str(error).splitlines()[0]}") from None

    def check(self, run: Run) -> None:
        """A run that asks for more than any machine has would wait for ever."""
        wanted = {"CPU": run.cpus, "GPU": run.gpus, **run.resources}
        nodes = [n["Resources"] for n in self.ray.nodes() if n["Alive"]]
        if not any(all(node.get(k, 0) >= v for k, v in wanted.items() if v) for node in nodes):
            asked = ", ".join(f"{v:g} {k}" for k, v in wanted.items() if v)
            raise CaptureError(f"No machine of the cluster has what the run {run.name} needs ({asked}).")

    def remote(self, run: Run, function: Callable[..., Any], node: str | None = None) -> Any:
        options: dict[str, Any] = {"num_cpus": run.cpus, "num_gpus": run.gpus, "resources": run.resources or None, "max_retries": 0}
        if node:
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
            options = {"num_cpus": 0, "max_retries": 0, "scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=False)}
        return self.ray.remote(function).options(**options)

    def run_all(self, matrix: Matrix, runs: list[Run], say: Say, after: Callable[[Run], None]) -> list[str]:
        for run in runs:
            self.check(run)
        failed: list[str] = []
        base = [r for r in runs if r.name == matrix.baseline]
        for group in (base, [r for r in runs if r not in base]):
            waiting = {}
            for run in group:
                env = {k: v for k, v in run.environment().items() if k == "PYTHONPATH" or k in run.env}
                waiting[self.remote(run, placed).remote(capture_here, run.command(matrix.prompt), env, str(run.out))] = run
            while waiting:
                ready, _ = self.ray.wait(list(waiting), num_returns=1)
                run = waiting.pop(ready[0])
                failed += self.finished(matrix, run, ready[0], say)
        return failed

    def finished(self, matrix: Matrix, run: Run, reference: Any, say: Say) -> list[str]:
        try:
            result = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            say(f"{run.name}: failed: {str(error).splitlines()[0]}")
            return [run.name]
        if result["code"]:
            say(f"{run.name}: failed on {result['node']}: {result['said']}")
            return [run.name]
        say(f"{run.name}: {result['said'] if result['said'].startswith('is there') else 'done'} on {result['node']}.")
        if not self.summaries or run.name == matrix.baseline:
            return []
        made = self.ray.get(self.remote(run, summarize_here, result["node_id"]).remote(
            self.program, str(matrix.base().out), str(run.out)))
        if made["bytes"] is None:
            say(f"{run.name}: {made['said']}")
            return [run.name]
        from ..summary import summary_path
        home = summary_path(run.out)
        home.parent.mkdir(parents=True, exist_ok=True)
        home.write_bytes(made["bytes"])
        say(f"{run.name}: {home} ({len(made['bytes'])} bytes).")
        return []


def placed(function: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """Runs a function on the cluster and tells which of its machines it was on."""
    import ray

    return {**function(*arguments), "node_id": ray.get_runtime_context().get_node_id()}
