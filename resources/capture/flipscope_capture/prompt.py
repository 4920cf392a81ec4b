# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The prompt: text, chat messages or token ids, or the history of another trace."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from .model import CaptureError


@dataclass
class Prompt:
    """As it was given: one of ``text``, ``messages`` and ``ids``."""

    path: Path
    sha256: str
    text: str | None = None
    messages: list[dict[str, Any]] | None = None
    tools: list[dict[str, Any]] = field(default_factory=list)
    ids: np.ndarray | None = None  # int32 [n_tokens]
    spans: list[tuple[int, int, str, str]] = field(default_factory=list)  # of the trace that it came from


def read_json(path: Path, raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise CaptureError(f"{path} is no JSON: {error}.") from None
    if isinstance(value, list):
        value = {"ids": value} if value and isinstance(value[0], int) else {"messages": value}
    if not isinstance(value, dict) or not ({"messages", "ids", "text"} & value.keys()):
        raise CaptureError(f"{path} holds no prompt: it should be a list of chat messages, a list of token ids, or an object "
                           'with "messages" (and "tools"), "ids" or "text".')
    return value


def as_ids(path: Path, values: Any) -> np.ndarray:
    ids = np.asarray(values)
    if ids.ndim != 1 or not len(ids) or ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= 2**31:
        raise CaptureError(f"{path}: token ids are whole numbers of 0 or more, in one list.")
    return ids.astype(np.int32)


def from_trace(path: Path) -> Prompt:
    try:
        with h5py.File(path, "r") as h:
            ids = as_ids(path, h["tokens/ids"][:])
            prompt = Prompt(path, ids_sha256(ids), ids=ids)
            for row in h["spans"][:] if "spans" in h else ():
                prompt.spans.append((int(row["start"]), int(row["end"]), row["kind"].decode(), row["label"].decode()))
            prompt.sha256 = str(h["tokens"].attrs.get("prompt_sha256", "")) or prompt.sha256
            return prompt
    except (OSError, KeyError) as error:
        raise CaptureError(f"{path} cannot be read as a trace: {error}.") from None


def load(path: Path) -> Prompt:
    """By the name's ending: .h5 a trace, .json messages or ids, .i32 ids as raw int32, anything else UTF-8 text."""
    if not path.is_file():
        raise CaptureError(f"There is no prompt {path}.")
    with open(path, "rb") as stream:
        if path.suffix in (".h5", ".hdf5"):
            return from_trace(path)
        raw = stream.read()
    digest = hashlib.sha256(raw).hexdigest()
    if path.suffix == ".i32":
        if len(raw) % 4:
            raise CaptureError(f"{path} holds {len(raw)} bytes, and int32 ids take four each.")
        return Prompt(path, digest, ids=as_ids(path, np.frombuffer(raw, "<i4")))
    if path.suffix == ".json":
        value = read_json(path, raw)
        ids = as_ids(path, value["ids"]) if "ids" in value else None
        messages = value.get("messages")
        if messages is not None and not all(isinstance(m, dict) and isinstance(m.get("role"), str) for m in messages):
            raise CaptureError(f'{path}: each message needs a "role".')
        return Prompt(path, digest, text=value.get("text"), messages=messages, tools=value.get("tools") or [], ids=ids)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CaptureError(f"{path} is no UTF-8 text (byte {error.start}); token ids go into a .json or .i32 file.") from None
    if not text:
        raise CaptureError(f"{path} is empty.")
    return Prompt(path, digest, text=text)


def ids_sha256(ids: np.ndarray) -> str:
    """SHA-256 of the ids as little-endian int32."""
    return hashlib.sha256(np.asarray(ids, "<i4").tobytes()).hexdigest()
