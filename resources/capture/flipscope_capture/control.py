# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control: the same capture once more, compared bit for bit with the first as it is made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from .model import Lists, Rows
from .resume import read_bits


@dataclass
class Control:
    """Compares blocks of a repeat with the rows of a finished trace, by position. ``first``: where they first differ."""

    path: Path
    dtype: str
    rows: int = 0
    different: int = 0
    first: int | None = None

    def __post_init__(self) -> None:
        self.file = h5py.File(self.path, "r")
        self.index = {int(p): i for i, p in enumerate(self.file["probes/positions"][:])}

    def compare(self, block: Rows | Lists) -> None:
        for j, position in enumerate(block.positions):
            i = self.index.get(int(position))
            if i is None:
                continue
            self.rows += 1
            if isinstance(block, Rows):
                was = read_bits(self.file["probes/logits"], i, i + 1, self.dtype)[0]
                now = block.values[j].astype(was.dtype, copy=False)
            else:
                was = np.concatenate([self.file["probes/top_ids"][i].view(np.uint32),
                                      self.file["probes/top_logprobs"][i].view(np.uint32)])
                now = np.concatenate([block.top_ids[j].view(np.uint32), block.top_logprobs[j].view(np.uint32)])
            if was.tobytes() != now.tobytes():
                self.different += 1
                self.first = int(position) if self.first is None else self.first

    def verdict(self) -> str:
        if not self.rows:
            return "Control: no probe was repeated."
        if not self.different:
            return f"Control: all {self.rows} repeated rows are bit-identical."
        return (f"Control: {self.different} of {self.rows} repeated rows differ, the first at token {self.first}: this engine "
                "does not repeat itself, and differences between runs of that size say nothing.")

    def close(self) -> None:
        self.file.close()
