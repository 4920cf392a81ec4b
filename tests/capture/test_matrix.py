# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrix files, plans, launchers, summaries, the kit; and closed loops."""

from __future__ import annotations

import importlib.util
import json
import os
import stat
import subprocess
import sys
import zipfile

import h5py
import numpy as np
import support
from flipscope_capture import closed_loop, spans
from flipscope_capture.engines import Request
from flipscope_capture.engines.simulated import Simulated
from support import bits

MATRIX = """
prompt = "chat.json"
out = "traces"
[defaults]
engine = "simulated"
stride = 8
dense = "none"
vocab = 512
[[run]]
name = "base"
[[run]]
name = "noisy"
noise = 0.5
set = { reference_checkpoint = "none at all" }
[[run]]
name = "other"
noise = 1.5
env = { OMP_NUM_THREADS = "3" }
needs = { cpus = 1, special = 1 }
"""

# Stands in for the program flipscope where it makes no summaries yet.
PROGRAM = """#!{python}
import sys
if sys.argv[1:] == ["--help"]:
    print("info analyze summarize")
elif sys.argv[1] == "summarize":
    open(sys.argv[sys.argv.index("-o") + 1], "w").write(" ".join(sys.argv[2:4]))
"""


class Matrices(support.Case):
    def matrix(self, text=MATRIX):
        self.chat()
        return self.write("matrix.toml", text)

    def program(self):
        path = self.write("flipscope", PROGRAM.format(python=sys.executable))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def test_runs_one_after_another_and_goes_on(self):
        matrix = self.matrix(MATRIX + '[[run]]\nname = "broken"\nengine = "llamacpp"\nmodel = "none.gguf"\nvocab = 512\n')
        done = support.capture("matrix", matrix, check=False)
        self.assertIn("setting vocab", done.stderr)
        matrix = self.matrix()
        done = support.capture("matrix", matrix, "--summarize", "--flipscope", self.program(), "--pack", self.folder / "s.zip")
        traces = self.folder / "traces"
        self.assertEqual(sorted(p.name for p in traces.glob("*.h5") if "summary" not in p.name), ["base.h5", "noisy.h5", "other.h5"])
        self.assertEqual((traces / "noisy.summary.h5").read_text(), f"{traces}/base.h5 {traces}/noisy.h5")
        with zipfile.ZipFile(self.folder / "s.zip") as z:
            self.assertEqual(sorted(z.namelist()), ["matrix.toml", "noisy.summary.h5", "other.summary.h5"])
        with h5py.File(traces / "other.h5") as h:
            self.assertEqual(h.attrs["run_name"], "other")
            self.assertIn("OMP_NUM_THREADS=3", h["run"].attrs["environment"])
        with h5py.File(traces / "noisy.h5") as h:
            self.assertEqual(h["run"].attrs["reference_checkpoint"], "none at all")
        (traces / "noisy.h5").unlink()
        again = support.capture("matrix", matrix)
        self.assertIn("base: is there already", again.stderr)
        self.assertIn("noisy: done", again.stderr)
        self.assertFalse(np.array_equal(bits(traces / "base.h5")[1], bits(traces / "noisy.h5")[1]))
        table = support.flipscope("analyze", traces / "base.h5", traces / "noisy.h5", traces / "other.h5")
        self.assertEqual(table.returncode, 0, table.stderr)

    def test_gpu_sets_side_by_side(self):
        matrix = self.matrix()
        done = support.capture("matrix", matrix, "--gpus", "0;2,3", "--only", "noisy", "--only", "other")
        self.assertIn("on GPU 0.", done.stderr)
        with h5py.File(self.folder / "traces" / "noisy.h5") as a, h5py.File(self.folder / "traces" / "other.h5") as b:
            seen = {h["run"].attrs["environment"].split("CUDA_VISIBLE_DEVICES=")[1].split()[0] for h in (a, b)}
        self.assertLessEqual(seen, {"0", "2,3"})

    def test_summaries_need_the_program(self):
        matrix = self.matrix()
        done = support.capture("matrix", matrix, "--summarize", "--flipscope", self.folder / "none", check=False)
        self.assertIn("was not found here", done.stderr)
        old = self.write("old", f"#!{sys.executable}\nprint('info analyze')\n")
        old.chmod(0o755)
        done = support.capture("matrix", matrix, "--summarize", "--flipscope", old, check=False)
        self.assertIn("without the command summarize", done.stderr)
        self.assertFalse((self.folder / "traces").exists())

    def test_summaries_of_the_program_itself(self):
        listed = support.flipscope("--help").stdout
        if "summarize" not in listed:
            self.skipTest("this build of flipscope has no command summarize")
        support.capture("matrix", self.matrix(), "--summarize", "--flipscope", support.FLIPSCOPE)
        summary = self.folder / "traces" / "noisy.summary.h5"
        self.assertEqual(support.flipscope("info", summary).returncode, 0)

    def test_plan(self):
        ids = list(range(1, 1001))
        self.write("ids.json", json.dumps(ids))
        matrix = self.write("m.toml", MATRIX.replace("chat.json", "ids.json").replace("stride = 8", "stride = 10\nrate = 50"))
        plan = json.loads(support.capture("plan", matrix, "--json").stdout)
        self.assertEqual([r["name"] for r in plan["runs"]], ["base", "noisy", "other"])
        first = plan["runs"][0]
        self.assertEqual((first["tokens"], first["probes"], first["seconds"], first["baseline"]), (1000, 100, 20.0, True))
        self.assertEqual(plan["runs"][2]["needs"], {"gpus": 0, "cpus": 1, "special": 1})
        done = subprocess.run(first["command"], env={**support.ENVIRONMENT, **first["env"]}, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        size = (self.folder / "traces" / "base.h5").stat().st_size
        self.assertLess(abs(first["bytes"] - size) / size, 0.5)
        text = support.capture("plan", matrix, "--measure").stdout
        self.assertIn("To come: 2 runs", text)
        self.assertNotIn("time not known", text)
        text = support.capture("plan", self.matrix()).stdout
        self.assertIn("tokenized by the engine", text)

    def test_faults_of_matrix_files(self):
        for text, words in (("x = [", "is no TOML"), ('prompt = "a"\n', "lists no"), ('[[run]]\nname="a"\n', "names no prompt"),
                            ('prompt="a"\n[[run]]\nname="a"\n', "needs an engine"), ('prompt="a"\nprompts="b"\n', "prompts is no key"),
                            ('prompt="a"\n[[run]]\nname="a"\nengine="quantum"\n', "no engine quantum"),
                            ('prompt="a"\n[[run]]\nname="../a"\nengine="simulated"\n', "needs a name"),
                            ('prompt="a"\nbaseline="b"\n[[run]]\nname="a"\nengine="simulated"\n', "no run b"),
                            (MATRIX + '[[run]]\nname="base"\n', "same name")):
            with self.subTest(words=words):
                done = support.capture("plan", self.matrix(text), check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
        self.assertIn("has no run x", support.capture("matrix", self.matrix(), "--only", "x", check=False).stderr)

    def test_kit(self):
        kit = self.folder / "kit.zip"
        support.capture("kit", self.matrix(), "-o", kit)
        with zipfile.ZipFile(kit) as z:
            for entry in z.infolist():
                target = z.extract(entry, self.folder / "elsewhere")
                os.chmod(target, entry.external_attr >> 16 or 0o644)
        home = self.folder / "elsewhere" / "kit"
        self.assertIn("3 runs of chat.json", (home / "README.md").read_text())
        clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"PYTHON": sys.executable}
        done = subprocess.run([home / "run.sh"], env=clean, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((home / "traces" / "other.h5").exists())
        done = subprocess.run([home / "summary.sh", "--flipscope", self.program()], env=clean, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((home / "summaries.zip").exists())
        self.assertIn("there already", support.capture("kit", self.matrix(), "-o", kit, check=False).stderr)


class RayLauncher(support.Case):
    """On a cluster of two nodes on this machine, one of which alone has what a run needs."""

    def test_two_nodes(self):
        if importlib.util.find_spec("ray") is None:
            self.skipTest("ray is not installed (pip install ray)")
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # tests tell nobody
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        try:
            cluster.add_node(num_cpus=1, resources={"special": 1})
            self.chat()
            matrix = self.write("matrix.toml", MATRIX)
            program = self.write("flipscope", PROGRAM.format(python=sys.executable))
            program.chmod(0o755)
            done = support.capture("matrix", matrix, "--launcher", "ray", "--address", cluster.address, "--summarize", "--flipscope",
                                   program)
            for name in ("base", "noisy", "other"):
                self.assertIn(f"{name}: done on", done.stderr)
                self.assertTrue((self.folder / "traces" / f"{name}.h5").exists())
            self.assertTrue((self.folder / "traces" / "other.summary.h5").exists())
            greedy = self.write("greedy.toml", MATRIX.replace("special = 1", "special = 7").replace('"traces"', '"more"'))
            done = support.capture("matrix", greedy, "--launcher", "ray", "--address", cluster.address, check=False)
            self.assertIn("No machine of the cluster has what the run other needs", done.stderr)
        finally:
            import ray
            ray.shutdown()
            cluster.shutdown()


class Planned(Simulated):
    """Writes given texts, one after each turn of its own."""

    texts: tuple[str, ...] = ()

    def row(self, ids, position):
        row = np.zeros(self.opt["vocab"], np.float32)
        text = self.vocab().text(ids[: position + 1])
        turn = text.count(b"<|im_start|>assistant\n") - 1
        written = text.rsplit(b"<|im_start|>assistant\n", 1)[1]
        rest = self.tokenize(self.texts[turn - self.first] + "<|im_end|>")[len(self.tokenize(written.decode())) :]
        row[rest[0] if rest else 257] = 5
        return row


class ClosedLoop(support.Case):
    def run_loop(self, *texts, tokens=600):
        engine = Planned({"vocab": 300})
        engine.open()
        ids = np.array(engine.render(support.CHAT["messages"], [], False), np.int32)
        vocab = engine.vocab()
        segments = spans.segment([vocab.piece(int(i)) for i in ids])
        engine.texts, engine.first = texts, 0
        script = closed_loop.read_script(ids, segments, vocab)
        made = closed_loop.run_closed_loop(engine, ids, Request(segments.turns[0], tokens, {}, 2), script, vocab, 8)
        return made, vocab.text(made.ids).decode(), vocab

    def test_the_transcripts_own_answer_is_fed(self):
        call = support.CHAT["messages"][2]["content"].replace('{"name"', '{ "name"')  # the same call, written otherwise
        made, text, vocab = self.run_loop(call, "Seen.")
        self.assertIn("<tool_response>\n192.0.2.1 0000.5e00.5347\n</tool_response>", text)
        self.assertTrue(text.endswith("<|im_start|>assistant\nSeen.<|im_end|>"))
        self.assertEqual(made.finish_reason, "eos")
        fed = vocab.text([t for t, f in zip(made.ids, made.fed, strict=True) if f]).decode()
        self.assertEqual(fed, "\n<|im_start|>tool\n<tool_response>\n192.0.2.1 0000.5e00.5347\n</tool_response><|im_end|>\n"
                              "<|im_start|>assistant\n")
        self.assertEqual(made.top_ids[made.fed.index(1)], [])
        self.assertIn("1 of the transcript's own answers and 0 stubs", made.notes)

    def test_another_command_gets_a_stub_and_it_recovers(self):
        call = support.CHAT["messages"][2]["content"]
        made, text, _ = self.run_loop(call.replace("arp", "run"), call, "Well.")
        self.assertIn('<tool_response>\n{"error":"This command has no recorded answer."}\n</tool_response>', text)
        self.assertIn("192.0.2.1", text)
        self.assertIn("1 of the transcript's own answers and 1 stubs", made.notes)

    def test_unclosed_call_and_length(self):
        made, _, _ = self.run_loop("<tool_call>{\"name\":\"run\"", "After all.")
        self.assertIn("1 stubs", made.notes)
        made, _, _ = self.run_loop(support.CHAT["messages"][2]["content"], "Well.", tokens=90)
        self.assertIn("0 of the transcript's own answers", made.notes)  # there was no room to feed it
        self.assertEqual(made.finish_reason, "length")
        made, _, _ = self.run_loop("a" * 50, tokens=10)
        self.assertEqual((made.finish_reason, len(made.ids)), ("length", 10))


if __name__ == "__main__":
    support.main()
