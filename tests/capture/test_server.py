# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Capture from servers, on a scripted one: every fault of answers that users of such servers met."""

from __future__ import annotations

import json
import math

import h5py
import numpy as np
import scripted
import support
from flipscope_capture import answers, logs
from flipscope_capture.model import CaptureError, Vocab

FIXTURES = support.SHARED / "fixtures" / "servers"
IDS = list(range(40, 80))


def chat_token(token, logprob, **more):
    return {"token": token, "logprob": logprob, "bytes": list(token.encode()), **more}


class Walk(support.Case):
    """One request a probe, answered in the form of the OpenAI API with ids."""

    def serve(self, answer, key=""):
        def all_paths(path, body):
            if path == "/v1/models":
                return {"data": [{"id": "m"}]}
            return answer(path, body)

        server = scripted.Scripted(all_paths, key)
        self.addCleanup(server.close)
        return server

    def entries(self, body, k=5):
        """A list that depends on the prompt: ids 1 to k, the best being the prompt's length."""
        n = len(body["prompt"])
        return [chat_token(f"t{(n + j) % 500}", -0.1 - j - n / 1000, id=(n + j) % 500) for j in range(k)]

    def content(self, entries):
        return {"choices": [{"logprobs": {"content": [{**entries[0], "top_logprobs": entries}]}, "finish_reason": "length"}]}

    def capture(self, server, *arguments, check=True, out="run.h5", ids=IDS):
        prompt = self.write("ids.json", json.dumps(ids))
        return support.capture("run", "server", "--url", server.url, "--prompt", prompt, "-o", self.folder / out, "--stride", 4,
                               "--k", 5, "--timeout", 1, *arguments, check=check)

    def refused(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stderr)
        last = done.stderr.strip().splitlines()[-1]
        for word in words:
            self.assertIn(word, last)
        self.assertNotIn("Traceback", done.stderr)
        self.assertFalse((self.folder / "run.h5").exists())

    def test_lists_positions_and_what_is_not_stated(self):
        server = self.serve(lambda path, body: self.content(self.entries(body)) if path == "/v1/completions" else None)
        self.capture(server)
        with h5py.File(self.folder / "run.h5") as h:
            self.assertEqual(h["probes/positions"][:].tolist(), list(range(3, 40, 4)))
            # The row after token t was asked for with t + 1 tokens.
            self.assertEqual(h["probes/top_ids"][:, 0].tolist(), [t + 1 for t in range(3, 40, 4)])
            self.assertAlmostEqual(float(h["probes/top_logprobs"][0, 1]), -1.104, places=5)
            # case_42: such a server does not say whether the values are raw.
            self.assertNotIn("values", h["probes"].attrs)
        asked = [len(b["prompt"]) for p, b in server.requests if p == "/v1/completions"]
        self.assertEqual(asked, list(range(4, 41, 4)))
        info = support.flipscope("info", self.folder / "run.h5")
        self.assertEqual(info.returncode, 0, info.stderr)

    def test_case_44_k_smaller_than_asked(self):
        """50 asked for, 20 finite: the list has 20, and it is said."""
        def answer(path, body):
            if path != "/v1/completions":
                return None
            e = self.entries(body, 20) + [chat_token(f"x{i}", -math.inf, id=400 + i) for i in range(30)]
            return json.dumps(self.content(e)).encode()

        done = self.capture(self.serve(answer), "--k", 50)
        self.assertIn("as few as 20", done.stderr)
        with h5py.File(self.folder / "run.h5") as h:
            self.assertEqual((h["probes/top_ids"][0] >= 0).sum(), 20)
            self.assertIn("as few as 20", h["run"].attrs["notes"])
        self.assertEqual(support.flipscope("info", self.folder / "run.h5").returncode, 0)

    def test_case_33_impossible_tokens(self):
        bad = [-math.inf, math.nan, None, -9999.0, -1000.0, -100.0]

        def answer(path, body):
            if path != "/v1/completions":
                return None
            e = self.entries(body, 5) + [chat_token("z", v, id=300 + i) for i, v in enumerate(bad)]
            return json.dumps(self.content(e)).encode()

        done = self.capture(self.serve(answer), "--k", 11)
        self.assertIn("60 entries had no value", done.stderr)  # 10 probes, 6 each
        with h5py.File(self.folder / "run.h5") as h:
            self.assertTrue(np.isfinite(h["probes/top_logprobs"][:][h["probes/top_ids"][:] >= 0]).all())
            self.assertEqual((h["probes/top_ids"][:] >= 0).sum(), 50)

    def test_case_38_all_probabilities_one(self):
        def answer(path, body):
            return self.content([chat_token("a", 0.0, id=1)]) if path == "/v1/completions" else None

        self.refused(self.capture(self.serve(answer), "--k", 1, check=False), "all probabilities are 1")

        def same(path, body):
            return self.content([chat_token("a", -1.5, id=1), chat_token("b", -2.5, id=2)]) if path == "/v1/completions" else None

        self.refused(self.capture(self.serve(same), "--restart", check=False), "same log-probabilities")

    def test_case_30_texts_that_collapse(self):
        """Keyed by text: without a vocabulary nothing fits; with one, what is not unique is left out; contradictions are said."""
        def answer(path, body):
            n = len(body["prompt"]) / 100
            return {"choices": [{"logprobs": {"tokens": ["A"], "token_logprobs": [-0.5],
                                              "top_logprobs": [{"A": -0.9 - n, "B": -1.0, "\ufffd": -2.0, "zz": -3.0}]}}]}

        server = self.serve(lambda path, body: answer(path, body) if path == "/v1/completions" else None)
        self.refused(self.capture(server, check=False), "no log-probabilities after token 3")
        donor = self.folder / "donor.h5"
        support.capture("run", "simulated", "--prompt", self.write("ids.json", json.dumps(IDS)), "-o", donor)
        done = self.capture(server, "--vocab-from", donor, "--restart")
        with h5py.File(self.folder / "run.h5") as h:
            self.assertEqual(h["probes/top_ids"][0].tolist(), [65, 66, -1, -1, -1])
        self.assertIn("20 entries named their token by text", done.stderr)
        self.assertIn("10 probes give two values", done.stderr)
        self.assertIn("10 probes have fewer entries", done.stderr)

    def test_faults_of_the_connection(self):
        calls = []

        def later(fault):
            calls.clear()

            def answer(path, body):
                if path != "/v1/completions":
                    return None
                calls.append(1)
                return fault if len(calls) == 4 else self.content(self.entries(body))
            return answer

        for fault, words in ((scripted.Fault(wait=1.5), "did not answer within 1 s"), (scripted.Fault(drop=True), "broke"),
                             (scripted.Fault(500, b"<html>oops</html>"), "HTTP 500"), (scripted.Fault(200, b"no json"), "no JSON"),
                             (scripted.Fault(400, b'{"error":{"message":"too long"}}'), "too long"),
                             (scripted.Fault(200, b"[]"), "no JSON object"), (scripted.Fault(200, b'{"choices":[]}'), "logprobs")):
            with self.subTest(words=words):
                server = self.serve(later(fault))
                self.refused(self.capture(server, "--restart", check=False), words)
                # Nothing is lost: three probes are there, and the same command goes on from the start of the walk.
                partial = self.folder / "run.h5.partial"
                with h5py.File(partial, "r", libver="latest", swmr=True) as h:
                    self.assertEqual(len(h["probes/positions"]), 3)
                done = self.capture(server)
                self.assertIn("probes: 3 of 10", done.stderr)
                (self.folder / "run.h5").unlink()
        gone = self.serve(lambda path, body: None)
        gone.close()
        self.refused(self.capture(gone, check=False), "No server answers")

    def test_keys(self):
        server = self.serve(lambda path, body: self.content(self.entries(body)) if path == "/v1/completions" else None, "right")
        prompt = self.write("ids.json", json.dumps(IDS))
        arguments = ["run", "server", "--url", server.url, "--prompt", prompt, "-o", self.folder / "run.h5", "--stride", 4, "--k", 5,
                     "--key-env", "THE_KEY"]
        for env, words in (({}, "without a key ($THE_KEY is not set)"), ({"THE_KEY": "wrong"}, "refuses the key in $THE_KEY")):
            self.refused(support.capture(*arguments, check=False, env=env), words)
        support.capture(*arguments, env={"THE_KEY": "right"})
        self.assertNotIn(b"right", (self.folder / "run.h5").read_bytes().replace(b"copyright", b""))

    def test_missing_logprobs(self):
        server = self.serve(lambda path, body: {"choices": [{"text": "x", "logprobs": None}]} if path == "/v1/completions" else None)
        self.refused(self.capture(server, check=False), "no logprobs")

    def test_logits_in_place_of_logprobs(self):
        def answer(path, body):
            return self.content([chat_token("a", 30.5, id=1), chat_token("b", 30.375, id=2)]) if path == "/v1/completions" else None

        self.refused(self.capture(self.serve(answer), check=False), "raw_logits")

    def test_somebody_else_uses_the_server(self):
        """llama.cpp tells what it reused; a walk whose cache was taken away has other numbers."""
        seen = []

        def answer(path, body):
            if path == "/props":
                return {"build_info": "b1-test", "default_generation_settings": {"n_ctx": 100}}
            if path == "/completion" and body["n_predict"] == 1:
                seen.append(1)
                n = len(body["prompt"])
                return {"completion_probabilities": [{**self.entries(body)[0], "top_logprobs": self.entries(body)}],
                        "timings": {"cache_n": n - 4 if len(seen) != 3 else 0}, "tokens_evaluated": n}
            return {} if path == "/completion" else None

        self.refused(self.capture(self.serve(answer), check=False), "somebody else uses it")


class PromptLogprobs(support.Case):
    """vLLM's prompt_logprobs: one request for all of it."""

    def rows(self, change=lambda rows: rows):
        rows = [None]
        for i, token in enumerate(IDS[1:], 1):
            rows.append({str(token): {"logprob": -7.5, "rank": 142}, "1": {"logprob": -0.5 - i / 100, "rank": 1},
                         "2": {"logprob": -1.5, "rank": 2}})
        return change(rows)

    def capture(self, rows, check=True):
        def answer(path, body):
            if path == "/v1/models":
                return {"data": [{"id": "m"}]}
            if path == "/version":
                return {"version": "0.32.0"}
            if path == "/v1/completions":
                return {"choices": [{"prompt_logprobs": rows, "logprobs": {"tokens": ["token_id:9"], "token_logprobs": [-0.25],
                                     "top_logprobs": [{"token_id:9": -0.25, "token_id:8": -2.0}]}}]}
            return None

        server = scripted.Scripted(answer)
        self.addCleanup(server.close)
        prompt = self.write("ids.json", json.dumps(IDS))
        (self.folder / "run.h5").unlink(missing_ok=True)
        return support.capture("run", "server", "--url", server.url, "--prompt", prompt, "-o", self.folder / "run.h5", "--stride", 4,
                               "--k", 2, "--restart", check=check)

    def read(self):
        with h5py.File(self.folder / "run.h5") as h:
            return h["probes/positions"][:].tolist(), h["probes/top_ids"][:], h["probes/top_logprobs"][:]

    def test_case_36_rows_and_holes(self):
        self.capture(self.rows())
        positions, ids, values = self.read()
        self.assertEqual(positions, list(range(3, 40, 4)))
        # The row of position 3 stands at 4. The prompt's own token, of rank 142, is none of the best two.
        self.assertEqual(ids[0].tolist(), [1, 2])
        self.assertAlmostEqual(float(values[0, 0]), -0.54, places=6)
        self.assertEqual(ids[-1].tolist(), [9, 8])  # after the last token: from the completion

        def hole(rows):
            rows[8] = None
            return rows

        done = self.capture(self.rows(hole))
        self.assertIn("1 probes have no values", done.stderr)
        self.assertEqual(self.read()[0], [3, *range(11, 40, 4)])

    def test_case_36_off_by_one(self):
        for change in (lambda rows: rows[1:], lambda rows: [None, *rows]):
            self.capture(self.rows(change))
            positions, _, values = self.read()
            self.assertEqual(positions, list(range(3, 40, 4)))
            self.assertAlmostEqual(float(values[0, 0]), -0.54, places=6)
        done = self.capture(self.rows(lambda rows: [None] + [{"999": {"logprob": -1, "rank": 1}}] * 39), check=False)
        self.assertIn("another text", done.stderr)


class Forms(support.Case):
    """The parsers on what real servers answered."""

    def load(self, name):
        path = FIXTURES / name
        if not path.exists():
            self.skipTest("the recorded answers are not there")
        return json.loads(path.read_text())

    def first(self, name):
        return answers.of_completion(self.load(name), answers.Names(None), answers.Faults())[0]

    def test_recorded_lists(self):
        self.assertEqual([t for t, _ in self.first("llamacpp_completion_k5.json")], [29418, 7663, 3476, 1357, 16787])
        self.assertEqual([t for t, _ in self.first("llamacpp_completions_logprobs_echo.json")], [50, 64, 96, 82, 49])
        # case_32: the key is a placeholder for the id.
        self.assertEqual([t for t, _ in self.first("vllm_completions_logprobs.json")], [64, 50, 82, 96, 49])
        self.assertEqual([t for t, _ in self.first("vllm_completions_logprobs_text.json")], [-1] * 5)

    def test_case_32_placeholder_with_its_own_bytes(self):
        name = answers.Names(Vocab.of([b"token_id:7", b"x"], []))
        self.assertEqual(answers.entry_id({"token": "token_id:1234", "bytes": list(b"token_id:1234")}, name), 1234)
        self.assertEqual(answers.entry_id({"token": "token_id:7", "bytes": None}, name), 7)

    def test_case_31_bytes_of_a_character(self):
        """Pieces of one emoji: true bytes lead to ids; replacement characters lead nowhere, and are never matched by text."""
        names = answers.Names(Vocab.of([b"\xf0\x9f", b"\x98", b"\x8a", b"\xef\xbf\xbd", b"A"], []))
        self.assertEqual(answers.entry_id({"token": "\ufffd", "bytes": [0xF0, 0x9F]}, names), 0)
        self.assertEqual(answers.entry_id({"token": "\ufffd", "bytes": [239, 191, 189]}, names), -1)
        self.assertEqual(answers.entry_id({"token": "\ufffd", "bytes": None}, names), -1)
        self.assertEqual(answers.entry_id({"token": "", "bytes": []}, names), -1)
        self.assertEqual(answers.entry_id({"token": "A", "bytes": None}, names), 4)

    def test_recorded_prompt(self):
        answer = self.load("vllm_completions_prompt_logprobs.json")
        ids = np.array(answer["choices"][0]["prompt_token_ids"])
        rows = answers.of_prompt(answer, ids, answers.Names(None), 3)
        self.assertEqual(answers.clean(rows[0], answers.Faults())[0], (29, -0.9860973954200745))
        self.assertEqual(len(rows), 48)

    def test_recorded_start_logs(self):
        if not FIXTURES.exists():
            self.skipTest("the recorded logs are not there")
        found = logs.vllm_log((FIXTURES / "vllm_cpu_server_start.log").read_text())
        self.assertEqual((found["engine_version"], found["activations"], found["tensor_parallel"], found["cuda_graphs"],
                          found["prefix_caching"]), ("0.32.0", "bfloat16", "1", "off", "on"))
        self.assertNotIn("attention_backend", found)  # on a CPU no line names it

    def test_requested_and_active_backend(self):
        log = ("INFO non-default args: {'attention_backend': 'FLASHINFER', 'model': 'm'}\n"
               "INFO [cuda.py:1] Using FLASH_ATTN attention backend out of potential backends: ['FLASH_ATTN', 'TRITON_ATTN'].\n")
        found = logs.vllm_log(log)
        self.assertIn("FLASHINFER was asked for, and the engine took FLASH_ATTN", logs.compare_backends(found))
        found = logs.vllm_log(log.replace("FLASH_ATTN attention backend out of", "FLASHINFER attention backend out of"))
        self.assertEqual(logs.compare_backends(found), "")
        self.assertIn("does not say", logs.compare_backends({"attention_backend_requested": "TRITON_ATTN"}))
        self.assertIn("TRITON_ATTN", logs.vllm_log("INFO Using AttentionBackendEnum.TRITON_ATTN backend.")["attention_backend"])

    def test_case_40_tokens_are_the_truth(self):
        """A parsed call: the message has no content, the tokens hold the raw text."""
        answer = self.load("vllm_chat_tools_hermes.json")
        content = answer["choices"][0]["logprobs"]["content"]
        raw = b"".join(bytes(item["bytes"]) for item in content).decode()
        self.assertIn("<tool_call>", raw)
        self.assertIsNone(answer["choices"][0]["message"]["content"])
        self.assertEqual(len(answers.of_completion(answer, answers.Names(None), answers.Faults())), len(content))

    def test_no_url(self):
        for url, words in (("ftp://x", "write http"), ("http://", "write http")):
            done = support.capture("run", "server", "--url", url, "--prompt", self.write("a.json", "[1]"), "-o", self.folder / "x.h5",
                                   check=False)
            self.assertIn(words, done.stderr)
        with self.assertRaises(CaptureError):
            answers.of_chat({"token": "x"}, answers.Names(None))


if __name__ == "__main__":
    support.main()
