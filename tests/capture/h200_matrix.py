# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine `transformers` over everything that it can vary, on a GPU: h200_matrix.py OUT_FOLDER [MODEL_FOLDER]

Not part of ctest: it needs torch, transformers and, for what it is made for, a CUDA GPU. Without a MODEL_FOLDER a small Llama
is made from a configuration and taught the sample's transcript for a minute, so that its rows are as peaked as those of a real
one. Prints a table: rows that differ, flips, ties among them, mean KL(baseline || run) in nats. Some five minutes on an H200.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from contextlib import redirect_stderr
from pathlib import Path

import h5py
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "resources" / "capture"))

from flipscope_capture.cli import main as capture
from flipscope_capture.resume import read_bits

SAMPLE = HERE.parents[1] / "resources" / "samples" / "baseline.h5"
BASE = ["--attn", "sdpa:flash"]
#: Name: options. Those of the baseline come first and are overridden.
RUNS = {
    "flash": [], "flash-again": [], "chunk-1024": ["--chunk", "1024"], "efficient": ["--attn", "sdpa:efficient"],
    "cudnn": ["--attn", "sdpa:cudnn"], "math": ["--attn", "sdpa:math"], "eager": ["--attn", "eager"],
    "flex": ["--attn", "flex_attention"], "kv-int8": ["--kv", "int8"], "kv-int4": ["--kv", "int4"], "w-int8": ["--weights", "int8"],
    "w-fp8": ["--weights", "fp8"], "w-nvfp4": ["--weights", "nvfp4"],
}


def make_model(folder: Path, ids: np.ndarray, device: str, seconds: float) -> None:
    """A Llama of the size of SmolLM2-135M's body with fewer layers, taught the transcript until it is fairly sure of it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(20261130)
    small = device == "cpu"
    config = LlamaConfig(vocab_size=49152, hidden_size=128 if small else 576, intermediate_size=384 if small else 1536,
                         num_hidden_layers=2 if small else 12, num_attention_heads=4 if small else 9, num_key_value_heads=2 if small else 3,
                         max_position_embeddings=8192, tie_word_embeddings=True, rope_theta=100000.0)
    model = LlamaForCausalLM(config).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = torch.as_tensor(ids.astype(np.int64), device=device)
    width, began, loss = min(512, len(data) - 1), time.monotonic(), None
    generator = torch.Generator().manual_seed(1)
    while time.monotonic() - began < seconds:
        starts = torch.randint(0, len(data) - width, (2 if small else 16,), generator=generator)
        batch = torch.stack([data[s : s + width] for s in starts.tolist()])
        with torch.autocast(device, torch.bfloat16):
            loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < 0.8:
            break
    print(f"model: {sum(p.numel() for p in model.parameters()) / 1e6:.0f} M parameters, loss {loss.item():.2f} after "
          f"{time.monotonic() - began:.0f} s", flush=True)
    model.to(torch.bfloat16).save_pretrained(folder)


def compare(base: Path, run: Path) -> dict[str, float]:
    """Rows that differ in a bit, flips, flips where either side has a tie for the top, mean KL in nats; float64."""
    with h5py.File(base) as a, h5py.File(run) as b:
        p, q = a["probes/logits"], b["probes/logits"]
        n = len(p)
        different = int((read_bits(p, 0, n, "bfloat16") != read_bits(q, 0, n, "bfloat16")).any(1).sum())
        total, flips, ties = 0.0, 0, 0
        for i in range(n):
            x, y = (np.asarray(d[i], np.float64) for d in (p, q))
            lx, ly = (v - v.max() - np.log(np.exp(v - v.max()).sum()) for v in (x, y))
            total += float((np.exp(lx) * (lx - ly)).sum())
            if x.argmax() != y.argmax():
                flips += 1
                ties += int((x == x.max()).sum() > 1 or (y == y.max()).sum() > 1)
    return {"rows": n, "different": different, "flips": flips, "ties": ties, "kl": total / n}


def run_all(out: Path, model: Path, prompt: Path, device: str) -> dict[str, dict]:
    import torch

    found: dict[str, dict] = {}
    common = ["--model", str(model), "--prompt", str(prompt), "--dtype", "bfloat16", "--device", device, "--dense", "none"]
    for name, options in RUNS.items():
        began, said = time.monotonic(), io.StringIO()
        with redirect_stderr(said):
            code = capture(["run", "transformers", *common, *BASE, *options, "-o", str(out / f"{name}.h5"), "--name", name])
        took = time.monotonic() - began
        if code:
            found[name] = {"error": said.getvalue().strip().splitlines()[-1]}
        else:
            found[name] = compare(out / "flash.h5", out / f"{name}.h5") | {"seconds": round(took, 1)}
        print(f"{name:12} {json.dumps(found[name])}", flush=True)
    gpus = torch.cuda.device_count()
    for size in (s for s in (2, 4) if s <= gpus):
        name = f"tp-{size}"
        command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={size}", "--master-port=29555", "-m", "flipscope_capture",
                   "run", "transformers", *common, "--attn", "sdpa:math", "-o", str(out / f"{name}.h5"), "--name", name]
        environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "resources" / "capture")}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200, check=False)
        found[name] = ({"error": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no reason"} if done.returncode
                       else compare(out / "math.h5", out / f"{name}.h5"))
        print(f"{name:12} {json.dumps(found[name])} (against math)", flush=True)
    return found


def main() -> int:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    work = Path(os.environ.get("H200_WORK", "/tmp")) / "flipscope-h200"
    work.mkdir(parents=True, exist_ok=True)
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    with h5py.File(SAMPLE) as h:
        ids = h["tokens/ids"][:]
    if device == "cpu":
        ids = ids[:512]
    prompt = work / "ids.i32"
    ids.astype("<i4").tofile(prompt)
    model = Path(sys.argv[2]) if len(sys.argv) > 2 else work / "model"
    if len(sys.argv) <= 2 and not (model / "config.json").exists():
        make_model(model, ids, device, 60 if device == "cuda" else 10)
    found = run_all(work, model, prompt, device)
    with h5py.File(work / "flash.h5") as h:
        found["machine"] = {k: str(h["run"].attrs[k]) for k in ("gpu", "driver", "engine_version", "attention_backend") if k in h["run"].attrs}
    (out / "h200_matrix.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found["machine"]))
    good = not found["flash-again"].get("different", 1)
    print("the repeat is bit-identical" if good else "the repeat differs")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
