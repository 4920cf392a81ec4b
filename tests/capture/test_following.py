# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A capture while it runs: readers beside it, Ctrl-C, kill -9 at random moments, going on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time

import numpy as np
import support
from support import bits


class Following(support.Case):
    """A capture beside readers, stopped and killed."""

    def start(self, *arguments):
        self.prompt = self.write("long.txt", "The quick brown fox. " * 200)
        self.out = self.folder / "run.h5"
        self.arguments = ["run", "simulated", "--prompt", self.prompt, "-o", self.out, "--stride", 16, "--vocab", 4096,
                          "--chunk", 128, "--delay", "0.02", *arguments]
        return subprocess.Popen([*support.COMMAND, *map(str, self.arguments)], env=support.ENVIRONMENT,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_for_rows(self, process):
        """Until the capture says what it is going to do."""
        line = process.stderr.readline()
        self.assertIn(b"tokens", line)

    def test_readers_follow(self):
        process = self.start()
        partial = self.out.with_name("run.h5.partial")
        self.wait_for_rows(process)
        seen = []
        while process.poll() is None and len(seen) < 200:
            try:
                seen.append(len(bits(partial)[0]))
            except OSError:
                break
            time.sleep(0.03)
        process.wait()
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(seen, sorted(seen))
        self.assertGreater(len(set(seen)), 3, seen)
        self.assertEqual(len(bits(self.out)[0]), 4200 // 16)

    def test_ctrl_c_and_resume(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("--continue", "4", "--continue-at", "end")
            partial = self.out.with_name("run.h5.partial")
            self.wait_for_rows(process)
            time.sleep(0.2)
            process.send_signal(number)
            _, error = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 130, error)
            self.assertIn(b"goes on from there", error)
            self.assertTrue(partial.exists())
        other = support.capture(*self.arguments, "--noise", "1", check=False)
        self.assertIn("other settings", other.stderr)
        done = support.capture(*self.arguments, "--continue", "4", "--continue-at", "end")
        self.assertNotIn("probes: 0 of", done.stderr)
        reference = self.folder / "whole.h5"
        support.capture(*[reference if a == self.out else a for a in self.arguments])
        np.testing.assert_array_equal(bits(self.out)[1], bits(reference)[1])
        self.assertEqual(sorted(p.name for p in self.folder.glob("run.h5*")), ["run.h5"])

    def test_a_matrix_that_is_stopped_goes_on(self):
        self.prompt = self.write("long.txt", "The quick brown fox. " * 200)
        matrix = self.write("m.toml", 'prompt = "long.txt"\n[defaults]\nengine = "simulated"\nvocab = 4096\nchunk = 64\ndelay = 0.05\n'
                            '[[run]]\nname = "a"\n[[run]]\nname = "b"\n')
        # A shell has what it starts by & ignore SIGINT.
        process = subprocess.Popen(["sh", "-c", 'trap "" INT; exec "$@"', "sh", *support.COMMAND, "matrix", str(matrix)],
                                   env=support.ENVIRONMENT, stderr=subprocess.PIPE)
        partial = self.folder / "traces" / "a.h5.partial"
        for _ in range(400):
            if partial.exists():
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertTrue(partial.exists())
        self.assertIn("goes on from there", (self.folder / "traces" / "a.log").read_text())
        support.capture("matrix", matrix)
        self.assertEqual(sorted(p.name for p in (self.folder / "traces").glob("*.h5*")), ["a.h5", "b.h5"])

    def test_kill_9_at_20_random_moments(self):
        """Each time the file opens with every probe that was flushed before, and the last capture ends as if never cut."""
        chance = random.Random(20261130)
        before = kills = 0
        partial = self.folder / "run.h5.partial"
        for _ in range(40):
            process = self.start("--continue", "4", "--continue-at", "end", "--delay", "0.01", "--progress", "json")
            pending = process.stdout.readline()  # what it is going to do; from then on, at any moment
            deadline = time.monotonic() + chance.random() * 0.6
            os.set_blocking(process.stdout.fileno(), False)
            while time.monotonic() < deadline and process.poll() is None:
                pending += process.stdout.read() or b""
                time.sleep(0.002)
            process.kill()
            rest, _ = process.communicate()
            kills += process.returncode == -signal.SIGKILL
            events = [json.loads(line) for line in (pending + rest).split(b"\n")[:-1]]
            flushed = max([before, *(e["done"] for e in events if e["event"] == "progress" and e["phase"] == "probes")])
            if self.out.exists():  # it was quicker; begin anew
                self.assertEqual(len(bits(self.out)[0]), 4200 // 16)
                self.out.unlink()
                partial.unlink(missing_ok=True)
                before = 0
            elif partial.exists():
                positions, rows = bits(partial)
                self.assertGreaterEqual(len(positions), flushed)
                self.assertEqual(len(rows), len(positions))
                before = len(positions)
                if support.FLIPSCOPE and before:
                    info = support.flipscope("info", partial)
                    self.assertEqual(info.returncode, 0, info.stderr)
                    self.assertIn(f"{before} at positions", info.stdout)
            if kills == 20:
                break
        self.assertEqual(kills, 20)
        if not self.out.exists():
            support.capture(*self.arguments, "--continue", "4", "--continue-at", "end")
        reference = self.folder / "whole.h5"
        support.capture(*[reference if a == self.out else a for a in self.arguments])
        np.testing.assert_array_equal(bits(self.out)[1], bits(reference)[1])


if __name__ == "__main__":
    support.main()
