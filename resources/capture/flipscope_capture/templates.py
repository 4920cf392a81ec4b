# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Chat templates: rendering by Jinja where it is installed, and what a trace says of a template."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any

from .model import CaptureError


def template_sha256(template: str) -> str:
    return hashlib.sha256(template.encode()).hexdigest() if template else ""


def plain(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages as templates expect them: text parts joined, arguments of calls as objects."""
    out = []
    for message in messages:
        m = dict(message)
        if isinstance(m.get("content"), list):
            m["content"] = "".join(p.get("text", "") for p in m["content"] if isinstance(p, dict))
        m["content"] = m.get("content") or ""
        if m.get("tool_calls"):
            calls = []
            for call in m["tool_calls"]:
                function = dict(call.get("function") or call)
                if isinstance(function.get("arguments"), str):
                    try:
                        function["arguments"] = json.loads(function["arguments"])
                    except ValueError:
                        pass
                calls.append({"type": "function", "id": call.get("id", ""), "function": function})
            m["tool_calls"] = calls
        out.append(m)
    return out


def render_template(template: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]], generate: bool,
                    names: dict[str, str]) -> str:
    """The text of the messages. ``names``: bos_token, eos_token, as templates call them."""
    if not template:
        raise CaptureError("The model has no chat template, and none is assumed: give one by --chat-template, or the prompt "
                           "as text or token ids.")
    try:
        import jinja2
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        raise CaptureError("Chat messages need Jinja to be rendered: pip install jinja2.") from None

    def stop(message: str) -> None:
        raise CaptureError(f"The chat template refuses the messages: {message}")

    def tojson(value: Any, indent: int | None = None, **_: Any) -> str:
        return json.dumps(value, ensure_ascii=False, indent=indent)

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = tojson
    environment.globals.update(raise_exception=stop, strftime_now=lambda form: datetime.now().strftime(form))
    if tools and "tools" not in template:
        raise CaptureError("The chat template knows no tools and would drop them without a word: give one that does by "
                           "--chat-template, or put the tools into the system message.")
    try:
        return environment.from_string(template).render(messages=plain(messages), tools=tools or None,
                                                        add_generation_prompt=generate, **names)
    except CaptureError:
        raise
    except (jinja2.TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise CaptureError(f"The chat template cannot be rendered: {error}.") from None
