# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory of a capture at full size: 100,000 tokens, 248,320 ids. FLIPSCOPE_CAPTURE_ALL=1 takes every 32nd token (1.6 GB)."""

from __future__ import annotations

import resource
import subprocess

import h5py
import numpy as np
import support

TOKENS, VOCAB = 100_000, 248_320


class Memory(support.Case):
    def test_less_than_a_gibibyte(self):
        prompt = self.folder / "ids.i32"
        (np.arange(TOKENS, dtype="<i4") % 250).tofile(prompt)
        stride = 32 if support.ALL else 1024
        out = self.folder / "run.h5"
        command = [*support.COMMAND, "run", "simulated", "--prompt", str(prompt), "-o", str(out), "--vocab", str(VOCAB),
                   "--stride", str(stride), "--continue", "2", "--continue-at", "end"]
        subprocess.run(command, check=True, env=support.ENVIRONMENT, stderr=subprocess.DEVNULL)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        print(f"peak memory {peak / 2**20:.0f} MiB, {out.stat().st_size / 1e9:.2f} GB written", flush=True)
        self.assertLess(peak, 2**30)
        with h5py.File(out) as h:
            self.assertEqual(h["probes/logits"].shape, (TOKENS // stride, VOCAB))
            self.assertEqual(h["probes/logits"].id.get_type().get_size(), 2)


if __name__ == "__main__":
    support.main()
