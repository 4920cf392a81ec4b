# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transformers on the CPU with a small model made from a configuration; the real one with FLIPSCOPE_CAPTURE_ALL=1. And what runs in
vLLM's workers, with a stand-in for its runner."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import unittest
from types import SimpleNamespace

import h5py
import numpy as np
import real_model
import support
from support import bits


def need_torch():
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            raise unittest.SkipTest(f"{package} is not installed (several GB)")


class Transformers(support.Case):
    @classmethod
    def setUpClass(cls):
        need_torch()
        import tempfile

        import torch
        from transformers import LlamaConfig, LlamaForCausalLM

        torch.set_num_threads(1)
        torch.manual_seed(1)
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.model = holder.name
        config = LlamaConfig(vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                             num_key_value_heads=2, max_position_embeddings=512, initializer_range=0.3, eos_token_id=511)
        LlamaForCausalLM(config).to(torch.float32).save_pretrained(cls.model)

    def run_one(self, out, *arguments):
        prompt = self.write("ids.json", json.dumps([(i * 37) % 500 for i in range(200)]))
        path = self.folder / f"{out}.h5"
        return path, support.capture("run", "transformers", "--model", self.model, "--prompt", prompt, "-o", path, "--stride", 8,
                                     "--device", "cpu", "--threads", 1, *arguments)

    def test_rows_are_those_of_one_plain_forward_pass(self):
        import torch
        from transformers import AutoModelForCausalLM

        path, done = self.run_one("chunks", "--chunk", 48, "--repeat", "--continue", 6, "--continue-at", "end")
        self.assertIn("all 25 repeated rows are bit-identical", done.stderr)
        ids = torch.tensor([[(i * 37) % 500 for i in range(200)]])
        model = AutoModelForCausalLM.from_pretrained(self.model).eval()
        with torch.inference_mode():
            rows = model(ids).logits[0, 7::8].numpy()
            greedy = model.generate(ids, max_new_tokens=6, do_sample=False)[0, 200:].tolist()
        with h5py.File(path) as h:
            np.testing.assert_allclose(h["probes/logits"][:], rows, atol=2e-4)
            self.assertEqual(h["generations/0/ids"][:].tolist(), greedy)
            self.assertEqual(h["run"].attrs["attention_backend"], "sdpa")
            self.assertEqual(h["run"].attrs["weights_by_module"], "embedding float32, attention float32, MLP float32, head float32")

    def test_attention_and_types(self):
        base, _ = self.run_one("math", "--attn", "sdpa:math", "--chunk", 64)
        for attn in ("eager", "sdpa", "sdpa:flash"):
            path, _ = self.run_one(attn.replace(":", "-"), "--attn", attn, "--chunk", 64)
            kl, flips, n = real_model.divergence(base, path)
            self.assertEqual((flips, n), (0, 25))
            self.assertLess(abs(kl), 1e-8)
        half, _ = self.run_one("bf16", "--dtype", "bfloat16")
        self.assertEqual(bits(half)[1].dtype, np.uint16)
        self.assertLess(abs(real_model.divergence(base, half)[0]), 0.2)

    def test_fewer_bits_are_farther(self):
        base, _ = self.run_one("base")

        def kl(name, *options):
            return real_model.divergence(base, self.run_one(name, *options)[0])[0]

        caches = [kl("kv8", "--kv", "int8"), kl("kv4", "--kv", "int4")]
        self.assertEqual(caches, sorted(caches))
        weights = [kl("w8", "--weights", "int8"), kl("wf8", "--weights", "fp8"), kl("wf4", "--weights", "nvfp4")]
        self.assertEqual(weights, sorted(weights))
        with h5py.File(self.folder / "wf8.h5") as h:
            self.assertEqual(h["run"].attrs["excluded_modules"], "lm_head")
            self.assertIn("emulated", h["run"].attrs["weights"])

    def test_two_ranks(self):
        """Tensor parallel by torchrun: the first rank writes, and the rows are those of one rank up to the order of sums."""
        one, _ = self.run_one("one", "--attn", "sdpa:math")
        two = self.folder / "two.h5"
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=29557", "-m", "flipscope_capture",
                   "run", "transformers", "--model", self.model, "--prompt", self.folder / "ids.json", "-o", two, "--stride", "8",
                   "--device", "cpu", "--attn", "sdpa:math"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=250, check=False,
                              env={**support.ENVIRONMENT, "OMP_NUM_THREADS": "1"})
        self.assertEqual(done.returncode, 0, done.stderr[-800:])
        with h5py.File(one) as a, h5py.File(two) as b:
            np.testing.assert_allclose(b["probes/logits"][:], a["probes/logits"][:], atol=2e-4)
            self.assertEqual(b["run"].attrs["tensor_parallel"], "2")

    def test_formats_by_hand(self):
        import torch
        from flipscope_capture.engines import rounding

        # E4M3 has 3 bits of mantissa: 17 lies between 16 and 18 and goes to the even mantissa.
        self.assertEqual(rounding.to_e4m3(torch.tensor([17.0, 500.0, 0.3]), torch.tensor(1.0)).tolist(), [16.0, 448.0, 0.3125])
        # The largest of the group becomes 6, a sixth of it 1; 2.4 of 6 goes to 2, 2.6 to 3.
        x = torch.tensor([[6.0, 1.0, 2.4, 2.6, -5.1] + [0.0] * 11])
        got = rounding.nvfp4(x)[0, :5].tolist()
        self.assertEqual([round(v, 2) for v in got], [6.0, 1.0, 2.0, 3.0, -6.0])
        self.assertEqual(rounding.to_int(torch.tensor([[127.0, 63.6, -127.0]]), 8)[0].tolist(), [127.0, 64.0, -127.0])
        grid = rounding.to_int_grid(torch.tensor([[0.0, 15.0, 7.4] + [0.0] * 29]), 4, 32)
        self.assertEqual(grid[0, :3].tolist(), [0.0, 15.0, 7.0])

    def test_refusals(self):
        prompt = self.write("p.txt", "text")
        for arguments, words in ((("--model", self.model), "without a tokenizer"), (("--model", self.folder), "cannot load"),
                                 (("--model", self.model, "--device", "cuda:7"), "no GPU")):
            done = support.capture("run", "transformers", "--prompt", prompt, "-o", self.folder / "x.h5", *arguments, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)

    def test_real_weights(self):
        if not support.ALL:
            self.skipTest("the real model takes minutes: FLIPSCOPE_CAPTURE_ALL=1")
        if importlib.util.find_spec("gguf") is None or importlib.util.find_spec("accelerate") is None:
            self.skipTest("gguf or accelerate is not installed")
        import torch
        from transformers import AutoModelForCausalLM, LlamaForCausalLM

        real_model.binding()
        gguf = real_model.model()
        loaded = AutoModelForCausalLM.from_pretrained(str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32)
        config = loaded.config
        if hasattr(config, "quantization_config"):
            del config.quantization_config
        plain = LlamaForCausalLM(config)
        plain.load_state_dict(loaded.state_dict())
        plain.save_pretrained(self.folder / "hf")
        prompt = real_model.transcript(self.folder, 512)
        ours, theirs = self.folder / "hf.h5", self.folder / "gguf.h5"
        support.capture("run", "transformers", "--model", self.folder / "hf", "--dtype", "float32", "--prompt", prompt, "-o", ours,
                        "--threads", 1, "--chunk", 512, "--dense", "none")
        support.capture("run", "llamacpp", "--model", gguf, "--threads", 1, "--prompt", prompt, "-o", theirs, "--dense", "none")
        kl, flips, n = real_model.divergence(ours, theirs)
        print(f"transformers float32 against llama.cpp Q4_1: mean KL {kl:.5f}, {flips} flips of {n}", flush=True)
        # Recorded for these two: mean 0.0029, no flips of 32.
        self.assertTrue(1e-4 < kl < 0.01, kl)
        self.assertLessEqual(flips, 1)


class VllmWorker(support.Case):
    """The hook, on a stand-in for the V1 runner: chunks, offsets, rows."""

    def test_rows_of_a_chunked_prefill(self):
        need_torch()
        import torch
        from flipscope_capture.engines.vllm import read_spool
        from flipscope_capture.engines.vllm_worker import CaptureExtension
        from flipscope_capture.model import RowFormat

        torch.manual_seed(2)
        hidden, head = torch.randn(40, 8, dtype=torch.bfloat16), torch.randn(8, 16, dtype=torch.bfloat16)
        calls = []

        class Runner:
            def __init__(self):
                self.model = SimpleNamespace(compute_logits=lambda h: h @ head, parameters=lambda: iter([head]))
                self.model_config = SimpleNamespace(get_hidden_size=lambda: 8, dtype=torch.bfloat16)
                self.requests = {"a": SimpleNamespace(num_computed_tokens=0, prompt_token_ids=list(range(40)))}
                self.input_batch = SimpleNamespace(req_id_to_index={"a": 0})
                self.query_start_loc = SimpleNamespace(np=np.array([3, 3]))

            def _get_prompt_logprobs_dict(self, hidden_states, num_scheduled_tokens):
                calls.append(dict(num_scheduled_tokens))
                return {}

        worker = CaptureExtension()
        worker.model_runner, worker.rank = Runner(), 0
        self.assertEqual(worker.flipscope_install(), {"runner": "V1", "dtype": "bfloat16", "n_vocab": 16})
        spool = self.folder / "spool"
        worker.flipscope_begin([7, 15, 23, 31, 39], str(spool))
        for start in range(0, 40, 16):
            chunk = hidden[start : start + 16]
            worker.model_runner.requests["a"].num_computed_tokens = start
            padded = torch.cat([torch.zeros(3, 8, dtype=torch.bfloat16), chunk])
            worker.model_runner._get_prompt_logprobs_dict(padded, {"a": len(chunk), "gone": 1})
        self.assertEqual(len(calls), 3)
        blocks = list(read_spool(spool, RowFormat("full", 16, "bfloat16"), 0))
        self.assertEqual(np.concatenate([b.positions for b in blocks]).tolist(), [7, 15, 23, 31, 39])
        rows = (hidden[7::8] @ head).view(torch.int16).numpy().view(np.uint16)
        np.testing.assert_array_equal(np.concatenate([b.values for b in blocks]), rows)
        self.assertEqual(len(list(read_spool(spool, RowFormat("full", 16, "bfloat16"), 5))), 0)
        worker.model_runner = object()
        self.assertIn("no place", worker.flipscope_install()["error"])

    def test_recorded_start_log_of_the_engine_in_process(self):
        from flipscope_capture.logs import vllm_log

        path = support.SHARED / "fixtures" / "servers" / "vllm_cpu_inprocess_start.log"
        if not path.exists():
            self.skipTest("the recorded logs are not there")
        found = vllm_log(path.read_text())
        self.assertEqual((found["engine_version"], found["prefix_caching"], found["prefill_chunk"], found["model_runner"],
                          found["cuda_graphs"], found["kv_cache_dtype"]), ("0.32.0", "off", "2048", "V1", "off", "bfloat16 (auto)"))


if __name__ == "__main__":
    support.main()
