# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry of engines, and what an engine is.

An engine is one file with one class. To add one: write the class, and a line in ``ENGINES``.
"""

from __future__ import annotations

import importlib
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..model import CaptureError, Continuation, Lists, RowFormat, Rows, Vocab

#: Name: module, the packages that it needs (all of one of these groups), the extra that installs them.
ENGINES: dict[str, tuple[str, tuple[tuple[str, ...], ...], str]] = {
    "llamacpp": ("llamacpp", (("xllamacpp",), ("llama_cpp",)), "llamacpp"),
    "server": ("server", ((),), ""),
    "transformers": ("transformers", (("torch", "transformers"),), "transformers"),
    "vllm": ("vllm", (("vllm",),), "vllm"),
    "simulated": ("simulated", ((),), ""),
}


@dataclass(frozen=True)
class Option:
    """A setting of an engine: ``--name`` on the command line, ``name`` in a matrix file."""

    name: str
    kind: Callable[[str], Any]  # str, int, float, or `flag`
    default: Any
    help: str
    choices: Sequence[str] = ()
    required: bool = False


def flag(text: str) -> bool:
    """Converts on/off."""
    value = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}.get(
        str(text).lower())
    if value is None:
        raise ValueError("write on or off")
    return value


@dataclass
class Request:
    """What a continuation asks for. ``sampling``: temperature, top_k, top_p, seed. ``top``: ids kept at each token."""

    prefix_tokens: int
    max_tokens: int
    sampling: dict[str, Any]
    top: int


class Engine(ABC):
    """One model under one engine.

    Order of calls: ``open``, then ``tokenize`` / ``render`` / ``vocab``, ``prepare`` with the length of the history,
    ``probe`` once or more, continuations, ``close``.
    """

    name: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    #: How probes are scored: in one prefill, or step by step as in decoding.
    scoring: str = "prefill"
    #: ``raw`` logits or log-probabilities, before any sampler, or ``processed``.
    values: str = "raw"
    #: Dense stretches where none are asked for: ``calls`` or ``none``.
    dense_default: str = "calls"
    #: Probes that the engine had no values for.
    left_out: int = 0

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.opt = {o.name: settings.get(o.name, o.default) for o in self.options}
        for o in self.options:
            if o.required and self.opt[o.name] in (None, ""):
                raise CaptureError(f"The engine {self.name} needs --{o.name}: {o.help}")

    @abstractmethod
    def open(self) -> None:
        """Loads the model, or reaches the server."""

    def prepare(self, n_tokens: int, room: int) -> None:
        """Makes room for a history of ``n_tokens`` and ``room`` more in continuations."""

    @abstractmethod
    def format(self) -> RowFormat:
        """What a probe gives. Known once ``prepare`` is done."""

    def vocab(self) -> Vocab | None:
        return None

    def tokenize(self, text: str, special: bool = True) -> list[int]:
        """Ids of a text. ``special``: control tokens in it are read as such. Nothing is put in front."""
        raise CaptureError(f"The engine {self.name} has no tokenizer: give the prompt as token ids.")

    def render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], generate: bool) -> list[int]:
        """Ids of chat messages under the model's own template. ``generate``: ends where the assistant begins."""
        raise CaptureError(f"The engine {self.name} has no chat template: give the prompt as token ids.")

    @abstractmethod
    def probe(self, ids: np.ndarray, positions: np.ndarray, skip: int) -> Iterator[Rows | Lists]:
        """Blocks of rows at ``positions`` (increasing). Those at or before ``skip`` are in the file already: what makes
        up the state of the engine is done again just the same, the rows themselves are left out."""

    def begin(self, ids: np.ndarray) -> np.ndarray:
        """Sets the history to ``ids`` and gives the row (float32 [n_vocab]) after its last token."""
        raise NotImplementedError

    def feed(self, ids: Sequence[int]) -> np.ndarray:
        """Adds tokens to the history and gives the row after the last."""
        raise NotImplementedError

    def is_end(self, token: int) -> bool:
        """Whether the token ends a turn."""
        return False

    def continue_from(self, ids: np.ndarray, request: Request) -> Continuation | None:
        """A continuation made by the engine itself; None where it is stepped by ``begin`` and ``feed``."""
        return None

    def settings(self) -> dict[str, str]:
        """What the engine knows of how its numbers are made: keys of ``/run``."""
        return {}

    def template(self) -> str:
        return ""

    def launch_log(self) -> str:
        return ""

    def remarks(self) -> list[str]:
        """Sentences on what was odd about the numbers, once they are there."""
        return []

    def close(self) -> None:
        pass


def missing_packages(name: str) -> str:
    """Why an engine cannot run here; empty if it can."""
    _, groups, extra = ENGINES[name]

    def there(package: str) -> bool:
        try:
            return importlib.util.find_spec(package) is not None
        except (ImportError, ValueError):
            return False

    if any(all(there(p) for p in group) for group in groups):
        return ""
    wanted = " or ".join(" and ".join(group) for group in groups)
    return f"needs {wanted}: pip install 'flipscope-capture[{extra}]'"


def engine_class(name: str) -> type[Engine]:
    if name not in ENGINES:
        raise CaptureError(f"There is no engine {name}: {', '.join(ENGINES)} are the engines.")
    module = importlib.import_module(f"{__name__}.{ENGINES[name][0]}")
    return module.ENGINE


def make_engine(name: str, settings: Mapping[str, Any]) -> Engine:
    """The engine, not opened yet. Raises CaptureError where it cannot run on this machine."""
    kind = engine_class(name)
    reason = missing_packages(name)
    if reason:
        raise CaptureError(f"The engine {name} cannot run here: it {reason}.")
    known = {o.name for o in kind.options}
    unknown = sorted(set(settings) - known)
    if unknown:
        raise CaptureError(f"The engine {name} has no setting {unknown[0]}; it has: {', '.join(sorted(known))}.")
    return kind(settings)
