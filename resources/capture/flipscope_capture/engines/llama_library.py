# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""llama.cpp's C interface through ctypes, out of whatever PyPI package carries the library.

The structs that are passed by value change from build to build. Fields are only ever appended or inserted, so each layout that
is known is tried on the library's own defaults, and used only where all of them are found where they should be.
"""

from __future__ import annotations

import ctypes as c
import importlib.util
from pathlib import Path

from ..model import CaptureError

#: ggml's numbers of the types that a KV cache can have.
KV_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8, "iq4_nl": 20, "bf16": 30}
FLASH = {"auto": -1, "off": 0, "on": 1}
LOG_CALLBACK = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)


class Batch(c.Structure):
    _fields_ = [("n_tokens", c.c_int32), ("token", c.POINTER(c.c_int32)), ("embd", c.c_void_p),
                ("pos", c.POINTER(c.c_int32)), ("n_seq_id", c.POINTER(c.c_int32)),
                ("seq_id", c.POINTER(c.POINTER(c.c_int32))), ("logits", c.POINTER(c.c_int8))]


class ModelParams(c.Structure):
    """Only ``n_gpu_layers`` is set, which stands at the same place in all builds; the rest goes back as it came."""

    _fields_ = [("devices", c.c_void_p), ("overrides", c.c_void_p), ("n_gpu_layers", c.c_int32), ("rest", c.c_uint8 * 256)]


def context_layout(name: str, counts: tuple[str, ...], has_flash: bool, middle: tuple[tuple[str, type], ...],
                   bools: tuple[str, ...]) -> type[c.Structure]:
    fields: list[tuple[str, type]] = [(n, c.c_uint32) for n in counts]
    fields += [("n_threads", c.c_int32), ("n_threads_batch", c.c_int32)]
    fields += [(n, c.c_int32) for n in ("ctx_type",) if name == "2026"]
    fields += [(n, c.c_int32) for n in ("rope_scaling_type", "pooling_type", "attention_type")]
    fields += [("flash_attn_type", c.c_int32)] if has_flash else []
    fields += [(n, c.c_float) for n in ("rope_freq_base", "rope_freq_scale", "yarn_ext_factor", "yarn_attn_factor",
                                        "yarn_beta_fast", "yarn_beta_slow")]
    fields += [("yarn_orig_ctx", c.c_uint32), ("defrag_thold", c.c_float), ("cb_eval", c.c_void_p),
               ("cb_eval_user_data", c.c_void_p), ("type_k", c.c_int32), ("type_v", c.c_int32), *middle,
               ("abort_callback", c.c_void_p), ("abort_callback_data", c.c_void_p)]
    fields += [(b, c.c_uint8) for b in bools] + [("rest", c.c_uint8 * 256)]
    return type(f"ContextParams{name}", (c.Structure,), {"_fields_": fields, "bools": bools})


COUNTS = ("n_ctx", "n_batch", "n_ubatch", "n_seq_max")
NEW_COUNTS = (*COUNTS, "n_rs_seq", "n_outputs_max", "n_outputs_max_per_seq")
BOOLS = ("embeddings", "offload_kqv", "no_perf", "op_offload", "swa_full", "kv_unified")
#: Newest first: of 2026 with and without the cache of experts, and of late 2025.
LAYOUTS = (
    context_layout("2026", NEW_COUNTS, True, (("moe_cache_size", c.c_size_t),), BOOLS),
    context_layout("2026", NEW_COUNTS, True, (), BOOLS),
    context_layout("2026", NEW_COUNTS[:-1], True, (), BOOLS),
    context_layout("2025", COUNTS, True, (), BOOLS),
)


def fits(p: c.Structure) -> bool:
    """Whether the defaults stand where this layout looks for them."""
    return ((p.n_ctx, p.n_batch, p.n_ubatch, p.type_k, p.type_v) == (512, 2048, 512, 1, 1)
            and p.yarn_ext_factor == -1.0 and p.flash_attn_type in (-1, 0) and p.rope_scaling_type == -1
            and not p.cb_eval and not p.abort_callback and p.offload_kqv == 1
            and all(getattr(p, b) in (0, 1) for b in p.bools) and getattr(p, "moe_cache_size", 0) < 2**40)


def find_library(given: str) -> tuple[Path, str]:
    """The library, and the name of the package that it is from."""
    if given:
        return Path(given), Path(given).name
    for package, patterns in (("xllamacpp", ("xllamacpp*.so",)), ("llama_cpp", ("lib/libllama.so", "lib/libllama.dylib"))):
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.origin:
            continue
        for pattern in patterns:
            for path in sorted(Path(spec.origin).parent.glob(pattern)):
                return path, {"llama_cpp": "llama-cpp-python"}.get(package, package)
    raise CaptureError("No llama.cpp library was found: pip install xllamacpp, or name one by --library.")


class Library:
    """The functions that a capture needs, typed."""

    def __init__(self, given: str = "") -> None:
        self.path, self.package = find_library(given)
        try:
            self.lib = lib = c.CDLL(str(self.path))
        except OSError as error:
            raise CaptureError(f"{self.path} cannot be loaded: {error}.") from None
        p, i, s = c.c_void_p, c.c_int32, c.c_char_p
        for name, result, arguments in (
            ("llama_backend_init", None, []), ("llama_log_set", None, [LOG_CALLBACK, p]),
            ("llama_model_default_params", ModelParams, []), ("llama_model_load_from_file", p, [s, ModelParams]),
            ("llama_model_free", None, [p]), ("llama_free", None, [p]), ("llama_model_get_vocab", p, [p]),
            ("llama_vocab_n_tokens", i, [p]), ("llama_vocab_is_control", c.c_bool, [p, i]),
            ("llama_vocab_is_eog", c.c_bool, [p, i]), ("llama_vocab_bos", i, [p]), ("llama_vocab_eos", i, [p]), ("llama_get_memory", p, [p]), ("llama_memory_clear", None, [p, c.c_bool]),
            ("llama_memory_seq_rm", c.c_bool, [p, i, i, i]), ("llama_batch_init", Batch, [i, i, i]),
            ("llama_batch_free", None, [Batch]), ("llama_decode", i, [p, Batch]),
            ("llama_get_logits_ith", c.POINTER(c.c_float), [p, i]), ("llama_print_system_info", s, []),
            ("llama_model_desc", i, [p, s, c.c_size_t]), ("llama_model_chat_template", s, [p, s]),
            ("llama_model_n_ctx_train", i, [p]), ("llama_model_meta_val_str", i, [p, s, s, c.c_size_t]),
            ("llama_tokenize", i, [p, s, i, c.POINTER(i), i, c.c_bool, c.c_bool]),
            ("llama_token_to_piece", i, [p, i, s, i, i, c.c_bool]),
        ):
            try:
                function = getattr(lib, name)
            except AttributeError:
                raise CaptureError(f"{self.path} has no {name}: it is no llama.cpp library of 2025 or newer.") from None
            function.restype, function.argtypes = result, arguments
            setattr(self, name[len("llama_"):], function)
        self.context_params = self._context_layout()
        lib.llama_init_from_model.restype, lib.llama_init_from_model.argtypes = p, [p, self.context_params]
        self.init_from_model = lib.llama_init_from_model
        self.context_default_params = lib.llama_context_default_params

    def _context_layout(self) -> type[c.Structure]:
        for layout in LAYOUTS:
            self.lib.llama_context_default_params.restype = layout
            self.lib.llama_context_default_params.argtypes = []
            if fits(self.lib.llama_context_default_params()):
                return layout
        raise CaptureError(f"{self.path}: its llama_context_params are laid out in a way that is not known; a release of "
                           "xllamacpp around 2026.10 works.")
