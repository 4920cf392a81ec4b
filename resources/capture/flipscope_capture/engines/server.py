# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Any OpenAI-compatible server: llama-server up to the full vocabulary, vLLM, and whatever else gives log-probabilities.

Where the server scores prompts (``prompt_logprobs``), one request does it. Else each probe is a request of its own with the prefix
cached, one after another over one connection. A probe is never asked for twice within a walk, since a cached prefix and another
width of the last step give other numbers; a capture that goes on repeats the walk from its start.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..answers import Constant, Faults, Names, Pairs, clean, of_completion, of_prompt
from ..logs import vllm_log
from ..model import CaptureError, Continuation, Lists, RowFormat, Rows, Vocab
from ..templates import plain, render_template
from ..wire import Refused, Wire
from . import Engine, Option, Request


class Server(Engine):
    name = "server"
    options = (
        Option("url", str, None, "address, http://HOST:PORT", required=True),
        Option("model", str, "", "model's name at the server (default: the first it lists)"),
        Option("k", str, "20", "ids of each probe, or full: the whole vocabulary"),
        Option("route", str, "auto", "how probes are asked for: prompt (one request), walk (one each)", ("auto", "prompt", "walk")),
        Option("key-env", str, "FLIPSCOPE_API_KEY", "environment variable that holds the key"),
        Option("timeout", float, 600.0, "seconds that one answer may take"),
        Option("vocab-from", str, "", "a trace whose vocabulary is used, for servers that do not tell theirs"),
        Option("log", str, "", "the server's start log, from which active backends and kernels are read"),
    )
    values = "raw"

    def open(self) -> None:
        if self.opt["k"] != "full" and not (self.opt["k"].isdigit() and int(self.opt["k"]) > 0):
            raise CaptureError(f"--k {self.opt['k']}: write a number of 1 or more, or full.")
        self.wire = Wire(self.opt["url"], self.opt["key-env"], self.opt["timeout"])
        self.full = self.opt["k"] == "full"
        self.k = 0 if self.full else int(self.opt["k"])
        self.faults, self.fewest, self.logits = Faults(), None, False
        self.words: Vocab | None = None
        self.chat: tuple[list[dict[str, Any]], list[dict[str, Any]]] | None = None
        self.turn_prompts: dict[int, list[dict[str, Any]]] | None = None
        models = self.wire.call("GET", "/v1/models")
        listed = models.get("data") or [] if isinstance(models, dict) else []
        self.meta = (listed[0].get("meta") or {}) if listed else {}
        names = [m.get("id", "") for m in listed]
        self.model = self.opt["model"] or (names[0] if names else "")
        if self.opt["model"] and names and self.opt["model"] not in names:
            raise CaptureError(f"{self.wire.shown} has no model {self.opt['model']}; it has {', '.join(names[:8])}.")
        self.props = self.wire.get("/props")
        self.version = self.wire.get("/version")
        if isinstance(self.props, dict) and "build_info" in self.props:
            self.dialect = "llamacpp"
        elif isinstance(self.version, dict) and "version" in self.version:
            self.dialect = "vllm"
        else:
            self.dialect = "openai"
            self.values = ""  # such a server does not say whether its sampler has been at them
        if self.opt["vocab-from"]:
            self.words = vocab_of_trace(Path(self.opt["vocab-from"]))
        self.names = Names(self.words)
        self.route = self.opt["route"]
        if self.route == "auto":
            self.route = "prompt" if self.dialect == "vllm" and not self.full else "walk"
        if self.route == "prompt" and (self.full or self.dialect == "llamacpp"):
            raise CaptureError("--route prompt: " + ("llama-server scores no prompts" if self.dialect == "llamacpp" else
                               "a prompt's whole vocabulary takes gigabytes of text") + "; take --route walk.")
        # Each probe is a request of its own: dense stretches would change the width of the steps around them.
        self.dense_default = "none" if self.route == "walk" else "calls"

    def prepare(self, n_tokens: int, room: int) -> None:
        context = (self.props or {}).get("default_generation_settings", {}).get("n_ctx") or self.meta.get("n_ctx")
        if isinstance(context, int) and context < n_tokens + 1:
            raise CaptureError(f"The server's context holds {context} tokens, and the prompt has {n_tokens}: start the server with "
                               "a larger one, or take --tokens.")
        if self.full:
            if self.dialect == "openai":
                raise CaptureError("--k full: only llama-server and vLLM can give the whole vocabulary; give a number.")
            self.n_vocab = self.meta.get("n_vocab") or 0
            if self.dialect == "vllm":
                first = self.ask([1], -1)[0]
                self.n_vocab, self.logits = len(first), any(v > 1e-3 for _, v in first)

    def format(self) -> RowFormat:
        if self.full:
            return RowFormat("full", self.n_vocab, "float32")
        n = self.meta.get("n_vocab") or (len(self.words) if self.words else 0)
        return RowFormat("topk", n, k=min(self.k, n) if n else self.k)

    def vocab(self) -> Vocab | None:
        if self.words is None and self.dialect == "llamacpp" and self.meta.get("n_vocab"):
            self.words = self.read_vocab(self.meta["n_vocab"])
            self.names = Names(self.words)
        return self.words

    def read_vocab(self, n: int) -> Vocab:
        """llama-server: one answer over the whole vocabulary holds the bytes of each id; control tokens come without."""
        answer = self.wire.call("POST", "/completion", self.body([1], n))
        pieces, special = [b""] * n, []
        for entry in answer["completion_probabilities"][0]["top_logprobs"]:
            if not 0 <= entry["id"] < n:
                continue
            pieces[entry["id"]] = bytes(entry.get("bytes") or [])
            if not entry.get("bytes"):
                special.append(entry["id"])
        for token in special:
            text = self.wire.call("POST", "/detokenize", {"tokens": [token]}).get("content", "")
            pieces[token] = text.encode()
        return Vocab.of(pieces, special)

    def tokenize(self, text: str, special: bool = True) -> list[int]:
        if self.dialect == "llamacpp":
            body = {"content": text, "add_special": False, "parse_special": special}
        elif self.dialect == "vllm":
            body = {"model": self.model, "prompt": text, "add_special_tokens": False}
        else:
            raise CaptureError("This server has no /tokenize: give the prompt as token ids, from a trace of the same model, say.")
        return [int(t) for t in self.wire.call("POST", "/tokenize", body)["tokens"]]

    def template(self) -> str:
        return str((self.props or {}).get("chat_template") or "")

    def render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], generate: bool) -> list[int]:
        self.chat = (messages, tools)
        if self.dialect == "llamacpp":
            names = {k: str((self.props or {}).get(k) or "") for k in ("bos_token", "eos_token")}
            return self.tokenize(render_template(self.template(), messages, tools, generate, names))
        if self.dialect == "vllm":
            body = {"model": self.model, "messages": messages, "add_generation_prompt": generate, "add_special_tokens": False}
            return [int(t) for t in self.wire.call("POST", "/tokenize", body | ({"tools": tools} if tools else {}))["tokens"]]
        return super().render(messages, tools, generate)

    def body(self, ids: list[int], k: int, tokens: int = 1) -> dict[str, Any]:
        """The request for the log-probabilities after ``ids``."""
        if self.dialect == "llamacpp":
            return {"prompt": ids, "n_predict": tokens, "n_probs": k, "cache_prompt": True, "temperature": -1,
                    "post_sampling_probs": False, "return_tokens": True,
                    "response_fields": ["completion_probabilities", "timings", "tokens_evaluated", "truncated", "tokens",
                                        "stop_type"]}
        body: dict[str, Any] = {"model": self.model, "prompt": ids, "max_tokens": tokens, "temperature": 0, "logprobs": k}
        if self.dialect == "vllm":
            body |= {"return_tokens_as_token_ids": True, "return_token_ids": True}
        return body

    def path(self) -> str:
        return "/completion" if self.dialect == "llamacpp" else "/v1/completions"

    def ask(self, ids: list[int], k: int) -> tuple[Pairs, dict[str, Any]]:
        try:
            answer = self.wire.call("POST", self.path(), self.body(ids, k))
        except Refused as error:
            if "logprobs" in str(error) and error.status == 400:
                raise CaptureError(f"{error} Ask for fewer by --k, or start the server so that it gives more "
                                   "(vLLM: --max-logprobs -1).") from None
            raise
        if not isinstance(answer, dict):
            raise CaptureError(f"{self.wire.shown}{self.path()} answers no JSON object.")
        lists = of_completion(answer, self.names, self.faults)
        if not lists:
            raise CaptureError(f"{self.wire.shown} generated no token after token {len(ids) - 1}, so there are no log-probabilities.")
        return lists[0], answer

    def check_state(self, answer: dict[str, Any], fed: int, before: int, at: int) -> None:
        """llama-server tells what it reused: the walk's numbers are its own only if that was the last prompt."""
        if answer.get("truncated"):
            raise CaptureError(f"The server cut the prompt at token {at}: its context is too small.")
        if answer.get("tokens_evaluated", fed) != fed:
            raise CaptureError(f"The server read {answer['tokens_evaluated']} tokens where {fed} were sent.")
        reused = (answer.get("timings") or {}).get("cache_n")
        if reused is not None and before and reused != before:
            raise CaptureError(f"At token {at} the server had {reused} tokens in its cache in place of {before}: somebody else uses "
                               "it, or it has several slots. Start it with one (-np 1) and for this capture alone; the same command "
                               "begins the walk again.")

    def probe(self, ids: np.ndarray, positions: np.ndarray, skip: int) -> Iterator[Rows | Lists]:
        constant = Constant()
        source = self.by_prompt(ids, positions) if self.route == "prompt" else self.walk(ids, positions, skip)
        for t, found in source:
            if self.full:
                yield Rows(np.array([t]), self.full_row(found)[None])
                continue
            pairs = clean(found, self.faults)[: self.k]
            if any(v > 1e-3 for _, v in pairs):
                raise CaptureError("The server gives values above 0, so logits in place of log-probabilities (vLLM's --logprobs-mode "
                                   "raw_logits): the best k of those cannot be normalized; take --k full.")
            constant.look(pairs)
            if not pairs:
                raise CaptureError(f"The server gave no log-probabilities after token {t}.")
            if len(pairs) < self.k:
                self.faults.add("fewer")
                self.fewest = min(len(pairs), self.fewest or len(pairs))
            yield lists_of(t, pairs, self.format().k)

    def walk(self, ids: np.ndarray, positions: np.ndarray, skip: int) -> Iterator[tuple[int, Pairs]]:
        if self.dialect == "llamacpp":  # a clean slot, so that the walk always begins in the same state
            self.wire.call("POST", "/completion", {"prompt": [int(ids[0])], "n_predict": 0, "cache_prompt": False})
        k = self.n_vocab if self.full and self.dialect == "llamacpp" else -1 if self.full else self.k
        before = 0
        for t in positions:
            prompt = [int(i) for i in ids[: int(t) + 1]]
            again = t <= skip
            found, answer = self.ask(prompt, 1 if again else k)
            self.check_state(answer, len(prompt), before, int(t))
            before = len(prompt)
            if not again:
                yield int(t), found

    def by_prompt(self, ids: np.ndarray, positions: np.ndarray) -> Iterator[tuple[int, Pairs]]:
        body = self.body([int(i) for i in ids], self.k) | {"prompt_logprobs": self.k}
        answer = self.wire.call("POST", self.path(), body)
        rows = of_prompt(answer, ids, self.names, self.k)
        after = of_completion(answer, self.names, self.faults)
        if after:
            rows[-1] = after[0]
        holes = [int(t) for t in positions if not rows[t]]
        if len(holes) == len(positions):
            raise CaptureError("The server scored none of the prompt's tokens; take --route walk.")
        # Null stands where a cached prefix ends: those probes are left out, and counted.
        self.faults.add("hole", len(holes))
        self.left_out = len(holes)
        for t in positions:
            if rows[t]:
                yield int(t), rows[t]

    def full_row(self, found: Pairs) -> np.ndarray:
        """float32 [n_vocab]. Log-probabilities are normalized again in float64, since servers sum in float32."""
        row = np.full(self.n_vocab, np.nan, np.float64)
        for token, value in found:
            if not 0 <= token < self.n_vocab:
                raise CaptureError(f"The server gives a value for id {token}, outside of its vocabulary of {self.n_vocab}.")
            row[token] = -np.inf if np.isnan(value) else value
        missing = int(np.isnan(row).sum())
        if missing:
            raise CaptureError(f"The server gave {self.n_vocab - missing} of {self.n_vocab} ids: it does not give the whole "
                               "vocabulary; give a number by --k.")
        finite = row[np.isfinite(row)]
        if not len(finite):
            raise CaptureError("The server gave no finite value for a whole row.")
        if not self.logits:
            top = finite.max()
            row -= top + np.log(np.exp(finite - top).sum())
        return row.astype(np.float32)

    def prompts_of_turns(self, ids: np.ndarray) -> dict[int, list[dict[str, Any]]]:
        """Lengths in tokens of the prompts that end where the assistant begins, with their messages."""
        if self.turn_prompts is None:
            self.turn_prompts = {}
            messages, tools = self.chat or ([], [])
            for i, message in enumerate(messages):
                if message["role"] == "assistant":
                    prompt = self.render(messages[:i], tools, True)
                    if prompt == [int(t) for t in ids[: len(prompt)]]:
                        self.turn_prompts[len(prompt)] = messages[:i]
            if self.chat:
                self.chat = (messages, tools)
        return self.turn_prompts

    def continue_from(self, ids: np.ndarray, request: Request) -> Continuation:
        """By the chat endpoint where the point is a turn of the messages, so that the server parses calls; else by ids."""
        messages = self.prompts_of_turns(ids).get(request.prefix_tokens) if self.chat else None
        sampling = {k: v for k, v in request.sampling.items() if v}
        made = Continuation(request.prefix_tokens, json.dumps(sampling or {"temperature": 0}, separators=(",", ":")))
        if messages is not None:
            return self.continue_chat(messages, request, made)
        body = self.body([int(i) for i in ids[: request.prefix_tokens]], max(1, request.top), request.max_tokens)
        body |= {"temperature": request.sampling.get("temperature") or 0, **{k: v for k, v in sampling.items() if k != "temperature"}}
        answer = self.wire.call("POST", self.path(), body)
        lists = of_completion(answer, self.names, self.faults)
        choice = answer if self.dialect == "llamacpp" else answer["choices"][0]
        taken = choice.get("tokens") or choice.get("token_ids")
        reason = choice.get("stop_type") or choice.get("finish_reason") or ""
        return self.fill(made, lists, taken, answer, {"limit": "length", "stop": "eos", "eos": "eos"}.get(reason, reason), request.top)

    def continue_chat(self, messages: list[dict[str, Any]], request: Request, made: Continuation) -> Continuation:
        tools = (self.chat or ([], []))[1]
        body: dict[str, Any] = {"model": self.model, "messages": plain_for_wire(messages), "max_tokens": request.max_tokens,
                                "logprobs": True, "top_logprobs": max(1, request.top),
                                "temperature": request.sampling.get("temperature") or 0}
        body |= {k: v for k, v in request.sampling.items() if v and k != "temperature"}
        if tools:
            body |= {"tools": tools, "tool_choice": "auto"}
        if self.dialect == "llamacpp":
            body |= {"verbose": True, "return_tokens": True}
        elif self.dialect == "vllm":
            body |= {"return_token_ids": True}
        answer = self.wire.call("POST", "/v1/chat/completions", body)
        choice = answer["choices"][0]
        lists = of_completion(answer, self.names, self.faults)
        taken = (answer.get("__verbose") or {}).get("tokens") or choice.get("token_ids")
        calls = (choice.get("message") or {}).get("tool_calls")
        made.parsed_tool_calls = json.dumps(calls or [], ensure_ascii=False) if tools or calls else None
        reason = choice.get("finish_reason") or ""
        return self.fill(made, lists, taken, answer, {"stop": "eos", "tool_calls": "eos"}.get(reason, reason), request.top)

    def fill(self, made: Continuation, lists: list[Pairs], taken: Any, answer: dict[str, Any], reason: str, top: int) -> Continuation:
        """Tokens are the truth: ids from the answer's own list of them, else from each element's id."""
        if isinstance(taken, list) and taken:
            made.ids = [int(t) for t in taken]
        else:
            items = answer.get("completion_probabilities") or (answer["choices"][0].get("logprobs") or {}).get("content") or []
            made.ids = [self.id_of(item) for item in items]
            if any(i < 0 for i in made.ids) or not made.ids:
                raise CaptureError("The server does not tell the ids of the tokens that it generated: name a trace of the same model by "
                                   "--vocab-from, so that their bytes lead to ids.")
        made.fed = [0] * len(made.ids)
        best = [clean(found, self.faults)[:top] for found in lists] + [[]] * len(made.ids)
        made.top_ids = [[t for t, _ in pairs] for pairs in best[: len(made.ids)]]
        made.top_logprobs = [[v for _, v in pairs] for pairs in best[: len(made.ids)]]
        made.finish_reason = reason
        return made

    def id_of(self, item: dict[str, Any]) -> int:
        from ..answers import entry_id
        return entry_id(item, self.names)

    def settings(self) -> dict[str, str]:
        found = {"model": Path(self.model).name, "server": self.dialect, "batch": "1", "grammar": "none",
                 "vocab_truncation": "none" if self.full else f"best {self.k}"}
        if self.dialect == "llamacpp":
            found |= {"engine": "llama.cpp server", "engine_version": str((self.props or {}).get("build_info", "")),
                      "weights": str(self.meta.get("ftype") or ""), "context_length": str(self.meta.get("n_ctx_train") or "")}
        elif self.dialect == "vllm":
            found |= {"engine": "vLLM server", "engine_version": self.version["version"]}
        else:
            found |= {"engine": "OpenAI-compatible server"}
        if self.full:
            found["notes"] = ("rows are logits, as the server gave them" if self.logits else
                              "rows are the server's log-probabilities, normalized again in float64")
        if self.opt["log"]:
            found.update(vllm_log(self.launch_log()))
        if self.route == "walk":
            found |= {"prefix_caching": "on", "prefill_chunk": "one request a probe, the tokens since the last one each"}
        return found

    def launch_log(self) -> str:
        if not self.opt["log"]:
            return ""
        try:
            return Path(self.opt["log"]).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise CaptureError(f"--log {self.opt['log']}: {error.strerror}.") from None

    def remarks(self) -> list[str]:
        """What was odd about the answers: one sentence each."""
        out = [f"The server's answers: {text}." for text in [self.faults.text()] if text]
        if self.fewest is not None:
            out.append(f"{self.k} ids were asked for, and as few as {self.fewest} came; the rest of those lists is marked as missing.")
        return out

    def close(self) -> None:
        if hasattr(self, "wire"):
            self.wire.close()


def plain_for_wire(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages as servers expect them: arguments of calls as JSON text."""
    out = []
    for message in plain(messages):
        for call in message.get("tool_calls") or []:
            if not isinstance(call["function"].get("arguments"), str):
                call["function"]["arguments"] = json.dumps(call["function"].get("arguments") or {}, ensure_ascii=False)
        out.append(message)
    return out


def lists_of(t: int, pairs: Pairs, k: int) -> Lists:
    ids, logprobs = np.full((1, k), -1, np.int32), np.full((1, k), -np.inf, np.float32)
    for j, (token, value) in enumerate(pairs[:k]):
        ids[0, j], logprobs[0, j] = token, value
    return Lists(np.array([t]), ids, logprobs)


def vocab_of_trace(path: Path) -> Vocab:
    try:
        with h5py.File(path, "r") as h:
            group = h["vocab"]
            return Vocab(bytes(group["bytes"][:]), group["offsets"][:].astype(np.uint64),
                         group["special"][:].astype(np.int32) if "special" in group else np.zeros(0, np.int32))
    except (OSError, KeyError) as error:
        raise CaptureError(f"--vocab-from {path}: no vocabulary can be read from it ({error}).") from None


ENGINE = Server
