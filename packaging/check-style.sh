#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Checks formatting, licence headers, layering and clang-tidy: packaging/check-style.sh [--all] [--no-tidy] [BUILD_FOLDER]
#   --all      every file; else those that differ from the branch main (on main: from the last commit)
#   --no-tidy  without clang-tidy, which takes some seconds a file
# BUILD_FOLDER holds compile_commands.json for clang-tidy (build/dev unless given).
set -euo pipefail
cd "$(dirname "$0")/.."

all=no tidy=yes build=build/dev
for argument in "$@"; do
    case "$argument" in
    --all) all=yes ;;
    --no-tidy) tidy=no ;;
    -h | --help)
        sed -n '5,8s/^# \{0,1\}//p' packaging/check-style.sh
        exit 0
        ;;
    -*)
        echo "$0: there is no option $argument: --all and --no-tidy are the options." >&2
        exit 2
        ;;
    *) build=$argument ;;
    esac
done

if [ "$all" = yes ]; then
    listed() { git ls-files --cached --others --exclude-standard; }
else
    base=$(git merge-base HEAD main 2>/dev/null || true)
    if [ -z "$base" ] || { [ "$base" = "$(git rev-parse HEAD)" ] && git diff --quiet HEAD; }; then
        base=HEAD~1
    fi
    listed() {
        git diff --name-only --diff-filter=d "$base"
        git ls-files --others --exclude-standard
    }
fi
mapfile -t files < <(listed | sort -u)
bad=0
complain() {
    echo "$1" >&2
    bad=1
}

cpp=() units=()
for file in "${files[@]}"; do
    [ -f "$file" ] || continue
    case "$file" in
    *.cpp | *.h | *.cu | *.cuh) cpp+=("$file") ;;
    esac
    case "$file" in
    *.cpp) units+=("$file") ;;
    esac
    case "$file" in
    *.cpp | *.h | *.cu | *.cuh | *.cmake | *CMakeLists.txt | *.sh | *.py | .ci/run)
        head -n 4 "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' ||
            complain "$file: the SPDX header is missing (two lines, as in the other files)."
        lines=$(wc -l <"$file")
        [ "$lines" -le 600 ] || complain "$file: $lines lines; 600 is the limit."
        ;;
    esac
    case "$file" in
    core/* | gpu/*)
        if grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](Q[A-Z]|Qt|ui/)' "$file"; then
            complain "$file: core/ and gpu/ know nothing of Qt or ui/."
        fi
        ;;
    ui/charts/* | tests/render/*) ;;
    *.cpp | *.h)
        if grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<Q(tCharts|Chart|ChartView|AbstractSeries|LineSeries|AreaSeries|XYSeries|ValueAxis|LogValueAxis|CategoryAxis|ColorAxis)' "$file"; then
            complain "$file: Qt Charts is included in ui/charts/ only."
        fi
        ;;
    esac
done

if [ ${#cpp[@]} -gt 0 ]; then
    if command -v clang-format >/dev/null; then
        clang-format --dry-run -Werror "${cpp[@]}" || bad=1
    else
        complain "clang-format is missing: packaging/install-packages.sh style installs it."
    fi
fi
if [ "$tidy" = yes ] && [ ${#units[@]} -gt 0 ]; then
    if ! command -v clang-tidy >/dev/null; then
        complain "clang-tidy is missing: packaging/install-packages.sh style installs it."
    elif [ ! -f "$build/compile_commands.json" ]; then
        complain "$build/compile_commands.json is missing: run cmake --preset dev, or name a build folder."
    else
        # The compiler's precompiled header is nothing that clang can read, nor does it know all of its warnings.
        commands=$(mktemp -d)
        trap 'rm -rf "$commands"' EXIT
        sed -E 's# -Winvalid-pch##; s# -Wno-restrict##; s# -include [^ ]*cmake_pch\.hxx##' "$build/compile_commands.json" \
            >"$commands/compile_commands.json"
        for file in "${units[@]}"; do
            # Only what the build folder compiles: without a window, ui/ is not there.
            grep -q "\"file\": \".*/$file\"" "$build/compile_commands.json" || continue
            clang-tidy --quiet -p "$commands" "$file" || bad=1
        done
    fi
fi
if [ "$bad" = 0 ]; then
    echo "${#files[@]} files checked: clean."
fi
exit "$bad"
