#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes tables.inc, the colour maps that are compiled into the program, 256 x RGB of 8 bits each.

    pip install matplotlib==3.11.2 cmcrameri==1.10
    resources/colormaps/generate.py > resources/colormaps/tables.inc
"""
import importlib.metadata

import matplotlib
from cmcrameri import cm

MAPS = [
    ("cividis", matplotlib.colormaps["cividis"]),
    ("viridis", matplotlib.colormaps["viridis"]),
    ("magma", matplotlib.colormaps["magma"]),
    ("inferno", matplotlib.colormaps["inferno"]),
    ("plasma", matplotlib.colormaps["plasma"]),
    ("vik", cm.vik),
]


def main():
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("matplotlib", "cmcrameri"))
    print(f"// Made by generate.py from {versions}. Licences: LICENSES.md.")
    for name, colours in MAPS:
        table = colours(range(256), bytes=True)[:, :3]
        print(f'{{"{name}", {{')
        for i in range(0, 256, 6):
            print("    " + " ".join("0x%02x%02x%02x," % tuple(rgb) for rgb in table[i : i + 6]))
        print("}},")


if __name__ == "__main__":
    main()
