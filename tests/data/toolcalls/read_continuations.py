# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An independent reading of real continuations: which calls they hold, what became of each, and where they part.

It shares nothing with the program: h5py, the json module and a regular expression for strings. The traces write their
calls in the Hermes form, at most one a continuation on the baseline's side.

    read_continuations.py [--history] BASE.h5 RUN.h5... > calls.json

samples-calls.json is that of resources/samples with --history, the others of the complete captures.
"""
import json
import pathlib
import re
import sys

import h5py
import numpy as np

OPEN, CLOSE = "<tool_call>", "</tool_call>"


def calls_of(text):
    """[(status, name, flat arguments, start, end)] of a text in which every byte is one character."""
    found, at = [], 0
    while (at := text.find(OPEN, at)) >= 0:
        start, body = at, text[at + len(OPEN):]
        stripped = body.lstrip()
        if not stripped.startswith("{"):
            at += len(OPEN)
            continue
        offset = at + len(OPEN) + len(body) - len(stripped)
        try:
            value, length = json.JSONDecoder().raw_decode(stripped)
            rest = stripped[length:].lstrip()
            closed = rest.startswith(CLOSE)
            end = offset + length + (len(stripped) - length - len(rest) + len(CLOSE) if closed else 0)
            status = "good" if closed else "malformed" if CLOSE in rest else "unclosed"
            if status == "malformed":
                end = text.index(CLOSE, offset + length) + len(CLOSE)
            found.append((status, value["name"], flat(value["arguments"]), start, end))
        except json.JSONDecodeError:
            closing = text.find(CLOSE, offset)
            end = closing + len(CLOSE) if closing >= 0 else len(text)
            found.append(("malformed" if closing >= 0 else "unclosed", None, None, start, end))
        at = end
    return found


def flat(value, path="$"):
    if isinstance(value, dict) and value:
        return {p: v for k, inner in value.items() for p, v in flat(inner, f"{path}.{k}").items()}
    if isinstance(value, list) and value:
        return {p: v for i, inner in enumerate(value) for p, v in flat(inner, f"{path}[{i}]").items()}
    return {path: value} if path != "$" else {}


def outcomes(base, run):
    """One word for each call of the baseline and each extra one, with path and values where an argument differs."""
    rows = []
    for i in range(max(len(base), len(run))):
        if i >= len(run):
            rows.append({"outcome": "missing"})
        elif i >= len(base):
            again = i > 0 and run[i][:3] == run[i - 1][:3]
            rows.append({"outcome": "repeated" if again else "extra"})
        else:
            rows.append(outcome(base[i], run[i]))
    return rows


def outcome(base, run):
    if run[0] != "good":
        return {"outcome": "same" if base[:3] == run[:3] and base[4] - base[3] == run[4] - run[3] else run[0]}
    if base[1] is None:
        return {"outcome": "argument differs"}  # the baseline's own call broke off
    if base[1] != run[1]:
        return {"outcome": "other tool"}
    if base[2] and not run[2]:
        return {"outcome": "arguments empty"}
    for path in [*base[2], *run[2]]:
        if base[2].get(path) != run[2].get(path):
            return {"outcome": "argument differs", "path": path, "baseline_value": base[2].get(path),
                    "value": run[2].get(path)}
    return {"outcome": "same"}


def classes(text, calls):
    """One letter for each byte: p prose, d delimiter, n name, k key, v value (strings only)."""
    letters = ["p"] * len(text)
    for _, _, _, start, end in calls:
        letters[start:end] = "d" * (end - start)
        depth_of_arguments = text.find('"arguments"', start, end)
        for match in re.finditer(r'"((?:[^"\\]|\\.)*)("|$)', text[:end]):
            if match.start() < start:
                continue
            inside = range(match.start(1), match.end(1))
            is_key = text[match.end():end].lstrip().startswith(":")
            before = text[start:match.start()].rstrip()
            if is_key:
                letter = "k" if depth_of_arguments >= 0 and match.start() > depth_of_arguments else "d"
            else:
                letter = "n" if before.endswith('"name":') else "v"
            for i in inside:
                letters[i] = letter
    return letters


WORD = {"p": "prose", "d": "delimiter", "n": "name", "k": "key", "v": "value"}


def inside(letters, begin, end):
    for letter in letters[begin:end]:
        if letter in "nkv":
            return WORD[letter]
    return "delimiter" if "d" in letters[begin:end] else "prose"


def vocabulary(file):
    with h5py.File(file) as f:
        if "vocab" not in f:
            return None
        offsets, data = f["vocab/offsets"][:], bytes(f["vocab/bytes"][:])
        return [data[offsets[i]:offsets[i + 1]] for i in range(len(offsets) - 1)]


def read(file, words):
    """{(prefix, k): continuation}, k counting those of one prefix by number."""
    with h5py.File(file) as f:
        result, seen = {}, {}
        for name in sorted(f.get("generations", {}), key=int):
            g = f["generations"][name]
            prefix = int(g.attrs["prefix_tokens"])
            k = seen[prefix] = seen.get(prefix, -1) + 1
            top = {}
            if "top_ids" in g:
                top = {"ids": g["top_ids"][:], "logprobs": g["top_logprobs"][:]}
            ids = g["ids"][:].tolist()
            if "bytes" in g:
                data, offsets = bytes(g["bytes"][:]), g["offsets"][:].tolist()
            else:  # the samples leave the text to the baseline's vocabulary
                data = b"".join(words[i] for i in ids)
                offsets = np.cumsum([0, *(len(words[i]) for i in ids)]).tolist()
            result[prefix, k] = {"ids": ids, "text": data.decode("latin-1"), "offsets": offsets, "top": top}
        return result


def margin(top, step):
    if not top:
        return None
    two = sorted(top["logprobs"][step].astype(np.float64), reverse=True)[:2]
    return float(two[0] - two[1])


def divergence(prefix, base, run):
    step = next((i for i, (a, b) in enumerate(zip(base["ids"], run["ids"])) if a != b), None)
    if step is None:
        return None
    letters = classes(base["text"], calls_of(base["text"]))
    place = inside(letters, base["offsets"][step], base["offsets"][step + 1])
    if place == "prose":
        place = inside(classes(run["text"], calls_of(run["text"])), run["offsets"][step], run["offsets"][step + 1])
    return {"position": prefix + step, "baseline_id": base["ids"][step], "id": run["ids"][step],
            "baseline_margin": margin(base["top"], step), "margin": margin(run["top"], step), "inside": place}


options = [a for a in sys.argv[1:] if a.startswith("-")]
base_file, *run_files = (pathlib.Path(a) for a in sys.argv[1:] if not a.startswith("-"))
def rows_of(file):
    """{position: row}, of the even grid first."""
    with h5py.File(file) as f:
        groups = ["probes", *(f"dense/{name}" for name in f.get("dense", {}))]
        result = {}
        for group in groups:
            for position, row in zip(f[group]["positions"][:].tolist(), f[group]["logits"]):
                result.setdefault(position, row.astype(np.longdouble))
        return result


def history(base_file, run_file, words):
    """The calls that the spans name, teacher-forced: what the probes inside them predict, and whole calls."""
    with h5py.File(base_file) as f:
        ids = f["tokens/ids"][:].tolist()
        spans = [(int(s["start"]), int(s["end"])) for s in f["spans"][:] if s["kind"] == b"tool_call"]
    p, q = rows_of(base_file), rows_of(run_file)
    answer = {"classes": {}, "calls": []}
    for start, end in spans:
        pieces = [words[i].decode("latin-1") for i in ids[start:end]]
        text, borders = "".join(pieces), np.cumsum([0, *map(len, pieces)]).tolist()
        letters, tokens = classes(text, calls_of(text)), []
        for t in range(start - 1, end - 1):
            if t not in p or t not in q:
                continue
            place = inside(letters, borders[t + 1 - start], borders[t + 2 - start])
            count = answer["classes"].setdefault(place, [0, 0])
            count[0] += 1
            count[1] += int(p[t].argmax() != q[t].argmax())
            log = [float(r[ids[t + 1]] - r.max() - np.log(np.exp(r - r.max()).sum())) for r in (p[t], q[t])]
            tokens.append((t + 1, *log))
        if len(tokens) == end - start:
            answer["calls"].append({"start": start, "end": end, "baseline_logprob": sum(x[1] for x in tokens),
                                    "logprob": sum(x[2] for x in tokens),
                                    "baseline_weakest": min(tokens, key=lambda x: x[1])[0],
                                    "weakest": min(tokens, key=lambda x: x[2])[0],
                                    "largest_drop": min(tokens, key=lambda x: x[2] - x[1])[0]})
    return answer


words = vocabulary(base_file)
baseline = read(base_file, words)
answer = {"baseline": base_file.stem, "runs": {}, "history": {}}
for file in run_files:
    run, continuations = read(file, words), []
    for key in sorted(set(baseline) & set(run)):
        a, b = baseline[key], run[key]
        continuations.append({"prefix": key[0], "rows": outcomes(calls_of(a["text"]), calls_of(b["text"])),
                              "first_divergence": divergence(key[0], a, b)})
    answer["runs"][file.stem] = continuations
    if words and "--history" in options:
        answer["history"][file.stem] = history(base_file, file, words)
print(json.dumps(answer, indent=0, ensure_ascii=True))
