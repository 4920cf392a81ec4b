# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m flipscope_capture`` is the same as ``flipscope-capture``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
