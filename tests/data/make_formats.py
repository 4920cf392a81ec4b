#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes tests/data/formats: small files of every foreign kind, and expected.json with what is in them.

    make_formats.py

Written from the formats' descriptions with numpy and the standard library alone (and the program zstd); the values that
tests compare with are computed here, in numpy.
"""
import gzip
import io
import json
import pathlib
import struct
import subprocess
import zipfile

import numpy as np

folder = pathlib.Path(__file__).parent / "formats"
folder.mkdir(exist_ok=True)
expected = {}
rng = np.random.default_rng(7)


# --- llama.cpp base files -------------------------------------------------------------------------------------------

def encode(logits, floor):
    """Rows of codes as llama-perplexity writes them, in float32; `floor` = 16 (llama.cpp) or 24 (ik_llama.cpp)."""
    out = b""
    for l in np.asarray(logits, np.float32):
        top = l.max()
        low = np.maximum(l.min(), np.float32(top - np.float32(floor)))
        lse = np.float32(np.log(np.exp((l - top).astype(np.float32)).astype(np.float64).sum()))
        scale = np.float32((top - low) / np.float32(65535))
        minimum = np.float32(np.float32(low - top) - lse)
        q = np.zeros(len(l), np.uint16)
        if scale > 0:
            inverse = np.float32(1) / scale
            q = np.where(l > low, np.rint(inverse * (l - low)), 0).astype(np.uint16)
        out += struct.pack("<ff", scale, minimum) + q.astype("<u2").tobytes() + (b"\0\0" if len(l) % 2 else b"")
    return out


def decode(rows, n_vocab):
    width = 2 * (2 * ((n_vocab + 1) // 2) + 4)
    out = []
    for i in range(len(rows) // width):
        row = rows[i * width:(i + 1) * width]
        scale, minimum = (np.float32(x) for x in struct.unpack("<ff", row[:8]))
        q = np.frombuffer(row[8:8 + 2 * n_vocab], "<u2").astype(np.float32)
        out.append((scale * q).astype(np.float32) + minimum)
    return np.array(out, np.float32)


def base_file(n_ctx, n_vocab, tokens, logits, floor):
    head = b"_logits_" + struct.pack("<iii", n_ctx, n_vocab, len(tokens) // n_ctx) + np.asarray(tokens, "<i4").tobytes()
    rows = encode(logits, floor)
    return head + rows, decode(rows, n_vocab)


def uncertain(values):
    v = np.asarray(values, np.float64)
    mean = v.mean()
    variance = (v * v).mean() - mean * mean
    return [mean, float(np.sqrt(variance / (len(v) - 1))) if variance > 0 and len(v) > 10 else 0.0]


def tool_statistics(base, logits, targets, normalised=False):
    """What --kl-divergence prints, from its description; rows in float32, sums in double. Rows of another base file are
    log-probabilities as they are (`normalised`)."""
    nll, nll_base, kld, dp, same = [], [], [], [], 0
    for b, z, t in zip(base, np.asarray(logits, np.float32), targets):
        top = z.max()
        log_sum = np.float32(np.log(np.exp(z - top).astype(np.float64).sum()))
        lse = np.float32(0) if normalised else np.float32(top + log_sum)
        nll.append(np.float32(lse - z[t]))
        nll_base.append(-b[t])
        keep = b > -16
        kld.append((np.exp(b[keep]) * ((b[keep] - z[keep]) + lse)).astype(np.float64).sum())
        dp.append(np.exp(-nll[-1]) - np.exp(-nll_base[-1]))
        same += int(b.argmax() == z.argmax())
    n = len(nll)
    q, b = uncertain(nll), uncertain(nll_base)
    covariance = (np.mean(np.float64(nll) * np.float64(nll_base)) - q[0] * b[0]) / (n - 1)
    ln_error = float(np.sqrt(q[1] ** 2 + b[1] ** 2 - 2 * covariance))
    share = same / n
    rms2 = uncertain(np.float64(dp) ** 2)
    shares = [100, 99.9, 99, 95, 90, 75, 50, 25, 10, 5, 1, .1, 0]
    return {"n": n, "ppl_q": [float(np.exp(q[0])), float(np.exp(q[0]) * q[1])],
            "ppl_base": [float(np.exp(b[0])), float(np.exp(b[0]) * b[1])],
            "correlation": float(covariance / (q[1] * b[1])), "ln_ratio": [q[0] - b[0], ln_error],
            "ratio": [float(np.exp(q[0] - b[0])), float(np.exp(q[0] - b[0]) * ln_error)],
            "difference": float(np.exp(q[0]) - np.exp(b[0])), "kld_mean": uncertain(kld),
            "dp_mean": uncertain(dp), "dp_rms": [float(np.sqrt(rms2[0])), float(.5 / np.sqrt(rms2[0]) * rms2[1])],
            "same_top": [share, float(np.sqrt(share * (1 - share) / (n - 1)))],
            "kld": [float(x) for x in np.percentile(np.float64(kld), shares)],
            "dp": [float(x) for x in np.percentile(np.float64(dp), shares)]}


golden = [1, 2, 3, -20, .5]
for floor in (16, 24):
    content, rows = base_file(4, 5, [0, 1, 2, 3], [golden], floor)
    (folder / f"golden-{floor}.kld").write_bytes(content)
    expected[f"golden-{floor}"] = {"hex": content.hex(), "rows": rows.astype(float).tolist()}

n_ctx, n_vocab, n_chunk = 64, 101, 4  # an odd vocabulary: a pad of two bytes behind each row
first, per_chunk = n_ctx // 2, n_ctx - 1 - n_ctx // 2
tokens = rng.integers(0, n_vocab, n_ctx * n_chunk)
logits = (rng.normal(0, 4, (n_chunk * per_chunk, n_vocab))).astype(np.float32)
other = (logits + rng.normal(0, .4, logits.shape)).astype(np.float32)
positions = [c * n_ctx + first + r for c in range(n_chunk) for r in range(per_chunk)]
targets = [tokens[p + 1] for p in positions]
base16, rows16 = base_file(n_ctx, n_vocab, tokens, logits, 16)
base24, rows24 = base_file(n_ctx, n_vocab, tokens, logits, 24)
run16, run_rows16 = base_file(n_ctx, n_vocab, tokens, other, 16)
(folder / "base.kld").write_bytes(base16)
(folder / "base-24.kld").write_bytes(base24)
(folder / "run.kld").write_bytes(run16)
(folder / "base.kld.gz").write_bytes(gzip.compress(base16[:9000], 9, mtime=0) + gzip.compress(base16[9000:], 9, mtime=0))
(folder / "base.kld.zst").write_bytes(b"".join(
    subprocess.run(["zstd", "-19", "-q", "-c"], input=part, capture_output=True, check=True).stdout
    for part in (base16[:9000], base16[9000:])))
other.tofile(folder / "run.f32")  # the run's logits as they were: the formulas without the codec
cut = 20 + 4 * len(tokens) + (2 * per_chunk + 10) * 2 * (2 * ((n_vocab + 1) // 2) + 4) + 77
(folder / "base-cut.kld").write_bytes(base16[:cut])
wrong = bytearray(base16)
wrong[12:16] = struct.pack("<i", 107)
(folder / "base-wrong-vocab.kld").write_bytes(wrong)
spoiled = logits.copy()
spoiled[5, 3] = np.nan
(folder / "base-nan.kld").write_bytes(base_file(n_ctx, n_vocab, tokens, spoiled, 16)[0])
expected["base"] = {"n_ctx": n_ctx, "n_vocab": n_vocab, "n_chunk": n_chunk, "tokens": tokens.tolist(),
                    "positions": positions, "rows": rows16[[0, 31, 123]].astype(float).tolist(), "cut_rows": 2 * per_chunk + 10,
                    "rows-24": rows24[[0, 31, 123]].astype(float).tolist(),
                    "exact": tool_statistics(rows16, other, targets),
                    "codec": tool_statistics(rows16, run_rows16, targets, True)}

# --- arrays ---------------------------------------------------------------------------------------------------------

table = np.linspace(-9, 9, 5 * 7).reshape(5, 7)
table[2, 3] = 12.25
table = table.astype(np.float16).astype(np.float64)  # the same numbers in every type
expected["table"] = table.tolist()
bf16 = (table.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
expected["table-bf16"] = (bf16.astype(np.uint32) << 16).view(np.float32).astype(float).tolist()


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def put(name, array):
    (folder / name).write_bytes(npy(array))


for name, type_ in [("f16", "<f2"), ("f32", "<f4"), ("f64", "<f8"), ("f16-big", ">f2"), ("f32-big", ">f4"), ("f64-big", ">f8")]:
    put(f"{name}.npy", table.astype(type_))
put("fortran.npy", np.asfortranarray(table.astype("<f4")))
put("fortran-big.npy", np.asfortranarray(table.astype(">f8")))
put("columns-first.npy", np.ascontiguousarray(table.astype("<f4").T))
put("batch.npy", table.astype("<f4")[None])
put("two-batches.npy", np.concatenate([table, table + 1]).astype("<f4").reshape(2, 5, 7))
put("v2.npy", bf16.view("V2"))
put("u2.npy", bf16)
put("integers.npy", np.arange(12).reshape(3, 4))
put("probabilities.npy", np.exp(table) / np.exp(table).sum(1, keepdims=True))
put("log-probabilities.npy", table - np.log(np.exp(table).sum(1, keepdims=True)))
put("ids.npy", np.arange(10, 170, dtype=np.int64))
put("positions.npy", np.array([31, 63, 95, 127, 158], np.int32))
put("empty.npy", np.zeros((0, 7), np.float32))
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (5, 7), }"
for version, size in ((2, "<I"), (3, "<I")):
    text = header + b" " * (64 - (12 + len(header) + 1) % 64) + b"\n"
    (folder / f"version-{version}.npy").write_bytes(
        b"\x93NUMPY" + bytes([version, 0]) + struct.pack(size, len(text)) + text + table.astype("<f4").tobytes())
(folder / "objects.npy").write_bytes(npy(np.zeros(1)).replace(b"'<f8'", b"'|O' "))
(folder / "short.npy").write_bytes(npy(table)[:-8])
(folder / "huge.npy").write_bytes(npy(table).replace(b"(5, 7), ", b"(9223372036854775807, 9223372036854775807), ")[:128])
(folder / "ids.txt").write_text(" ".join(str(i) for i in range(10, 170)) + "\n")
(folder / "ids.json").write_text(json.dumps(list(range(10, 170))))

ids, places = np.arange(10, 170, dtype=np.int32), np.array([31, 63, 95, 127, 158])


def archive(name, members, method, force_zip64=False):
    with zipfile.ZipFile(folder / name, "w", method) as out:
        for member, content in members.items():
            info = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))
            info.compress_type = method
            with out.open(info, "w", force_zip64=force_zip64) as file:
                file.write(content)


members = {"logits.npy": npy(table.astype("<f2")), "input_ids.npy": npy(ids), "positions.npy": npy(places)}
archive("stored.npz", members, zipfile.ZIP_STORED)
archive("packed.npz", members, zipfile.ZIP_DEFLATED)
archive("zip64.npz", members, zipfile.ZIP_STORED, force_zip64=True)
archive("several.npz", {"a.npy": npy(table), "b.npy": npy(table + 1)}, zipfile.ZIP_DEFLATED)
archive("no-arrays.npz", {"readme.txt": b"nothing"}, zipfile.ZIP_STORED)


def safetensors(name, tensors, metadata=None):
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for tensor, (type_, array) in tensors.items():
        content = array.tobytes()
        header[tensor] = {"dtype": type_, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / name).write_bytes(struct.pack("<Q", len(text)) + text + data)


safetensors("bf16.safetensors", {"logits": ("BF16", bf16), "input_ids": ("I64", ids.astype("<i8")), "positions": ("I64", places.astype("<i8"))},
            {"format": "pt", "engine": "transformers"})
safetensors("f16.safetensors", {"logits": ("F16", table.astype("<f2"))})
safetensors("f32.safetensors", {"logits": ("F32", table.astype("<f4"))})
safetensors("rows.safetensors", {f"logits.{p}": ("F32", row.astype("<f4")) for p, row in zip(places, table)} | {"ids": ("I32", ids)})
safetensors("wrong-size.safetensors", {"logits": ("F32", table.astype("<f2"))})
short = (folder / "f32.safetensors").read_bytes()[:-4]
(folder / "short.safetensors").write_bytes(short)
(folder / "deep.safetensors").write_bytes(struct.pack("<Q", 20001) + b"{" + b'"a":' .ljust(1) + b"[" * 19996 + b"}")

(folder / "expected.json").write_text(json.dumps(expected) + "\n")
print(sum(f.stat().st_size for f in folder.iterdir()), "bytes")
