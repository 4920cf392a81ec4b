# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An engine without a model: logits from a random generator, to try out plans, disks, launchers and tests.

Rows depend on the last tokens and their position alone. ``noise`` adds a second generator's numbers, as another kernel would.
Ids below 256 are bytes, a few above them the markers of a chat template; the rest has no text.
"""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..model import Lists, RowFormat, Rows, Vocab
from . import Engine, Option

MARKS = (b"<|im_start|>", b"<|im_end|>", b"<tool_call>", b"</tool_call>")
END = 257  # <|im_end|>


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Bits of float32 numbers rounded to bfloat16, to nearest even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


class Simulated(Engine):
    name = "simulated"
    options = (
        Option("vocab", int, 1024, "size of the vocabulary, 260 or more"),
        Option("dtype", str, "bfloat16", "type of the rows", ("bfloat16", "float16", "float32")),
        Option("noise", float, 0.0, "standard deviation of what is added to the logits"),
        Option("noise-seed", int, 1, "seed of the noise"),
        Option("chunk", int, 2048, "tokens of a prefill chunk"),
        Option("delay", float, 0.0, "seconds that a chunk takes"),
    )

    def open(self) -> None:
        self.history = np.zeros(0, np.int32)

    def format(self) -> RowFormat:
        return RowFormat("full", self.opt["vocab"], self.opt["dtype"])

    def vocab(self) -> Vocab:
        pieces = [bytes([i]) for i in range(256)] + list(MARKS)
        pieces += [b""] * (self.opt["vocab"] - len(pieces))
        return Vocab.of(pieces, [256, 257])

    def tokenize(self, text: str, special: bool = True) -> list[int]:
        out: list[int] = []
        for part in re.split(b"(" + b"|".join(re.escape(m) for m in MARKS) + b")", text.encode()):
            out += [256 + MARKS.index(part)] if special and part in MARKS else list(part)
        return out

    def template(self) -> str:
        return "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"

    def render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], generate: bool) -> list[int]:
        text = "".join(f"<|im_start|>{m['role']}\n{m.get('content') or ''}<|im_end|>\n" for m in messages)
        return self.tokenize(text + ("<|im_start|>assistant\n" if generate else ""))

    def row(self, ids: np.ndarray, position: int) -> np.ndarray:
        """float32 [vocab] after ``ids[position]``."""
        recent = np.asarray(ids[max(0, position - 7) : position + 1], np.int32)
        key = zlib.crc32(recent.tobytes(), position)
        row = np.random.Generator(np.random.Philox(key)).standard_normal(self.opt["vocab"], np.float32) * 3
        if self.opt["noise"]:
            noise = np.random.Generator(np.random.Philox(key + (self.opt["noise-seed"] << 40)))
            row += np.float32(self.opt["noise"]) * noise.standard_normal(self.opt["vocab"], np.float32)
        return row

    def typed(self, rows: np.ndarray) -> np.ndarray:
        return to_bfloat16(rows) if self.opt["dtype"] == "bfloat16" else rows.astype(self.opt["dtype"])

    def probe(self, ids: np.ndarray, positions: np.ndarray, skip: int) -> Iterator[Rows | Lists]:
        for start in range(0, len(ids), self.opt["chunk"]):
            time.sleep(self.opt["delay"])
            wanted = positions[(positions >= start) & (positions < start + self.opt["chunk"]) & (positions > skip)]
            for block in (wanted[i : i + 16] for i in range(0, len(wanted), 16)):
                yield Rows(block, self.typed(np.stack([self.row(ids, int(p)) for p in block])))

    def begin(self, ids: np.ndarray) -> np.ndarray:
        self.history = np.array(ids, np.int32)
        return self.row(self.history, len(self.history) - 1)

    def feed(self, ids: Sequence[int]) -> np.ndarray:
        return self.begin(np.concatenate([self.history, np.asarray(ids, np.int32)]))

    def is_end(self, token: int) -> bool:
        return token == END

    def settings(self) -> dict[str, str]:
        return {"engine": "simulated", "attention_backend": "none", "model": "random numbers",
                "prefill_chunk": str(self.opt["chunk"]), "weights": f"none (noise {self.opt['noise']:g})",
                "activations": self.opt["dtype"]}


ENGINE = Simulated
