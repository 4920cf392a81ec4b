# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Launchers: who runs the runs of a matrix, and where."""
