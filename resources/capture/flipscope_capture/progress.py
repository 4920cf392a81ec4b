# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a capture is: lines for people on the standard error, or JSON lines on the standard output for programs."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from .plan import time_text


class Progress:
    """``form``: ``text``, ``json`` or ``none``. JSON events have an ``event``: start, progress, log, note, done, error."""

    def __init__(self, form: str = "text") -> None:
        self.form = form
        self.tty = form == "text" and sys.stderr.isatty()
        self.line_open = False
        self.last = 0.0

    def event(self, kind: str, **values: Any) -> None:
        if self.form == "json":
            print(json.dumps({"event": kind, **values}), flush=True)

    def say(self, text: str, kind: str = "note") -> None:
        """One sentence."""
        self.event(kind, message=text)
        if self.form == "text":
            self.end_line()
            print(text, file=sys.stderr, flush=True)

    def end_line(self) -> None:
        if self.line_open:
            print(file=sys.stderr, flush=True)
            self.line_open = False

    def begin(self, phase: str, total: int, done: int = 0) -> None:
        """``done``: what an earlier capture left behind; it does not count in the rate."""
        self.phase, self.total, self.before, self.started = phase, total, done, time.monotonic()
        self.last = 0.0
        self.update(done)

    def update(self, done: int) -> None:
        now = time.monotonic()
        # A file or a pipe gets a line each ten seconds, a terminal and a program more.
        pause = 0.2 if self.tty or self.form == "json" else 10.0
        if done < self.total and now - self.last < pause and self.last:
            return
        self.last = now
        elapsed = max(1e-9, now - self.started)
        rate = (done - self.before) / elapsed
        left = (self.total - done) / rate if rate > 0 else None
        self.event("progress", phase=self.phase, done=done, total=self.total, rate=rate, seconds_left=left)
        if self.form != "text":
            return
        text = f"{self.phase}: {done} of {self.total}"
        if done > self.before:
            text += f", {rate:.3g} a second" + (f", {time_text(left)} left" if left and done < self.total else "")
        if self.tty:
            print("\r\x1b[K" + text, end="", file=sys.stderr, flush=True)
            self.line_open = True
            if done >= self.total:
                self.end_line()
        else:
            print(text, file=sys.stderr, flush=True)
