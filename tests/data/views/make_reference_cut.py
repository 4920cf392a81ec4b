#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts every 4th row (the probes that resources/samples/ holds) out of a file of reference values, which were computed
from the stored logits in 80-bit arithmetic.

    tests/data/views/make_reference_cut.py REFERENCE/baseline__kv_q4_0.csv > baseline__kv_q4_0_every_4th.csv
"""
import sys

with open(sys.argv[1], encoding="ascii") as reference:
    lines = reference.read().splitlines()
print("\n".join(lines[:1] + lines[4::4]))
