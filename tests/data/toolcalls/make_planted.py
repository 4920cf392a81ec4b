# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts the constructed continuations out of complete traces: history, spans, settings and continuations, without probes.

    make_planted.py FOLDER_WITH_base.h5_run.h5_expected.json
"""
import pathlib
import shutil
import sys

import h5py

source, here = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent


def copy(group, into):
    for key, value in group.attrs.items():
        into.attrs[key] = value
    for name, item in group.items():
        if isinstance(item, h5py.Group):
            copy(item, into.create_group(name))
        elif item.dtype.hasobject:
            item.file.copy(item, into, name)
        else:
            # Small datasets are smaller without a chunk index.
            packed = {"compression": "gzip", "shuffle": True} if item.size > 500 else {}
            into.create_dataset(name, data=item[()], **packed)


for name in ("base", "run"):
    with h5py.File(source / f"{name}.h5") as old, h5py.File(here / f"planted-{name}.h5", "w", libver=("v108", "v110")) as new:
        for key, value in old.attrs.items():
            new.attrs[key] = value
        for part in ("tokens", "run", "generations"):
            copy(old[part], new.create_group(part))
        old.copy("spans", new)
shutil.copyfile(source / "expected.json", here / "planted-expected.json")
