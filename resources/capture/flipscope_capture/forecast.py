# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a matrix would do: probes, disk, time. Nothing is guessed: what is not known is said to be."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import gguf_header
from . import plan as planning
from .engines import engine_class
from .matrix import Matrix, Run
from .model import CaptureError, RowFormat
from .prompt import load
from .spans import Segments


@dataclass
class Forecast:
    """``tokens`` is None where the prompt has to be tokenized first; ``bytes`` and ``seconds`` None where not known."""

    run: Run
    tokens: int | None
    probes: int | None
    bytes: int | None
    seconds: float | None
    why: str

    def as_json(self, matrix: Matrix) -> dict[str, Any]:
        return {"name": self.run.name, "engine": self.run.engine, "out": str(self.run.out), "command": self.run.command(matrix.prompt),
                "env": self.run.env, "needs": {"gpus": self.run.gpus, "cpus": self.run.cpus, **self.run.resources},
                "baseline": self.run.name == matrix.baseline, "done": self.run.out.exists(), "tokens": self.tokens,
                "probes": self.probes, "bytes": self.bytes, "seconds": self.seconds, "unknown": self.why}


def row_format(run: Run) -> RowFormat | None:
    """What the run's engine will give, from its settings and the model's files; None if that is not to be had."""
    options = {o.name: run.options.get(o.name, o.default) for o in engine_class(run.engine).options}
    if run.engine == "simulated":
        return RowFormat("full", int(options["vocab"]), str(options["dtype"]))
    if run.engine == "server":
        return None if options["k"] == "full" else RowFormat("topk", 0, k=int(options["k"]))
    model = Path(str(options["model"]))
    if run.engine == "llamacpp":
        n = gguf_header.read(model).n_vocab if model.is_file() else 0
        return RowFormat("full", n) if n else None
    config = model / "config.json"
    if not config.is_file():
        return None
    values = json.loads(config.read_text(encoding="utf-8"))
    n = values.get("vocab_size") or (values.get("text_config") or {}).get("vocab_size")
    dtype = str(options.get("dtype") or values.get("dtype") or values.get("torch_dtype") or "bfloat16")
    return RowFormat("full", int(n), dtype if dtype in ("float32", "float16") else "bfloat16") if n else None


def forecast(matrix: Matrix, run: Run) -> Forecast:
    prompt = load(matrix.prompt)
    limit = int(run.options.get("tokens") or 0)
    if prompt.ids is None:
        return Forecast(run, None, None, None, None, "the prompt is tokenized by the engine: known once it runs")
    n = min(len(prompt.ids), limit) if limit else len(prompt.ids)
    segments = Segments(prompt.spans, [], [(s[0], s[1]) for s in prompt.spans if s[2] == "tool_call" and s[1] <= n])
    grid = planning.grid(n, int(run.options.get("stride", 32)), run.options.get("phase"))
    what = str(run.options.get("dense") or engine_class(run.engine).dense_default)
    plan = planning.Plan(grid, planning.dense_sets(what, segments, n))
    given = row_format(run)
    size = planning.disk(plan, given, str(run.options.get("store", "as-given")), n) if given else None
    why = [] if given else ["the size of the vocabulary is known once the engine runs"]
    if what == "calls" and not prompt.spans:
        why.append("probes over tool calls are not counted, since the prompt is ids without their text")
    seconds = n / run.rate if run.rate else None
    if seconds is None:
        why.append("no rate is given (rate = tokens a second), and none was measured (--measure)")
    elif run.options.get("repeat"):
        seconds *= 2
    return Forecast(run, n, plan.rows(), size, seconds, "; ".join(why))


def measure(matrix: Matrix, run: Run, tokens: int = 256) -> float:
    """Tokens a second, from a capture of the first tokens into a folder that goes away."""
    short = Run(**{**run.__dict__, "options": {**run.options, "tokens": tokens, "dense": "none", "stride": 32}})
    for key in ("continue", "closed-loop", "repeat", "phase"):
        short.options.pop(key, None)
    with tempfile.TemporaryDirectory() as folder:
        command = [*short.command(matrix.prompt, Path(folder) / "measure.h5"), "--progress", "json"]
        done = subprocess.run(command, capture_output=True, text=True, env=run.environment(), check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it gives no reason."])[-1]
            raise CaptureError(f"The run {run.name} cannot be measured: {last}")
        rates = [e for e in map(json.loads, done.stdout.splitlines()) if e["event"] in ("start", "progress")]
    read = min(tokens, rates[0]["tokens"])
    last = rates[-1]
    return read * last["rate"] / last["total"] if last.get("rate") else 0.0


def text(matrix: Matrix, found: list[Forecast]) -> str:
    """For people: a line each, and the sum."""
    lines = [f"{len(found)} runs of {matrix.prompt.name}, into {matrix.out}; baseline {matrix.baseline}"]
    for f in found:
        size = planning.size_text(f.bytes) if f.bytes is not None else "size not known"
        time = planning.time_text(f.seconds) if f.seconds is not None else "time not known"
        probes = f"{f.probes} probes" if f.probes is not None else "probes not known"
        state = ", is there already" if f.run.out.exists() else ""
        lines.append(f"  {f.run.name}: {f.run.engine}, {probes}, {size}, {time}{state}" + (f" ({f.why})" if f.why else ""))
    left = [f for f in found if not f.run.out.exists()]
    total = planning.size_text(sum(f.bytes or 0 for f in left))
    more = " or more" if any(f.bytes is None for f in left) else ""
    lines.append(f"To come: {len(left)} runs, {total}{more} on disk" + (
        f", {planning.time_text(sum(f.seconds or 0 for f in left))} one after another"
        if all(f.seconds is not None for f in left) else "") + ".")
    return "\n".join(lines)
