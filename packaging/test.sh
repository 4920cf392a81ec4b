#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# From a fresh checkout to the result of all tests: packaging/test.sh [--asan] [arguments for ctest...]
#   --asan   builds with AddressSanitizer and UndefinedBehaviorSanitizer and runs the tests so
# Installs missing packages (as root or with sudo), builds and runs ctest with two jobs (FLIPSCOPE_JOBS=n: with n).
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
-h | --help)
    sed -n '5,7s/^# \{0,1\}//p' packaging/test.sh
    exit 0
    ;;
esac
preset=
if [ "${1:-}" = --asan ]; then
    preset=asan
    shift
elif command -v "${CUDACXX:-nvcc}" >/dev/null; then
    preset=release
else
    preset=no-cuda
fi

packaging/install-packages.sh build test
cmake --preset "$preset"
# A real engine and a small model for the tests of flipscope-capture; they skip, and say so, where PyPI is out of reach.
packaging/install-capture-engines.sh "build/$preset/capture-packages" &
engines=$!
cmake --build "build/$preset" --parallel "${FLIPSCOPE_JOBS:-2}"
wait "$engines" || true

log=build/$preset/Testing/Temporary/LastTest.log output=build/$preset/ctest-output.txt status=0
rm -f "$log"
ctest --test-dir "build/$preset" --parallel "${FLIPSCOPE_JOBS:-2}" --output-on-failure "$@" | tee "$output" || status=$?
# A test that passes may have left parts out, which ctest does not say.
skipped=$(sed -nE 's/^SKIP +: [^(]*\([^)]*\) //p; s/^SKIPPED: //p' "$log" 2>/dev/null | sort | uniq -c | sort -rn)
if [ -n "$skipped" ]; then
    printf '\nChecks that were skipped on this machine, and why:\n%s\n\n' "$skipped"
    grep -E '% tests passed' "$output" || true
fi
exit "$status"
