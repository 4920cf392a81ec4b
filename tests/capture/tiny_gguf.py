# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rewrites a GGUF file with coarser weights: a few bits for each group of 32, as an independent quantizer would make them.

Only what the tests need: tensors of type F32, F16, Q8_0 and Q4_1 are read; two-dimensional ones are rounded to ``bits`` bits
in groups of 32 along a row and stored as F16. Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

F32, F16, Q4_1, Q8_0 = 0, 1, 3, 8
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def skip_value(raw: bytes, at: int, kind: int) -> int:
    if kind == 8:
        return at + 8 + struct.unpack_from("<Q", raw, at)[0]
    if kind == 9:
        kind, count = struct.unpack_from("<IQ", raw, at)
        at += 12
        for _ in range(count):
            at = skip_value(raw, at, kind)
        return at
    return at + SIZES[kind]


def widen(raw: bytes, at: int, kind: int, n: int) -> np.ndarray:
    """float32 [n] of a tensor's data."""
    if kind in (F32, F16):
        return np.frombuffer(raw, "<f4" if kind == F32 else "<f2", n, at).astype(np.float32)
    if kind == Q8_0:
        block = np.dtype([("d", "<f2"), ("q", "i1", 32)])
        b = np.frombuffer(raw, block, n // 32, at)
        return (b["d"].astype(np.float32)[:, None] * b["q"]).ravel()
    if kind == Q4_1:
        block = np.dtype([("d", "<f2"), ("m", "<f2"), ("q", "u1", 16)])
        b = np.frombuffer(raw, block, n // 32, at)
        q = np.concatenate([b["q"] & 15, b["q"] >> 4], 1).astype(np.float32)
        return (q * b["d"].astype(np.float32)[:, None] + b["m"].astype(np.float32)[:, None]).ravel()
    raise ValueError(f"tensor type {kind}")


def coarse(values: np.ndarray, bits: int) -> np.ndarray:
    """Each group of 32 on an even grid of 2^bits steps between its least and its greatest value."""
    groups = values.reshape(-1, 32)
    low = groups.min(1, keepdims=True)
    step = (groups.max(1, keepdims=True) - low) / (2**bits - 1)
    step[step == 0] = 1
    return (low + np.rint((groups - low) / step) * step).ravel()


def requantize(source: Path, out: Path, bits: int) -> None:
    """``bits`` 0: no rounding, F16 of the weights as they are."""
    raw = source.read_bytes()
    magic, version, n_tensors, n_keys = struct.unpack_from("<4sIQQ", raw)
    assert magic == b"GGUF" and version == 3
    at = 24
    for _ in range(n_keys):
        at += 8 + struct.unpack_from("<Q", raw, at)[0]
        at = skip_value(raw, at + 4, struct.unpack_from("<I", raw, at)[0])
    infos = at
    tensors = []
    for _ in range(n_tensors):
        start = at
        at += 8 + struct.unpack_from("<Q", raw, at)[0]
        name = raw[start:at]
        rank = struct.unpack_from("<I", raw, at)[0]
        shape = struct.unpack_from(f"<{rank}Q", raw, at + 4)
        kind, offset = struct.unpack_from("<IQ", raw, at + 4 + 8 * rank)
        at += 16 + 8 * rank
        tensors.append((name, shape, kind, offset))
    data = (at + 31) // 32 * 32
    head, body = b"", b""
    with open(out.with_suffix(".body"), "wb") as store:
        where = 0
        for name, shape, kind, offset in tensors:
            values = widen(raw, data + offset, kind, int(np.prod(shape)))
            if len(shape) == 2:
                body = (coarse(values, bits) if bits else values).astype("<f2").tobytes()
            else:
                body = values.astype("<f4").tobytes()
            head += name + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, F16 if len(shape) == 2 else F32, where)
            body += b"\0" * (-len(body) % 32)
            store.write(body)
            where += len(body)
    with open(out, "wb") as target:
        target.write(raw[:infos] + head)
        target.write(b"\0" * (-target.tell() % 32))
        target.write(out.with_suffix(".body").read_bytes())
    out.with_suffix(".body").unlink()
