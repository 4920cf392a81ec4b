#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Puts a benchmark and the libraries it needs into one folder, for a machine that has neither HDF5 nor Qt.
#   tests/bench/bundle.sh PROGRAM FOLDER [CUDA_MODULE]
# There: FOLDER/run ARGUMENTS. Only the C library is the other machine's own (it must not be older than this one's).
set -euo pipefail

if [ $# -lt 2 ]; then
    sed -n '5,8s/^# \{0,1\}//p' "$0"
    exit 2
fi
program=$1 folder=$2 module=${3:-}
mkdir -p "$folder/lib"
cp -L "$program" "$folder/program"
files=("$program")
trial=$(dirname "$program")/flipscope-trial # opens each HDF5 file first
if [ -f "$trial" ]; then
    cp -L "$trial" "$folder/"
    files+=("$trial")
fi
if [ -n "$module" ]; then
    cp -L "$module" "$folder/"
    files+=("$module")
fi
ldd "${files[@]}" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
    grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv|ld-linux[^/]*)\.so' | xargs -r cp -Lt "$folder/lib"
cat >"$folder/run" <<'EOF'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$here/program" "$@"
EOF
chmod +x "$folder/run"
du -sh "$folder"
