# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The writer of trace format version 1.

A capture is written as ``OUT.partial`` in HDF5's single-writer-multiple-readers mode, with a flush after every block: other
programs can follow it, and one that is killed leaves a file that opens with every probe that was flushed. It becomes ``OUT``
by a rename once it is complete. Continuations are kept in a journal beside it until then (``OUT.partial.continuations``),
since nothing but rows can be added in that mode.
"""

from __future__ import annotations

import dataclasses
import datetime
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from . import __version__
from .model import ROW_TYPES, CaptureError, Continuation, Lists, RowFormat, Rows, Vocab, log_sum_exp, widen
from .resume import Previous, file_type, journal_path, partial_path, read_bits, read_journal

#: Understood by HDF5 1.10 and newer, and the oldest that knows the mode with readers beside.
LIBVER = ("v110", "v110")
TEXT = h5py.string_dtype()


class ProbeSet:
    """One set of probes in the file, ``/probes`` or ``/dense/<name>``: rows are appended, positions after them."""

    def __init__(self, group: h5py.Group, stored: RowFormat, extras: bool) -> None:
        self.group, self.stored, self.extras = group, stored, extras

    @staticmethod
    def create(group: h5py.Group, stored: RowFormat, extras: bool, attrs: dict[str, Any]) -> None:
        def column(name: str, dtype: Any, width: int = 0) -> None:
            shape, most, chunk = ((0, width), (None, width), (64, width)) if width else ((0,), (None,), (1024,))
            group.create_dataset(name, shape, dtype, maxshape=most, chunks=chunk)

        column("positions", np.int64)
        if stored.kind == "full":
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_chunk((1, stored.n_vocab))
            properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
            space = h5py.h5s.create_simple((0, stored.n_vocab), (h5py.h5s.UNLIMITED, stored.n_vocab))
            h5py.h5d.create(group.id, b"logits", file_type(stored.dtype), space, properties)
            if extras:
                column("top1", np.int32)
                column("lse", np.float64)
        else:
            column("top_ids", np.int32, stored.k)
            column("top_logprobs", np.float32, stored.k)
            if extras:
                column("lse", np.float64)
        group.attrs["kind"] = stored.kind
        if stored.n_vocab:
            group.attrs["n_vocab"] = np.int64(stored.n_vocab)
        for key, value in attrs.items():
            group.attrs[key] = value

    def _append(self, name: str, values: np.ndarray) -> None:
        data = self.group[name]
        start = int(self.group["positions"].shape[0])
        data.resize(start + len(values), axis=0)
        data[start:] = values
        data.flush()

    def _append_rows(self, bits: np.ndarray) -> None:
        data = self.group["logits"].id
        start, n = int(self.group["positions"].shape[0]), len(bits)
        data.set_extent((start + n, self.stored.n_vocab))
        space = data.get_space()
        space.select_hyperslab((start, 0), bits.shape)
        data.write(h5py.h5s.create_simple(bits.shape), space, np.ascontiguousarray(bits),
                   mtype=file_type(self.stored.dtype))
        self.group["logits"].flush()

    def copy_from(self, source: h5py.Group) -> None:
        """The rows of an interrupted capture that have a position, bit for bit."""
        n = int(source["positions"].shape[0])
        for start in range(0, n, 16):
            stop = min(n, start + 16)
            for name in source:
                if name == "logits":
                    self._append_rows(read_bits(source["logits"], start, stop, self.stored.dtype))
                elif name != "positions":
                    self._append(name, source[name][start:stop])
            self._append("positions", source["positions"][start:stop])

    def append(self, block: Rows | Lists) -> None:
        """Rows first, their positions last: a reader, or a restart, counts what has a position."""
        if isinstance(block, Rows):
            if self.extras:
                # `top1` and `lse` are those of the rows as the engine gave them, before they are rounded for storage.
                self._append("top1", np.array([widen(r).argmax() for r in block.values], np.int32))
                self._append("lse", log_sum_exp(block.values))
            given = block.values
            if self.stored.dtype != "bfloat16":
                given = widen(given).astype(ROW_TYPES[self.stored.dtype], copy=False)
            self._append_rows(given)
        else:
            self._append("top_ids", block.top_ids.astype(np.int32))
            self._append("top_logprobs", block.top_logprobs.astype(np.float32))
            if self.extras and block.lse is not None:
                self._append("lse", block.lse)
        self._append("positions", block.positions.astype(np.int64))

    def positions(self) -> np.ndarray:
        return np.asarray(self.group["positions"][:], np.int64)


def put_bytes(group: h5py.Group, ids: Iterable[int], vocab: Vocab) -> None:
    pieces = [vocab.piece(int(i)) for i in ids]
    group.create_dataset("bytes", data=np.frombuffer(b"".join(pieces), np.uint8))
    group.create_dataset("offsets", data=np.cumsum([0] + [len(p) for p in pieces]).astype(np.uint64))


def put_spans(file: h5py.File, spans: Sequence[tuple[int, int, str, str]]) -> None:
    kind = np.dtype([("start", "<i8"), ("end", "<i8"), ("kind", TEXT), ("label", TEXT)])
    file.create_dataset("spans", data=np.array(list(spans), dtype=kind))


@dataclass(frozen=True)
class Header:
    """Everything in a trace but its rows and continuations. ``given``: what the engine gives; ``store``: as-given, or a
    type; ``config``: what has to be the same for a capture to be resumed."""

    run_name: str
    ids: np.ndarray
    given: RowFormat
    store: str
    dense: list[str]
    probe_attrs: dict[str, Any]
    run: dict[str, str]
    packages: list[str]
    log: str
    spans: list[tuple[int, int, str, str]]
    vocab: Vocab | None
    token_attrs: dict[str, str]
    config: str

    def stored(self) -> RowFormat:
        dtype = self.given.dtype if self.store == "as-given" or self.given.kind == "topk" else self.store
        if dtype == "float16" and self.given.dtype == "bfloat16":
            raise CaptureError("The engine gives bfloat16 rows, whose range float16 does not have: take --store as-given.")
        return dataclasses.replace(self.given, dtype=dtype)

    def extras(self) -> bool:
        """Whether rows come with ``lse`` (and ``top1``): where rounding, or the cut to k, loses them."""
        if self.given.kind == "topk":
            return self.given.lse
        return self.stored().dtype == "float16" and self.given.dtype != "float16"

    def write(self, h: h5py.File, source: h5py.File | None) -> None:
        """``source``: a file whose rows are taken over, bit for bit."""
        h.attrs.update({"format": "flipscope-trace", "format_version": np.int32(1), "run_name": self.run_name,
                        "created": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                        "producer": f"flipscope-capture {__version__}"})
        tokens = h.create_group("tokens")
        tokens.create_dataset("ids", data=np.asarray(self.ids, np.int32))
        tokens.attrs.update(self.token_attrs)
        if self.vocab is not None:
            put_bytes(tokens, self.ids, self.vocab)
            group = h.create_group("vocab")
            group.create_dataset("offsets", data=self.vocab.offsets, compression="gzip")
            group.create_dataset("bytes", data=np.frombuffer(self.vocab.data, np.uint8), compression="gzip")
            group.create_dataset("special", data=self.vocab.special)
        if self.spans:
            put_spans(h, self.spans)
        settings = h.create_group("run")
        settings.attrs.update({k: str(v) for k, v in self.run.items() if v != ""})
        settings.attrs["capture_config"] = self.config
        if self.packages:
            settings.create_dataset("packages", data=np.array(self.packages, dtype=object), dtype=TEXT)
        if self.log:
            settings.create_dataset("launch_log", data=self.log, dtype=TEXT)
        for name in ["", *self.dense]:
            path = f"dense/{name}" if name else "probes"
            group = h.create_group(path)
            ProbeSet.create(group, self.stored(), self.extras(), self.probe_attrs)
            if source is not None:
                ProbeSet(group, self.stored(), self.extras()).copy_from(source[path])


class TraceWriter:
    """Writes one trace. ``sets`` maps "" (``/probes``) and the names of dense stretches to their probe sets."""

    def __init__(self, out: Path, header: Header, file: h5py.File) -> None:
        self.out, self.header, self.file = out, header, file
        stored, extras = header.stored(), header.extras()
        self.sets = {"": ProbeSet(file["probes"], stored, extras)}
        for name in header.dense:
            self.sets[name] = ProbeSet(file["dense"][name], stored, extras)

    @staticmethod
    def create(out: Path, header: Header, previous: Previous | None = None) -> TraceWriter:
        """Writes everything but the rows under a third name, then opens it for appending as ``OUT.partial``.

        The rows of an interrupted capture (``previous``) are copied first; its file is replaced only then."""
        header.stored()
        fresh = out.with_name(out.name + ".partial.new")
        with h5py.File(fresh, "w", libver=LIBVER) as h:
            header.write(h, previous.file if previous is not None else None)
        if previous is None:
            journal_path(out).unlink(missing_ok=True)
        else:
            previous.close()
        os.replace(fresh, partial_path(out))
        file = h5py.File(partial_path(out), "r+", libver=LIBVER)
        file.swmr_mode = True
        return TraceWriter(out, header, file)

    def append(self, name: str, block: Rows | Lists) -> None:
        self.sets[name].append(block)

    def flush(self) -> None:
        """After this the blocks appended so far survive a kill of the process."""
        self.file.flush()

    def done(self, name: str) -> np.ndarray:
        """int64 positions that are in the file already."""
        return self.sets[name].positions()

    def add_continuation(self, continuation: Continuation) -> None:
        with open(journal_path(self.out), "a", encoding="utf-8") as journal:
            journal.write(continuation.to_json() + "\n")

    def continuations(self) -> list[Continuation]:
        """Those in the journal; a last line that was cut by a kill does not count."""
        return read_journal(self.out)

    def close(self) -> None:
        """Leaves ``OUT.partial`` as it is, to be resumed."""
        if self.file:
            self.file.close()

    def finish(self, notes: str = "") -> None:
        """Adds the continuations, and ``notes`` that came up on the way, and gives the file its name."""
        continuations = self.continuations()
        if notes:
            self.header.run["notes"] = " ".join(filter(None, [self.header.run.get("notes", ""), notes]))
        self.file.flush()
        self.file.close()
        partial = partial_path(self.out)
        if continuations or notes:
            # A copy, so that a kill in the midst of adding groups does not cost the probes.
            full = self.out.with_name(self.out.name + ".partial.new")
            with h5py.File(partial, "r") as source, h5py.File(full, "w", libver=LIBVER) as h:
                self.header.write(h, source)
                for n, c in enumerate(sorted(continuations, key=lambda c: c.prefix_tokens)):
                    put_continuation(h.create_group(f"generations/{n}"), c, self.header.vocab)
            os.replace(full, self.out)
            partial.unlink()
        else:
            os.replace(partial, self.out)
        journal_path(self.out).unlink(missing_ok=True)


def put_continuation(group: h5py.Group, c: Continuation, vocab: Vocab | None) -> None:
    group.attrs["prefix_tokens"] = np.int64(c.prefix_tokens)
    group.attrs["sampler"] = c.sampler
    group.attrs["finish_reason"] = c.finish_reason
    if c.parsed_tool_calls is not None:
        group.attrs["parsed_tool_calls"] = c.parsed_tool_calls
    if c.notes:
        group.attrs["notes"] = c.notes
    group.create_dataset("ids", data=np.asarray(c.ids, np.int32))
    if vocab is not None:
        put_bytes(group, c.ids, vocab)
    if any(c.fed):
        group.create_dataset("fed", data=np.asarray(c.fed, np.uint8))
    width = max((len(t) for t in c.top_ids), default=0)
    if width:
        ids = np.full((len(c.ids), width), -1, np.int32)
        logprobs = np.full((len(c.ids), width), -np.inf, np.float32)
        for i, (row, values) in enumerate(zip(c.top_ids, c.top_logprobs)):
            ids[i, : len(row)], logprobs[i, : len(row)] = row, values
        group.create_dataset("top_ids", data=ids)
        group.create_dataset("top_logprobs", data=logprobs)
