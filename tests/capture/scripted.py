# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server on loopback whose answers are written by the test."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Scripted:
    """``answer(path, body)`` gives what is answered to each request: an object for JSON, bytes as they are, or a Fault."""

    def __init__(self, answer: Callable[[str, dict | None], Any], key: str = "") -> None:
        script = self
        self.requests: list[tuple[str, dict | None]] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def handle_any(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                script.requests.append((self.path, body))
                if key and self.headers.get("Authorization") != f"Bearer {key}":
                    return self.send(401, b'{"error":{"message":"Incorrect API key"}}')
                value = answer(self.path, body)
                if isinstance(value, Fault):
                    time.sleep(value.wait)
                    if value.drop:
                        self.send_response(200)
                        self.send_header("Content-Length", "1000")
                        self.end_headers()
                        self.wfile.write(b'{"half":')
                        self.close_connection = True
                        return None
                    return self.send(value.status, value.data)
                if value is None:
                    return self.send(404, b'{"detail":"Not Found"}')
                return self.send(200, value if isinstance(value, bytes) else json.dumps(value).encode())

            def send(self, status: int, data: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = handle_any

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Fault:
    def __init__(self, status: int = 200, data: bytes = b"{}", wait: float = 0.0, drop: bool = False) -> None:
        self.status, self.data, self.wait, self.drop = status, data, wait, drop
