# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Emulated number formats for torch models: values are rounded as the format would hold them, and computed with as before.

So the effect of a format on the logits can be seen on a machine whose kernels do not know it; what a trace says names it as
emulated. Needs torch.
"""

from __future__ import annotations

import torch

#: Magnitudes of FP4 (E2M1).
FP4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def to_int(x: torch.Tensor, bits: int) -> torch.Tensor:
    """Symmetric integers along the last dimension, one scale for each row."""
    top = 2 ** (bits - 1) - 1
    scale = x.float().abs().amax(-1, keepdim=True).clamp_min(1e-12) / top
    return (torch.round(x.float() / scale).clamp(-top, top) * scale).to(x.dtype)


def to_int_grid(x: torch.Tensor, bits: int, group: int) -> torch.Tensor:
    """Asymmetric integers in groups along the last dimension, as KV caches hold them."""
    last = x.shape[-1]
    group = group if last % group == 0 else last
    g = x.float().reshape(*x.shape[:-1], last // group, group)
    low, high = g.amin(-1, keepdim=True), g.amax(-1, keepdim=True)
    step = ((high - low) / (2**bits - 1)).clamp_min(1e-12)
    return (torch.round((g - low) / step) * step + low).reshape(x.shape).to(x.dtype)


def to_e4m3(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """FP8 E4M3 under a given scale."""
    return (x.float() / scale).clamp(-448, 448).to(torch.float8_e4m3fn).float() * scale


def fp8_blocks(w: torch.Tensor, block: int = 128) -> torch.Tensor:
    """A weight [out, in] in blocks of 128 x 128, a scale each."""
    out = torch.empty_like(w)
    for i in range(0, w.shape[0], block):
        for j in range(0, w.shape[1], block):
            part = w[i : i + block, j : j + block]
            out[i : i + block, j : j + block] = to_e4m3(part, part.float().abs().max().clamp_min(1e-12) / 448).to(w.dtype)
    return out


def fp8_rows(x: torch.Tensor) -> torch.Tensor:
    """Activations, a scale for each token, found as they come."""
    return to_e4m3(x, x.float().abs().amax(-1, keepdim=True).clamp_min(1e-12) / 448).to(x.dtype)


def nvfp4(w: torch.Tensor, group: int = 16) -> torch.Tensor:
    """NVFP4: E2M1 in groups of 16 along the input, scales in E4M3 under one of the whole tensor."""
    last = w.shape[-1]
    if last % group:
        return w
    g = w.float().reshape(-1, group)
    whole = g.abs().max().clamp_min(1e-12) / (6 * 448)
    scale = to_e4m3(g.abs().amax(-1, keepdim=True) / 6, whole).clamp_min(1e-12)
    levels = torch.tensor(FP4, device=w.device)
    middle = (levels[1:] + levels[:-1]) / 2
    rounded = levels[torch.bucketize((g.abs() / scale).contiguous(), middle)]
    return (rounded * g.sign() * scale).reshape(w.shape).to(w.dtype)


WEIGHTS = ("as-is", "int8", "fp8", "nvfp4")
SAID = {"int8": "INT8 per output channel, emulated (W8A16)", "fp8": "FP8 E4M3 in 128x128 blocks, dynamic FP8 activations, emulated (W8A8)",
        "nvfp4": "NVFP4 in groups of 16, emulated (W4A16)"}


def round_weights(model: torch.nn.Module, form: str) -> list[str]:
    """Rounds every linear layer but the head, in place. Returns the names of what was left out."""
    left_out = []
    head = model.get_output_embeddings()
    for name, module in model.named_modules():
        if not isinstance(module, torch.nn.Linear):
            continue
        if module is head:
            left_out.append(name)
            continue
        w = module.weight.data
        module.weight.data = {"int8": lambda w=w: to_int(w, 8), "fp8": lambda w=w: fp8_blocks(w), "nvfp4": lambda w=w: nvfp4(w)}[form]()
        if form == "fp8":
            module.register_forward_pre_hook(lambda _, inputs: (fp8_rows(inputs[0]), *inputs[1:]))
    return left_out
