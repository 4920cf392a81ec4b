# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokenizers of Transformers: ids, templates, and the bytes of every id. Shared by the engines that use them."""

from __future__ import annotations

from typing import Any

from ..model import CaptureError, Vocab
from . import Engine


class TokenizerEngine(Engine):
    """An engine whose ``self.tokens`` is such a tokenizer, or None."""

    tokens: Any = None

    def vocab_size(self) -> int:
        """Ids that the model knows; a tokenizer may have fewer."""
        raise NotImplementedError

    def vocab(self) -> Vocab | None:
        if self.tokens is None:
            return None
        return vocab_of_tokenizer(self.tokens, max(len(self.tokens), self.vocab_size()))

    def need_tokenizer(self) -> Any:
        if self.tokens is None:
            raise CaptureError(f"{self.opt['model']} comes without a tokenizer: give the prompt as token ids.")
        return self.tokens

    def tokenize(self, text: str, special: bool = True) -> list[int]:
        return list(self.need_tokenizer()(text, add_special_tokens=False, split_special_tokens=not special)["input_ids"])

    def render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], generate: bool) -> list[int]:
        tokenizer = self.need_tokenizer()
        if not self.template():
            raise CaptureError(f"{self.opt['model']} has no chat template, and none is assumed: give the prompt as text or token ids.")
        if tools and "tools" not in self.template():
            raise CaptureError("The chat template knows no tools and would drop them without a word.")
        text = tokenizer.apply_chat_template(messages, tools=tools or None, add_generation_prompt=generate, tokenize=False)
        return self.tokenize(text)

    def template(self) -> str:
        value = getattr(self.tokens, "chat_template", None)
        return value if isinstance(value, str) else ""


def vocab_of_tokenizer(tokenizer: Any, n: int) -> Vocab:
    """The bytes of each id. Byte-level tokenizers spell bytes in an alphabet of their own; others are asked for the text."""
    alphabet = byte_alphabet()
    special = {int(i) for i in tokenizer.all_special_ids}
    added = {int(i): str(t) for i, t in getattr(tokenizer, "added_tokens_decoder", {}).items()}
    pieces: list[bytes] = []
    tokens = tokenizer.convert_ids_to_tokens(list(range(min(n, len(tokenizer)))))
    byte_level = any(t is not None and t.startswith("\u0120") for t in tokens)
    for i, token in enumerate(tokens):
        if token is None:
            pieces.append(b"")
        elif i in added:
            pieces.append(added[i].encode())
        elif byte_level:
            pieces.append(bytes(alphabet[c] for c in token) if all(c in alphabet for c in token) else token.encode())
        elif len(token) == 6 and token.startswith("<0x"):
            pieces.append(bytes([int(token[3:5], 16)]))
        else:
            pieces.append(token.replace("\u2581", " ").encode())
    return Vocab.of(pieces + [b""] * (n - len(pieces)), sorted(special | {i for i, t in added.items() if t.startswith("<|")}))


def byte_alphabet() -> dict[str, int]:
    """GPT-2's: printable bytes stand for themselves, the others for the characters from 256 on."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(others)}
