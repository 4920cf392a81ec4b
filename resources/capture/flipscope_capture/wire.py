# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP to a model server, by the standard library: one connection, JSON, and each fault as one sentence."""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import time
from typing import Any
from urllib.parse import urlsplit

from .model import CaptureError


class Refused(CaptureError):
    """The server answered, and said no. ``status``: the HTTP code."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Wire:
    """``url``: http://host:port, with or without a path; ``/v1`` at its end is dropped. ``key``: a bearer token or empty."""

    def __init__(self, url: str, key_env: str, timeout: float) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CaptureError(f"--url {url}: write http://HOST:PORT.")
        self.parts, self.timeout, self.key_env = parts, timeout, key_env
        self.key = os.environ.get(key_env, "") if key_env else ""
        self.base = parts.path.rstrip("/").removesuffix("/v1")
        self.shown = f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
        self.connection: http.client.HTTPConnection | None = None
        self.last = 0.0  # when the last answer came

    def _connect(self) -> http.client.HTTPConnection:
        # Servers close a connection that lies idle, after 5 s often: while a long answer is read here, say.
        if self.connection is not None and time.monotonic() - self.last > 1.0:
            self.close()
        if self.connection is None:
            kind = http.client.HTTPSConnection if self.parts.scheme == "https" else http.client.HTTPConnection
            self.connection = kind(self.parts.hostname or "", self.parts.port, timeout=self.timeout)
        return self.connection

    def _send(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {})
        connection = self._connect()
        connection.request(method, self.base + path, body, headers)
        answer = connection.getresponse()
        status, data = answer.status, answer.read()
        self.last = time.monotonic()
        return status, data

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The answer's JSON. Nothing is sent twice: a server that is asked again may answer from another state."""
        raw = None if body is None else json.dumps(body).encode()
        try:
            status, data = self._send(method, path, raw)
        except ssl.SSLError as error:
            self.close()
            raise CaptureError(f"{self.shown} cannot be reached safely: {error.reason or error}.") from None
        except socket.gaierror:
            self.close()
            raise CaptureError(f"{self.shown}: there is no host of that name.") from None
        except TimeoutError:
            self.close()
            raise CaptureError(f"{self.shown}{path} did not answer within {self.timeout:g} s: give it longer by "
                               "--timeout.") from None
        except ConnectionRefusedError:
            self.close()
            raise CaptureError(f"No server answers at {self.shown}: is it running, and is the port right?") from None
        except (http.client.HTTPException, OSError) as error:
            self.close()
            raise CaptureError(f"The connection to {self.shown} broke during {path} "
                               f"({str(error) or type(error).__name__}).") from None
        return self._answer(status, data, path)

    def _answer(self, status: int, data: bytes, path: str) -> Any:
        if status in (401, 403):
            given = f"the key in ${self.key_env}" if self.key else f"the request without a key (${self.key_env} is not set)"
            raise Refused(status, f"{self.shown} refuses {given}: HTTP {status}.")
        try:
            value = json.loads(data)
        except ValueError:
            value = None
        if status >= 400:
            raise Refused(status, f"{self.shown}{path} answers HTTP {status}: {reason(value, data)}")
        if value is None:
            start = data[:60].decode("utf-8", "replace").replace("\n", " ")
            raise CaptureError(f"{self.shown}{path} answers something that is no JSON ({len(data)} bytes, beginning {start!r}).")
        return value

    def get(self, path: str) -> Any:
        """None where the server has no such page."""
        try:
            return self.call("GET", path)
        except Refused as error:
            if error.status in (401, 403):
                raise
            return None

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def reason(value: Any, data: bytes) -> str:
    """The message of an error answer, in whichever form it comes."""
    if isinstance(value, dict):
        error = value.get("error", value.get("detail", value.get("message")))
        if isinstance(error, dict):
            error = error.get("message")
        if error:
            return str(error).strip().splitlines()[0][:300]
    return data[:200].decode("utf-8", "replace").strip().replace("\n", " ") or "no reason given."
