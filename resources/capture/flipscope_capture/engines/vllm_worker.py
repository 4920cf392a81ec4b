# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs inside vLLM's workers: rows of logits at the probe positions, out of the hidden states of a prefill.

vLLM runs the head for the last token alone. Each step hands the hidden states of all its tokens to the part that makes prompt
log-probabilities, whether these are asked for or not: there the probes' rows are taken, the head is run on them, and the rows
go to a spool file that the capture reads while the prefill goes on. Needs nothing of this package, since a worker imports it alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


class CaptureExtension:
    """Mixed into vLLM's worker class by ``worker_extension_cls``; its methods are called on each rank by ``collective_rpc``."""

    def flipscope_install(self) -> dict[str, Any]:
        """Hooks in. Returns the type of the rows, their width, and which runner it is."""
        import torch

        runner = self.model_runner
        self.flipscope_wanted = None
        if hasattr(runner, "_get_prompt_logprobs_dict"):
            self.flipscope_hook_v1(runner)
            kind = "V1"
        elif hasattr(getattr(runner, "prompt_logprobs_worker", None), "compute_prompt_logprobs"):
            self.flipscope_hook_v2(runner)
            kind = "V2"
        else:
            return {"error": f"{type(runner).__module__}.{type(runner).__name__} has no place for prompt log-probabilities"}
        config = runner.model_config
        device = next(runner.model.parameters()).device
        logits = runner.model.compute_logits(torch.zeros(1, config.get_hidden_size(), dtype=config.dtype, device=device))
        if logits is None:  # a rank that does not hold the gathered logits
            return {"runner": kind}
        return {"runner": kind, "dtype": str(logits.dtype).removeprefix("torch."), "n_vocab": int(logits.shape[-1])}

    def flipscope_begin(self, positions: list[int], spool: str) -> None:
        """``positions``: increasing; ``spool``: path of the spool files, of one rank alone."""
        self.flipscope_wanted = np.asarray(positions, np.int64)
        self.flipscope_spool = spool

    def flipscope_end(self) -> None:
        self.flipscope_wanted = None

    def flipscope_take(self, hidden_states: Any, offset: int, start: int, end: int) -> None:
        """Probes within the tokens ``start`` to ``end``, whose hidden states begin at ``offset``. Called on every rank: under
        tensor parallelism the head is a collective."""
        wanted = self.flipscope_wanted
        if wanted is None:
            return
        inside = wanted[(wanted >= start) & (wanted < end)]
        for block in (inside[i : i + 64] for i in range(0, len(inside), 64)):
            logits = self.model_runner.model.compute_logits(hidden_states[[int(p) - start + offset for p in block]])
            if logits is None or getattr(self, "rank", 0) != 0:
                continue
            spool_rows(Path(self.flipscope_spool), block, logits)

    def flipscope_hook_v1(self, runner: Any) -> None:
        original = runner._get_prompt_logprobs_dict

        def wrapped(hidden_states: Any, num_scheduled_tokens: dict[str, int], *more: Any, **named: Any) -> Any:
            for request, n in num_scheduled_tokens.items():
                state = runner.requests.get(request)
                if state is None or state.prompt_token_ids is None:
                    continue
                start = int(state.num_computed_tokens)  # before this step
                offset = int(runner.query_start_loc.np[runner.input_batch.req_id_to_index[request]])
                self.flipscope_take(hidden_states, offset, start, min(start + int(n), len(state.prompt_token_ids)))
            return original(hidden_states, num_scheduled_tokens, *more, **named)

        runner._get_prompt_logprobs_dict = wrapped

    def flipscope_hook_v2(self, runner: Any) -> None:
        worker = runner.prompt_logprobs_worker
        original = worker.compute_prompt_logprobs

        def wrapped(logits_fn: Any, hidden_states: Any, input_batch: Any, *more: Any, **named: Any) -> Any:
            for i in range(len(input_batch.req_ids)):
                start = int(input_batch.num_computed_prefill_tokens_np[i])
                n = int(input_batch.num_scheduled_tokens[i])
                self.flipscope_take(hidden_states, int(input_batch.query_start_loc_np[i]), start, start + n)
            return original(logits_fn, hidden_states, input_batch, *more, **named)

        worker.compute_prompt_logprobs = wrapped


def spool_rows(spool: Path, positions: np.ndarray, logits: Any) -> None:
    """Rows first, their positions after them: who reads counts positions."""
    import torch

    rows = logits.detach().to("cpu").contiguous()
    bits = rows.view(torch.int16).numpy() if rows.dtype in (torch.bfloat16, torch.float16) else rows.float().numpy()
    with open(spool.with_suffix(".rows"), "ab") as stream:
        stream.write(bits.tobytes())
    with open(spool.with_suffix(".positions"), "ab") as stream:
        stream.write(positions.astype("<i8").tobytes())
