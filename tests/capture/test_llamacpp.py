# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""llama.cpp in process, on a real model: rows, controls, caches and weights of fewer bits, continuations."""

from __future__ import annotations

import h5py
import numpy as np
import real_model
import support
import tiny_gguf
from support import bits


class LlamaCpp(support.Case):
    def setUp(self):
        super().setUp()
        real_model.binding()
        self.model = real_model.model()

    def run_one(self, out, *arguments, model=None, tokens=128, prompt=None):
        path = self.folder / out
        prompt = prompt or real_model.transcript(self.folder, tokens)
        return path, support.capture("run", "llamacpp", "--model", model or self.model, "--threads", 1, "--prompt", prompt,
                                     "-o", path, "--dense", "none", *arguments)

    def test_rows_control_and_settings(self):
        path, done = self.run_one("run.h5", "--repeat", tokens=256)
        self.assertIn("all 8 repeated rows are bit-identical", done.stderr)
        with h5py.File(path) as h:
            run = dict(h["run"].attrs)
            self.assertEqual(run["weights"], "Q4_1 (61 f32, 210 q4_1, 1 q8_0)")
            self.assertEqual(run["weights_by_module"], "attention Q4_1, MLP Q4_1, embedding Q8_0")
            self.assertEqual((run["kv_cache_dtype"], run["attention_backend"], run["attention_backend_requested"]),
                             ("f16", "flash_attn", "auto"))
            self.assertIn("xllamacpp", run["engine_version"])
            self.assertTrue(any(p.decode().startswith("xllamacpp==") for p in h["run/packages"][:]))
            self.assertIn("print_info", h["run/launch_log"][()].decode())
            self.assertEqual(len(h["vocab/special"]), 17)
            with h5py.File(support.SOURCE / "resources" / "samples" / "baseline.h5") as sample:
                np.testing.assert_array_equal(h["vocab/offsets"][:], sample["vocab/offsets"][:])
                np.testing.assert_array_equal(h["vocab/bytes"][:], sample["vocab/bytes"][:])
        # The sample's baseline has the same weights dequantized to F16: near, not equal.
        kl, flips, n = real_model.divergence(support.SOURCE / "resources" / "samples" / "baseline.h5", path)
        self.assertEqual((flips, n), (0, 2))
        self.assertTrue(1e-5 < kl < 2e-2, kl)

    def test_resumed_rows_are_the_same_bits(self):
        whole, _ = self.run_one("whole.h5", "--batch", 32)
        half = self.folder / "half.h5"
        import flipscope_capture.engines.llamacpp as engine

        decode, calls = engine.LlamaCpp.decode, []

        def stop(self, *arguments):
            calls.append(1)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return decode(self, *arguments)

        engine.LlamaCpp.decode = stop
        try:
            prompt = real_model.transcript(self.folder, 128)
            arguments = ["run", "llamacpp", "--model", self.model, "--threads", 1, "--batch", 32, "--prompt", prompt, "-o", half,
                         "--dense", "none"]
            self.assertEqual(support.capture(*arguments, check=False).returncode, 130)
        finally:
            engine.LlamaCpp.decode = decode
        self.assertEqual(len(bits(half.with_name("half.h5.partial"))[0]), 2)
        self.assertIn("probes: 2 of 4", support.capture(*arguments).stderr)
        np.testing.assert_array_equal(bits(half)[1], bits(whole)[1])

    def test_fewer_bits_are_farther(self):
        """The order of the reference captures: 8-bit cache, 4-bit cache, weights of about 2 bits."""
        base, _ = self.run_one("base.h5", "--flash-attn", "off", tokens=160)
        q8, _ = self.run_one("q8.h5", "--kv", "q8_0", "--flash-attn", "on", tokens=160)
        q4, _ = self.run_one("q4.h5", "--kv", "q4_0", "--flash-attn", "on", tokens=160)
        coarse = self.folder / "w2.gguf"
        tiny_gguf.requantize(self.model, coarse, 2)
        w2, _ = self.run_one("w2.h5", "--flash-attn", "off", model=coarse, tokens=160)
        kl = [real_model.divergence(base, run)[0] for run in (q8, q4, w2)]
        self.assertEqual(kl, sorted(kl), kl)
        self.assertGreater(kl[1], 5 * kl[0], kl)
        with h5py.File(q4) as h:
            self.assertEqual((h["run"].attrs["kv_cache_dtype"], h["run"].attrs["attention_backend"]), ("q4_0", "flash_attn"))

    def test_text_messages_and_continuations(self):
        chat = self.write("chat.json", '[{"role":"user","content":"What is the capital of France?"}]')
        path, _ = self.run_one("chat.h5", "--continue", 12, "--continue-at", "end", "--stride", 8, prompt=chat)
        with h5py.File(path) as h:
            text = bytes(h["tokens/bytes"][:]).decode()
            self.assertTrue(text.endswith("<|im_start|>user\nWhat is the capital of France?<|im_end|>\n"), text)
            self.assertEqual(len(h["tokens"].attrs["chat_template_sha256"]), 64)
        again = self.write("p.txt", text + "<|im_start|>assistant\n")
        path, _ = self.run_one("text.h5", "--continue", 12, "--continue-at", "end", "--stride", 8, prompt=again)
        with h5py.File(path) as h:
            g = h["generations/0"]
            self.assertGreater(len(bytes(g["bytes"][:]).decode()), 10)
            self.assertEqual(g["top_ids"].shape, (len(g["ids"]), 5))
            np.testing.assert_array_equal(g["top_ids"][:, 0], g["ids"][:])  # greedy
            self.assertLess(float(np.exp(g["top_logprobs"][0].astype(float)).sum()), 1.0001)

    def test_refusals_are_one_sentence(self):
        prompt = real_model.transcript(self.folder, 64)
        junk = self.write("junk.gguf", "no weights")
        for arguments, words in ((("--model", self.folder / "none.gguf"), "no model"), (("--model", junk), "cannot load"),
                                 (("--model", self.model, "--kv", "q9"), "--kv q9"),
                                 (("--model", self.model, "--kv", "q4_0", "--flash-attn", "off"), "makes no context"),
                                 ((), "needs --model")):
            with self.subTest(words=words):
                done = support.capture("run", "llamacpp", "--prompt", prompt, "-o", self.folder / "x.h5", *arguments, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        bad = self.write("bad.json", "[1, 2, 999999]")
        done = support.capture("run", "llamacpp", "--model", self.model, "--prompt", bad, "--stride", 1, "-o",
                               self.folder / "x.h5", check=False)
        self.assertIn("Token id 999999", done.stderr)


if __name__ == "__main__":
    support.main()
