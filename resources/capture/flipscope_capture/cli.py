# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line. Exit codes: 0 done, 1 a sentence on the standard error says what failed, 2 wrong usage, 130 stopped."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import __version__, cli_matrix
from .engines import ENGINES, Option, engine_class, missing_packages
from .model import CaptureError
from .probes import Job, run
from .progress import Progress
from .settings import command_line
from .stop import Interrupted, stoppable


def add_option(parser: argparse._ArgumentGroup, option: Option) -> None:
    default = "" if option.default in (None, "") else f" (default {option.default})"
    parser.add_argument(f"--{option.name}", dest=f"engine_{option.name}", type=option.kind, default=argparse.SUPPRESS,
                        choices=option.choices or None, help=option.help + default,
                        metavar=None if option.choices else option.kind.__name__.upper().replace("FLAG", "on|off"))


def add_capture_options(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("prompt and probes")
    what.add_argument("--prompt", type=Path, required=True,
                      help="text, chat messages (.json), token ids (.json, .i32), or a trace (.h5) whose history is taken")
    what.add_argument("-o", "--out", type=Path, required=True, help="the trace to write; OUT.partial until it is complete")
    what.add_argument("--name", default="", help="name of the run (default: that of the file)")
    what.add_argument("--tokens", type=int, default=0, help="take only so many tokens of the prompt")
    what.add_argument("--stride", type=int, default=32, help="distance of the probes in tokens (default 32)")
    what.add_argument("--phase", type=int, default=None, help="probes lie where token %% stride is this (default stride - 1)")
    what.add_argument("--dense", default="", help="stretches probed at every token: calls, none, or START:END,... "
                      "(default calls; none where each probe is a request of its own)")
    what.add_argument("--store", default="as-given", choices=("as-given", "float16", "float32"), help="type of the stored rows")
    made = parser.add_argument_group("continuations")
    made.add_argument("--continue", dest="continue_tokens", type=int, default=0, metavar="N",
                      help="let the model run on for up to N tokens (default 0: no continuations)")
    made.add_argument("--continue-at", default="turns", help="turns, calls, end, or numbers of tokens (default turns: before "
                      "each turn of the assistant)")
    made.add_argument("--temperature", type=float, default=0.0, help="0 is greedy (the default)")
    made.add_argument("--top-k", type=int, default=0)
    made.add_argument("--top-p", type=float, default=0.0)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--top", type=int, default=5, help="ids kept with each generated token (default 5)")
    made.add_argument("--closed-loop", action="store_true", help="feed the transcript's answer after each call, and go on")
    made.add_argument("--turns", type=int, default=8, help="calls that are answered in a closed loop (default 8)")
    other = parser.add_argument_group("other")
    other.add_argument("--repeat", action="store_true", help="capture once more and compare bit for bit: the control")
    other.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting that the engine cannot know")
    other.add_argument("--restart", action="store_true", help="do not resume an interrupted capture")
    other.add_argument("--progress", choices=("text", "json", "none"), default="text",
                       help="json: one event a line on the standard output, for programs")


def pairs(values: Sequence[str]) -> dict[str, str]:
    out = {}
    for value in values:
        key, sep, text = value.partition("=")
        if not sep or not key:
            raise CaptureError(f"--set {value}: write KEY=VALUE.")
        out[key] = text
    return out


def job_of(args: argparse.Namespace) -> Job:
    for name, least in (("continue_tokens", 0), ("tokens", 0), ("top", 0), ("turns", 1), ("top_k", 0)):
        if getattr(args, name) < least:
            raise CaptureError(f"--{name.replace('_tokens', '').replace('_', '-')} is {least} or more.")
    if args.temperature < 0 or not 0 <= args.top_p <= 1:
        raise CaptureError("--temperature is 0 or more, and --top-p lies between 0 and 1.")
    settings: dict[str, Any] = {k[len("engine_"):]: v for k, v in vars(args).items() if k.startswith("engine_")}
    sampling = {"temperature": args.temperature, "top_k": args.top_k, "top_p": args.top_p, "seed": args.seed}
    return Job(engine=args.engine, prompt=args.prompt, out=args.out, settings=settings, run_name=args.name, stride=args.stride,
               phase=args.phase, dense=args.dense, store=args.store, tokens=args.tokens, continue_tokens=args.continue_tokens,
               continue_at=args.continue_at, sampling=sampling if args.temperature else {}, top=args.top,
               closed_loop=args.closed_loop, turns=args.turns, repeat=args.repeat, extra=pairs(args.set), restart=args.restart,
               command=command_line())


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("flipscope-capture", description="Captures logit traces for Flipscope.")
    parser.add_argument("--version", action="version", version=f"flipscope-capture {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run", help="capture one run")
    engines = one.add_subparsers(dest="engine", required=True, metavar="ENGINE")
    for name in ENGINES:
        sub = engines.add_parser(name, help=missing_packages(name) or "can run here")
        group = sub.add_argument_group(f"engine {name}")
        for option in engine_class(name).options:
            add_option(group, option)
        add_capture_options(sub)
    cli_matrix.add_commands(commands)
    commands.add_parser("engines", help="list the engines, and which can run here")
    return parser


def list_engines() -> int:
    for name in ENGINES:
        print(f"{name:14} {missing_packages(name) or 'can run here'}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    args = make_parser().parse_args(argv)
    progress = Progress(getattr(args, "progress", "text"))
    try:
        if args.command == "engines":
            return list_engines()
        if args.command in cli_matrix.COMMANDS:
            with stoppable():
                return cli_matrix.COMMANDS[args.command](args)
        run(job_of(args), progress)
        return 0
    except CaptureError as error:
        progress.end_line()
        progress.event("error", message=str(error))
        print(error, file=sys.stderr)
        return 1
    except (Interrupted, KeyboardInterrupt):
        progress.end_line()
        progress.event("error", message="Stopped.")
        return 130
    except OSError as error:
        progress.end_line()
        progress.event("error", message=str(error))
        print(f"{error.filename or 'A file'}: {error.strerror or error}.", file=sys.stderr)
        return 1
