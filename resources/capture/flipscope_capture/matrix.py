# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrix files: one prompt, a list of runs. Each run becomes one ``flipscope-capture run`` in a process of its own.

    prompt = "prompt.json"      # beside this file
    out = "traces"              # folder of the traces
    baseline = "bf16"           # the run that others are compared with; the first unless said

    [defaults]                  # of every run: options of `run` and of the engine
    engine = "llamacpp"
    model = "model.gguf"
    stride = 32

    [[run]]
    name = "bf16"

    [[run]]
    name = "kv_q8_0"
    kv = "q8_0"
    needs = { gpus = 1, cpus = 4 }        # what a launcher sets aside
    env = { OMP_NUM_THREADS = "4" }
    set = { reference_checkpoint = "..." }
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .engines import engine_class
from .model import CaptureError

#: Options of ``run`` that a matrix may hold, beside those of the engine.
CAPTURE = ("tokens", "stride", "phase", "dense", "store", "continue", "continue-at", "temperature", "top-k", "top-p", "seed", "top",
           "closed-loop", "turns", "repeat")
SWITCHES = ("closed-loop", "repeat")
OWN = ("name", "engine", "python", "env", "needs", "set", "rate")


@dataclass
class Run:
    """One run. ``rate``: tokens a second of prefill, if known. ``gpus``, ``cpus``, ``resources``: what it needs."""

    name: str
    engine: str
    out: Path
    options: dict[str, Any]
    python: str = sys.executable
    env: dict[str, str] = field(default_factory=dict)
    gpus: float = 0
    cpus: float = 1
    resources: dict[str, float] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    rate: float = 0.0

    def arguments(self, prompt: Path, out: Path | None = None) -> list[str]:
        """The words after ``flipscope-capture``."""
        words = ["run", self.engine, "--prompt", str(prompt), "-o", str(out or self.out), "--name", self.name]
        for key, value in self.options.items():
            if key in SWITCHES:
                words += [f"--{key}"] if value else []
            elif isinstance(value, bool):
                words += [f"--{key}", "on" if value else "off"]
            else:
                words += [f"--{key}", str(value)]
        for key, value in self.settings.items():
            words += ["--set", f"{key}={value}"]
        return words

    def command(self, prompt: Path, out: Path | None = None) -> list[str]:
        return [self.python, "-m", "flipscope_capture", *self.arguments(prompt, out)]

    def environment(self) -> dict[str, str]:
        """That of this process, with the run's own, and with this package found by the other interpreter."""
        home = str(Path(__file__).resolve().parents[1])
        path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
        return {**os.environ, "PYTHONPATH": path, **self.env}


@dataclass
class Matrix:
    path: Path
    prompt: Path
    out: Path
    runs: list[Run]
    baseline: str

    def base(self) -> Run:
        return next(r for r in self.runs if r.name == self.baseline)

    def ordered(self) -> list[Run]:
        """The baseline first: the others are compared with it."""
        return [self.base(), *(r for r in self.runs if r.name != self.baseline)]


def read_toml(path: Path) -> dict[str, Any]:
    try:
        import tomllib
    except ImportError:
        try:
            import tomli as tomllib
        except ImportError:
            raise CaptureError("Reading a matrix needs Python 3.11, or the package tomli.") from None
    try:
        with open(path, "rb") as stream:
            return tomllib.load(stream)
    except OSError as error:
        raise CaptureError(f"{path}: {error.strerror}.") from None
    except ValueError as error:
        raise CaptureError(f"{path} is no TOML: {error}.") from None


def make_run(path: Path, out: Path, given: dict[str, Any]) -> Run:
    name, engine = str(given.get("name", "")), str(given.get("engine", ""))
    if not name or "/" in name or name.startswith("."):
        raise CaptureError(f"{path}: each [[run]] needs a name that can be a file's.")
    if not engine:
        raise CaptureError(f"{path}: the run {name} needs an engine.")
    known = {o.name for o in engine_class(engine).options}
    options = {k.replace("_", "-"): v for k, v in given.items() if k not in OWN}
    for key in options:
        if key not in known and key not in CAPTURE:
            raise CaptureError(f"{path}: the run {name} has a setting {key}, which neither flipscope-capture run nor its engine "
                               f"{engine} knows.")
    for key in ("model", "chat-template", "log", "vocab-from", "library"):  # files are named from where the matrix lies
        value = options.get(key)
        if isinstance(value, str) and value and (path.parent / value).exists():
            options[key] = str((path.parent / value).resolve())
    needs = dict(given.get("needs") or {})
    env = {str(k): str(v) for k, v in (given.get("env") or {}).items()}
    settings = {str(k): str(v) for k, v in (given.get("set") or {}).items()}
    return Run(name, engine, out / f"{name}.h5", options, str(given.get("python") or sys.executable), env,
               float(needs.pop("gpus", 0)), float(needs.pop("cpus", 1)), {k: float(v) for k, v in needs.items()}, settings,
               float(given.get("rate") or 0))


def load(path: Path) -> Matrix:
    value = read_toml(path)
    path = path.resolve()
    unknown = set(value) - {"prompt", "out", "baseline", "defaults", "run"}
    if unknown:
        raise CaptureError(f"{path}: {min(unknown)} is no key of a matrix; prompt, out, baseline, [defaults] and [[run]] are.")
    if not isinstance(value.get("run"), list) or not value["run"]:
        raise CaptureError(f"{path} lists no [[run]].")
    if not value.get("prompt"):
        raise CaptureError(f"{path} names no prompt.")
    out = path.parent / value.get("out", "traces")
    defaults = value.get("defaults") or {}
    runs = [make_run(path, out, {**defaults, **given}) for given in value["run"]]
    names = [r.name for r in runs]
    if len(set(names)) < len(names):
        raise CaptureError(f"{path}: two runs have the same name.")
    baseline = str(value.get("baseline", names[0]))
    if baseline not in names:
        raise CaptureError(f"{path}: there is no run {baseline} to be the baseline.")
    return Matrix(path, path.parent / value["prompt"], out, runs, baseline)
