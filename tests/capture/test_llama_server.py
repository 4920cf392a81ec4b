# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Capture from a real llama.cpp server on loopback, against the same model in process."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import h5py
import numpy as np
import real_model
import support

SERVE = """
import sys, time, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.hostnames, p.port = sys.argv[1], ["127.0.0.1"], int(sys.argv[2])
p.n_ctx, p.n_parallel, p.n_batch, p.n_ubatch, p.cache_ram_mib, p.use_jinja = 1024, 1, 512, 512, 0, True
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
p.endpoint_props = True
if len(sys.argv) > 3:
    p.chat_template = open(sys.argv[3]).read()
server = xllamacpp.Server(p)
sys.stdin.read()
"""

TEMPLATE = """{%- if tools %}<|im_start|>system
Tools:{% for tool in tools %} {{ tool | tojson }}{% endfor %}
For each function call, return a json object within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}
{%- for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class LlamaServer(support.Case):
    def setUp(self):
        super().setUp()
        real_model.binding()
        self.model = real_model.model()

    def serve(self, *arguments):
        port = free_port()
        process = subprocess.Popen([sys.executable, "-c", SERVE, str(self.model), str(port), *map(str, arguments)],
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def stop():
            process.stdin.close()
            process.terminate()
            process.wait(10)

        self.addCleanup(stop)
        url = f"http://127.0.0.1:{port}"
        for _ in range(1200):  # two minutes: a busy machine takes its time
            try:
                with urllib.request.urlopen(url + "/health", timeout=2) as answer:
                    if answer.status == 200:
                        return url
            except (urllib.error.URLError, OSError):
                pass
            self.assertIsNone(process.poll(), "the server ended")
            time.sleep(0.1)
        self.fail("the server did not start")

    def test_full_vocabulary_equals_the_capture_in_process(self):
        url = self.serve()
        prompt = real_model.transcript(self.folder, 96)
        wire, direct, lists = (self.folder / f"{n}.h5" for n in ("wire", "direct", "lists"))
        support.capture("run", "server", "--url", url, "--prompt", prompt, "-o", wire, "--k", "full")
        support.capture("run", "llamacpp", "--model", self.model, "--threads", 1, "--batch", 32, "--prompt", prompt, "-o", direct,
                        "--dense", "none")
        support.capture("run", "server", "--url", url, "--prompt", prompt, "-o", lists, "--k", 20)
        with h5py.File(wire) as a, h5py.File(direct) as b, h5py.File(lists) as c:
            np.testing.assert_array_equal(a["probes/positions"][:], b["probes/positions"][:])
            self.assertEqual(a["probes/logits"].shape, (3, 49152))
            ours = b["probes/logits"][:].astype(np.float64)
            top = ours.max(1, keepdims=True)
            ours -= top + np.log(np.exp(ours - top).sum(1, keepdims=True))
            # Log-probabilities in decimal float32 on the wire, of values down to -40: what it carries is some 4e-6.
            self.assertLess(np.abs(a["probes/logits"][:] - ours).max(), 8e-6)
            # The lists are summed in another order there: a constant of up to 3e-4.
            best = np.take_along_axis(ours, c["probes/top_ids"][:], 1)
            self.assertLess(np.abs(best - c["probes/top_logprobs"][:]).max(), 5e-4)
            self.assertEqual(c["probes/top_ids"].shape, (3, 20))
            np.testing.assert_array_equal(a["vocab/bytes"][:], b["vocab/bytes"][:])
            np.testing.assert_array_equal(a["vocab/special"][:], b["vocab/special"][:])
            self.assertIn("log-probabilities", a["run"].attrs["notes"])
            self.assertEqual(a["run"].attrs["weights"], "Q4_1")
        result = json.dumps(support.analyze(direct, wire))
        self.assertIn("wire", result)

    def test_calls_that_the_server_parses_are_kept_beside_the_tokens(self):
        template = self.write("template.jinja", TEMPLATE)
        url = self.serve(template)

        def call(command):
            return {"role": "assistant", "content": "", "tool_calls": [
                {"type": "function", "function": {"name": "run_command", "arguments": json.dumps({"command": command})}}]}

        messages = [{"role": "system", "content": "Answer each request with one tool call."}]
        for what in ("arp", "clock", "users"):
            messages += [{"role": "user", "content": f"Show the {what}."}, call(f"show {what}")]
        chat = self.write("chat.json", json.dumps({"messages": messages, "tools": [
            {"type": "function", "function": {"name": "run_command", "parameters": {
                "type": "object", "properties": {"command": {"type": "string"}}}}}]}))
        out = self.folder / "run.h5"
        support.capture("run", "server", "--url", url, "--prompt", chat, "-o", out, "--k", 5, "--stride", 512, "--continue", 32)
        with h5py.File(out) as h:
            self.assertEqual(len(h["generations"]), 3)
            last = max((g for g in h["generations"].values()), key=lambda g: g.attrs["prefix_tokens"])
            text = bytes(last["bytes"][:]).decode()
            self.assertIn("<tool_call>", text)
            parsed = json.loads(last.attrs["parsed_tool_calls"])
            self.assertEqual(parsed[0]["function"]["name"], "run_command")
            self.assertIn(json.loads(parsed[0]["function"]["arguments"])["command"], text)
            self.assertEqual(last.attrs["finish_reason"], "eos")
            start = int(last.attrs["prefix_tokens"])
            offsets = h["tokens/offsets"][:]
            self.assertTrue(bytes(h["tokens/bytes"][:])[: offsets[start]].endswith(b"Show the users.<|im_end|>\n<|im_start|>assistant\n"))

    def test_too_long_and_wrong_model(self):
        url = self.serve()
        prompt = self.write("ids.json", json.dumps([1] * 1200))
        done = support.capture("run", "server", "--url", url, "--prompt", prompt, "-o", self.folder / "x.h5", check=False)
        self.assertIn("context holds 1024 tokens, and the prompt has 1200", done.stderr)
        done = support.capture("run", "server", "--url", url, "--model", "other", "--prompt", prompt, "-o", self.folder / "x.h5",
                               check=False)
        self.assertIn("has no model other", done.stderr)


if __name__ == "__main__":
    support.main()
