# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands over a matrix: matrix, plan, kit."""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from pathlib import Path

from . import forecast, kit
from .launch.local import Local
from .matrix import Matrix, Run, load
from .model import CaptureError
from .summary import find_program, summarize, summary_path


def add_commands(commands: argparse._SubParsersAction) -> None:
    matrix = commands.add_parser("matrix", help="capture all runs of a matrix file")
    matrix.add_argument("file", type=Path)
    matrix.add_argument("--only", action="append", default=[], metavar="NAME", help="only this run (may be given again)")
    matrix.add_argument("--launcher", choices=("local", "ray"), default="local")
    matrix.add_argument("--gpus", default="", metavar="SETS", help="local: GPU sets that work side by side, 0,1;2,3 say (default: "
                        "one run after another, on all)")
    matrix.add_argument("--address", default="auto", help="ray: address of the cluster (default auto)")
    matrix.add_argument("--summarize", action="store_true", help="make a summary of each run against the baseline, where its trace is")
    matrix.add_argument("--pack", type=Path, metavar="FILE.zip", help="put the summaries into one archive")
    matrix.add_argument("--flipscope", default="", metavar="PROGRAM", help="the program that makes summaries (default: on the PATH)")
    plan = commands.add_parser("plan", help="show what a matrix would do: probes, disk, time")
    plan.add_argument("file", type=Path)
    plan.add_argument("--json", action="store_true", help="commands, needs and forecasts, for other schedulers")
    plan.add_argument("--measure", action="store_true", help="capture the first 256 tokens of each run, to know its rate")
    packed = commands.add_parser("kit", help="pack prompt, matrix and this package for others to repeat")
    packed.add_argument("file", type=Path)
    packed.add_argument("-o", "--out", type=Path, required=True, metavar="FILE.zip")


def plan_command(args: argparse.Namespace) -> int:
    matrix = load(args.file)
    if args.measure:
        for run in matrix.runs:
            run.rate = forecast.measure(matrix, run)
    found = [forecast.forecast(matrix, run) for run in matrix.ordered()]
    if args.json:
        print(json.dumps({"format": "flipscope-capture-plan", "version": 1, "prompt": str(matrix.prompt), "out": str(matrix.out),
                          "baseline": matrix.baseline, "runs": [f.as_json(matrix) for f in found]}, indent=1))
    else:
        print(forecast.text(matrix, found))
    return 0


def chosen(matrix: Matrix, only: list[str]) -> list[Run]:
    names = {r.name for r in matrix.runs}
    for name in only:
        if name not in names:
            raise CaptureError(f"{matrix.path} has no run {name}; it has {', '.join(sorted(names))}.")
    return [r for r in matrix.ordered() if not only or r.name in only]


def pack(matrix: Matrix, runs: list[Run], out: Path) -> None:
    found = [summary_path(r.out) for r in runs if summary_path(r.out).exists()]
    if not found:
        raise CaptureError("There are no summaries to pack.")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        z.write(matrix.path, "matrix.toml")
        for path in found:
            z.write(path, path.name)


def matrix_command(args: argparse.Namespace) -> int:
    matrix = load(args.file)
    runs = chosen(matrix, args.only)
    if args.pack and not args.summarize:
        raise CaptureError("--pack packs summaries: add --summarize.")
    # On a cluster the program is wanted on the machines that hold the traces.
    program = find_program(args.flipscope) if args.summarize and args.launcher == "local" else args.flipscope
    trouble: list[str] = []

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def after(run: Run) -> None:
        if not args.summarize or run.name == matrix.baseline:
            return
        try:
            path = summarize(program, matrix.base().out, run.out)
            say(f"{run.name}: {path} ({path.stat().st_size} bytes).")
        except CaptureError as error:
            trouble.append(run.name)
            say(f"{run.name}: {error}")

    if args.launcher == "ray":
        from .launch.ray import Ray
        launcher: Local | Ray = Ray(args.address, args.summarize, program)
    else:
        launcher = Local([g.strip() for g in args.gpus.split(";") if g.strip()])
    failed = launcher.run_all(matrix, runs, say, after) + trouble
    if args.pack:
        pack(matrix, runs, args.pack)
        say(f"Wrote {args.pack}.")
    if failed:
        say(f"{len(failed)} of {len(runs)} runs failed: {', '.join(failed)}. The same command tries them again.")
    return 1 if failed else 0


def kit_command(args: argparse.Namespace) -> int:
    print(f"Wrote {kit.make(load(args.file), args.out)}.")
    return 0


COMMANDS = {"matrix": matrix_command, "plan": plan_command, "kit": kit_command}
