# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual against the program: every option, every column, every metric is described, and what is described exists.

    manual.py PROGRAM SOURCE_FOLDER
"""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
manual = {page.stem: page.read_text(encoding="utf-8") for page in (source / "resources/manual").glob("*.md")}
man_page = (source / "packaging/flipscope.1").read_text(encoding="utf-8").replace("\\-", "-")
samples = source / "resources/samples"
problems = []


def call(*arguments, expected=0):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != expected:
        problems.append(f"{arguments}: exit code {done.returncode}, expected was {expected}: {done.stderr}")
    return done.stdout


def check(condition, sentence):
    if not condition:
        problems.append(sentence)


# Options: what --help lists is in the manual and on the man page, and the other way round.
def options_between(start, end):
    return set(re.findall(r"`(--[a-z-]+)", manual["command-line"].split(f"## {start}\n")[1].split(f"## {end}\n")[0]))


hints = set(re.findall(r"`(--[a-z-]+)", "\n".join(
    line for line in manual["command-line"].split("## Hints\n")[1].split("## Environment")[0].splitlines() if line.startswith("|"))))
ours = {"info": {"--json"} | hints,
        "analyze": options_between("analyze", "JSON") | hints,
        "compare": set(re.findall(r"`(--[a-z-]+)", manual["command-line"].split("## compare\n")[1].split("```json")[0])),
        "toolcalls": set(re.findall(r"`(--[a-z-]+)", manual["command-line"].split("## toolcalls\n")[1].split("```json")[0])),
        "capture": options_between("capture", "analyze") - {"--temperature"},  # that is one of flipscope-capture
        "summarize": options_between("summarize", "export"),
        "export": options_between("export", "import"),
        "import": options_between("import", "convert") | hints,
        "convert": options_between("convert", "Hints")}
if "export" not in call("--help"):  # a build without the window draws nothing
    ours["compare"] -= {"--out", "--metric", "--size", "--dpi", "--theme"}
for command, described in ours.items():
    if command not in call("--help"):
        continue  # a build without the window has no export
    offered = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", call(command, "--help"))) - {"--help", "--help-all", "--version"}
    for option in offered - described:
        problems.append(f"command-line.md says nothing of {command} {option}")
    for option in described - offered:
        problems.append(f"{command} --help says nothing of {option}, which command-line.md describes")
    for option in offered:
        check(option in man_page, f"the man page says nothing of {option}")

# Exit codes.
call("--version")
call("analyze", samples / "baseline.h5", samples / "none.h5", expected=1)
call("analyze", "--no-such-option", expected=2)
call("info", samples / "README.md", expected=1)

with tempfile.TemporaryDirectory() as folder:
    pair = [samples / "baseline.h5", samples / "flash_attn.h5"]
    call("analyze", *pair, "--json", f"{folder}/a.json", "--csv-probes", f"{folder}/p.csv", "--csv-windows", f"{folder}/w.csv")
    # Columns: each is described in metrics.md.
    header = next(csv.reader(open(f"{folder}/p.csv", encoding="utf-8")))
    check(header[:2] == ["run", "position"], f"the probes' CSV begins with {header[:2]}")
    for name in header[2:]:
        check(f"`{name}`" in manual["metrics"], f"metrics.md says nothing of {name}")
    of_probe = manual["metrics"].split("## Of one probe")[1].split("## Accuracy")[0]
    for line in re.findall(r"^\| (`.*?) \|", of_probe, re.M):
        for name in re.findall(r"`(\w+)`", line):
            check(name in header, f"the probes' CSV has no {name}, which metrics.md describes")
    # JSON: the keys of the example, at every depth.
    example = json.loads(re.search(r"```json\n(.*?)```", manual["command-line"], re.S).group(1))
    answer = json.load(open(f"{folder}/a.json", encoding="utf-8"))

    def compare(want, got, where):
        if isinstance(want, dict):
            for key in want:
                check(isinstance(got, dict) and key in got, f"the JSON has no {where}{key}")
                if isinstance(got, dict) and key in got:
                    compare(want[key], got[key], f"{where}{key}.")
        elif isinstance(want, list) and want:
            check(isinstance(got, list) and got, f"the JSON has nothing in {where}")
            compare(want[0], got[0], where)

    compare(example, answer, "")
    example = json.loads(re.search(r"```json\n(.*?)```", manual["command-line"].split("## compare")[1], re.S).group(1))
    call("compare", samples / "baseline.h5", samples / "kv_q4_0.h5", samples / "w_q2_k.h5", "--json", f"{folder}/c.json")
    compare(example, json.load(open(f"{folder}/c.json", encoding="utf-8")), "compare: ")
    call("toolcalls", samples / "baseline.h5", samples / "w_q2_k.h5", "--json", f"{folder}/t.json")
    compare(json.loads(re.search(r"```json\n(.*?)```", manual["command-line"].split("## toolcalls")[1], re.S).group(1)),
            json.load(open(f"{folder}/t.json", encoding="utf-8")), "")
    # Dialects: the error for a wrong one lists them all.
    done = subprocess.run([program, "toolcalls", "a", "b", "--dialect", "none"], capture_output=True, text=True)
    check(done.returncode == 2, "a dialect that does not exist is no wrong usage")
    for name in done.stderr.split("there are auto, ")[1].rstrip(".\n").split(", "):
        check(f"`{name}`" in manual["tool-calls"], f"tool-calls.md says nothing of {name}")
    # Metrics of windows: export takes every name that metrics.md lists.
    table = manual["metrics"].split("What a heatmap or a chart can show")[1].split("## Of two runs")[0]
    names = sorted(set(re.findall(r"`([a-z0-9_]+)`", table)) - {"kl_pq", "dp", "top10_overlap"})
    names += [f"{kind}_{part}" for kind in ("kl_qp", "js", "tv") for part in ("mean", "median", "p90", "p95", "p99", "max")]
    check(len(names) == 30, f"metrics.md lists {len(names)} metrics of windows: {names}")
    if "export" in call("--help"):
        for name in names:
            call("export", *pair, "--chart", "heatmap", "--metric", name, "--window", 1024, "--out", f"{folder}/{name}.csv")

# Relative links of the documents lead somewhere.
for page in [*source.glob("*.md"), *(source / "resources").rglob("*.md")]:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        check((page.parent / target).exists(), f"{page.relative_to(source)} leads to {target}, which is not there")

print("\n".join(problems) or "The manual and the program agree.")
sys.exit(bool(problems))
