# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""llama.cpp in process: float32 rows straight from the context, at the probe positions only."""

from __future__ import annotations

import ctypes as c
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import gguf_header
from ..model import CaptureError, Lists, RowFormat, Rows, Vocab
from ..settings import version_of
from ..templates import render_template
from . import Engine, Option
from .llama_library import FLASH, KV_TYPES, LOG_CALLBACK, Library


class LlamaCpp(Engine):
    name = "llamacpp"
    options = (
        Option("model", str, None, "weights, a GGUF file", required=True),
        Option("kv", str, "f16", "type of the KV cache, or two: keys,values"),
        Option("flash-attn", str, "auto", "flash attention", tuple(FLASH)),
        Option("batch", int, 512, "tokens of a prefill batch (n_batch and n_ubatch)"),
        Option("threads", int, os.cpu_count() or 1, "threads"),
        Option("gpu-layers", int, 0, "layers on the GPU"),
        Option("library", str, "", "a llama.cpp library in place of the one of the installed package"),
        Option("chat-template", str, "", "a file with a Jinja template in place of the model's"),
    )

    def open(self) -> None:
        if not Path(self.opt["model"]).is_file():
            raise CaptureError(f"There is no model {self.opt['model']}.")
        kinds = str(self.opt["kv"]).split(",")
        if len(kinds) > 2 or any(k not in KV_TYPES for k in kinds):
            raise CaptureError(f"--kv {self.opt['kv']}: {', '.join(KV_TYPES)} are the types of a KV cache.")
        self.kv = (kinds[0], kinds[-1])
        self.log: list[str] = []
        self.lib = Library(self.opt["library"])

        def keep(level: int, text: bytes | None, user: object) -> None:
            if level != 1:  # debugging: thousands of lines
                self.log.append((text or b"").decode("utf-8", "replace"))

        self.log_callback = LOG_CALLBACK(keep)  # kept for as long as the library may call it
        self.lib.log_set(self.log_callback, None)
        self.lib.backend_init()
        params = self.lib.model_default_params()
        params.n_gpu_layers = self.opt["gpu-layers"]
        self.context: int | None = None
        self.model = self.lib.model_load_from_file(os.fsencode(self.opt["model"]), params)
        if not self.model:
            raise CaptureError(f"llama.cpp cannot load {self.opt['model']}: {self.last_words()}")
        self.words = self.lib.model_get_vocab(self.model)
        self.n_vocab = self.lib.vocab_n_tokens(self.words)

    def last_words(self) -> str:
        lines = [line for line in "".join(self.log).splitlines() if re.search("error|fail|require|unsupported", line, re.IGNORECASE)]
        return lines[-1].strip() if lines else "it gives no reason."

    def prepare(self, n_tokens: int, room: int) -> None:
        params = self.lib.context_default_params()
        params.n_ctx = (n_tokens + room + 255) // 256 * 256
        params.n_batch = params.n_ubatch = self.opt["batch"]
        params.n_threads = params.n_threads_batch = self.opt["threads"]
        params.type_k, params.type_v = (KV_TYPES[k] for k in self.kv)
        params.flash_attn_type = FLASH[self.opt["flash-attn"]]
        if hasattr(params, "n_outputs_max_per_seq"):
            params.n_outputs_max_per_seq = 0  # the default of 1 is meant for generation
        self.context = self.lib.init_from_model(self.model, params)
        if not self.context:
            raise CaptureError(f"llama.cpp makes no context of {params.n_ctx} tokens with a KV cache of "
                               f"{'/'.join(self.kv)} and flash attention {self.opt['flash-attn']}: {self.last_words()}")
        self.batch = self.lib.batch_init(self.opt["batch"], 0, 1)
        self.used = 0

    def format(self) -> RowFormat:
        return RowFormat("full", self.n_vocab, "float32")

    def vocab(self) -> Vocab:
        buffer = c.create_string_buffer(4096)
        pieces, special = [], []
        for i in range(self.n_vocab):
            n = self.lib.token_to_piece(self.words, i, buffer, len(buffer), 0, True)
            pieces.append(buffer.raw[: max(0, n)])
            if self.lib.vocab_is_control(self.words, i):
                special.append(i)
        return Vocab.of(pieces, special)

    def piece(self, token: int) -> str:
        buffer = c.create_string_buffer(512)
        n = self.lib.token_to_piece(self.words, token, buffer, len(buffer), 0, True) if token >= 0 else 0
        return buffer.raw[: max(0, n)].decode("utf-8", "replace")

    def tokenize(self, text: str, special: bool = True) -> list[int]:
        raw = text.encode()
        room = len(raw) + 16
        ids = (c.c_int32 * room)()
        n = self.lib.tokenize(self.words, raw, len(raw), ids, room, False, special)
        if n < 0:
            raise CaptureError("llama.cpp cannot tokenize the text.")
        return list(ids[:n])

    def template(self) -> str:
        if self.opt["chat-template"]:
            return Path(self.opt["chat-template"]).read_text(encoding="utf-8")
        return (self.lib.model_chat_template(self.model, None) or b"").decode("utf-8", "replace")

    def render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], generate: bool) -> list[int]:
        names = {"bos_token": self.piece(self.lib.vocab_bos(self.words)), "eos_token": self.piece(self.lib.vocab_eos(self.words))}
        return self.tokenize(render_template(self.template(), messages, tools, generate, names))

    def decode(self, ids: Sequence[int], start: int, wanted: Sequence[int]) -> None:
        """One batch of tokens at positions ``start`` on; ``wanted`` are the indices whose rows are to be kept."""
        batch, flags = self.batch, set(wanted)
        batch.n_tokens = len(ids)
        for j, token in enumerate(ids):
            batch.token[j], batch.pos[j], batch.n_seq_id[j] = int(token), start + j, 1
            batch.seq_id[j][0] = 0
            batch.logits[j] = j in flags
        code = self.lib.decode(self.context, batch)
        if code != 0:
            raise CaptureError(f"llama.cpp fails at token {start} (code {code}): {self.last_words()}")
        self.used = start + len(ids)

    def row(self, index: int) -> np.ndarray:
        pointer = self.lib.get_logits_ith(self.context, index)
        if not pointer:
            raise CaptureError(f"llama.cpp kept no logits of token {index} of its batch.")
        return np.ctypeslib.as_array(pointer, (self.n_vocab,)).copy()

    def probe(self, ids: np.ndarray, positions: np.ndarray, skip: int) -> Iterator[Rows | Lists]:
        if len(positions) and (int(ids.max()) >= self.n_vocab):
            raise CaptureError(f"Token id {int(ids.max())} is not in the model's vocabulary of {self.n_vocab}.")
        self.lib.memory_clear(self.lib.get_memory(self.context), True)
        size = self.opt["batch"]
        for start in range(0, len(ids), size):
            inside = positions[(positions >= start) & (positions < start + size)]
            # Rows that the file has already are asked for all the same: which rows are kept may change the kernels used.
            self.decode(ids[start : start + size], start, [int(p) - start for p in inside])
            new = inside[inside > skip]
            for block in (new[i : i + 16] for i in range(0, len(new), 16)):
                yield Rows(block, np.stack([self.row(int(p) - start) for p in block]))

    def begin(self, ids: np.ndarray) -> np.ndarray:
        """Goes back to a prefix of what is in the cache, and decodes its last token alone."""
        keep = len(ids) - 1
        memory = self.lib.get_memory(self.context)
        if keep > self.used or not self.lib.memory_seq_rm(memory, 0, keep, -1):
            self.lib.memory_clear(memory, True)
            for start in range(0, keep, self.opt["batch"]):
                self.decode(ids[start : min(keep, start + self.opt["batch"])], start, [])
        self.decode(ids[-1:], keep, [0])
        return self.row(0)

    def feed(self, ids: Sequence[int]) -> np.ndarray:
        size = self.opt["batch"]
        for start in range(0, len(ids), size):
            part = ids[start : start + size]
            self.decode(part, self.used, [len(part) - 1])
        return self.row(len(part) - 1)

    def is_end(self, token: int) -> bool:
        return bool(self.lib.vocab_is_eog(self.words, token))

    def meta(self, key: str) -> str:
        buffer = c.create_string_buffer(512)
        n = self.lib.model_meta_val_str(self.model, key.encode(), buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace") if n >= 0 else ""

    def settings(self) -> dict[str, str]:
        log = self.launch_log()
        types = re.findall(r"- type\s+(\S+):\s+(\d+) tensors", log)
        quant = re.search(r"file type\s+=\s*(.+)", log)
        flash = re.findall(r"(?:flash_attn\s*=\s*|Flash Attention was auto, set to |resolve_fused_ops: Flash Attention )(\w+)", log)
        asked = {"on": "flash_attn", "off": "eager", "auto": "auto"}[self.opt["flash-attn"]]
        last = flash[-1] if flash else ""
        active = {"enabled": "flash_attn", "1": "flash_attn", "disabled": "eager", "0": "eager"}.get(last, "")
        return {
            "engine": "llama.cpp", "engine_version": f"{self.lib.package} {version_of(self.lib.package)}".strip(),
            "model": self.meta("general.name") or Path(self.opt["model"]).stem, "model_file": Path(self.opt["model"]).name,
            "weights": (quant[1].strip() if quant else "") + " (" + ", ".join(f"{n} {t}" for t, n in types) + ")",
            "weights_by_module": gguf_header.read(Path(self.opt["model"])).text(), "activations": "float32", "kv_cache_dtype": self.kv[0] if self.kv[0] == self.kv[1] else "/".join(self.kv),
            "attention_backend": active, "attention_backend_requested": asked,
            "gemm_kernels": (self.lib.print_system_info() or b"").decode(), "threads": str(self.opt["threads"]),
            "batch": "1", "prefill_chunk": str(self.opt["batch"]), "tensor_parallel": "1", "prefix_caching": "off",
            "speculative": "off", "cuda_graphs": "off" if not self.opt["gpu-layers"] else "", "grammar": "none",
            "context_length": str(self.lib.model_n_ctx_train(self.model)),
        }

    def launch_log(self) -> str:
        return "".join(self.log)

    def close(self) -> None:
        if getattr(self, "context", None):
            self.lib.batch_free(self.batch)
            self.lib.free(self.context)
        if getattr(self, "model", None):
            self.lib.model_free(self.model)
        self.context = self.model = None


ENGINE = LlamaCpp
