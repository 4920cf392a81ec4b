#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the small traces in tests/data/traces and, beside them, expected.json: what must be read from them, computed
here with numpy and never by Flipscope. Needs h5py >= 3.12 and numpy; run it in tests/data. The files are kept in the
repository, so that tests need neither."""
import json
import os
import struct
import sys

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z

OUT = "traces"
ROWS, VOCAB, TOKENS = 5, 64, 40
POSITIONS = [3, 7, 8, 21, 39]
TEXT = h5py.string_dtype()


def plain(x):
    """A float as JSON can hold it."""
    x = float(x)
    return x if np.isfinite(x) else ("nan" if np.isnan(x) else "inf" if x > 0 else "-inf")


def base_rows():
    rng = np.random.default_rng(20261130)
    x = rng.normal(0, 4, (ROWS, VOCAB)).astype(np.float32)
    x[1, 5], x[1, 6], x[1, 7] = -np.inf, -0.0, 1e-7  # a masked id, a signed zero, a subnormal float16
    x[2, :4] = [27.25, 27.25, 27.0, 26.875]  # a tie
    x[3, 9] = 2.5e-40  # subnormal in bfloat16 and float32, zero in float16
    return x


def to_bf16(x):
    """Bits of the nearest bfloat16, ties to even."""
    u = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)


X = base_rows()
BITS = to_bf16(X)
with np.errstate(over="ignore"):
    VALUES = {
        "bfloat16": (BITS.astype(np.uint32) << 16).view(np.float32).astype(np.float64),
        "float16": X.astype(np.float16).astype(np.float64),
        "float32": X.astype(np.float64),
        "float64": X.astype(np.float64) + 1e-12,
    }
IDS = ((np.arange(TOKENS) * 7 + 3) % VOCAB).astype(np.int32)
PIECES = [bytes([97 + i % 26]) * (i % 4) if i % 9 else b"\xf0\x9f" for i in range(VOCAB)]


def bf16_type(order=h5t.ORDER_LE):
    t = h5t.IEEE_F32LE.copy()
    t.set_fields(15, 7, 8, 0, 7)
    t.set_size(2)
    t.set_precision(16)
    t.set_ebias(127)
    t.set_order(order)
    return t


def opaque_type(tag=b""):
    t = h5t.create(h5t.OPAQUE, 2)
    t.set_tag(tag)
    return t


def put_raw(group, name, data, filetype, chunks=None, plist=None, maxshape=None):
    """Stores bytes as they are under any HDF5 type."""
    space = h5s.create_simple(data.shape, maxshape or data.shape)
    plist = plist or h5p.create(h5p.DATASET_CREATE)
    if chunks:
        plist.set_chunk(chunks)
    d = h5d.create(group.id, name.encode(), filetype, space, plist)
    d.write(h5s.ALL, h5s.ALL, np.ascontiguousarray(data), mtype=filetype)
    return h5py.Dataset(d)


def put_text(group, pieces):
    group.create_dataset("bytes", data=np.frombuffer(b"".join(pieces), np.uint8))
    group.create_dataset("offsets", data=np.cumsum([0] + [len(p) for p in pieces]).astype(np.uint64))


def identity(f, version=1):
    f.attrs["format"] = "flipscope-trace"
    f.attrs["format_version"] = np.int32(version)


def skeleton(f, version=1, positions=POSITIONS, n_tokens=TOKENS):
    identity(f, version)
    f.create_dataset("tokens/ids", data=IDS[:n_tokens])
    p = f.create_group("probes")
    if positions is not None:
        p.create_dataset("positions", data=np.asarray(positions, np.int64))
    return p


def new(name, **options):
    path = os.path.join(OUT, name + ".h5")
    if os.path.exists(path):
        os.remove(path)
    return h5py.File(path, "w", **({"libver": ("earliest", "v110")} | options))


OPENED = {}  # file: logit type
REFUSED = {}  # file: a part of the sentence
FOUND = {}  # file: code and a part of the finding


def encodings():
    big, little = h5t.ORDER_BE, h5t.ORDER_LE
    swapped = BITS.astype(">u2").view(np.uint16)
    raw = {
        "bf16-float": (BITS, bf16_type(), (1, VOCAB), None),
        "bf16-float-bigendian": (swapped, bf16_type(big), None, None),
        "bf16-contiguous": (BITS, bf16_type(), None, None),
        "bf16-uint16-marked": (BITS, h5t.STD_U16LE, None, "bfloat16"),
        "bf16-uint16-marked-bigendian": (swapped, h5t.STD_U16BE, None, "bfloat16"),
        "bf16-opaque-tag": (BITS, opaque_type(b"bfloat16"), None, None),
        "bf16-opaque-attribute": (BITS, opaque_type(), (2, VOCAB), "bfloat16"),
        "bf16-column-chunks": (BITS, bf16_type(), (ROWS, 16), None),
    }
    if hasattr(h5t, "FLOAT_BFLOAT16LE"):  # HDF5 2.0 predefines it; the same bits
        raw["bf16-predefined"] = (BITS, h5t.FLOAT_BFLOAT16LE, None, None)
    for name, (data, filetype, chunks, mark) in raw.items():
        with new(name) as f:
            d = put_raw(skeleton(f), "logits", data, filetype, chunks)
            if mark:
                d.attrs["dtype"] = mark
        OPENED[name] = "bfloat16"
    simple = {
        "f16": ("<f2", {}), "f16-bigendian": (">f2", {}), "f32": ("<f4", {}), "f32-bigendian": (">f4", {}),
        "f64": ("<f8", {}), "f64-bigendian": (">f8", {}),
        "f16-gzip-shuffle": ("<f2", dict(chunks=(1, VOCAB), compression="gzip", shuffle=True)),
        "f16-gzip-fletcher": ("<f2", dict(chunks=(1, VOCAB), compression="gzip", fletcher32=True)),
        "f32-bigendian-gzip": (">f4", dict(chunks=(2, VOCAB), compression="gzip")),
        "f16-one-chunk-gzip": ("<f2", dict(chunks=(ROWS, VOCAB), compression="gzip")),
        "f16-column-chunks-gzip": ("<f2", dict(chunks=(ROWS, 10), compression="gzip")),
        "f16-odd-chunks": ("<f2", dict(chunks=(2, 24))),
        "f16-two-rows": ("<f2", dict(chunks=(2, VOCAB))),
        "f16-growing": ("<f2", dict(chunks=(1, VOCAB), maxshape=(None, VOCAB))),
    }
    for name, (dtype, options) in simple.items():
        with new(name) as f:
            kind = {"2": "float16", "4": "float32", "8": "float64"}[dtype[2]]
            skeleton(f).create_dataset("logits", data=VALUES[kind].astype(dtype), **options)
        OPENED[name] = kind
    for name, options in {"f16-latest": dict(libver=("v110", "v110")), "f16-user-block": dict(userblock_size=512)}.items():
        with new(name, **options) as f:
            skeleton(f).create_dataset("logits", data=VALUES["float16"].astype("<f2"), chunks=(1, VOCAB))
        OPENED[name] = "float16"
    with new("f16-compact") as f:
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_layout(h5d.COMPACT)
        put_raw(skeleton(f), "logits", X.astype(np.float16), h5t.IEEE_F16LE, plist=plist)
    OPENED["f16-compact"] = "float16"
    FOUND["f16-one-chunk-gzip"] = ["slow-chunks", "compressed chunks of 5 × 64"]
    FOUND["f16-column-chunks-gzip"] = ["slow-chunks", "compressed chunks of 5 × 10"]
    FOUND["f16-odd-chunks"] = ["slow-chunks", "chunks of 2 × 24"]
    FOUND["bf16-column-chunks"] = ["slow-chunks", "gathers 4 pieces"]


def refused():
    def case(name, words, write, **options):
        with new(name, **options) as f:
            write(f)
        REFUSED[name] = words

    case("bf16-uint16-unmarked", ['attribute dtype = "bfloat16"'],
         lambda f: put_raw(skeleton(f), "logits", BITS, h5t.STD_U16LE))
    case("bf16-opaque-unmarked", ['attribute dtype = "bfloat16"'],
         lambda f: put_raw(skeleton(f), "logits", BITS, opaque_type()))
    case("uint16-other-mark", ['marked "float8"'],
         lambda f: put_raw(skeleton(f), "logits", BITS, h5t.STD_U16LE).attrs.__setitem__("dtype", "float8"))
    case("int32-logits", ["floating-point"],
         lambda f: skeleton(f).create_dataset("logits", data=np.zeros((ROWS, VOCAB), np.int32)))
    case("newer-version", ["written for version 2"],
         lambda f: skeleton(f, version=2).create_dataset("logits", data=X))
    case("no-version", ["format_version"], lambda f: (f.attrs.__setitem__("format", "flipscope-trace"), None))
    case("other-hdf5", ['no attribute "format"'], lambda f: f.create_dataset("x", data=X))
    case("other-format", ['its format is "something"'], lambda f: f.attrs.__setitem__("format", "something"))
    case("rank-deficient", ["1 dimension (64)"], lambda f: skeleton(f).create_dataset("logits", data=X[0]))
    case("rank-3", ["3 dimensions"], lambda f: skeleton(f).create_dataset("logits", data=X[None]))
    case("rows-missing", ["4 rows for 5 positions"], lambda f: skeleton(f).create_dataset("logits", data=X[:4]))
    case("positions-unsorted", ["/probes/positions", "not strictly increasing: 7 at row 2 follows 8"],
         lambda f: skeleton(f, positions=[3, 8, 7, 21, 39]).create_dataset("logits", data=X))
    case("positions-outside", ["40 at row 4, outside of the history of 40 tokens"],
         lambda f: skeleton(f, positions=[3, 7, 8, 21, 40]).create_dataset("logits", data=X))
    case("no-positions", ["/probes/positions is missing"],
         lambda f: skeleton(f, positions=None).create_dataset("logits", data=X))
    case("no-logits", ["neither logits nor top_ids"], lambda f: skeleton(f))
    case("no-tokens", ["/tokens is missing"], lambda f: (identity(f), f.create_dataset("probes/logits", data=X)))
    case("no-probes", ["/probes is missing"], lambda f: (identity(f), f.create_dataset("tokens/ids", data=IDS)))
    case("ids-too-large", ["9000000000 at index 1"],
         lambda f: (identity(f), f.create_dataset("tokens/ids", data=np.array([1, 9_000_000_000], np.int64))))
    case("logits-unwritten", ["never written"],
         lambda f: skeleton(f).create_dataset("logits", (ROWS, VOCAB), "f4"))
    case("external-storage", ["other files"],
         lambda f: skeleton(f).create_dataset("logits", (ROWS, VOCAB), "f4", external=[("f32.h5", 0, h5py.h5f.UNLIMITED)]))
    case("external-link", ["link into another file"],
         lambda f: skeleton(f).__setitem__("logits", h5py.ExternalLink("f32.h5", "/probes/logits")))

    def soft_to_external(f):
        skeleton(f)["logits"] = h5py.SoftLink("/elsewhere/logits")
        f["elsewhere"] = h5py.ExternalLink("f32.h5", "/probes")

    case("soft-to-external", ["/probes/logits cannot be read as a dataset"], soft_to_external)

    def soft_loop(f):
        skeleton(f)["logits"] = h5py.SoftLink("/probes/again")
        f["probes/again"] = h5py.SoftLink("/probes/logits")

    case("soft-loop", ["/probes/logits cannot be read as a dataset"], soft_loop)

    def virtual(f):
        layout = h5py.VirtualLayout((ROWS, VOCAB), "f4")
        layout[:] = h5py.VirtualSource("f32.h5", "probes/logits", (ROWS, VOCAB))
        skeleton(f).create_virtual_dataset("logits", layout)

    case("virtual", ["other files"], virtual)

    def thin_chunks(f):  # 8,192 pieces a row
        skeleton(f).create_dataset("logits", data=np.zeros((1, 8192), np.float16), chunks=(1, 1))

    case("thin-chunks", ["too many to read"], thin_chunks)

    def huge(f):  # claims 2^40 values in an empty compressed dataset
        skeleton(f).create_dataset("logits", (ROWS, 1 << 33), "f2", chunks=(1, 1 << 20), compression="gzip")

    case("huge-claim", ["8589934592 columns"], huge)
    topk = dict(top_ids=np.zeros((ROWS, 3), np.int32), top_logprobs=np.zeros((ROWS, 4), np.float32))
    case("topk-shapes", ["not two tables of the same shape"],
         lambda f: [skeleton(f)] and [f["probes"].create_dataset(k, data=v) for k, v in topk.items()])
    with open(os.path.join(OUT, "text.h5"), "w") as f:
        f.write("not a trace\n")
    REFUSED["text"] = ["is not a trace"]
    open(os.path.join(OUT, "empty.h5"), "w").close()
    REFUSED["empty"] = ["is empty"]


def missing_filter(name, filters):
    with new(name) as f:
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_chunk((1, VOCAB))
        for number in filters:
            plist.set_filter(number, h5z.FLAG_OPTIONAL, ())
        p = skeleton(f)
        d = h5d.create(p.id, b"logits", h5t.IEEE_F16LE, h5s.create_simple((ROWS, VOCAB)), plist)
        for r in range(ROWS):
            d.write_direct_chunk((r, 0), b"packed by a filter that is not here")
        f.create_dataset("run/packages", data=["torch==2.11"], dtype=TEXT)


def partial():
    missing_filter("filter-blosc", [32001])
    missing_filter("filter-zstd", [2, 32015])
    FOUND["filter-blosc"] = ["missing-filter", "32001 (blosc)"]
    FOUND["filter-zstd"] = ["missing-filter", "32015 (zstd)"]
    with new("rows-ahead") as f:  # stopped between logits and positions
        p = skeleton(f, positions=None)
        p.create_dataset("logits", data=X.astype(np.float16), maxshape=(None, VOCAB), chunks=(1, VOCAB))
        p.create_dataset("positions", data=np.array(POSITIONS[:3]), maxshape=(None,), chunks=(16,))
        p.create_dataset("lse", data=np.arange(4.0), maxshape=(None,), chunks=(16,))
    FOUND["rows-ahead"] = ["incomplete", "5 rows for 3 positions"]
    with new("rows-unwritten") as f:  # room for all rows was made, two were never written
        d = skeleton(f).create_dataset("logits", (ROWS, VOCAB), "f2", chunks=(1, VOCAB))
        for r in (0, 1, 3):
            d[r] = X[r]
    FOUND["rows-unwritten"] = ["incomplete", "2 of the 5 rows of /probes/logits were never written"]
    with new("implausible") as f:  # float16 bits declared as bfloat16
        put_raw(skeleton(f), "logits", X.astype(np.float16).view(np.uint16), bf16_type())
    FOUND["implausible"] = ["implausible-values", "which no model emits"]
    with new("masked") as f:  # one large negative constant: a mask, nothing to warn about
        y = X.copy()
        y[0, 10:20] = -1e30
        skeleton(f).create_dataset("logits", data=y)
    with new("wrong-attributes") as f:
        p = skeleton(f)
        p.create_dataset("logits", data=X)
        p.attrs["kind"] = "topk"
        p.attrs["n_vocab"] = np.int64(77)
    FOUND["wrong-attributes"] = ["n-vocab", "n_vocab = 77"]


def broken_options(f):
    """Everything optional is there and wrong; the rest must open."""
    p = skeleton(f)
    p.create_dataset("logits", data=X)
    p.create_dataset("top1", data=np.zeros(3, np.int32))
    p.create_dataset("lse", data=["a"] * ROWS, dtype=TEXT)
    f["tokens"].create_dataset("bytes", data=np.zeros(10, np.uint8))
    f["tokens"].create_dataset("offsets", data=np.arange(TOKENS + 1, dtype=np.uint64))  # beyond the bytes
    v = f.create_group("vocab")
    v.create_dataset("bytes", data=np.zeros(10, np.uint8))
    v.create_dataset("offsets", data=np.array([0, 5, 3, 10], np.uint64))  # backwards
    spans = np.array([(0, 5, "user", ""), (5, 99, "tool", "")],
                     dtype=[("start", "<i8"), ("end", "<i8"), ("kind", TEXT), ("label", TEXT)])
    f.create_dataset("spans", data=spans)
    f.create_dataset("run/packages", data=np.arange(3))
    f.create_group("run/launch_log")
    f.create_dataset("dense/bad/positions", data=np.array([5, 4]))
    f["dense/bad"].create_dataset("logits", data=X[:2])
    f.create_dataset("dense/good/positions", data=np.array([4, 5]))
    f["dense/good"].create_dataset("logits", data=X[:2].astype(np.float16))
    g = f.create_group("generations/0")
    g.attrs["prefix_tokens"] = np.int64(12)
    g.create_dataset("ids", data=np.array([1, 2, 3], np.int32))
    g.create_dataset("fed", data=np.array([0, 1], np.uint8))
    g.create_dataset("top_ids", data=np.zeros((2, 2), np.int32))
    f.create_group("generations/1").attrs["prefix_tokens"] = "twelve"
    g = f.create_group("generations/2")
    g.attrs["prefix_tokens"] = np.int64(41)
    g.create_dataset("ids", data=np.array([1], np.int32))


def everything(f, fixed):
    """All there is. `fixed`: fixed-length strings, odd integer widths, big-endian."""
    def put(attrs, key, value):
        attrs[key] = np.bytes_(value) if fixed else value

    put(f.attrs, "format", "flipscope-trace")
    f.attrs["format_version"] = np.array([1], ">i2")[0] if fixed else np.int64(1)
    put(f.attrs, "created", "2026-11-30T12:00:00+00:00")
    put(f.attrs, "producer", "make_traces 1")
    put(f.attrs, "run_name", "all of it")
    t = f.create_group("tokens")
    t.create_dataset("ids", data=IDS.astype(">u2" if fixed else "<i4"))
    put_text(t, [PIECES[i] for i in IDS])
    put(t.attrs, "tokenizer", "toy")
    put(t.attrs, "chat_template_sha256", "c0ffee")
    put(t.attrs, "prompt_sha256", "beef")
    v = f.create_group("vocab")
    put_text(v, PIECES)
    v.create_dataset("special", data=np.array([0, 63], ">i8" if fixed else "<i4"))
    kind, label = ("S12", "S40") if fixed else (TEXT, TEXT)
    spans = [(10, 30, "user", ""), (0, 10, "system", "Übung"), (12, 20, "tool_call", '{"name":"f"}')]
    if fixed:
        spans = [(s, e, k, l.encode()) for s, e, k, l in spans]
    number = ">i4" if fixed else "<i8"
    f.create_dataset("spans", data=np.array(spans, dtype=[("start", number), ("end", number), ("kind", kind),
                                                           ("label", label)]))

    def probes(g, positions, x):
        g.create_dataset("positions", data=np.asarray(positions, ">i4" if fixed else "<i8"))
        put_raw(g, "logits", to_bf16(x), bf16_type(), (1, VOCAB))
        g.create_dataset("top1", data=x.argmax(1).astype(">i2" if fixed else "<i4"))
        g.create_dataset("lse", data=np.linspace(20, 21, len(x)).astype(">f4" if fixed else "<f8"))
        put(g.attrs, "kind", "full")
        g.attrs["n_vocab"] = np.int64(VOCAB)
        put(g.attrs, "scoring", "decode")
        put(g.attrs, "values", "processed")
        g.attrs["temperature"] = np.float32(0.5)

    probes(f.create_group("probes"), POSITIONS, X)
    probes(f.create_group("dense/call-0"), [12, 13], X[:2])
    d = f.create_group("dense/call-1")
    d.create_dataset("positions", data=np.array([14]))
    d.create_dataset("top_ids", data=np.array([[5, 9]], np.int32))
    d.create_dataset("top_logprobs", data=np.array([[-0.5, -1.5]], np.float32))
    r = f.create_group("run")
    put(r.attrs, "engine", "toy")
    r.attrs["seed"] = np.uint64(18446744073709551615)
    r.attrs["batch"] = np.int8(-3)
    r.attrs["cuda_graphs"] = True
    r.attrs["dropout"] = 0.1
    r.attrs["scale"] = np.float32(0.1)
    r.attrs["layers"] = np.array([1, 2, 3])
    r.attrs["words"] = np.array(["a", "b"], dtype=TEXT) if not fixed else np.array([b"a", b"b"])
    r.attrs["nothing"] = h5py.Empty("f4")
    put(r.attrs, "empty", "") if not fixed else None
    r.attrs["latin"] = np.bytes_(b"caf\xe9")
    r.create_dataset("packages", data=np.array([b"a==1", b"b==2"]) if fixed else ["a==1", "b==2"],
                     dtype=None if fixed else TEXT)
    if fixed:
        r.create_dataset("launch_log", data=np.array([b"line 1", b"line 2"]))
    else:
        r.create_dataset("launch_log", data="line 1\nline 2", dtype=TEXT)
    for name, prefix in (("10", 20), ("9", 20), ("0", 40)):
        g = f.create_group("generations/" + name)
        g.attrs["prefix_tokens"] = np.int32(prefix)
        put(g.attrs, "sampler", '{"temperature":0}')
        put(g.attrs, "finish_reason", "stop")
        put(g.attrs, "parsed_tool_calls", "[]")
        ids = np.array([4, 5, 6], ">i8" if fixed else "<i4")
        g.create_dataset("ids", data=ids)
        put_text(g, [PIECES[i] for i in ids])
        g.create_dataset("fed", data=np.array([0, 1, 0], bool if fixed else np.uint8))
        g.create_dataset("top_ids", data=np.array([[4, -1], [5, 8], [6, 7]], np.int16 if fixed else np.int32))
        g.create_dataset("top_logprobs", data=np.array([[-1, 0], [-2, -3], [-0.25, -4]], np.float16 if fixed else np.float32))


def topk():
    with new("topk") as f:
        p = skeleton(f)
        p.attrs["kind"] = "topk"
        p.attrs["n_vocab"] = np.int64(VOCAB)
        ids = np.array([[1, 2, 3], [4, 5, -1], [9, 8, 7], [0, 63, 1], [5, 6, 7]], np.int64)
        logprobs = np.array([[-3, -1, -2], [-1, -2, 0], [-1, -1, -2], [-1, -2, -3], [-1, -2, -3]], ">f4")
        p.create_dataset("top_ids", data=ids)
        p.create_dataset("top_logprobs", data=logprobs)
        p.create_dataset("lse", data=np.arange(5.0))
    with new("topk-bad-id") as f:
        p = skeleton(f)
        p.attrs["n_vocab"] = np.int64(VOCAB)
        p.create_dataset("top_ids", data=np.full((ROWS, 2), VOCAB, np.int32))
        p.create_dataset("top_logprobs", data=np.zeros((ROWS, 2), np.float32))


def killed(name, swmr):
    """A writer that dies with the file open."""
    path = os.path.join(OUT, name + ".h5")
    if os.path.exists(path):
        os.remove(path)
    if os.fork() == 0:
        f = h5py.File(path, "w", libver=("v110", "v110"))
        p = skeleton(f, positions=None)
        p.create_dataset("logits", data=X[:3].astype(np.float16), maxshape=(None, VOCAB), chunks=(1, VOCAB))
        p.create_dataset("positions", data=np.array(POSITIONS[:3]), maxshape=(None,), chunks=(16,))
        if swmr:
            f.swmr_mode = True
        f.flush()
        os._exit(0)
    os.wait()


def crashing():
    """A trace on which HDF5 1.10.8 crashes: one of its attributes is a truth value, an enumeration over bytes, and the
    bytes are made 256 MiB long each, which it copies from the header without a look at where that ends."""
    with new("crashing") as f:
        skeleton(f).create_dataset("logits", data=X.astype(np.float16))
        f.attrs["checked"] = np.bool_(True)
    path = os.path.join(OUT, "crashing.h5")
    content = bytearray(open(path, "rb").read())
    size_at = content.index(b"FALSE\0") - 8  # of the base type: class and flags, size, offset and precision
    assert struct.unpack_from("<I", content, size_at) == (1,)
    struct.pack_into("<I", content, size_at, 1 << 28)
    open(path, "wb").write(content)


def small_for_mutants():
    """Two traces of a few kilobytes with a bit of everything, in the old and the new file layout."""
    for name, libver in (("mutant-old", ("earliest", "v110")), ("mutant-new", ("v110", "v110"))):
        with new(name, libver=libver) as f:
            p = skeleton(f)
            p.create_dataset("logits", data=X.astype(np.float16), chunks=(2, VOCAB), compression="gzip", shuffle=True)
            p.attrs["kind"] = "full"
            put_text(f["tokens"], [PIECES[i] for i in IDS])
            spans = np.array([(0, 5, "user", "x")],
                             dtype=[("start", "<i8"), ("end", "<i8"), ("kind", TEXT), ("label", TEXT)])
            f.create_dataset("spans", data=spans)
            f.create_dataset("dense/a/positions", data=np.array([4, 5]), chunks=(1,), maxshape=(None,))
            f["dense/a"].create_dataset("logits", data=X[:2].astype(np.float16), chunks=(1, 16))
            f.create_dataset("dense/b/positions", data=np.array([4]))
            f["dense/b"].create_dataset("top_ids", data=np.array([[4, 5]]))
            f["dense/b"].create_dataset("top_logprobs", data=np.array([[-1, -2]], np.float32))
            r = f.create_group("run")
            r.attrs["engine"] = "toy"
            r.attrs["batch"] = 4
            r.create_dataset("packages", data=["a==1", "b==2"], dtype=TEXT)
            r.create_dataset("launch_log", data="started", dtype=TEXT)
            g = f.create_group("generations/0")
            g.attrs["prefix_tokens"] = np.int64(12)
            g.create_dataset("ids", data=np.array([1, 2, 3], np.int32))
            g.create_dataset("top_ids", data=np.zeros((3, 2), np.int32))
            g.create_dataset("top_logprobs", data=np.zeros((3, 2), np.float32))


def short_inflate():
    """A compressed chunk that unpacks to less than a chunk: the rest must not be made up."""
    import zlib
    with new("short-chunk") as f:
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_chunk((1, VOCAB))
        plist.set_deflate(1)
        d = h5d.create(skeleton(f).id, b"logits", h5t.IEEE_F16LE, h5s.create_simple((ROWS, VOCAB)), plist)
        for r in range(ROWS):
            row = X[r].astype(np.float16).tobytes()
            d.write_direct_chunk((r, 0), zlib.compress(row if r != 2 else row[:16]))


def newest_layout():
    """What h5py over HDF5 2.0 makes of libver="latest": HDF5 1.10 cannot read the layout of its compressed datasets."""
    with new("layout-5", libver="latest") as f:
        skeleton(f).create_dataset("logits", data=X.astype(np.float16), chunks=(1, VOCAB), compression="gzip")


def main():
    os.makedirs(OUT, exist_ok=True)
    encodings()
    refused()
    partial()
    topk()
    short_inflate()
    newest_layout()
    with new("broken-options") as f:
        broken_options(f)
    for name, fixed in (("everything", False), ("everything-fixed", True)):
        with new(name) as f:
            everything(f, fixed)
    killed("killed-swmr", True)
    killed("killed-latest", False)
    crashing()
    small_for_mutants()
    json.dump({
        "ids": IDS.tolist(), "positions": POSITIONS,
        "rows": {k: [[plain(x) for x in row] for row in v] for k, v in VALUES.items()},
        "pieces": [p.hex() for p in PIECES],
        "opened": OPENED, "refused": REFUSED, "found": FOUND,
    }, open(os.path.join(OUT, "expected.json"), "w"), separators=(",", ":"), ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
