# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m flipscope_capture`` is the same as ``flipscope-capture``; and says what is missing where it was not installed by pip."""

import sys


def start():
    """The exit code. Written for any Python 3, so that one that is too old can say so."""
    if sys.version_info < (3, 10):
        return refuse("it is Python {}.{}, and 3.10 or newer is needed; name another interpreter".format(*sys.version_info[:2]))
    try:
        from .cli import main
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in ("numpy", "h5py"):
            raise
        return refuse(f"it has no {name}; install what is needed with: {sys.executable} -m pip install numpy h5py "
                      "(Debian: apt install python3-h5py)")
    except ImportError as error:  # of a numpy that does not fit this Python, say
        reason = str(error).strip().splitlines() or ["no reason given"]
        return refuse(f"a package that is needed does not load ({reason[0]}); install numpy and h5py anew")
    return main()


def refuse(reason):
    print("The Python interpreter {} cannot capture: {}.".format(sys.executable, reason), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(start())
