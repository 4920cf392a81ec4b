#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# From a fresh checkout to the program on its sample session: packaging/demo.sh [FILE...]
# Installs missing packages (as root or with sudo), builds the program, opens its window. Without a display it writes
# charts, tables and a report into the folder flipscope-demo instead (--files: even with one).
# FILE...: traces to open in place of the sample; the first is the baseline.
set -euo pipefail

files_only=no
case "${1:-}" in
-h | --help)
    sed -n '5,8s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
--files)
    files_only=yes
    shift
    ;;
esac
traces=()
for file in "$@"; do
    traces+=("$(realpath -- "$file")")
done
cd "$(dirname "$0")/.."

packaging/install-packages.sh build
preset=no-cuda
if command -v "${CUDACXX:-nvcc}" >/dev/null; then
    preset=release
fi
# Whoever ran the tests has a complete build already; otherwise the program is built without them.
folder=build/$preset
if [ ! -f "$folder/build.ninja" ]; then
    folder=build/demo
    cmake --preset "$preset" -B "$folder" -DFLIPSCOPE_TESTS=OFF
fi
targets=(flipscope)
if [ "$preset" = release ]; then
    targets=(all) # with the CUDA module
fi
cmake --build "$folder" --parallel "${FLIPSCOPE_JOBS:-2}" --target "${targets[@]}"
flipscope=$folder/bin/flipscope

window=()
if [ ${#traces[@]} -eq 0 ]; then
    # The sample has a probe every 128 tokens: windows of 1,024 tokens hold 8 of them.
    window=(--window 1024)
    for run in baseline baseline_repeat flash_attn kv_q4_0 w_q2_k; do
        traces+=("$PWD/resources/samples/$run.h5")
    done
fi
if [ "$files_only" = no ] && [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    echo "Opening the window of $PWD/$flipscope"
    "$flipscope" "${traces[@]}" --baseline "${traces[0]}" && exit 0
    echo "packaging/demo.sh --files writes charts, tables and a report without a window." >&2
    exit 1
fi
if [ ${#traces[@]} -lt 2 ]; then
    echo "Name the baseline's trace and at least one of a run: packaging/demo.sh BASELINE RUN..." >&2
    exit 2
fi

out="flipscope-demo"
mkdir -p "$out"
"$flipscope" analyze "${traces[@]}" "${window[@]}" --csv-windows "$out/windows.csv" --csv-probes "$out/probes.csv" \
    --json "$out/analysis.json" >"$out/report.txt"
# The charts show the numbers of the report: same engine, and what was computed is in the cache.
draw() {
    "$flipscope" export "${traces[@]}" "${window[@]}" --engine "$engine" "$@"
}
engine=$(sed -n 's/^Engine: \([a-z]*\).*/\1/p' "$out/report.txt")
for suffix in png svg pdf; do
    draw --chart heatmap --metric flip_rate --out "$out/heatmap.$suffix"
done
draw --chart flips --metric flip_rate --out "$out/flips.png"
draw --chart kl --metric kl_pq_mean --out "$out/kl.png"
cat "$out/report.txt"
echo
echo "The charts, tables and this report are in $PWD/$out"
echo "The program is $PWD/$flipscope"
