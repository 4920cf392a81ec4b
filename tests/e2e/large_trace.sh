#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Analyses traces of full size and checks the flips of every window and the memory used. Not part of ctest: it writes some
# 3 GB (bf16, f16) or 6 GB (f32).
#   tests/e2e/large_trace.sh PROGRAM [--type bf16|f16|f32] [--engine NAME] [--irregular] [--folder FOLDER]
# PROGRAM is the flipscope to test (build/release/bin/flipscope). FOLDER (a new one under /tmp unless given) keeps the traces
# for a next time; without --folder they are removed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
    sed -n '5,9s/^# \{0,1\}//p' "$0"
    [ $# -ge 1 ] && exit 0
    exit 2
fi
program=$1
shift
type=bf16 engine=auto folder='' options=()
while [ $# -gt 0 ]; do
    case "$1" in
    --type) type=$2 && shift 2 ;;
    --engine) engine=$2 && shift 2 ;;
    --irregular) options+=(--irregular) && shift ;;
    --folder) folder=$2 && shift 2 ;;
    *) echo "$0: there is no option $1." >&2 && exit 2 ;;
    esac
done
if [ -z "$folder" ]; then
    folder=$(mktemp -d "${TMPDIR:-/tmp}/flipscope-large.XXXXXX")
    trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"
name=$type${options[*]:+-irregular}
if [ ! -f "$folder/$name/planted.json" ]; then
    python3 "$here/../data/make_synthetic.py" "$folder/$name" --type "$type" "${options[@]}" >"$folder/planted.part"
    mv "$folder/planted.part" "$folder/$name/planted.json"
fi

python3 - "$program" "$engine" "$folder/$name" <<'EOF'
import json, resource, subprocess, sys, time
program, engine, folder = sys.argv[1:]
planted = json.load(open(folder + "/planted.json"))
started = time.monotonic()
subprocess.run([program, "analyze", folder + "/base.h5", folder + "/run-1.h5", "--engine", engine, "--no-cache", "--window",
                str(planted["window_tokens"]), "--json", folder + "/analysis.json"], check=True, stdout=subprocess.DEVNULL)
seconds = time.monotonic() - started
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024  # what /usr/bin/time calls maximum resident set size

analysis = json.load(open(folder + "/analysis.json"))
run, expected = analysis["runs"][0], planted["runs"][0]
problems = []
if run["n_probes"] != planted["probes"] or run["flips"] != expected["flips"]:
    problems.append(f"{run['flips']} flips of {run['n_probes']}, planted were {expected['flips']} of {planted['probes']}")
seen = [{key: w[key] for key in ("start", "end", "n", "flips")} for w in run["windows"]]
for got, want in zip(seen, expected["windows"]):
    if got != want:
        problems.append(f"window {got}, planted was {want}")
if len(seen) != len(expected["windows"]):
    problems.append(f"{len(seen)} windows, planted were {len(expected['windows'])}")
if peak >= 1 << 30:
    problems.append(f"{peak / 2**20:.0f} MiB of memory at the peak; 1,024 is the limit")
bursts = ", ".join(f"{w['start']}-{w['end']}: {w['flips']}/{w['n']}" for w in seen if w["flips"])
print(f"engine {analysis['engine']['name']}, {planted['type']}: {seconds:.1f} s, peak {peak / 2**20:.0f} MiB, "
      f"flips in windows {bursts}")
for problem in problems:
    print("WRONG:", problem)
sys.exit(bool(problems))
EOF
