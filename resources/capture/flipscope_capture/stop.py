# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl-C and SIGTERM as one exception, also where the shell that started the process had it ignore the former."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupted(Exception):
    """Somebody asked for a stop (Ctrl-C, SIGTERM)."""


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGINT and SIGTERM raise Interrupted within."""

    def stop(number: int, frame: object) -> None:
        raise Interrupted

    try:
        old = {s: signal.signal(s, stop) for s in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread
        old = {}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
