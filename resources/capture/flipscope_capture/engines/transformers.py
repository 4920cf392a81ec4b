# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transformers: any causal language model, in chunks over a cache, the head run on the probe rows alone."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..model import CaptureError, Lists, RowFormat, Rows
from ..settings import version_of
from . import Option, flag
from .hf_tokens import TokenizerEngine

#: What --attn takes: the implementations of Transformers, and SDPA with one kernel and no other.
KERNELS = {"sdpa:flash": "FLASH_ATTENTION", "sdpa:efficient": "EFFICIENT_ATTENTION", "sdpa:cudnn": "CUDNN_ATTENTION", "sdpa:math": "MATH"}
ATTENTION = ("eager", "sdpa", *KERNELS, "flash_attention_2", "flash_attention_3", "flex_attention")
KV = ("as-is", "int8", "int4", "quanto-int4", "quanto-int2", "hqq-int8", "hqq-int4")
KV_SAID = {"int8": "INT8 in groups of 64, emulated", "int4": "INT4 in groups of 32, emulated"}


class Transformers(TokenizerEngine):
    name = "transformers"
    options = (
        Option("model", str, None, "folder or name of the model", required=True),
        Option("revision", str, "", "its revision"),
        Option("dtype", str, "auto", "type of weights and activations", ("auto", "bfloat16", "float16", "float32")),
        Option("attn", str, "sdpa", "attention implementation", ATTENTION),
        Option("chunk", int, 2048, "tokens of a prefill chunk"),
        Option("kv", str, "as-is", "KV cache: int8 and int4 are emulated, the others are Transformers' own", KV),
        Option("weights", str, "as-is", "emulated weights: int8, fp8, nvfp4", ("as-is", "int8", "fp8", "nvfp4")),
        Option("device", str, "auto", "cpu, cuda, cuda:1, auto, or map: spread over all GPUs"),
        Option("threads", int, 0, "threads on the CPU (0: torch's own choice)"),
        Option("trust-remote-code", flag, False, "run code that comes with the model"),
    )

    def open(self) -> None:
        import torch
        import transformers
        self.torch, self.hf = torch, transformers
        if self.opt["threads"]:
            torch.set_num_threads(self.opt["threads"])
        self.world = int(os.environ.get("WORLD_SIZE", "1"))
        self.device = self.opt["device"]
        if self.device == "auto":
            self.device = "cuda" if torch.cuda.is_available() else "cpu"
        if self.device.startswith("cuda") and not torch.cuda.is_available():
            raise CaptureError(f"--device {self.device}: torch sees no GPU.")
        if self.opt["attn"] in KERNELS:
            register_one_kernel(torch, transformers, self.opt["attn"])
        arguments: dict[str, Any] = {"dtype": "auto" if self.opt["dtype"] == "auto" else getattr(torch, self.opt["dtype"]),
                                     "attn_implementation": self.attention(), "trust_remote_code": self.opt["trust-remote-code"]}
        if self.opt["revision"]:
            arguments["revision"] = self.opt["revision"]
        if self.world > 1:
            arguments |= tensor_parallel()
        elif self.device == "map":
            arguments["device_map"] = "auto"
        try:
            self.tokens = transformers.AutoTokenizer.from_pretrained(self.opt["model"], trust_remote_code=self.opt["trust-remote-code"])
        except (OSError, ValueError, ImportError):
            self.tokens = None  # ids need none
        try:
            self.lm = transformers.AutoModelForCausalLM.from_pretrained(self.opt["model"], **arguments).eval()
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            raise CaptureError(f"Transformers cannot load {self.opt['model']}: {' '.join(str(error).split())[:300]}") from None
        if self.world == 1 and self.device != "map":
            self.lm = self.lm.to(self.device)
        self.left_out_modules: list[str] = []
        if self.opt["weights"] != "as-is":
            from .rounding import round_weights
            self.left_out_modules = round_weights(self.lm, self.opt["weights"])
        self.cache: Any = None
        self.fed = 0

    def attention(self) -> str:
        return registered(self.opt["attn"]) if self.opt["attn"] in KERNELS else self.opt["attn"]

    def new_cache(self) -> Any:
        kind = self.opt["kv"]
        if kind in ("int8", "int4"):
            return rounded_cache(self.hf, 8 if kind == "int8" else 4)(config=self.lm.config)
        if "-" in kind and kind != "as-is":
            backend, bits = kind.split("-int")
            try:
                return self.hf.QuantizedCache(backend=backend, config=self.lm.config, nbits=int(bits))
            except (ImportError, AttributeError, ValueError) as error:
                raise CaptureError(f"--kv {kind}: {' '.join(str(error).split())[:200]}") from None
        return self.hf.DynamicCache(config=self.lm.config)

    def format(self) -> RowFormat:
        dtype = str(self.lm.dtype).removeprefix("torch.")
        head = self.lm.get_output_embeddings()
        n = getattr(head, "out_features", 0) if self.world == 1 else 0
        n = n or self.vocab_size()
        return RowFormat("full", int(n), dtype)

    def vocab_size(self) -> int:
        return int(getattr(self.lm.config.get_text_config(), "vocab_size", 0))

    def kernel(self) -> Any:
        """Nothing but the kernel that was asked for, or an error."""
        if self.opt["attn"] not in KERNELS:
            return contextlib.nullcontext()
        from torch.nn.attention import SDPBackend, sdpa_kernel
        return sdpa_kernel([getattr(SDPBackend, KERNELS[self.opt["attn"]])])

    def forward(self, ids: Sequence[int] | np.ndarray, keep: Sequence[int]) -> Any:
        """Feeds tokens; the logits (tensor [len(keep), n_vocab]) at the indices ``keep``. One row is made in any case."""
        torch = self.torch
        device = next(self.lm.parameters()).device
        block = torch.as_tensor(np.asarray(ids, np.int64)[None], device=device)
        rows = torch.as_tensor(np.asarray(keep if len(keep) else [len(ids) - 1], np.int64), device=device)
        try:
            with torch.inference_mode(), self.kernel():
                out = self.lm(input_ids=block, past_key_values=self.cache, use_cache=True, logits_to_keep=rows)
        except torch.OutOfMemoryError:
            raise CaptureError(f"The GPU's memory is full at token {self.fed}: take a smaller --chunk, or --device map.") from None
        except RuntimeError as error:
            raise CaptureError(f"Transformers fails at token {self.fed}: {' '.join(str(error).split())[:300]}") from None
        self.fed += len(ids)
        logits = out.logits[0]
        return logits.full_tensor() if hasattr(logits, "full_tensor") else logits

    def bits(self, logits: Any) -> np.ndarray:
        logits = logits.detach().to("cpu")
        if logits.dtype == self.torch.bfloat16:
            return logits.contiguous().view(self.torch.uint16).numpy()
        return logits.numpy()

    def probe(self, ids: np.ndarray, positions: np.ndarray, skip: int) -> Iterator[Rows | Lists]:
        n = self.format().n_vocab
        if int(ids.max()) >= n:
            raise CaptureError(f"Token id {int(ids.max())} is not in the model's vocabulary of {n}.")
        self.cache, self.fed = self.new_cache(), 0
        for start in range(0, len(ids), self.opt["chunk"]):
            inside = positions[(positions >= start) & (positions < start + self.opt["chunk"])]
            # Rows that the file has already are computed all the same: the head's kernel may depend on their number.
            logits = self.forward(ids[start : start + self.opt["chunk"]], [int(p) - start for p in inside])
            for i in range(0, len(inside), 16):
                block = inside[i : i + 16]
                if (block > skip).any():
                    keep = block > skip
                    yield Rows(block[keep], self.bits(logits[i : i + 16])[keep])

    def begin(self, ids: np.ndarray) -> np.ndarray:
        keep = len(ids) - 1
        try:
            if self.cache is None or keep > self.fed or self.opt["kv"].startswith(("quanto", "hqq")):
                raise NotImplementedError
            if keep < self.fed:
                self.cache.crop(keep - self.fed)  # negative: so many from the end
            self.fed = keep
        except (NotImplementedError, AttributeError, ValueError):
            self.cache, self.fed = self.new_cache(), 0
            for start in range(0, keep, self.opt["chunk"]):
                self.forward(ids[start : min(keep, start + self.opt["chunk"])], [])
        return self.feed(ids[-1:])

    def feed(self, ids: Sequence[int]) -> np.ndarray:
        for start in range(0, len(ids), self.opt["chunk"]):
            logits = self.forward(ids[start : start + self.opt["chunk"]], [])
        return logits[-1].float().cpu().numpy()

    def is_end(self, token: int) -> bool:
        ends = self.lm.generation_config.eos_token_id if self.lm.generation_config else None
        ends = ends if isinstance(ends, (list, tuple)) else [ends]
        known = getattr(self.tokens, "eos_token_id", None)
        return token in ends or token == known

    def settings(self) -> dict[str, str]:
        torch, config = self.torch, self.lm.config
        dtype = str(self.lm.dtype).removeprefix("torch.")
        quantization = getattr(config, "quantization_config", None)
        weights = dtype if quantization is None else str(getattr(quantization, "quant_method", quantization))
        if self.opt["weights"] != "as-is":
            from .rounding import SAID
            weights = SAID[self.opt["weights"]]
        # A kernel that was forced is active, or the run would have ended; the others are as the model was built.
        active = self.opt["attn"] if self.opt["attn"] in KERNELS else str(getattr(config, "_attn_implementation", ""))
        excluded = list(self.left_out_modules)
        for key in ("ignore", "modules_to_not_convert", "ignored_layers"):
            excluded += list(getattr(quantization, key, None) or [])
        found = {"engine": "transformers", "engine_version": f"transformers {version_of('transformers')}, torch {torch.__version__}",
                 "model": str(self.opt["model"]).rstrip("/").split("/")[-1], "model_revision": self.opt["revision"] or str(
                     getattr(config, "_commit_hash", None) or ""), "weights": weights, "activations": dtype,
                 "excluded_modules": ", ".join(map(str, excluded)), "weights_by_module": types_by_module(self.lm), "attention_backend_requested": self.opt["attn"],
                 "attention_backend": active, "prefill_chunk": str(self.opt["chunk"]), "batch": "1",
                 "kv_cache_dtype": KV_SAID.get(self.opt["kv"], dtype if self.opt["kv"] == "as-is" else self.opt["kv"]),
                 "tensor_parallel": str(self.world), "cuda_graphs": "off", "prefix_caching": "off", "speculative": "off",
                 "grammar": "none", "gemm_kernels": "torch linear", "threads": str(torch.get_num_threads()),
                 "context_length": str(getattr(config.get_text_config(), "max_position_embeddings", "") or "")}
        if torch.cuda.is_available():
            found |= {"cuda": str(torch.version.cuda), "nccl": ".".join(map(str, torch.cuda.nccl.version())) if self.world > 1 else ""}
        return found

    def close(self) -> None:
        self.cache = self.lm = None
        if getattr(self, "world", 1) > 1 and self.torch.distributed.is_initialized():
            self.torch.distributed.destroy_process_group()


#: Groups of modules, by what their names hold; the first that fits.
GROUPS = (("norm", "norm"), ("head", "lm_head"), ("embedding", "embed"), ("experts", "expert"), ("linear attention", "linear_attn"),
          ("attention", "attn"), ("attention", "attention"), ("MLP", "mlp"), ("MLP", "feed_forward"))


def types_by_module(model: Any) -> str:
    """The types in which weights really lie in memory, such as ``attention bfloat16, MLP bfloat16``; norms are not named."""
    found: dict[str, dict[str, None]] = {}
    for name, parameter in model.named_parameters():
        group = next((g for g, part in GROUPS if part in name.lower()), "other")
        if group != "norm" and parameter.dim() > 1:
            found.setdefault(group, {})[str(parameter.dtype).removeprefix("torch.")] = None
    return ", ".join(f"{group} {'/'.join(kinds)}" for group, kinds in found.items())


def tensor_parallel() -> dict[str, Any]:
    """How a release of Transformers is asked to spread a model over the ranks: the argument moved in 5.18."""
    import dataclasses
    try:
        from transformers.distributed import DistributedConfig
        if any(f.name == "tp_plan" for f in dataclasses.fields(DistributedConfig)):
            return {"distributed_config": DistributedConfig(tp_plan="auto")}
    except (ImportError, TypeError):
        pass
    return {"tp_plan": "auto"}


def registered(name: str) -> str:
    """Without the word flash, on which Transformers goes looking for a package."""
    return f"flipscope_kernel_{list(KERNELS).index(name)}"


def register_one_kernel(torch: Any, transformers: Any, name: str) -> None:
    """SDPA whose causal mask is never written out, so that each of its kernels can take a chunk that follows a cache: with a
    mask in memory, the flash kernel refuses."""
    from torch.nn.attention.bias import causal_lower_right

    def attend(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float | None = None,
               dropout: float = 0.0, **more: Any) -> tuple[Any, None]:
        if more.get("sliding_window"):
            raise CaptureError(f"--attn {name}: this model has layers with a sliding window; take sdpa.")
        groups = query.shape[1] // key.shape[1]
        if groups > 1:
            key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        q, k = query.shape[2], key.shape[2]
        sdpa = torch.nn.functional.scaled_dot_product_attention
        if q == 1 or q == k:
            out = sdpa(query, key, value, is_causal=q > 1, scale=scaling)
        else:
            out = sdpa(query, key, value, attn_mask=causal_lower_right(q, k), scale=scaling)
        return out.transpose(1, 2).contiguous(), None

    transformers.AttentionInterface.register(registered(name), attend)


def rounded_cache(transformers: Any, bits: int) -> type:
    """A cache whose keys and values are rounded when they are stored."""
    from .rounding import to_int_grid

    class Rounded(transformers.DynamicCache):
        def update(self, key_states: Any, value_states: Any, *arguments: Any, **more: Any) -> Any:
            group = 64 if bits == 8 else 32
            return super().update(to_int_grid(key_states, bits, group), to_int_grid(value_states, bits, group), *arguments, **more)

    return Rounded


ENGINE = Transformers
