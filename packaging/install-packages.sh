#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Installs what Flipscope needs on Debian 12 and newer (and what is like it): packaging/install-packages.sh GROUP...
#   build   compile and run the program, its command line and its exports
#   test    what the tests need beside that
#   style   what packaging/check-style.sh needs
#   package what cpack needs to make a .deb
# Packages that are there already are left alone; where nothing is missing, neither root nor a network is needed.
set -euo pipefail

build=(
    # compiler and build tools
    g++ cmake ninja-build pkg-config ccache
    # files, numbers, text: what core/ is made with
    libhdf5-dev zlib1g-dev libzstd-dev libzip-dev libfmt-dev nlohmann-json3-dev libcli11-dev libexpected-dev libhwy-dev libxxhash-dev
    # Qt 6: Widgets, Charts, Concurrent, Network, Svg, Test; and what the CMake files of Charts ask for (OpenGL, though no
    # chart uses it: qt6-charts-dev does not depend on it)
    qt6-base-dev qt6-charts-dev qt6-svg-dev libqt6opengl6-dev libgl-dev libopengl-dev
    # what a window needs at run time: the Wayland plugin (that for X11 comes with Qt), and one font that is always the same
    qt6-wayland fonts-dejavu-core
)
test=(
    # traces written from Python, and opened by the program
    python3 python3-h5py python3-numpy python3-pip
    # a second opinion on what the writer writes
    hdf5-tools
    # the tests of exported figures look into the PDF
    poppler-utils
    # checks of what gets installed
    desktop-file-utils appstream libxml2-utils
)
style=(clang-format clang-tidy)
package=(dpkg-dev file)

wanted=()
for group in "$@"; do
    case "$group" in
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    style) wanted+=("${style[@]}") ;;
    package) wanted+=("${package[@]}") ;;
    *)
        echo "$0: there is no group '$group': build, test, style and package are the groups." >&2
        exit 2
        ;;
    esac
done

missing=()
for package in "${wanted[@]}"; do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "Please install what corresponds to these Debian packages, then start again: ${missing[*]}" >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        echo "Packages are missing and installing them needs root: have \"packaging/install-packages.sh $*\" run as root," \
            "then start again (missing: ${missing[*]})." >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
