# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One capture from start to end: prompt, plan, rows, continuations, control."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import plan as planning
from .closed_loop import read_script, run_closed_loop
from .control import Control
from .engines import Engine, Request, make_engine
from .generate import run_on
from .logs import compare_backends
from .model import CaptureError, Lists, RowFormat, Rows, Vocab
from .progress import Progress
from .prompt import Prompt, ids_sha256, load
from .resume import Previous, partial_path
from .settings import command_line, machine, packages, redact
from .spans import Segments, segment
from .stop import Interrupted, stoppable
from .templates import template_sha256
from .writer import Header, TraceWriter


@dataclass
class Job:
    """What is asked for: the options of ``flipscope-capture run``."""

    engine: str
    prompt: Path
    out: Path
    settings: dict[str, Any] = field(default_factory=dict)
    run_name: str = ""
    stride: int = 32
    phase: int | None = None
    dense: str = ""  # the engine's own default
    store: str = "as-given"
    tokens: int = 0  # of the prompt; 0 = all
    continue_tokens: int = 0
    continue_at: str = "turns"
    sampling: dict[str, Any] = field(default_factory=dict)
    top: int = 5
    closed_loop: bool = False
    turns: int = 8
    repeat: bool = False
    extra: dict[str, str] = field(default_factory=dict)  # --set
    restart: bool = False
    command: str = ""


@dataclass
class History:
    """The forced history and what is known about it."""

    ids: np.ndarray
    segments: Segments
    vocab: Vocab | None
    prompt: Prompt


def history_of(engine: Engine, prompt: Prompt, limit: int) -> History:
    if prompt.ids is not None:
        ids = prompt.ids
    elif prompt.messages is not None:
        ids = np.asarray(engine.render(prompt.messages, prompt.tools, False), np.int32)
    else:
        ids = np.asarray(engine.tokenize(prompt.text or "", True), np.int32)
    if limit:
        ids = ids[:limit]
    if not len(ids):
        raise CaptureError(f"{prompt.path} holds no tokens.")
    vocab = engine.vocab()
    segments = segment([vocab.piece(int(i)) for i in ids]) if vocab is not None else Segments()
    if prompt.spans and not segments.spans:
        inside = [s for s in prompt.spans if s[1] <= len(ids)]
        segments = Segments(inside, [], [(s[0], s[1]) for s in inside if s[2] == "tool_call"])
    return History(ids, segments, vocab, prompt)


def plan_of(job: Job, engine: Engine, history: History) -> planning.Plan:
    n = len(history.ids)
    grid = planning.grid(n, job.stride, job.phase)
    dense = planning.dense_sets(job.dense or engine.dense_default, history.segments, n)
    points = planning.points(job.continue_at, history.segments, n) if job.continue_tokens else []
    if not len(grid) and not dense and not points:
        raise CaptureError(f"No position of the {n} tokens is a multiple of the stride {job.stride}: take a smaller --stride.")
    return planning.Plan(grid, dense, points)


def config_of(job: Job, history: History, plan: planning.Plan) -> str:
    """What has to be the same for a capture to be resumed."""
    hidden = {"key-env", "timeout", "url"}
    return redact(json.dumps({
        "engine": job.engine, "settings": {k: v for k, v in sorted(job.settings.items()) if k not in hidden},
        "ids": ids_sha256(history.ids), "positions": hashlib.sha256(plan.all_positions().tobytes()).hexdigest(),
        "dense": sorted(plan.dense), "store": job.store, "continue": [job.continue_tokens, plan.points, job.sampling,
                                                                        job.closed_loop, job.top]}, sort_keys=True))


def run_settings(job: Job, engine: Engine, history: History, plan: planning.Plan) -> dict[str, str]:
    """/run: the machine, what the engine says of itself, what the prompt and the plan are; --set has the last word."""
    template = engine.template()
    found = machine()
    found.update({
        "command": job.command or command_line(),
        "evaluation_text": history.prompt.path.name, "token_ids_sha256": ids_sha256(history.ids),
        "sampling_positions": f"stride {job.stride}, phase {job.stride - 1 if job.phase is None else job.phase}, "
                              f"{len(plan.grid)} probes" + (f", {len(plan.dense)} dense stretches" if plan.dense else ""),
        "chat_template": f"sha256 {template_sha256(template)[:16]}" if template else "",
    })
    found.update({k: v for k, v in engine.settings().items() if v != ""})
    found.update(job.extra)
    return found


def open_writer(job: Job, engine: Engine, history: History, plan: planning.Plan, given: RowFormat) -> TraceWriter:
    config = config_of(job, history, plan)
    previous = None if job.restart else Previous.open(job.out, config)
    run = run_settings(job, engine, history, plan)
    attrs: dict[str, Any] = {"scoring": engine.scoring}
    if engine.values:  # else it is not known, and not stated
        attrs |= {"values": engine.values, "temperature": np.float64(1.0)}
    prompt = history.prompt
    token_attrs = {"prompt_sha256": prompt.sha256, "tokenizer": run.get("model", "")}
    if engine.template():
        token_attrs["chat_template_sha256"] = template_sha256(engine.template())
    header = Header(
        run_name=job.run_name or job.out.stem, ids=history.ids, given=given, store=job.store, dense=list(plan.dense),
        probe_attrs=attrs, run=run, packages=packages(), log=redact(engine.launch_log()), spans=history.segments.spans,
        vocab=history.vocab, token_attrs=token_attrs, config=config)
    return TraceWriter.create(job.out, header, previous)


def part(block: Rows | Lists, keep: np.ndarray) -> Rows | Lists:
    if isinstance(block, Rows):
        return Rows(block.positions[keep], block.values[keep])
    return Lists(block.positions[keep], block.top_ids[keep], block.top_logprobs[keep],
                 None if block.lse is None else block.lse[keep])


def capture_rows(engine: Engine, history: History, plan: planning.Plan, writer: TraceWriter, progress: Progress) -> None:
    """Rows into the file, each set from where it stopped. A block that holds something new is flushed at once."""
    last = {name: int(done[-1]) if len(done := writer.done(name)) else -1 for name in writer.sets}
    wanted = {"": plan.grid, **plan.dense}
    left = {name: positions[positions > last[name]] for name, positions in wanted.items()}
    total, done = len(plan.all_positions()), 0
    missing = np.unique(np.concatenate(list(left.values()))) if left else np.zeros(0, np.int64)
    done = total - len(missing)
    progress.begin("probes", total, done)
    if not len(missing):
        return
    for block in engine.probe(history.ids, plan.all_positions(), int(missing[0]) - 1):
        for name, positions in left.items():
            keep = np.isin(block.positions, positions)
            if keep.any():
                writer.append(name, part(block, keep))
        writer.flush()
        done += int(np.isin(block.positions, missing).sum())
        progress.update(done)
    if done + engine.left_out != total:
        raise CaptureError(f"The engine gave {done} of {total} probes.")


def capture_continuations(job: Job, engine: Engine, history: History, plan: planning.Plan, writer: TraceWriter,
                          progress: Progress) -> None:
    made = {c.prefix_tokens for c in writer.continuations()}
    # From the last point to the first, so that each is a prefix of what the engine's cache holds.
    todo = [p for p in sorted(plan.points, reverse=True) if p not in made]
    progress.begin("continuations", len(plan.points), len(plan.points) - len(todo))
    script = None
    if job.closed_loop:
        if history.vocab is None:
            raise CaptureError("A closed loop needs the bytes of the vocabulary, and this engine has none.")
        script = read_script(history.ids, history.segments, history.vocab)
    for i, point in enumerate(todo):
        request = Request(point, job.continue_tokens, job.sampling, job.top)
        if script is not None and history.vocab is not None:
            made_now = run_closed_loop(engine, history.ids, request, script, history.vocab, job.turns)
        else:
            made_now = run_on(engine, history.ids, request)
        writer.add_continuation(made_now)
        progress.update(len(plan.points) - len(todo) + i + 1)


def repeat(engine: Engine, history: History, plan: planning.Plan, out: Path, dtype: str, progress: Progress) -> str:
    """The control run over the grid. Returns its verdict. The same positions are asked for, so that the work is the same."""
    control = Control(out, dtype)
    done = 0
    progress.begin("control", len(plan.grid))
    for block in engine.probe(history.ids, plan.all_positions(), -1):
        control.compare(block)
        done = min(len(plan.grid), control.rows)
        progress.update(done)
    control.close()
    progress.say(control.verdict(), "control")
    return control.verdict()


def run_beside(job: Job) -> Path:
    """Under torchrun, all ranks but the first: the same work, since the model is spread over all, and nothing kept."""
    with tempfile.TemporaryDirectory() as folder:
        return capture(dataclasses.replace(job, out=Path(folder) / "beside.h5"), Progress("none"))


def run(job: Job, progress: Progress) -> Path:
    """Captures one run. Raises CaptureError with a sentence, or Interrupted after the file is in order."""
    if int(os.environ.get("RANK", "0")) > 0:
        return run_beside(job)
    if job.out.exists():
        raise CaptureError(f"{job.out} is there already: capture to another name, or move it away.")
    if not job.out.parent.is_dir():
        if not job.out.parent.parent.is_dir():
            raise CaptureError(f"There is no folder {job.out.parent}.")
        job.out.parent.mkdir(exist_ok=True)
    return capture(job, progress)


def capture(job: Job, progress: Progress) -> Path:
    """The work of ``run``, once it is known that it may write where it should."""
    if job.closed_loop and not job.continue_tokens:
        raise CaptureError("A closed loop goes through continuations: say how many tokens by --continue N.")
    started = time.monotonic()
    engine: Engine | None = None
    writer: TraceWriter | None = None
    try:
        with stoppable():
            prompt = load(job.prompt)
            engine = make_engine(job.engine, job.settings)
            engine.open()
            history = history_of(engine, prompt, job.tokens)
            plan = plan_of(job, engine, history)
            engine.prepare(len(history.ids), job.continue_tokens if plan.points else 0)
            given = engine.format()
            writer = open_writer(job, engine, history, plan, given)
            size = planning.disk(plan, given, job.store, len(history.ids))
            progress.event("start", out=str(job.out), partial=str(partial_path(job.out)), tokens=len(history.ids),
                           probes=len(plan.grid), dense=plan.rows() - len(plan.grid), continuations=len(plan.points), bytes=size)
            progress.say(f"{len(history.ids)} tokens, {len(plan.grid)} probes, {plan.rows() - len(plan.grid)} dense ones, "
                         f"{len(plan.points)} continuations; about {planning.size_text(size)}.")
            capture_rows(engine, history, plan, writer, progress)
            if plan.points:
                capture_continuations(job, engine, history, plan, writer, progress)
            remarks = [r for r in [*engine.remarks(), compare_backends(writer.header.run)] if r]
            for sentence in remarks:
                progress.say(sentence)
            writer.finish(" ".join(remarks))
            if job.repeat:
                repeat(engine, history, plan, job.out, writer.sets[""].stored.dtype, progress)
    except Interrupted:
        if writer is not None:
            writer.close()
            if not job.out.exists():
                progress.say(f"Stopped. {partial_path(job.out)} holds what was captured; the same command goes on from there.")
        raise
    finally:
        if writer is not None:
            writer.close()
        if engine is not None:
            engine.close()
    seconds = time.monotonic() - started
    progress.event("done", out=str(job.out), seconds=seconds, bytes=job.out.stat().st_size)
    progress.say(f"Wrote {job.out} ({planning.size_text(job.out.stat().st_size)}) in {planning.time_text(seconds)}.", "note")
    return job.out
