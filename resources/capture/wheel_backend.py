# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the wheel (PEP 517) with the standard library alone. As a program: ``python3 wheel_backend.py FOLDER``.

The facts stand in pyproject.toml; this reads the few keys that are used there. Two builds of one source are the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import sys
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
STAMP = (2026, 1, 1, 0, 0, 0)


def project() -> tuple[str, str, str]:
    """Version, METADATA and entry points."""
    text = (HERE / "pyproject.toml").read_text(encoding="utf-8")

    def value(key: str) -> str:
        return re.search(rf'^{key} = "(.*)"$', text, re.MULTILINE)[1]

    def items(key: str) -> list[str]:
        return re.findall(r'"([^"]*)"', re.search(rf"^{key} = \[(.*)\]$", text, re.MULTILINE)[1])

    version = value("version")
    lines = ["Metadata-Version: 2.1", f"Name: {value('name')}", f"Version: {version}", f"Summary: {value('description')}",
             f"Requires-Python: {value('requires-python')}", f"License: {value('license')}"]
    lines += [f"Requires-Dist: {d}" for d in items("dependencies")]
    extras = text.split("[project.optional-dependencies]")[1].split("\n[")[0]
    for extra in re.findall(r"^(\w+) = ", extras, re.MULTILINE):
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {d} ; extra == '{extra}'" for d in items(extra)]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / "README.md").read_text(encoding="utf-8")]
    script = re.search(r'^flipscope-capture = "(.*)"$', text, re.MULTILINE)[1]
    return version, "\n".join(lines), f"[console_scripts]\nflipscope-capture = {script}\n"


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    version, metadata, scripts = project()
    stem = f"flipscope_capture-{version}"
    files = {str(p.relative_to(HERE)): p.read_bytes() for p in sorted((HERE / "flipscope_capture").rglob("*.py"))}
    info = f"{stem}.dist-info"
    files |= {f"{info}/METADATA": metadata.encode(), f"{info}/entry_points.txt": scripts.encode(),
              f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: flipscope\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, STAMP)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    return wheel


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    version, metadata, _ = project()
    name = f"flipscope_capture-{version}"
    with tarfile.open(Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as tar:
        for path in [HERE / "pyproject.toml", HERE / "README.md", HERE / "wheel_backend.py",
                     *sorted((HERE / "flipscope_capture").rglob("*.py"))]:
            tar.add(path, f"{name}/{path.relative_to(HERE)}")
        data = metadata.encode()
        entry = tarfile.TarInfo(f"{name}/PKG-INFO")
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
    return f"{name}.tar.gz"


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    print(build_wheel(sys.argv[1]))
