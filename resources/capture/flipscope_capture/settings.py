# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a trace says of how its numbers were made: the environment, the machine, the command; without secrets."""

from __future__ import annotations

import os
import platform
import re
import shutil
import socket
import subprocess
import sys
from importlib import metadata
from pathlib import Path

#: Environment variables that change numbers begin with one of these ...
PREFIXES = ("VLLM_", "OMP_", "GGML_", "LLAMA_", "NCCL_", "CUDA_", "CUBLAS_", "TORCH_", "PYTORCH_", "TRITON_", "MKL_",
            "OPENBLAS_", "HF_HUB_OFFLINE", "KMP_", "NVIDIA_TF32")
#: ... and are left out where the name says that the value is nobody's business.
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)


def packages() -> list[str]:
    """``name==version`` of every installed distribution, sorted."""
    found = {}
    for d in metadata.distributions():
        name = d.metadata["Name"]
        if name:
            found[name.lower()] = f"{name}=={d.version}"
    return [found[k] for k in sorted(found)]


def version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def environment() -> str:
    """The variables that change numbers, ``NAME=value``, with blanks between."""
    return " ".join(f"{k}={redact(v)}" for k, v in sorted(os.environ.items())
                    if k.startswith(PREFIXES) and not SECRET.search(k))


def redact(text: str) -> str:
    """Host names, addresses and home folders replaced: they say nothing of the numbers and something of the user."""
    text = re.sub(r"(?<![\w.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\w.])", "ADDRESS", text)
    host = socket.gethostname()
    if len(host) > 3:
        text = re.sub(rf"\b{re.escape(host)}\b", "HOST", text)
    home = str(Path.home())
    if len(home) > 3:
        text = text.replace(home, "~")
    text = re.sub(r"/(?:home|Users)/[^/\s'\",]+", "~", text)
    return re.sub(r"(?i)\b(api[_-]?key|token|bearer|password)(['\"]?\s*[=:]\s*|\s+)['\"]?[A-Za-z0-9_\-.]{12,}", r"\1\2***",
                  text)


def gpu() -> dict[str, str]:
    """GPU, driver and CUDA version as the driver's tool says; nothing where there is none."""
    tool = shutil.which("nvidia-smi")
    if not tool:
        return {}
    try:
        out = subprocess.run([tool, "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True,
                             text=True, timeout=20, check=True).stdout
        lines = [line.split(", ") for line in out.strip().splitlines() if ", " in line]
        report = subprocess.run([tool], capture_output=True, text=True, timeout=20, check=True).stdout
        cuda = re.search(r"CUDA Version:\s*([\d.]+)", report)
    except (OSError, subprocess.SubprocessError):
        return {}
    if not lines:
        return {}
    names = sorted({name for name, _ in lines})
    found = {"gpu": ", ".join(f"{sum(n == name for n, _ in lines)} x {name}" for name in names), "driver": lines[0][1]}
    return found | ({"cuda": cuda[1]} if cuda else {})


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def machine() -> dict[str, str]:
    """Keys of ``/run`` that any engine shares."""
    found = {"cpu": processor(), "os": f"{platform.system()} {platform.release()}",
             "python": platform.python_version(), "boot": boot_id(), "environment": environment()}
    found.update(gpu())
    if "gpu" not in found:
        found["gpu"] = "none"
    container = os.environ.get("CONTAINER_IMAGE") or ("yes" if Path("/.dockerenv").exists() else "")
    return found | ({"container": container} if container else {})


def command_line(argv: list[str] | None = None) -> str:
    """The command as it was given, keys and passwords left out."""
    words = list(sys.argv[1:] if argv is None else argv)
    for i, word in enumerate(words):
        name, sep, _ = word.partition("=")
        if re.fullmatch(r"--.*(key|password|secret)", name):
            if sep:
                words[i] = f"{name}=***"
            elif i + 1 < len(words):
                words[i + 1] = "***"
    return redact("flipscope-capture " + " ".join(words))
