# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Interrupted captures: what is in ``OUT.partial`` and its journal, read so that the capture can go on.

The file of a killed writer bears the mark of one that is being written. It is only ever read here, the way a reader beside a
writer does it; the rows are copied into a new file, which then takes its place.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from .model import ROW_TYPES, CaptureError, Continuation


def bfloat16_type() -> h5py.h5t.TypeID:
    """bfloat16 as a 16-bit HDF5 float that describes itself: sign at 15, 8 exponent bits at 7, 7 of mantissa, bias 127."""
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_fields(15, 7, 8, 0, 7)
    kind.set_size(2)
    kind.set_precision(16)
    kind.set_ebias(127)
    return kind


def file_type(dtype: str) -> h5py.h5t.TypeID:
    return {"float32": h5py.h5t.IEEE_F32LE, "float16": h5py.h5t.IEEE_F16LE}.get(dtype) or bfloat16_type()


def read_bits(data: h5py.Dataset, start: int, stop: int, dtype: str) -> np.ndarray:
    """Rows ``start`` to ``stop`` as they are stored, without a conversion: bfloat16 comes as uint16."""
    out = np.empty((stop - start, data.shape[1]), ROW_TYPES[dtype])
    if len(out):
        space = data.id.get_space()
        space.select_hyperslab((start, 0), out.shape)
        data.id.read(h5py.h5s.create_simple(out.shape), space, out, mtype=file_type(dtype))
    return out


def partial_path(out: Path) -> Path:
    return out.with_name(out.name + ".partial")


def journal_path(out: Path) -> Path:
    return out.with_name(out.name + ".partial.continuations")


def read_journal(out: Path) -> list[Continuation]:
    """The continuations that were finished; a last line cut by a kill does not count."""
    path = journal_path(out)
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [Continuation.from_json(line.decode("utf-8")) for line in lines]


class Previous:
    """The file of an interrupted capture, open for reading."""

    def __init__(self, file: h5py.File) -> None:
        self.file = file

    @staticmethod
    def open(out: Path, config: str) -> Previous | None:
        """None where there is nothing to resume. Refuses one that was made with other settings."""
        path = partial_path(out)
        if not path.exists():
            return None
        try:
            file = h5py.File(path, "r", libver="latest", swmr=True)
            found = file["run"].attrs["capture_config"]
        except (OSError, KeyError) as error:
            raise CaptureError(f"{path} is in the way, and no capture that could be resumed ({error}): move it away, or "
                               "start anew with --restart.") from None
        if found != config:
            file.close()
            raise CaptureError(f"{path} was begun with other settings or another prompt: give the same to resume it, or "
                               "start anew with --restart.")
        return Previous(file)

    def close(self) -> None:
        self.file.close()
