# SPDX-FileCopyrightText: 2026 The Flipscope authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures logit traces of language models for Flipscope: from the engine that people run to one HDF5 file a run."""

__version__ = "0.1.0"
