# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The header of a GGUF file: the size of its vocabulary, and the types of its tensors by group of modules."""

from __future__ import annotations

import re
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
#: ggml's types, by number.
TYPES = {0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K",
         14: "Q6_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S",
         23: "IQ4_XS", 29: "IQ1_M", 30: "BF16", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4"}
GROUPS = (("norm", r"norm"), ("experts", r"_exps|_shexp"), ("linear attention", r"ssm|linear_attn|delta"), ("attention", r"attn"),
          ("MLP", r"ffn"), ("embedding", r"token_embd"), ("head", r"^output\.weight"))


@dataclass(frozen=True)
class Header:
    n_vocab: int
    groups: dict[str, Counter]  # group of modules: type: number of tensors

    def text(self) -> str:
        """Such as ``attention Q4_1, MLP Q4_1, embedding Q8_0``; norms, which stay in F32, are not named."""
        parts = []
        for name, kinds in self.groups.items():
            if name != "norm":
                parts.append(f"{name} " + "/".join(k for k, _ in kinds.most_common()))
        return ", ".join(parts)


def read(path: Path) -> Header:
    """Empty where the file is no GGUF or its header is longer than 64 MiB."""
    with open(path, "rb") as stream:
        raw = stream.read(64 << 20)
    n_vocab, groups = 0, {name: Counter() for name, _ in GROUPS}
    try:
        magic, _, n_tensors, n_keys = struct.unpack_from("<4sIQQ", raw)
        if magic != b"GGUF":
            return Header(0, {})
        at = 24
        for _ in range(n_keys):
            length = struct.unpack_from("<Q", raw, at)[0]
            key, kind = raw[at + 8 : at + 8 + length], struct.unpack_from("<I", raw, at + 8 + length)[0]
            at += 12 + length
            if key == b"tokenizer.ggml.tokens":
                n_vocab = struct.unpack_from("<IQ", raw, at)[1]
            at = skip(raw, at, kind)
        for _ in range(n_tensors):
            length = struct.unpack_from("<Q", raw, at)[0]
            name = raw[at + 8 : at + 8 + length].decode("utf-8", "replace")
            rank = struct.unpack_from("<I", raw, at + 8 + length)[0]
            at += 12 + length + 8 * rank
            kind = struct.unpack_from("<I", raw, at)[0]
            at += 12
            group = next((g for g, pattern in GROUPS if re.search(pattern, name)), None)
            if group and name.endswith("weight"):
                groups[group][TYPES.get(kind, f"type {kind}")] += 1
    except (struct.error, KeyError):
        pass
    return Header(n_vocab, {name: kinds for name, kinds in groups.items() if kinds})


def skip(raw: bytes, at: int, kind: int) -> int:
    """Where the value at ``at`` ends."""
    if kind == 8:
        return at + 8 + struct.unpack_from("<Q", raw, at)[0]
    if kind == 9:
        kind, count = struct.unpack_from("<IQ", raw, at)
        at += 12
        if kind in SIZES:
            return at + count * SIZES[kind]
        for _ in range(count):
            at = skip(raw, at, kind)
        return at
    return at + SIZES[kind]
