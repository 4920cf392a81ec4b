# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`flipscope capture`: the program runs flipscope-capture, against a scripted server and without a model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import h5py
import scripted
import support

IDS = list(range(40, 80))


class Command(support.Case):
    def setUp(self):
        super().setUp()
        if not support.FLIPSCOPE:
            self.skipTest("the program flipscope is not built")
        self.prompt = self.write("ids.json", json.dumps(IDS))

    def command(self, *arguments, env=None):
        environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "FLIPSCOPE_API_KEY")}
        environment |= {"FLIPSCOPE_PYTHON": sys.executable, **(env or {})}
        return subprocess.Popen([support.FLIPSCOPE, "capture", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=environment, cwd=self.folder)

    def run_it(self, *arguments, env=None):
        process = self.command(*arguments, env=env)
        out, error = process.communicate(timeout=60)
        self.assertNotIn("Traceback", error)
        return subprocess.CompletedProcess(arguments, process.returncode, out, error)

    def serve(self, key="", wait=0.0):
        """Lists that differ from probe to probe; the first id is the number of tokens sent."""
        def answer(path, body):
            if path == "/v1/models":
                return {"data": [{"id": "first"}, {"id": "second"}]}
            if path != "/v1/completions":
                return None
            n = len(body["prompt"])
            entries = [{"token": f"t{n + j}", "id": n + j, "logprob": -1 - j - n / 1000, "bytes": [65]} for j in range(body["logprobs"])]
            value = {"choices": [{"logprobs": {"content": [{**entries[0], "top_logprobs": entries}]}, "finish_reason": "length"}]}
            return scripted.Fault(200, json.dumps(value).encode(), wait=wait) if wait else value

        server = scripted.Scripted(answer, key)
        self.addCleanup(server.close)
        return server

    def test_from_a_server_to_numbers(self):
        server = self.serve()
        for name, model in (("a.h5", "first"), ("b.h5", "second")):
            done = self.run_it("--server", server.url, "--prompt", "ids.json", "-o", name, "--stride", 4, "--top-k", 7, "--model", model,
                               "--set", "reference_checkpoint=made", "--phase=1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"Wrote {name}", done.stderr)
        with h5py.File(self.folder / "a.h5") as h:
            self.assertEqual(h["probes/positions"][:].tolist(), list(range(1, 40, 4)))
            self.assertEqual(h["probes/top_ids"].shape, (10, 7))
            self.assertEqual(h["probes/top_ids"][0].tolist(), list(range(2, 9)))
            self.assertEqual(h["run"].attrs["reference_checkpoint"], "made")
        self.assertEqual({b["model"] for p, b in server.requests if p == "/v1/completions"}, {"first", "second"})
        answer = support.analyze(self.folder / "a.h5", self.folder / "b.h5")
        self.assertEqual((answer["runs"][0]["n_probes"], answer["runs"][0]["flips"]), (10, 0))
        self.assertEqual(answer["runs"][0]["kl_pq"]["max"], 0)
        # The environment: the server's model is of the weights, and says that it differs.
        stages = {s["stage"]: s for s in answer["environment"]["stages"]}
        self.assertEqual(stages["weights"]["settings"]["model"], ["first", "second"])
        self.assertEqual(answer["environment"]["n_packages"], 0)

    def test_keys(self):
        server = self.serve(key="sesame-4711")
        asked = ["--server", server.url, "--prompt", self.prompt, "-o", "out.h5", "--stride", 8]
        done = self.run_it(*asked)
        self.assertEqual(done.returncode, 1)
        self.assertIn("refuses the request without a key ($FLIPSCOPE_API_KEY is not set): HTTP 401", done.stderr)
        done = self.run_it(*asked, "--key-env", "MY_KEY", env={"MY_KEY": "wrong-4712"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("refuses the key in $MY_KEY", done.stderr)
        self.assertNotIn("wrong-4712", done.stderr)
        done = self.run_it(*asked, "--key=sesame-4711")
        self.assertEqual(done.returncode, 2)
        self.assertIn("environment variable", done.stderr)
        self.assertEqual(len(list(self.folder.glob("out*"))), 0)
        done = self.run_it(*asked, env={"FLIPSCOPE_API_KEY": "sesame-4711"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(b"sesame-4711", (self.folder / "out.h5").read_bytes())

    def test_a_stop_keeps_what_is_there(self):
        server = self.serve(wait=0.15)
        asked = ["--server", server.url, "--prompt", self.prompt, "-o", "out.h5", "--stride", 2, "--top-k", 3]
        process = self.command(*asked)
        deadline = time.monotonic() + 30
        while sum(p == "/v1/completions" for p, _ in server.requests) < 4 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, error)
        self.assertIn("the same command goes on from there", error)
        info = support.flipscope("info", self.folder / "out.h5.partial")
        self.assertEqual(info.returncode, 0, info.stderr)
        done = self.run_it(*asked)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.folder / "out.h5") as h:
            self.assertEqual(h["probes/positions"][:].tolist(), list(range(1, 40, 2)))

    def test_an_engine_with_its_own_options(self):
        done = self.run_it("--engine", "simulated", "--vocab", 64, "--noise=0.1", "--prompt", self.prompt, "-o", "out.h5", "--stride", 4,
                           "--continuations", 3, "--continue-at", "end", "--temperature", "0.5", "--sampler-top-k", 9, "--repeat")
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.folder / "out.h5") as h:
            self.assertEqual(h["probes/logits"].shape, (10, 64))
            self.assertEqual(len(h["generations/0/ids"]), 3)
            self.assertIn('{"stage":"top_k","value":9}', h["generations/0"].attrs["sampler"].replace(" ", ""))

    def test_one_sentence_for_what_is_missing(self):
        server = self.serve()
        url = server.url
        server.close()
        asked = ["--prompt", self.prompt, "-o", "out.h5"]
        cases = [
            (["--server", url, *asked], {}, 1, "No server answers at"),
            (["--server", url, *asked], {"FLIPSCOPE_PYTHON": "/no/python"}, 1, "/no/python cannot be started"),
            (["--server", url, *asked, "--python", self.prompt], {}, 1, "cannot be started (Permission denied)"),
            (asked, {}, 2, "Say what to capture from"),
            (["--engine", "simulated", "--server", url, *asked], {}, 2, "goes with the engine server"),
            (["--engine", "simulated", "--top-k", 5, *asked], {}, 2, "gives whole rows"),
            (["--engine", "server", *asked], {}, 2, "needs the address"),
            (["--server", url, "-o", "out.h5"], {}, 2, "--prompt is required"),
            (["--server", url, *asked, "--no-such-option", "3"], {}, 2, "unrecognized arguments: --no-such-option 3"),
            (["--server", url, *asked, "--", "3"], {}, 2, "takes options alone"),
            (["--server", url, "--prompt", "none.txt", "-o", "out.h5"], {}, 1, "none.txt"),
        ]
        for arguments, env, code, words in cases:
            done = self.run_it(*arguments, env=env)
            self.assertEqual(done.returncode, code, (arguments, done.stderr))
            self.assertIn(words, done.stderr.strip().splitlines()[-1], arguments)
        self.assertEqual(len(list(self.folder.glob("out*"))), 0)

    def test_a_python_without_its_packages(self):
        bare = self.write("bare", f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
        bare.chmod(0o755)
        done = self.run_it("--engine", "simulated", "--prompt", self.prompt, "-o", "out.h5", "--python", bare)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("it has no numpy; install what is needed with:", done.stderr)


if __name__ == "__main__":
    support.main()
