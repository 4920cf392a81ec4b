# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start logs of engines: what was asked for and what became active."""

from __future__ import annotations

import ast
import re

#: Kernels of linear layers, as vLLM names them when it chooses one.
GEMM = re.compile(r"(?:Using|Selected|Chose)\s+(\w*(?:Marlin|Cutlass|CUTLASS|DeepGEMM|DeepGemm|FlashInfer|Machete|Triton|ScaledMM"
                  r"|LinearKernel)\w*)\s+(?:for|kernel|backend for)\s+(\w+)")


def vllm_log(text: str) -> dict[str, str]:
    """Keys of ``/run`` that a vLLM start log states. What it does not state is absent."""
    found: dict[str, str] = {}
    config = re.search(r"Initializing a V\d LLM engine \(v([^)]+)\) with config: (.*)", text)
    if config:
        found["engine_version"] = config[1]
        found.update(of_config(config[2]))
    asked = re.search(r"non-default args: (\{.*\})", text)
    arguments: dict = {}
    if asked:
        try:
            arguments = ast.literal_eval(asked[1])
        except (ValueError, SyntaxError):
            arguments = {}
    requested = arguments.get("attention_backend") or (arguments.get("attention_config") or {}).get("backend")
    by_environment = re.search(r"VLLM_ATTENTION_BACKEND['\"]?\s*[=:]\s*['\"]?(\w+)", text)
    if requested or by_environment:
        found["attention_backend_requested"] = str(requested or by_environment[1])
    # Automatic choice, and choice on request.
    chosen = re.findall(r"Using (?:AttentionBackendEnum\.)?(\w+) attention backend out of potential backends", text)
    chosen += re.findall(r"Using (?:AttentionBackendEnum\.)?(\w+) (?:attention )?backend\.", text)
    if chosen:
        found["attention_backend"] = ", ".join(dict.fromkeys(chosen))
    if arguments.get("max_num_batched_tokens"):
        found["prefill_chunk"] = str(arguments["max_num_batched_tokens"])
    kernels = dict.fromkeys(f"{method}: {kernel}" for kernel, method in GEMM.findall(text))
    if kernels:
        found["gemm_kernels"] = ", ".join(kernels)
    gdn = re.search(r"(?:GDN|gated delta|mamba) (?:\w+ )?backend[:' ]+(\w+)", text)
    if gdn and gdn[1] != "none":
        found["gdn_backend"] = gdn[1]
    nccl = re.search(r"(?:vLLM is using nccl==|NCCL version )([\d.]+)", text)
    if nccl:
        found["nccl"] = nccl[1]
    runner = re.search(r"using the (V\d) model runner|Using (V\d) [Mm]odel [Rr]unner", text)
    if runner:
        found["model_runner"] = runner[1] or runner[2]
    return found


def of_config(config: str) -> dict[str, str]:
    """The engine's own configuration line."""

    def value(key: str) -> str:
        match = re.search(rf"(?<!\w){key}='?([^,')]+)", config)
        return match[1].strip() if match else ""

    found = {"activations": value("dtype").removeprefix("torch."), "context_length": value("max_seq_len"),
             "tensor_parallel": value("tensor_parallel_size"), "weights": value("quantization"),
             "kv_cache_dtype": value("kv_cache_dtype"), "seed": value("seed"),
             "prefix_caching": {"True": "on", "False": "off"}.get(value("enable_prefix_caching"), ""),
             "cuda_graphs": {"True": "off", "False": "on"}.get(value("enforce_eager"), ""),
             "speculative": {"None": "off"}.get(value("speculative_config"), value("speculative_config"))}
    if found["weights"] == "None":
        found["weights"] = f"{found['activations']} (not quantized)"
    if found["kv_cache_dtype"] == "auto":
        found["kv_cache_dtype"] = f"{found['activations']} (auto)"
    return {k: v for k, v in found.items() if v}


def same_backend(requested: str, active: str) -> bool:
    def plain(name: str) -> str:
        return re.sub(r"[^a-z0-9]|attention|attn|backend|vllm|v1", "", name.lower())

    return plain(requested) == plain(active)


def compare_backends(settings: dict[str, str]) -> str:
    """One sentence where the engine did not take what was asked for, or does not say what it took; else empty."""
    requested, active = settings.get("attention_backend_requested", ""), settings.get("attention_backend", "")
    if requested in ("", "auto"):
        return ""
    if not active:
        return f"Attention backend {requested} was asked for; the engine does not say which one is active."
    if not same_backend(requested, active):
        return f"Attention backend {requested} was asked for, and the engine took {active}."
    return ""
