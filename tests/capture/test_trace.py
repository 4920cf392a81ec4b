# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The writer: what a trace holds, and what is refused."""

from __future__ import annotations

import json
import re
import unittest

import h5py
import numpy as np
import support
from flipscope_capture import engines, generate, plan, spans
from flipscope_capture.engines.simulated import Simulated, to_bfloat16
from support import bits


class Trace(support.Case):
    def simulated(self, *arguments, out="run.h5", **options):
        path = self.folder / out
        support.capture("run", "simulated", "--prompt", self.chat(), "-o", path, *arguments, **options)
        return path

    def test_rows_are_the_engines(self):
        path = self.simulated("--stride", 4, "--vocab", 300, "--dense", "none")
        with h5py.File(path) as h:
            ids = h["tokens/ids"][:]
        engine = Simulated({"vocab": 300})
        positions, rows = bits(path)
        self.assertEqual(positions.tolist(), list(range(3, len(ids), 4)))
        for position, row in zip(positions, rows, strict=True):
            np.testing.assert_array_equal(row, to_bfloat16(engine.row(ids, int(position))))

    def test_bfloat16_rounds_to_nearest_even(self):
        # By hand: 1 + 2^-8 lies between 1 and 1 + 2^-7 and goes to the even one; 1 + 3 * 2^-8 goes up.
        values = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, -2.5, 0.0], np.float32)
        self.assertEqual([hex(b) for b in to_bfloat16(values)], ["0x3f80", "0x3f80", "0x3f82", "0xc020", "0x0"])

    def test_types(self):
        for dtype, store, item in (("float32", "as-given", 4), ("float32", "float16", 2), ("float16", "as-given", 2),
                                   ("bfloat16", "as-given", 2), ("bfloat16", "float32", 4)):
            with self.subTest(dtype=dtype, store=store):
                path = self.simulated("--stride", 16, "--dtype", dtype, "--store", store, out=f"{dtype}-{store}.h5")
                with h5py.File(path) as h:
                    self.assertEqual(h["probes/logits"].id.get_type().get_size(), item)
                    self.assertEqual(h["probes/logits"].chunks, (1, 1024))
                    self.assertEqual("lse" in h["probes"], store == "float16")
                    row = h["probes/logits"][0].astype(np.float64)
                    if store == "float16":
                        self.assertAlmostEqual(float(h["probes/lse"][0]), float(np.log(np.exp(row).sum())), places=2)
        refused = support.capture("run", "simulated", "--prompt", self.chat(), "-o", self.folder / "x.h5", "--store", "float16",
                                  check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("as-given", refused.stderr)

    def test_layout_is_that_of_the_independent_writer(self):
        reference = support.SHARED / "traces" / "smollm2-h200" / "triton.h5"
        if not reference.exists():
            self.skipTest("the shared traces are not there")
        path = self.simulated("--stride", 16, "--continue", 8)
        with h5py.File(reference) as theirs, h5py.File(path) as ours:
            self.assertEqual(ours["probes/logits"].id.get_type(), theirs["probes/logits"].id.get_type())
            self.assertEqual(ours["spans"].dtype.names, theirs["spans"].dtype.names)
            for name in ("tokens/ids", "tokens/bytes", "tokens/offsets", "probes/positions", "generations/0/ids",
                         "generations/0/offsets"):
                self.assertEqual(ours[name].dtype, theirs[name].dtype, name)
            for group in ("/", "probes", "generations/0"):
                self.assertLessEqual(set(theirs[group].attrs), set(ours[group].attrs) | {"prompt_sha256"}, group)

    def test_segments_and_dense_probes(self):
        path = self.simulated("--stride", 8, "--continue", 4)
        with h5py.File(path) as h:
            text, offsets = bytes(h["tokens/bytes"][:]), h["tokens/offsets"][:]
            found = {(row["kind"].decode(), text[offsets[row["start"]] : offsets[row["end"]]].decode()) for row in h["spans"][:]}
            self.assertIn(("assistant", "<|im_start|>assistant\nOne host.<|im_end|>"), found)
            self.assertIn(("tool_call", support.CHAT["messages"][2]["content"]), found)
            self.assertEqual([k for k, _ in found].count("tool"), 1)
            call = next(row for row in h["spans"][:] if row["kind"] == b"tool_call")
            self.assertEqual(json.loads(call["label"]), {"name": "run", "arguments": {"command": "show arp"}})
            self.assertEqual(h["dense/call-0/positions"][:].tolist(), list(range(call["start"] - 1, call["end"])))
            starts = sorted(int(g.attrs["prefix_tokens"]) for g in h["generations"].values())
            self.assertEqual([text[offsets[s] :][:4] for s in starts], [b"<too", b"One "])

    def test_the_program_opens_it(self):
        base = self.simulated("--stride", 8, "--dense", "none", out="base.h5")
        same = self.simulated("--stride", 8, "--dense", "none", out="same.h5")
        noisy = self.simulated("--stride", 8, "--dense", "none", "--noise", "0.4", out="noisy.h5")
        result = support.analyze(base, same, noisy)
        text = json.dumps(result)
        self.assertIn("noisy", text)
        info = support.flipscope("info", base)
        self.assertEqual(info.returncode, 0, info.stderr)
        self.assertIn("bfloat16 of 1024 ids", info.stdout)
        table = support.flipscope("analyze", base, same, noisy).stdout
        self.assertIn("identical", table)

    def test_control_says_bit_identical_or_not(self):
        out = support.capture("run", "simulated", "--prompt", self.chat(), "-o", self.folder / "a.h5", "--stride", 8, "--repeat")
        n = len(bits(self.folder / "a.h5")[0])
        self.assertIn(f"all {n} repeated rows are bit-identical", out.stderr)

    def test_wrong_input_is_one_sentence(self):
        empty, broken = self.write("empty.txt", ""), self.write("broken.json", "{")
        strings = self.write("strings.json", '["a"]')
        for arguments, words in (
            (("--prompt", self.folder / "none.txt"), "There is no prompt"), (("--prompt", empty), "is empty"),
            (("--prompt", broken), "is no JSON"), (("--prompt", strings), "role"),
            (("--prompt", self.chat(), "--stride", 0), "1 or more"), (("--prompt", self.chat(), "--phase", 32), "--phase 32"),
            (("--prompt", self.chat(), "--dense", "9:4"), "--dense 9:4"),
            (("--prompt", self.chat(), "--continue", 3, "--continue-at", "nowhere"), "--continue-at nowhere"),
            (("--prompt", self.chat(), "--stride", 100000, "--dense", "none"), "smaller --stride"),
            (("--prompt", self.chat(), "--set", "x"), "KEY=VALUE"), (("--prompt", self.chat(), "--closed-loop"), "--continue"),
        ):
            with self.subTest(words=words):
                done = support.capture("run", "simulated", "-o", self.folder / "x.h5", *arguments, check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                self.assertFalse((self.folder / "x.h5").exists())
        first = self.simulated()
        again = support.capture("run", "simulated", "--prompt", self.chat(), "-o", first, check=False)
        self.assertIn("is there already", again.stderr)

    def test_secrets_and_addresses_stay_out(self):
        env = {"VLLM_API_KEY": "sk-verysecretvalue", "OMP_NUM_THREADS": "1", "GGML_HOST": "10.1.2.3"}
        path = self.simulated("--set", "notes=by hand", env=env)
        with h5py.File(path) as h:
            run = {k: str(v) for k, v in h["run"].attrs.items()}
            self.assertEqual(run["notes"], "by hand")
            self.assertIn("OMP_NUM_THREADS=1", run["environment"])
            self.assertNotIn("verysecret", json.dumps(run))
            self.assertNotIn("10.1.2.3", json.dumps(run))
            listed = [p.decode() for p in h["run/packages"][:]]
            self.assertTrue(any(p.startswith("numpy==") for p in listed))


class Sampling(support.Case):
    ROW = np.log(np.array([0.1, 0.4, 0.4, 0.06, 0.04], np.float32))

    def share(self, **sampling):
        """How often each id is drawn, of 4,000."""
        sampler = generate.Sampler({"temperature": 1.0, "seed": 3, **sampling}, 7)
        return np.bincount([sampler.pick(self.ROW) for _ in range(4000)], minlength=5) / 4000

    def test_greedy_takes_the_lowest_id_of_a_tie(self):
        self.assertEqual(generate.Sampler({}, 0).pick(self.ROW), 1)

    def test_draws_follow_the_probabilities(self):
        np.testing.assert_allclose(self.share(), [0.1, 0.4, 0.4, 0.06, 0.04], atol=0.03)
        np.testing.assert_allclose(self.share(top_k=2), [0, 0.5, 0.5, 0, 0], atol=0.03)
        # 0.4 + 0.4 is less than 0.85: the next one, 0.1, is taken in.
        np.testing.assert_allclose(self.share(top_p=0.85), [1 / 9, 4 / 9, 4 / 9, 0, 0], atol=0.03)
        # Temperature 0.5 squares the probabilities.
        squares = np.array([0.1, 0.4, 0.4, 0.06, 0.04]) ** 2
        np.testing.assert_allclose(self.share(temperature=0.5), squares / squares.sum(), atol=0.03)

    def test_a_seed_repeats_itself_and_is_written_down(self):
        arguments = ["run", "simulated", "--prompt", self.chat(), "--stride", 8, "--continue", 12, "--continue-at", "end",
                     "--temperature", "0.7", "--top-p", "0.95"]
        made = []
        for name, seed in (("a", 1), ("b", 1), ("c", 2)):
            support.capture(*arguments, "--seed", seed, "-o", self.folder / f"{name}.h5")
            with h5py.File(self.folder / f"{name}.h5") as h:
                made.append(h["generations/0/ids"][:].tolist())
                stages = json.loads(h["generations/0"].attrs["sampler"])
        self.assertEqual(made[0], made[1])
        self.assertNotEqual(made[0], made[2])
        self.assertEqual([s["stage"] for s in stages], ["temperature", "top_p", "draw"])

    def test_progress_for_programs(self):
        done = support.capture("run", "simulated", "--prompt", self.chat(), "--stride", 8, "-o", self.folder / "a.h5", "--progress", "json")
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([e["event"] for e in events if e["event"] != "progress"], ["start", "note", "done", "note"])
        self.assertEqual(events[-2]["out"], str(self.folder / "a.h5"))
        last = [e for e in events if e["event"] == "progress"][-1]
        self.assertEqual(last["done"], last["total"])
        self.assertEqual(done.stderr, "")


class Manual(unittest.TestCase):
    def test_every_option_is_described(self):
        manual = (support.SOURCE / "resources" / "manual" / "capture.md").read_text()
        described = set(re.findall(r"--[a-z][a-z0-9-]*", manual))
        offered = set()
        for command in (["run", "simulated"], ["matrix"], ["plan"], ["kit"]):
            offered |= set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", support.capture(*command, "--help").stdout))
        for name in engines.ENGINES:
            offered |= {f"--{o.name}" for o in engines.engine_class(name).options}
            self.assertIn(f"### {name}", manual)
        self.assertEqual(offered - described - {"--help"}, set())
        # Options of other programs that the manual names.
        self.assertEqual(described - offered, {"--max-logprobs", "--nproc-per-node", "--version"} & described)


class Planning(unittest.TestCase):
    def test_grid(self):
        self.assertEqual(plan.grid(10, 4, None).tolist(), [3, 7])
        self.assertEqual(plan.grid(10, 4, 0).tolist(), [0, 4, 8])

    def test_end_tag_in_a_string_ends_no_call(self):
        """case_19: a literal end tag inside a JSON string."""
        text = rb'<tool_call>{"name":"w","arguments":{"content":"a \"</tool_call>\" b"}}</tool_call> tail'
        (begin, end, call), = spans.find_calls(text, 0, len(text))
        self.assertEqual(text[begin:end], text[:-5])
        self.assertEqual(call["arguments"]["content"], 'a "</tool_call>" b')

    def test_case_20_unclosed_parameter(self):
        text = b"<tool_call>\n<function=read>\n<parameter=path>\n/etc/hosts"
        (begin, end, call), = spans.find_calls(text, 0, len(text))
        self.assertEqual((begin, end), (0, len(text)))
        self.assertEqual(call, {"name": "read", "arguments": {"path": "/etc/hosts"}})

    def test_case_26_a_mention_is_no_call(self):
        text = b"Write <tool_call> before the JSON, I said."
        self.assertEqual(spans.find_calls(text, 0, len(text)), [])


if __name__ == "__main__":
    support.main()
